from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from axonad.errors import ConfigError, InputError
from axonad.report.ranks import (
    chi_square_tail,
    critical_difference,
    find_cliques,
    friedman,
    range_quantile,
    rank_detectors,
)
from tests.report.rows import make_rows, random_rows


@pytest.mark.parametrize("digits", [12, 1])
@pytest.mark.parametrize("shape", [(3, 5), (4, 40), (31, 180)])
def test_friedman_is_scipys(shape, digits):
    values = np.random.default_rng(0).uniform(size=shape).round(digits)
    statistic, p = friedman(values)
    expected = scipy.stats.friedmanchisquare(*values)
    assert (statistic, p) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)


@pytest.mark.parametrize("freedom", [1, 2, 3, 10, 29])
@pytest.mark.parametrize("x", [0.0, 0.01, 1.0, 20.0, 900.0])
def test_chi_square_tail_is_scipys(freedom, x):
    expected = scipy.stats.chi2.sf(x, freedom)
    assert chi_square_tail(x, freedom=freedom) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("k", [2, 3, 10, 31, 50])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_range_quantile_is_scipys(k, level):
    expected = scipy.stats.studentized_range.ppf(level, k, np.inf)
    assert range_quantile(k, level=level) == pytest.approx(expected, abs=1e-6)


def test_critical_values_are_demsars():
    """Table 5(a) of Demsar (2006), q at 0.05 for two to ten classifiers."""
    table = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    ours = [range_quantile(k, level=0.95) / np.sqrt(2) for k in range(2, 11)]
    assert ours == pytest.approx(table, abs=0.0012)
    with pytest.raises(ConfigError, match=r"alpha must lie in \(0, 1\), got 5"):
        critical_difference(3, series=10, alpha=5)


def test_ranks_by_hand_and_only_where_all_finished():
    rows = make_rows({"A": [0.9, 0.8, 0.5, 0.7], "B": [0.5, 0.9, 0.5, 0.9], "C": [0.1, 0, 0, None]})
    ranking = rank_detectors(rows)
    assert ranking.names == ("A", "B", "C")
    assert ranking.ranks == pytest.approx((4.5 / 3, 4.5 / 3, 3))
    assert (ranking.series, ranking.left_out) == (3, 1)


def test_ranking_of_many():
    ranking = rank_detectors(random_rows(12, 60))
    assert ranking.names[0] == "AxonAD"
    assert list(ranking.ranks) == sorted(ranking.ranks)
    assert sum(ranking.ranks) == pytest.approx(12 * 13 / 2)
    assert ranking.p_value < 1e-10
    rank = dict(zip(ranking.names, ranking.ranks, strict=True))
    for clique in ranking.cliques:
        assert rank[clique[-1]] - rank[clique[0]] < ranking.critical_difference


def test_cliques_against_a_naive_twin():
    rng = np.random.default_rng(0)
    for _ in range(50):
        ranks = sorted(rng.uniform(1, 8, size=8).tolist())
        spans = [(i, j) for i in range(8) for j in range(i + 2, 9) if ranks[j - 1] - ranks[i] < 1.5]
        largest = [
            (i, j) for i, j in spans if not any((a, b) != (i, j) and a <= i and j <= b
                                                for a, b in spans)
        ]  # fmt: skip
        assert find_cliques(ranks, width=1.5) == largest


def test_ranks_exactly_the_critical_difference_apart_differ():
    assert find_cliques([1.0, 2.0, 2.5], width=1.0) == [(1, 3)]


def test_all_ties_are_one_clique_and_no_evidence():
    ranking = rank_detectors(make_rows({"A": [0.5] * 3, "B": [0.5] * 3, "C": [0.5] * 3}))
    assert (ranking.p_value, ranking.cliques) == (1.0, (("A", "B", "C"),))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"A": [0.1, 0.2]}, "ranks need 2 detectors or more, got A alone"),
        ({"A": [0.1], "B": [0.2]}, "ranks need 2 series or more with VUS-PR of every .* got 1"),
        ({"A": [0.1, 0.2], "B": [None, None]}, "got 0; B lacks 2 of 2"),
    ],
)
def test_ranks_say_what_they_lack(table, message):
    with pytest.raises(InputError, match=message):
        rank_detectors(make_rows(table))
