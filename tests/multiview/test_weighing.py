"""The rule that weighs views."""

from __future__ import annotations

from itertools import pairwise

import pytest

from axonad.multiview.weighing import describe, weigh

ALL = ("shape", "forecast", "relation", "network")


def skills(shape):
    return {name: {"noisy": shape if name == "shape" else 0.9, "frozen": shape} for name in ALL}


@pytest.mark.parametrize(
    ("shape", "network", "forecast"),
    [(0.5, 0.5, 0.5), (0.6, 0.5, 0.5), (0.65, 0.325, 0.25), (0.7, 0.15, 0.0), (1.0, 0.15, 0.0)],
)
def test_the_predicting_views_count_where_the_shape_memory_is_blind(shape, network, forecast):
    weights = weigh(ALL, skills(shape))
    assert weights["shape"] == 1
    assert weights["network"] == pytest.approx(network)
    assert weights["forecast"] == weights["relation"] == pytest.approx(forecast)


def test_without_a_self_test_all_views_count():
    assert weigh(ALL, None) == {"shape": 1, "forecast": 0.5, "relation": 0.5, "network": 0.5}


def test_without_the_shape_memory_all_views_count_alike():
    assert weigh(("relation", "network"), None) == {"relation": 1, "network": 1}
    assert weigh(("shape",), None) == {"shape": 1}


def test_more_skill_of_the_shape_memory_never_gives_other_views_more_weight():
    series = [weigh(ALL, skills(value / 100)) for value in range(40, 101)]
    for before, after in pairwise(series):
        assert all(after[name] <= before[name] for name in ALL)


def test_weights_and_skills_are_told_in_one_line():
    line = describe({"shape": 1.0, "network": 0.5}, None)
    assert line == ("weights of the views: shape 1, network 0.5; there was no self-test of them")
