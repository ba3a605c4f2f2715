"""Tables S3 and S4: the paper's numbers, ours on series in common."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from axonad.errors import InputError, UnknownNameError
from axonad.paper.published import paper_pairs, paper_scores
from axonad.paper.tables.pairs import RANGE, RANKING, paper_pairs_table
from axonad.report.statistics import compare
from tests.report.rows import make_rows

RNG = np.random.default_rng(0)
SERIES = {
    "AxonAD": (0.5 + 0.4 * RNG.random(20)).tolist(),
    "USAD": (0.4 + 0.4 * RNG.random(20)).tolist(),
    "CNN": [None, *(0.4 * RNG.random(4)).tolist()],
    "Mine": (0.5 * RNG.random(20)).tolist(),
}


def records(table):
    return list(csv.DictReader(io.StringIO(table.to_csv())))


def test_the_two_tables_of_the_paper_agree():
    """A mean difference in S3 or S4 is the difference of two means in S1, up to rounding."""
    means = paper_scores("tsb_ad_m")
    for (name, metric), found in paper_pairs().items():
        expected = means[name][metric].mean - means["AxonAD"][metric].mean
        assert found.mean == pytest.approx(expected, abs=0.0011), (name, metric)
        assert found.low <= found.mean <= found.high


def test_ours_is_what_compare_says_under_the_papers_line():
    rows = make_rows(SERIES)
    table = paper_pairs_table(rows, metrics=RANKING, protocol="parity")
    found = {(r["detector"], r["figures"]): r for r in records(table)}
    usad = next(c for c in compare(rows, reference="AxonAD", metric="AUC-ROC")
                if c.baseline == "USAD")  # fmt: skip
    ours = found["USAD", "ours, parity"]
    assert float(ours["AUC-ROC won"]) == usad.win_rate
    assert float(ours["AUC-ROC median"]) == usad.median_delta
    assert float(ours["AUC-ROC p"]) == usad.p_value
    assert float(ours["AUC-ROC 95 % low"]) == usad.low
    paper = found["USAD", "paper"]
    assert (paper["AUC-PR won"], paper["AUC-PR p"], paper["series"]) == ("0.294", "2.14e-07", "180")
    assert found["CNN", "ours, parity"]["series"] == "4 of 20"
    assert found["TranAD", "ours, parity"]["series"] == "0 of 20"
    assert records(table)[-1]["detector"] == "Mine"


def test_what_is_not_significant_is_marked():
    table = paper_pairs_table(make_rows(SERIES), metrics=RANGE, protocol="parity")
    shown = {tuple(row[:2]): row for row in table.text_rows()}
    affiliation = table.headings().index("Affiliation-F1 p")
    assert shown["CNN", "paper"][affiliation] == "0.676†"
    assert shown["LOF", "paper"][affiliation] == "9.4e-12"


def test_what_cannot_be_compared_is_said():
    with pytest.raises(InputError, match="no rows of protocol causal"):
        paper_pairs_table(make_rows(SERIES), metrics=RANKING, protocol="causal")
    with pytest.raises(UnknownNameError, match="'AxonAD' has no rows"):
        paper_pairs_table(make_rows({"PCA": [0.1, 0.2]}), metrics=RANKING, protocol="parity")
