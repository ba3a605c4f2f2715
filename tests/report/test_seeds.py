from __future__ import annotations

import pytest

from axonad.report.seeds import common_runs, runs_by_seed, seed_means
from tests.report.rows import make_row


def test_only_series_that_all_seeds_have_are_averaged():
    rows = [make_row("A", "s0", 0.2, seed=1), make_row("A", "s1", 0.4, seed=1),
            make_row("A", "s0", 0.6, seed=2), make_row("A", "s1", None, seed=2)]  # fmt: skip
    runs = runs_by_seed(rows, metric="VUS-PR")
    assert runs == {1: {"s0": 0.2, "s1": 0.4}, 2: {"s0": 0.6}}
    kept = common_runs([runs])
    assert kept == {1: {"s0"}, 2: {"s0"}}
    assert seed_means(runs, kept) == pytest.approx([0.2, 0.6])


def test_seeds_with_series_of_their_own_keep_all_of_them():
    runs = {1: {"drive-1": 0.2}, 2: {"drive-2": 0.4}}
    assert common_runs([runs, {1: {"drive-1": 0.3}, 2: {"drive-2": 0.5}}]) == {
        1: {"drive-1"}, 2: {"drive-2"},
    }  # fmt: skip
    assert common_runs([]) == {}
