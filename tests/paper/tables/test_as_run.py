from __future__ import annotations

import math

import pytest

from axonad.paper.diagnostics.as_run import OWN
from axonad.paper.tables.as_run import LABELS, as_run_table, probe_table
from tests.paper.findings import make_as_run, make_finding

QUERY_ONLY = "high d_q, low d_rec: share of anomalous test windows, pooled"


def lines_of(table):
    return {line[0]: line for line in table.rows}


def windows(anomalous, query):
    return {"as run anomalous windows": anomalous, "as run query only": query}


def test_shares_are_pooled_over_series():
    found = [
        make_as_run("a", 0, **windows(10, 1)),
        make_as_run("a", 1, **windows(10, 3)),
        make_as_run("b", **windows(80, 8)),
        make_as_run("c", **windows(10, 10)),
    ]
    line = lines_of(as_run_table(found))[QUERY_ONLY]
    assert line[1] == 0.192
    assert line[2] == pytest.approx((2 + 8 + 10) / 100)
    low, high = line[3].extra
    assert 0.1 <= low < 0.2 < high <= 1
    assert line[6] == 3


def test_beside_the_rules_of_the_script_are_ours():
    found = [make_as_run(name, **{"query only": 0.5, **windows(10, 1)}) for name in "abc"]
    ours = [make_finding(name, query_only=0.75) for name in "abcd"]
    line = lines_of(as_run_table(found, ours))[QUERY_ONLY]
    assert (line[2], line[4], line[5]) == pytest.approx((0.1, 0.5, 0.75))
    without = lines_of(as_run_table(found))[QUERY_ONLY]
    assert without[5] is None


def test_the_sum_beats_the_better_part():
    parts = {"as run AP d_rec": 0.3, "as run AP d_q": 0.6}
    found = [make_as_run(n, **parts, **{"as run AP sum": v}) for n, v in zip("abc", (0.7, 0.6, 0.5),
             strict=True)]  # fmt: skip
    lines = lines_of(as_run_table(found))
    better = "sum beats the better part in average precision, share of series"
    assert lines[better][1:3] == (0.4, pytest.approx(1 / 3))
    assert lines["sum beats d_rec in average precision, share of series"][2] == 1
    gain = "average precision of the sum minus that of d_rec, mean"
    assert lines[gain][2] == pytest.approx(0.3)


def test_the_probe_compares_with_both_predictors_of_queries():
    found = [
        make_as_run(
            name, **{f"probe AP {OWN}": 0.5, "probe AP queries": 0.2, "probe AP keys": keys}
        )
        for name, keys in (("a", 0.3), ("b", 0.4), ("c", 0.8))
    ]
    lines = lines_of(probe_table(found))
    keys, own, queries = (lines[LABELS[name]] for name in ("keys", OWN, "queries"))
    assert keys[1] == pytest.approx(0.5)
    assert (keys[3], keys[5]) == (pytest.approx(0), pytest.approx(0.3))
    assert keys[4].extra[0] < 0 < keys[4].extra[1]
    assert math.isnan(own[3])
    assert math.isnan(queries[5])
    assert (own[7], keys[7], queries[7]) == (2, 1, 0), "series in which it is the best"


def test_both_tables_are_text_markdown_latex_and_csv():
    found = [make_as_run(name) for name in "abc"]
    for make in (as_run_table, probe_table):
        table = make(found)
        for text in (table.to_text(), table.to_markdown(), table.to_latex(), table.to_csv()):
            assert "nan" not in text.lower().replace("anomal", "")
        assert table.to_latex().isascii()
