"""What every table made from rows has in common."""

from __future__ import annotations

import pytest

from axonad.errors import InputError
from axonad.report.comparisons import comparison_table, pairwise_table
from axonad.report.costs import failure_table, runtime_table
from axonad.report.quality import dataset_table, score_table
from tests.report.rows import make_rows, random_rows

BUILDERS = {
    "scores": score_table,
    "sets": lambda rows: score_table(rows, over="datasets"),
    "dataset": dataset_table,
    "runtime": runtime_table,
    "failures": failure_table,
    "pairwise": lambda rows: pairwise_table(rows, reference="AxonAD"),
    "published": lambda rows: comparison_table(
        [row for row in rows if row.label == "AxonAD"], published={"s001": 0.5, "s002": 0.4}
    ),
}


@pytest.fixture
def rows():
    return random_rows(5)


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
