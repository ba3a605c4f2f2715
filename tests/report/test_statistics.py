from __future__ import annotations

import itertools
import math
import statistics

import numpy as np
import pytest

from axonad.errors import ConfigError, InputError, UnknownNameError
from axonad.report.results_grid import collect
from axonad.report.statistics import (
    bootstrap_interval,
    compare,
    holm,
    mean_difference,
    summarise,
    wilcoxon_p,
)
from tests.report.rows import make_row, make_rows, random_rows

# -- summary -----------------------------------------------------------------------------------


def test_a_failed_series_never_counts_as_zero():
    whole, gap = summarise(make_rows({"A": [0.4, 0.6], "B": [0.8, None]}))
    assert (gap.mean, gap.series, gap.missing, gap.failed) == (0.8, 1, 1, 1)
    assert math.isnan(gap.std)
    assert (whole.mean, whole.series, whole.missing) == (0.5, 2, 0)
    assert whole.std == pytest.approx(statistics.stdev([0.4, 0.6]))


def test_a_series_never_run_is_missing_too():
    rows = [*make_rows({"A": [0.4, 0.6, 0.8]}), make_row("B", "s1", 0.3)]
    assert [(s.name, s.missing, s.failed) for s in summarise(rows)] == [("A", 0, 0), ("B", 2, 0)]


def test_over_datasets_every_data_set_has_the_same_weight():
    sets = ["X", "X", "X", "Y"]
    rows = make_rows({"A": [0.1, 0.2, 0.3, 0.8], "B": [0.5, None, 0.5, None]}, datasets=sets)
    a, b = summarise(rows, over="datasets")
    assert a.mean == pytest.approx((0.2 + 0.8) / 2)
    assert a.std == pytest.approx(statistics.stdev([0.2, 0.8]))
    assert (a.series, a.datasets, b.series, b.datasets, b.missing) == (4, 2, 2, 1, 2)
    assert summarise(rows)[0].mean == pytest.approx(0.35)


def test_a_detector_that_always_failed_has_no_mean():
    summary = summarise(make_rows({"A": [0.1], "B": [None]}))[1]
    assert math.isnan(summary.mean)
    assert (summary.series, summary.datasets, summary.missing) == (0, 0, 1)


def test_over_what():
    with pytest.raises(ConfigError, match="over must be one of series, datasets, got 'sets'"):
        summarise([make_row()], over="sets")


# -- Wilcoxon ----------------------------------------------------------------------------------


def naive_wilcoxon(deltas):
    """Return the two-sided p-value over all choices of signs, zeros dropped, ties averaged."""
    kept = [d for d in deltas if d]
    sizes = sorted(abs(d) for d in kept)
    ranks = [statistics.mean(i + 1 for i, s in enumerate(sizes) if s == abs(d)) for d in kept]
    seen = sum(rank for rank, d in zip(ranks, kept, strict=True) if d > 0)
    sums = [sum(c) for c in itertools.product(*((0, rank) for rank in ranks))]
    tails = sum(t <= seen for t in sums), sum(t >= seen for t in sums)
    return min(1.0, 2 * min(tails) / len(sums))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 10])
@pytest.mark.parametrize("digits", [12, 1])
def test_wilcoxon_of_few_differences_counts_all_signs(n, digits):
    """One digit makes ties and zeros."""
    deltas = np.random.default_rng(n).normal(0.3, 0.5, size=n).round(digits)
    assert wilcoxon_p(deltas) == pytest.approx(naive_wilcoxon(deltas), rel=1e-9)


def test_wilcoxon_of_many_differences_is_the_normal_approximation():
    deltas = np.linspace(-0.2, 0.7, 60) + 0.001
    n = deltas.size
    ranks = np.argsort(np.argsort(np.abs(deltas))) + 1
    z = (ranks[deltas > 0].sum() - n * (n + 1) / 4) / math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    assert wilcoxon_p(deltas) == pytest.approx(math.erfc(z / math.sqrt(2)), rel=1e-9)
    assert 0 < wilcoxon_p(np.linspace(0.1, 0.9, 180)) < 1e-30


def test_wilcoxon_without_differences():
    assert wilcoxon_p([0.0] * 5) == wilcoxon_p([0.0] * 100) == 1.0
    for bad in ([], [0.1, math.nan]):
        with pytest.raises(InputError, match="at least one difference, all of them finite"):
            wilcoxon_p(bad)


# -- bootstrap and Holm ------------------------------------------------------------------------


@pytest.mark.parametrize("statistic", [np.mean, np.median])
def test_bootstrap_equals_its_naive_twin(statistic):
    sample = np.random.default_rng(1).normal(0.2, 1.0, size=60)
    drawn = sample[np.random.default_rng(0).integers(60, size=(1001, 60))]
    expected = np.quantile(statistic(drawn, axis=1), [0.025, 0.975])
    assert bootstrap_interval(sample, statistic=statistic, resamples=1001) == pytest.approx(
        expected
    )


