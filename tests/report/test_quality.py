from __future__ import annotations

import csv
import io

import pytest

from axonad.errors import InputError, UnknownNameError
from axonad.report.comparisons import comparison_series_table, comparison_table, pairwise_table
from axonad.report.costs import failure_table, runtime_table
from axonad.report.quality import (
    PAPER_METRICS,
    dataset_table,
    kind_table,
    parts_table,
    score_table,
)
from tests.report.rows import make_row, make_rows, random_rows

BUILDERS = {
    "scores": score_table,
    "sets": lambda rows: score_table(rows, over="datasets"),
    "dataset": dataset_table,
    "runtime": runtime_table,
    "failures": failure_table,
    "pairwise": lambda rows: pairwise_table(rows, reference="AxonAD", resamples=100),
    "published": lambda rows: comparison_table(
        rows, published={"s001": 0.5, "s002": 0.4}, detector="AxonAD"
    ),
    "per series": lambda rows: comparison_series_table(
        rows, published={"s001": 0.5}, detector="AxonAD"
    ),
}


@pytest.fixture
def rows():
    return random_rows(5)


def records(table):
    return list(csv.DictReader(io.StringIO(table.to_csv())))


@pytest.mark.parametrize("name", BUILDERS)
def test_every_table_names_its_protocol_and_does_not_depend_on_the_order_of_rows(rows, name):
    table = BUILDERS[name](rows)
    assert "protocol parity" in " ".join(table.notes)
    again = BUILDERS[name](rows[::-1])
    for form in ("to_text", "to_markdown", "to_latex", "to_csv"):
        assert getattr(table, form)() == getattr(again, form)()


@pytest.mark.parametrize("name", [name for name in BUILDERS if "p" not in name[:1]])
def test_protocols_stay_apart_in_every_table(name):
    rows = make_rows({"A": [0.2, 0.2, None]}) + make_rows(
        {"A": [0.8, 0.8, None]}, protocol="causal"
    )
    table = BUILDERS[name](rows)
    assert {row[0] for row in table.rows} == {"A (parity)", "A (causal)"}
    assert "protocols causal, parity" in table.notes[0]


@pytest.mark.parametrize("name", BUILDERS)
def test_without_rows_every_table_says_so(name):
    with pytest.raises(InputError, match="there are no rows; run a benchmark first"):
        BUILDERS[name]([])


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


def test_scores_of_chosen_metrics_over_datasets():
    rows = make_rows({"A": [0.1, 0.2, 0.9]}, datasets=["X", "X", "Y"])
    table = score_table(rows, metrics=["R-based-F1"], over="datasets")
    (line,) = records(table)
    assert float(line["Range-F1"]) == pytest.approx((0.15 + 0.9) / 2)
    assert (line["data sets"], line["series"]) == ("2", "3")
    with pytest.raises(UnknownNameError, match="did you mean 'VUS-PR'"):
        score_table(rows, metrics=["VUS-RP"])
    with pytest.raises(InputError, match="needs at least one metric"):
        score_table(rows, metrics=[])


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
    def kinds(score, found):
        return {
            "spike": {"VUS-PR": score, "AUC-PR": 0.5, "events": 4, "found": found},
            "drift": {"VUS-PR": 0.2, "AUC-PR": 0.5, "events": 1, "found": 1},
        }

    rows = [
        make_row("A", "s0", kinds=kinds(0.4, 1)),
        make_row("A", "s1", kinds={"spike": {"VUS-PR": 0.6, "events": 6, "found": 6}}),
        make_row("B", "s0", kinds=kinds(0.9, 4)),
        make_row("B", "s1", None),
    ]
    table = kind_table(rows)
    assert table.headings()[1:3] == ["drift (1)", "spike (10)"]
    assert table.text_rows() == [
        ["B", "0.200", "0.900", "0.550", "1"],
        ["A", "0.200", "0.500", "0.350", "0"],
    ]
    found = {
        line["detector"]: line["spike (10)"] for line in records(kind_table(rows, value="found"))
    }
    assert found == {"A": "0.7", "B": "1.0"}
    with pytest.raises(UnknownNameError, match="value must be one of VUS-PR, AUC-PR, found"):
        kind_table(rows, value="fond")
    with pytest.raises(InputError, match="no row knows kinds of events"):
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
    with pytest.raises(InputError, match="no row has parts of a score"):
        parts_table([make_row()])


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


def test_runtime_table():
    rows = [
        make_row("slow", "s0", fit_seconds=10.0, score_seconds=3.0, steps=1000, memory_mb=50.0),
        make_row("slow", "s1", fit_seconds=20.0, score_seconds=1.0, steps=3000, memory_mb=70.0),
        make_row("fast", "s0", fit_seconds=1.0, score_seconds=1.0, device="cuda:0", threads=2),
        make_row("fast", "s1", None, fit_seconds=999.0, memory_mb=999.0),
    ]
    table = runtime_table(rows)
    assert table.text_rows() == [
        ["fast", "1.00", "1.00", "1.0000", "100", "1", "1"],
        ["slow", "15.00", "2.00", "1.0000", "70", "2", "0"],
    ]
    assert "Run on cpu (threads: 1); cuda:0 (threads: 2)." in table.notes
    assert "Times of different devices or thread counts do not compare." in table.notes
    with_device = runtime_table([make_row(device_memory_mb=12.0)])
    assert "device MB" in with_device.headings()


def test_failure_table():
    rows = make_rows({"A": [0.5, None], "B": [None, 0.1]})
    table = failure_table(rows)
    assert table.text_rows() == [
        ["A", "D", "s1", "0", "failed", "broke"],
        ["B", "D", "s0", "0", "failed", "broke"],
    ]
    assert table.notes[1] == "2 of 4 runs failed."
    assert failure_table([make_row()]).rows == ()


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
    each = comparison_series_table(rows, published=published)
    assert [row[0] for row in each.rows] == ["s1", "s0"]


@pytest.mark.parametrize(
    ("table", "published", "detector", "error", "message"),
    [
        ({"A": [0.5], "B": [0.5]}, {"s0": 0.5}, None, InputError, "rows are of A, B; say which"),
        ({"A": [0.5]}, {"s0.csv": 0.5}, None, InputError, "'s0.csv' is published, 's0' is ours"),
        ({"A": [0.5]}, {}, None, InputError, "no published series is among ours"),
        ({"A": [0.5]}, {"s0": float("nan")}, None, InputError, "must be finite; that of s0 is not"),
        ({"Axon": [0.5]}, {"s0": 0.5}, "Axom", UnknownNameError, "did you mean 'Axon'"),
    ],
)
def test_comparison_says_what_it_lacks(table, published, detector, error, message):
    with pytest.raises(error, match=message):
        comparison_table(make_rows(table), published=published, detector=detector)
