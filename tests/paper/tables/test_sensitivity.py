"""Curves over a parameter: the same runs at every value, a band over seeds."""

from __future__ import annotations

import numpy as np
import pytest

from axonad.bench.suite import read_suite
from axonad.errors import InputError
from axonad.paper.published import paper_sensitivity
from axonad.paper.tables.sensitivity import SWEPT, sensitivity, sensitivity_table
from tests.conftest import ROOT
from tests.report.rows import make_row

DEFAULTS = {"horizon": 1, "tail": 10, "window": 100}


def row(label, series, seed, value):
    name, _, number = label.partition("-")
    params = DEFAULTS | ({name: int(number)} if number else {})
    return make_row(label, series, value, seed=seed, params=params)


def grid(labels=("base", "horizon-3", "horizon-25"), seeds=(1, 2), series=("a", "b")):
    rng = np.random.default_rng(0)
    return [row(x, s, seed, float(rng.uniform())) for x in labels for seed in seeds for s in series]


def test_mean_over_series_and_deviation_over_seeds():
    rows = [
        row("base", "a", 1, 0.2), row("base", "b", 1, 0.4), row("base", "a", 2, 0.4),
        row("base", "b", 2, 0.6), row("horizon-5", "a", 1, 0.1), row("horizon-5", "b", 1, 0.1),
        row("horizon-5", "a", 2, 0.1), row("horizon-5", "b", 2, 0.1), row("tail-3", "a", 1, 0.9),
    ]  # fmt: skip
    first, second = sensitivity(rows, parameter="horizon", metric="VUS-PR")
    assert (first.value, second.value) == (1, 5)
    assert first.mean == pytest.approx(0.4)
    assert first.std == pytest.approx(np.std([0.3, 0.5], ddof=1))
    assert (first.series, first.seeds) == (2, 2)
    assert second.std == pytest.approx(0)


def test_only_runs_that_every_value_has_count():
    rows = [r for r in grid() if (r.label, r.series, r.seed) != ("horizon-3", "b", 2)]
    points = sensitivity(rows, parameter="horizon", metric="VUS-PR")
    assert [(p.series, p.seeds) for p in points] == [(1, 2)] * 3
    rows = [r for r in grid() if (r.label, r.seed) != ("horizon-3", 2)]
    points = sensitivity(rows, parameter="horizon", metric="VUS-PR")
    assert [(p.series, p.seeds) for p in points] == [(2, 1)] * 3
    assert np.isnan(points[0].std)


def test_a_generated_series_belongs_to_its_seed():
    rows = [row(x, f"drive-{s}", s, s / 10) for x in ("base", "tail-3") for s in (1, 2)]
    points = sensitivity(rows, parameter="tail", metric="VUS-PR")
    assert [(p.value, p.series, p.seeds) for p in points] == [(3, 2, 2), (10, 2, 2)]
    assert points[0].mean == pytest.approx(0.15)


def test_table_has_a_line_per_value_with_the_papers_beside_ours():
    table = sensitivity_table(grid(("base", "horizon-3", "tail-3", "window-50")))
    assert [line[:2] for line in table.rows] == [
        (SWEPT["horizon"], 1), (SWEPT["horizon"], 3), (SWEPT["tail"], 3), (SWEPT["tail"], 10),
        (SWEPT["window"], 50), (SWEPT["window"], 100),
    ]  # fmt: skip
    assert "0.641" in table.to_text(), "the paper's value"


def test_rows_without_a_curve_are_refused():
    with pytest.raises(InputError, match="no parameter has two values"):
        sensitivity_table(grid(("base",)))


def test_the_suite_has_the_values_of_the_paper():
    suite = read_suite(ROOT / "benchmarks/paper/sensitivity", data=ROOT)
    found = {(k, v) for e in suite.detectors for k, v in e.params.items()} | set(DEFAULTS.items())
    assert set(paper_sensitivity()) <= found
    assert {("window", 50), ("window", 200)} <= found
    assert all(len(e.params) <= 1 for e in suite.detectors), "one at a time"
