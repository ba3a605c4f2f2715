from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
import scipy.stats

from axonad.errors import ConfigError, InputError, UnknownNameError
from axonad.report.statistics import bootstrap_interval, compare, holm, pair, summarise
from axonad.report.wilcoxon import wilcoxon_p
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


@pytest.mark.parametrize("n", [1, 2, 3, 7, 13, 14, 30, 50, 51, 180])
@pytest.mark.parametrize("shift", [0.0, 0.4])
@pytest.mark.parametrize("digits", [12, 1])
def test_wilcoxon_is_scipys_default(n, shift, digits):
    """One digit makes ties and zeros; sizes lie on both sides of every change of method."""
    for seed in range(3):
        deltas = np.random.default_rng(seed).normal(shift, 0.5, size=n).round(digits)
        if not deltas.any():
            continue
        expected = scipy.stats.wilcoxon(deltas).pvalue
        assert wilcoxon_p(deltas) == pytest.approx(expected, rel=1e-9)


def test_wilcoxon_far_out_is_still_a_number():
    deltas = np.linspace(0.1, 0.9, 180)
    assert wilcoxon_p(deltas) == pytest.approx(scipy.stats.wilcoxon(deltas).pvalue, rel=1e-9)
    assert 0 < wilcoxon_p(deltas) < 1e-30


def test_wilcoxon_without_differences():
    assert wilcoxon_p([0.0] * 5) == wilcoxon_p([0.0] * 100) == 1.0
    for bad in ([], [0.1, math.nan]):
        with pytest.raises(InputError, match="at least one difference, all of them finite"):
            wilcoxon_p(bad)


# -- bootstrap and Holm ------------------------------------------------------------------------


def test_bootstrap_is_deterministic_and_close_to_scipys():
    sample = np.random.default_rng(1).normal(0.2, 1.0, size=60)
    ours = bootstrap_interval(sample, seed=3)
    assert ours == bootstrap_interval(sample, seed=3) != bootstrap_interval(sample, seed=4)
    theirs = scipy.stats.bootstrap(
        (sample,), np.mean, method="percentile", n_resamples=10_000, rng=np.random.default_rng(0)
    ).confidence_interval
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.02)


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


def test_bootstrap_refuses_nonsense():
    with pytest.raises(InputError, match="a bootstrap needs 2 values or more, got 1"):
        bootstrap_interval([0.5])
    with pytest.raises(ConfigError, match=r"level must lie in \(0, 1\).*got 95 and 10"):
        bootstrap_interval([0.5, 0.6], level=95, resamples=10)


def test_holm_by_hand():
    # sorted .005 .01 .03 .04, times 4 3 2 1: .02 .03 .06 .04, never falling: .02 .03 .06 .06
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.5]) == [1.0, 1.0]
    assert holm([0.2]) == [0.2]
    assert holm([]) == []


# -- pairs -------------------------------------------------------------------------------------


def test_a_pair_leaves_out_what_either_lacks():
    rows = make_rows({"A": [0.1, None, 0.5, 0.7], "B": [0.3, 0.2, None, 0.6], "C": [0.0] * 4})
    both = pair(rows, baseline="B", reference="A")
    assert both.series == ("s0", "s3")
    assert both.left_out == 2
    np.testing.assert_allclose(both.deltas, [0.2, -0.1])


def test_compare_against_a_naive_twin():
    rows = random_rows(4)
    value = {(row.label, row.series): row.value("AUC-PR") for row in rows}
    names = [series for _, series in sorted({(row.dataset, row.series) for row in rows})]
    found = compare(rows, reference="AxonAD", metric="AUC-PR", seed=5)
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
        assert c.p_value == pytest.approx(scipy.stats.wilcoxon(deltas).pvalue, rel=1e-9)
        assert (c.low, c.high) == bootstrap_interval(deltas, seed=5)
        assert c.low < c.mean_delta < c.high
    assert [c.p_holm for c in found] == pytest.approx(holm([c.p_value for c in found]))
    assert found == compare(rows[::-1], reference="AxonAD", metric="AUC-PR", seed=5)
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
