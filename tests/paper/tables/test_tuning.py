from __future__ import annotations

import pytest

from axonad.paper.tables.tuning import choices_table, effects_table, settings_table, tuning_table
from axonad.paper.tuning import PUBLISHED, name_setting
from tests.paper.tuned import GRID, tuned_rows

WIDE = GRID | {"horizon": (1, 3, 5, 25)}


def test_the_short_table_has_the_best_the_published_and_the_worst():
    rows = tuned_rows(WIDE)
    every, table = settings_table(rows), tuning_table(rows)
    assert len(every.rows) == 32
    assert [line[0] for line in every.rows] == list(range(1, 33))
    assert table.rows[:10] == every.rows[:10]
    assert table.rows[-1] == every.rows[-1]
    assert "published" in [line[1] for line in table.rows]
    assert (every.rows[0][1], every.rows[-1][1]) == ("best", "worst")
    assert sum(line[-1] for line in every.rows) == pytest.approx(100)
    text = table.to_text()
    assert f"The published setting ({name_setting(PUBLISHED)}) has rank" in text
    assert "Best by VUS-PR" in text


def test_without_the_published_setting_the_table_says_so():
    rows = tuned_rows(GRID | {"tail": (3,)})
    assert "The published setting has no results on all series." in tuning_table(rows).notes


def test_one_series_has_no_intervals():
    table = settings_table(tuned_rows(series=1))
    assert {line[-1] for line in table.rows} == {None}
    assert {cell for row in table.text_rows() for cell in row[-2:]} == {"–"}


def test_effects_and_choices():
    table = effects_table(tuned_rows())
    assert [line[:3] for line in table.rows] == [
        ("T (window)", "50", 4), ("T (window)", "100", 4), ("lr", "0.0005", 4),
        ("lr", "0.001", 4), ("k (tail)", "3", 4), ("k (tail)", "10", 4),
    ]  # fmt: skip
    table = choices_table(tuned_rows())
    assert [line[0] for line in table.rows] == ["s0", "s1", "s2", "s3", "mean"]
    assert all("T 100" in str(line[1]) for line in table.rows[:-1])
    assert table.rows[-1][3] > table.rows[-1][5], "the choice is better than a random setting"


@pytest.mark.parametrize("make", [tuning_table, settings_table, effects_table, choices_table])
def test_the_order_of_rows_does_not_matter(make):
    rows = tuned_rows()
    assert make(rows).to_csv() == make(rows[::-1]).to_csv()
    assert "protocol parity" in make(rows).notes[0]
