from __future__ import annotations

import numpy as np
import pytest

from axonad.errors import InputError, UnknownNameError
from axonad.report.results_grid import collect
from tests.report.rows import make_row, make_rows


def test_a_failed_run_is_a_gap_and_no_zero():
    grid = collect(make_rows({"A": [0.4, None], "B": [0.1, 0.3]}), metric="VUS-PR")
    np.testing.assert_array_equal(grid.values, [[0.4, np.nan], [0.1, 0.3]])
    assert grid.failed == (1, 0)


def test_seeds_are_averaged_per_series_before_anything_else():
    rows = [make_row("A", "s0", v, seed=i) for i, v in enumerate([0.2, 0.4, None])]
    rows += [make_row("A", "s1", 0.9)]
    grid = collect(rows, metric="VUS-PR")
    np.testing.assert_allclose(grid.values, [[0.3, 0.9]])
    assert grid.failed == (1,)


def test_the_order_of_rows_does_not_matter_but_the_last_of_a_job_counts():
    rows = make_rows({"B": [0.1, 0.2], "A": [0.3, 0.4]})
    one, two = collect(rows, metric="AUC-PR"), collect(rows[::-1], metric="AUC-PR")
    assert one.names == two.names == ("A", "B")
    np.testing.assert_array_equal(one.values, two.values)
    again = collect([*rows, make_row("A", "s0", 0.9)], metric="AUC-PR")
    assert again.of("A").tolist() == [0.9, 0.4]


def test_protocols_are_lines_of_their_own():
    rows = [make_row("A", value=0.2), make_row("A", value=0.8, protocol="causal")]
    grid = collect(rows, metric="VUS-PR")
    assert grid.names == ("A (causal)", "A (parity)")
    assert grid.values.ravel().tolist() == [0.8, 0.2]
    assert grid.setting == (
        "Suite made-up; split eval; protocols causal, parity; VUS window rule tsb-ad-2026."
    )
    with pytest.raises(UnknownNameError, match=r"'A' stands for A \(causal\) and A \(parity\)"):
        grid.of("A")


def test_a_bare_label_will_do_where_it_is_unique():
    rows = [make_row("A", value=0.2), make_row("B", value=0.8, protocol="causal")]
    assert collect(rows, metric="VUS-PR").of("A").tolist() == [0.2]
    with pytest.raises(UnknownNameError, match="detector 'C' has no rows"):
        collect([make_row("C (authors)")], metric="VUS-PR").of("C")


def test_parts_and_numbers_of_a_row_are_columns_too():
    rows = [make_row("A", parts={"d_rec": 0.7}), make_row("A", "s1")]
    np.testing.assert_array_equal(collect(rows, metric="VUS-PR d_rec").values, [[0.7, np.nan]])
    assert collect(rows, metric="fit_seconds").values.tolist() == [[2.0, 2.0]]
    assert collect(rows, metric="R-based-F1").values.tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "there are no rows; run a benchmark first"),
        ([make_row(), make_row("B", suite="other")], "the suites made-up, other; pass those of"),
        (
            [make_row(), make_row(key="other")],
            r"A \(parity\) has two rows for s0 with seed 0; choose one VUS window",
        ),
        (
            [make_row(), make_row("A", "s1", window_rule="tsb-ad-1.5")],
            r"rows of protocol parity mix the VUS windows tsb-ad-1.5, tsb-ad-2026",
        ),
    ],
)
def test_rows_that_must_not_be_averaged(rows, message):
    with pytest.raises(InputError, match=message):
        collect(rows, metric="VUS-PR")


def test_unknown_names():
    with pytest.raises(UnknownNameError, match=r"metric 'VUS-PT' .* did you mean 'VUS-PR'"):
        collect([make_row()], metric="VUS-PT")
    with pytest.raises(UnknownNameError, match=r"'AxonDA' has no rows.*did you mean 'AxonAD'"):
        collect([make_row("AxonAD")], metric="VUS-PR").of("AxonDA")
