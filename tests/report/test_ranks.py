from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from axonad.errors import InputError
from axonad.report.ranks import critical_difference, find_cliques, friedman, rank_detectors
from tests.report.rows import make_rows, random_rows


@pytest.mark.parametrize("digits", [12, 1])
@pytest.mark.parametrize("shape", [(3, 5), (4, 40), (31, 180)])
def test_friedman_is_scipys(shape, digits):
    values = np.random.default_rng(0).uniform(size=shape).round(digits)
    statistic, p = friedman(values)
    expected = scipy.stats.friedmanchisquare(*values)
    assert (statistic, p) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)


def test_friedman_of_two_detectors():
    """Ranks 2 and 1 on three of four series: 12 / (4 * 2 * 3) * (7² + 5²) - 3 * 4 * 3 = 1."""
    statistic, p = friedman(np.array([[0.9, 0.8, 0.7, 0.1], [0.1, 0.2, 0.3, 0.5]]))
    assert (statistic, p) == pytest.approx((1.0, 0.31731050786), rel=1e-9)


def test_critical_values_are_demsars():
    """Table 5(a) of Demsar (2006), q at 0.05 for two to ten classifiers."""
    table = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    ours = [critical_difference(k, series=1) / np.sqrt(k * (k + 1) / 6) for k in range(2, 11)]
    assert ours == pytest.approx(table, abs=0.0012)


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
