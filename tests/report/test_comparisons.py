from __future__ import annotations

import csv
import io

import pytest

from axonad.errors import InputError
from axonad.report.comparisons import comparison_table, pairwise_table, runs_table
from tests.report.rows import make_rows


def records(table):
    return list(csv.DictReader(io.StringIO(table.to_csv())))


def test_pairwise_table():
    rows = make_rows({"A": [0.5, 0.6, 0.7, 0.8], "B": [0.1, 0.7, 0.7, None], "C": [None] * 4})
    table = pairwise_table(rows, reference="A")
    assert table.title == "VUS-PR: every detector against A"
    b, c = records(table)
    assert (b["wins"], b["losses"], b["ties"], b["series"], b["left out"]) == (
        "1",
        "1",
        "1",
        "3",
        "1",
    )
    assert float(b["mean difference"]) == pytest.approx(-0.1)
    assert float(b["95 % interval low"]) <= -0.1 <= float(b["95 % interval high"])
    assert (c["detector"], c["win rate"], c["Holm p"], c["left out"]) == ("C", "", "", "4")
    assert table.text_rows()[0][9].endswith("†")


def test_runs_are_paired_by_detector_and_protocol():
    first = make_rows({"A": [0.5, 0.6, 0.7], "B": [0.1], "C": [0.2, 0.3]})
    second = make_rows({"A": [0.6, 0.6, 0.9], "B": [0.2], "D": [0.2, 0.3]})
    a, b = records(runs_table(first, second))
    assert (a["detector"], a["wins"], a["losses"], a["ties"]) == ("A (parity)", "2", "0", "1")
    assert float(a["mean difference"]) == pytest.approx(0.1)
    assert (b["detector"], b["wins"], b["series"]) == ("B (parity)", "", ""), "one series"
    with pytest.raises(InputError, match="no detector and protocol in common"):
        runs_table(first, make_rows({"D": [0.2, 0.3]}))


def test_comparison_with_published_values():
    rows = make_rows({"A": [0.5, 0.6, 0.7, None]}, datasets=["X", "X", "Y", "Y"])
    published = {"s0": 0.4, "s1": 0.8, "s3": 0.9}
    table = comparison_table(rows, published=published)
    assert table.text_rows() == [
        ["all series", "2", "0.550", "0.600", "-0.050", "0.150", "0.150", "0.200"],
        ["X", "2", "0.550", "0.600", "-0.050", "0.150", "0.150", "0.200"],
    ]
    assert table.notes[1].startswith(
        "2 series compared; 1 published ones without a value of ours, 1"
    )
    assert table.notes[2] == "Largest differences: s1 (-0.200), s0 (+0.100)."


@pytest.mark.parametrize(
    ("table", "published", "message"),
    [
        ({"A": [0.5], "B": [0.5]}, {"s0": 0.5}, "rows are of A, B; choose one detector"),
        ({"A": [0.5]}, {"s0.csv": 0.5}, "'s0.csv' is published, 's0' is ours"),
        ({"A": [0.5]}, {}, "no published series is among ours"),
        ({"A": [0.5]}, {"s0": float("nan")}, "must be finite; that of s0 is not"),
    ],
)
def test_comparison_says_what_it_lacks(table, published, message):
    with pytest.raises(InputError, match=message):
        comparison_table(make_rows(table), published=published)
