"""Runtime: seconds as they are, ratios to AxonAD beside the paper's."""

from __future__ import annotations

import csv
import io

import pytest

from axonad.errors import InputError
from axonad.paper.tables.runtime import paper_runtime_table
from axonad.report.costs import runtime_table
from tests.report.rows import make_row

HALF = {"steps": 2000, "scored_from": 1000}
ROWS = [
    make_row("TranAD", fit_seconds=2.0, score_seconds=0.5, **HALF),
    make_row("AxonAD", fit_seconds=8.0, score_seconds=2.0, **HALF),
    make_row("IForest", fit_seconds=0.1, score_seconds=4.0, threads=None, **HALF),
]


def test_ratios_are_to_axonad_of_the_same_machine():
    table = paper_runtime_table(ROWS)
    found = {(r["detector"], r["figures"]): r for r in csv.DictReader(io.StringIO(table.to_csv()))}
    assert list(found)[:2] == [("AxonAD", "paper"), ("AxonAD", "ours")]
    ours, paper = found["TranAD", "ours"], found["TranAD", "paper"]
    assert float(ours["fit / AxonAD"]) == 0.25
    assert float(ours["fit + score / AxonAD"]) == 0.25
    assert float(ours["ms / AxonAD"]) == 0.25
    assert float(paper["fit / AxonAD"]) == pytest.approx(13.11 / 334.34)
    assert float(paper["ms / AxonAD"]) == pytest.approx(0.0279 / 0.0692)
    assert ("USAD", "ours") not in found
    assert not any("do not compare" in note for note in table.notes), (
        "unknown threads are no others"
    )


def test_milliseconds_are_per_step_scored():
    """Of a generated stream the second half alone is scored."""
    table = paper_runtime_table(ROWS)
    found = {tuple(row[:2]): row for row in table.text_rows()}
    assert found["AxonAD", "ours"][4] == "2.0000"
    assert {row[0]: row[3] for row in runtime_table(ROWS).text_rows()}["AxonAD"] == "2.0000"


def test_what_the_table_needs():
    with pytest.raises(InputError, match="ratios to AxonAD, which has no successful row"):
        paper_runtime_table(ROWS[:1])
    with pytest.raises(InputError, match="the rows mix protocols"):
        paper_runtime_table([*ROWS, make_row("AxonAD", protocol="causal", **HALF)])
