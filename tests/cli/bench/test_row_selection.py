"""The rows that options select."""

from __future__ import annotations

import pytest

from axonad.cli.bench.row_selection import check_metric, select_rows
from axonad.errors import InputError, UnknownNameError
from tests.bench.jobs import make_row
from tests.cli.bench.small_results import make_results


def test_names_with_a_comma_can_be_chosen(run, tmp_path):
    make_results(tmp_path / "a", {"PCA, window 5": [0.2, 0.4], "LOF": [0.1, 0.3]})
    code, out, _ = run("bench", "table", "a", "-d", "PCA, window 5")
    assert code == 0
    assert "LOF" not in out


ROWS = [
    make_row(label=label, detector=detector, seed=seed, series=series, protocol=protocol)
    for label, detector, seed, series, protocol in (
        ("AxonAD", "AxonAD", 1, "MSL-1", "causal"),
        ("no target", "AxonAD", 1, "MSL-1", "parity"),
        ("PCA", "PCA", 2, "SMAP-1", "causal"),
    )
]


@pytest.mark.parametrize(
    ("options", "labels"),
    [
        ({}, ["AxonAD", "no target", "PCA"]),
        ({"detectors": ["AxonAD"]}, ["AxonAD", "no target"]),  # by detector or by label
        ({"detectors": ["no target,PCA"]}, ["no target", "PCA"]),
        ({"series": ["SMAP"], "seeds": ["1,2"]}, ["PCA"]),
        ({"seeds": ["1"], "protocol": "causal"}, ["AxonAD"]),
    ],
)
def test_rows_that_match_every_option_are_selected(options, labels):
    assert [row.label for row in select_rows(ROWS, **options)] == labels


def test_what_selects_nothing_is_refused():
    with pytest.raises(InputError, match="there are no rows yet; run the suite first"):
        select_rows([])
    with pytest.raises(UnknownNameError, match="no rows of detector 'LOF'; there are AxonAD, PCA"):
        select_rows(ROWS, detectors=["LOF"])
    with pytest.raises(InputError, match="none of 3 rows matches --series SMAP --seeds 1"):
        select_rows(ROWS, series=["SMAP"], seeds=["1"])


def test_a_metric_is_named_as_here_or_as_in_tsb_ad():
    assert check_metric("R-based-F1", ROWS) == "Range-F1"
    assert check_metric("VUS-PR d_rec", ROWS) == "VUS-PR d_rec"
    with pytest.raises(UnknownNameError, match="did you mean 'AUC-PR'"):
        check_metric("auc-pr", ROWS)
    with pytest.raises(UnknownNameError, match="metric 'VUS-PR d_q' is not one of"):
        check_metric("VUS-PR d_q", ROWS)
