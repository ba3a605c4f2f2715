from __future__ import annotations

import csv
import io

import pytest

from axonad.errors import InputError
from axonad.report.quality import (
    PAPER_METRICS,
    dataset_table,
    kind_table,
    parts_table,
    score_table,
)
from tests.report.rows import make_row, make_rows


def records(table):
    return list(csv.DictReader(io.StringIO(table.to_csv())))


def test_scores_in_the_papers_layout():
    rows = make_rows({"low": [0.1, 0.3], "high": [0.9, None], "none": [None, None]})
    table = score_table(rows)
    assert table.headings() == ["detector", *PAPER_METRICS, "series", "missing"]
    high, low, none = records(table)
    assert (high["detector"], high["VUS-PR"], high["VUS-PR std"]) == ("high", "0.9", "")
    assert (high["series"], high["missing"]) == ("1", "1")
    assert float(low["AUC-PR std"]) == pytest.approx(0.2 / 2**0.5)
    assert (none["detector"], none["VUS-PR"], none["missing"]) == ("none", "", "2")
    assert "**0.900**" in table.to_markdown()
    assert "never zero" in table.notes[1]
    assert table.notes[2] == "Failed runs: 3."


def test_scores_over_datasets_weight_every_data_set_equally():
    rows = make_rows({"A": [0.1, 0.2, 0.9]}, datasets=["X", "X", "Y"])
    (line,) = records(score_table(rows, over="datasets"))
    assert float(line["Range-F1"]) == pytest.approx((0.15 + 0.9) / 2)
    assert (line["data sets"], line["series"]) == ("2", "3")


def test_dataset_table_marks_what_is_partial():
    rows = make_rows({"A": [0.2, None, 0.6], "B": [0.1, 0.3, None]}, datasets=["X", "X", "Y"])
    table = dataset_table(rows)
    assert table.headings() == ["detector", "X (2)", "Y (1)", "mean of sets", "missing"]
    assert table.text_rows() == [
        ["A", "0.200†", "0.600", "0.400", "1"],
        ["B", "0.200", "–", "0.200", "1"],
    ]
    assert any(note.startswith("† some series") for note in table.notes)


def test_kind_table():
    def kinds(score):
        return {
            "spike": {"VUS-PR": score, "events": 4},
            "drift": {"VUS-PR": 0.2, "events": 1},
        }

    rows = [
        make_row("A", "s0", kinds=kinds(0.4)),
        make_row("A", "s1", kinds={"spike": {"VUS-PR": 0.6, "events": 6}}),
        make_row("B", "s0", kinds=kinds(0.9)),
        make_row("B", "s1", None),
    ]
    table = kind_table(rows)
    assert table.headings()[1:3] == ["drift (1)", "spike (10)"]
    assert table.text_rows() == [
        ["B", "0.200", "0.900", "0.550", "1"],
        ["A", "0.200", "0.500", "0.350", "0"],
    ]
    with pytest.raises(InputError, match="no row has kinds of events; only rows of generated"):
        kind_table([make_row()])


def test_parts_table_shows_detectors_with_parts():
    rows = [
        make_row("A", "s0", 0.5, parts={"end": 0.3, "d_q": 0.1, "d_rec": 0.4}),
        make_row("A", "s1", 0.7, parts={"d_rec": 0.6}),
        make_row("B", "s0", 0.9),
        make_row("B", "s1", 0.9),
    ]
    table = parts_table(rows)
    assert table.headings()[1:5] == ["score", "d_rec", "d_q", "end"]
    assert table.text_rows() == [["A", "0.600", "0.500", "0.100†", "0.300†", "2", "0"]]
    with pytest.raises(InputError, match="no row has score parts"):
        parts_table([make_row()])