def test_bootstrap_in_batches_resamples_as_often(monkeypatch):
    sample = np.arange(10.0)
    whole = bootstrap_interval(sample, resamples=1001)
    monkeypatch.setattr("axonad.report.statistics._BATCH", 70)
    assert bootstrap_interval(sample, resamples=1001) == whole


def test_bootstrap_covers_the_true_mean_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(400, 40))
    inside = 0
    for sample in samples:
        low, high = bootstrap_interval(sample, resamples=500)
        inside += low <= 0 <= high
    assert 0.90 <= inside / 400 <= 0.98


def test_bootstrap_of_one_value_is_refused():
    with pytest.raises(InputError, match="a bootstrap needs 2 values or more, got 1"):
        bootstrap_interval([0.5])


def test_holm_by_hand():
    # sorted .005 .01 .03 .04, times 4 3 2 1: .02 .03 .06 .04, never falling: .02 .03 .06 .06
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.5]) == [1.0, 1.0]
    assert holm([0.2]) == [0.2]
    assert holm([]) == []


# -- pairs -------------------------------------------------------------------------------------


def test_a_mean_difference_is_over_the_series_both_have():
    rows = make_rows({"A": [0.1, None, 0.5, 0.7], "B": [0.3, 0.2, None, 0.6]})
    grid = collect(rows, metric="VUS-PR")
    assert mean_difference(grid, "B", "A") == pytest.approx(0.05)
    assert math.isnan(mean_difference(grid, "B", "C"))


def test_compare_against_a_naive_twin():
    rows = random_rows(4)
    value = {(row.label, row.series): row.value("AUC-PR") for row in rows}
    names = [series for _, series in sorted({(row.dataset, row.series) for row in rows})]
    found = compare(rows, reference="AxonAD", metric="AUC-PR")
    assert len(found) == 3
    for c in found:
        deltas = [
            value[c.baseline, s] - value["AxonAD", s]
            for s in names
            if value[c.baseline, s] is not None and value["AxonAD", s] is not None
        ]
        assert c.series == len(deltas)
        assert c.left_out == len(names) - len(deltas)
        assert c.wins == sum(d > 0 for d in deltas)
        assert c.win_rate == c.wins / len(deltas)
        assert c.mean_delta == pytest.approx(statistics.mean(deltas))
        assert c.median_delta == pytest.approx(statistics.median(deltas))
        assert c.p_value == pytest.approx(wilcoxon_p(deltas))
        assert (c.low, c.high) == bootstrap_interval(deltas)
        assert c.low < c.mean_delta < c.high
    assert [c.p_holm for c in found] == pytest.approx(holm([c.p_value for c in found]))
    assert found == compare(rows[::-1], reference="AxonAD", metric="AUC-PR")
    assert [c.mean_delta for c in found] == sorted((c.mean_delta for c in found), reverse=True)


def test_ties_are_neither_wins_nor_losses():
    rows = make_rows({"A": [0.5, 0.5, 0.5, 0.5], "B": [0.5, 0.5, 0.6, 0.1]})
    (c,) = compare(rows, reference="A")
    assert (c.wins, c.losses, c.ties, c.win_rate) == (1, 1, 2, 0.25)


def test_all_ties_are_no_evidence():
    (c,) = compare(make_rows({"A": [0.5, 0.6], "B": [0.5, 0.6]}), reference="A")
    assert (c.p_value, c.p_holm, c.mean_delta, c.low, c.high) == (1, 1, 0, 0, 0)


def test_a_baseline_that_always_failed_does_not_spoil_the_family():
    rows = make_rows({"A": [0.5, 0.6, 0.7], "B": [0.4, 0.5, 0.6], "C": [None] * 3})
    good, bad = compare(rows, reference="A")
    assert (good.baseline, bad.baseline, bad.series, bad.left_out) == ("B", "C", 0, 3)
    assert good.p_holm == good.p_value
    assert all(math.isnan(x) for x in (bad.win_rate, bad.p_value, bad.p_holm, bad.low))


@pytest.mark.parametrize(
    ("table", "reference", "error", "message"),
    [
        ({"A": [0.5, 0.6]}, "A", InputError, "nothing to compare A with; it is the only detector"),
        ({"A": [0.5], "B": [0.6]}, "A", InputError, "needs 2 series or more that A .* got 1"),
        ({"A": [None] * 2, "B": [0.6] * 2}, "A", InputError, "A and another detector .* got 0"),
        ({"Axon": [0.5] * 2, "B": [0.6] * 2}, "Axom", UnknownNameError, "did you mean 'Axon'"),
    ],
)
def test_compare_says_what_it_lacks(table, reference, error, message):
    with pytest.raises(error, match=message):
        compare(make_rows(table), reference=reference)
