from __future__ import annotations

import pytest

from axonad.errors import ConfigError
from tests.model.naive import make_net


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"d_model": 100, "heads": 8}, r"heads \(8\) must divide d_model \(100\)"),
        ({"horizon": 20}, r"horizon must be below window \(20\), got 20"),
        ({"tail": 21}, r"tail must be at most window \(20\), got 21"),
        ({"dilations": (1, 10_001)}, "dilations must be at most 10000, got 10001"),
    ],
)
def test_impossible_sizes_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        make_net(**changes)


@pytest.mark.parametrize(("horizon", "tail", "steps"), [(1, 5, 5), (18, 10, 2), (1, 20, 19)])
def test_steps_without_a_prediction_are_not_scored(horizon, tail, steps):
    assert make_net(horizon=horizon, tail=tail).config.scored_steps == steps


def test_each_convolution_computes_what_the_next_one_reads():
    config = make_net(window=100, dilations=(1, 2, 4, 8)).config
    assert config.reach == 2 * (1 + 2 + 4 + 8)
    assert config.layer_steps(10) == [38, 34, 26, 10]  # 10, then 2 · 8, 2 · 4, 2 · 2 more
    assert make_net(dilations=(1, 2, 4, 8)).config.layer_steps(10) == [20, 20, 20, 10]
