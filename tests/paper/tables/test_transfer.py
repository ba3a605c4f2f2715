from __future__ import annotations

import numpy as np
import pytest

from axonad.errors import InputError
from axonad.paper.tables.transfer import paper_transfer_table, transfer_table
from axonad.paper.transfer.check import check_transfer


def make_transfer(target="set_2"):
    """Return the check of a target among seven other data sets with four features."""
    values = np.random.default_rng(0).normal(size=(8, 4))
    features = {
        f"set_{i}": dict(zip("abcd", row.tolist(), strict=True)) for i, row in enumerate(values)
    }
    return check_transfer(features, target)


def test_every_target_has_its_percentiles_and_most_unusual_features():
    one, two = make_transfer(), make_transfer("set_5")
    table = transfer_table([one, two], among="tsb-ad-m", by="series")
    assert table.title == "Transfer: training segments against 7 of tsb-ad-m (by series)"
    first, second = table.rows
    assert first[:4] == (
        "set_2", one.mahalanobis_percentile, one.neighbour_percentile, one.nearest,
    )  # fmt: skip
    assert first[4] == ", ".join(f"{k} {v:+.1f}" for k, v in list(one.z.items())[:3])
    assert second[0] == "set_5"
    with pytest.raises(InputError, match="there is no target to compare"):
        transfer_table([], among="tsb-ad-m", by="series")


def test_the_papers_stream_comes_first():
    paper, ours = paper_transfer_table([("all series", make_transfer())]).text_rows()
    assert paper == ["paper's stream", "TSB-AD", "–", "45.0", "55.0", "–", "–"]
    assert ours[:3] == ["set_2", "all series", "7"]
