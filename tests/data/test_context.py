"""Context channels: range and median of training, what is new, and messages."""

from __future__ import annotations

import json

import numpy as np
import pytest

from axonad.data.context import Context, ContextWatch, check_context, check_rest, find_columns
from axonad.errors import ChannelError, ConfigError, InputError
from tests.conftest import waves

NAMES = ("speed", "ambient", "odometer")


def learned(values=((1.0, 18.0, 100.0), (2.0, 24.0, 200.0), (3.0, 20.0, 300.0))):
    context = Context.learn(("odometer", "ambient"), np.array(values), NAMES)
    assert context is not None
    return context


def test_range_and_median_are_values_that_were_seen():
    context = learned()
    assert context.columns == (1, 2)
    assert context.low.tolist() == [18, 100]
    assert context.high.tolist() == [24, 300]
    assert context.middle.tolist() == [20, 200]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_clip_and_hold_change_a_copy_of_the_context_only(dtype):
    X = np.array([[9, 30, 150], [9, 0, 1e6]], dtype=dtype)
    context = learned()
    assert context.clip(X).tolist() == [[9, 24, 150], [9, 18, 300]]
    assert context.hold(X).tolist() == [[9, 20, 200], [9, 20, 200]]
    assert X[1, 2] == 1e6
    assert context.clip(X).dtype == dtype
    inside = context.clip(X)
    assert context.clip(inside) is inside


def test_no_context_learns_nothing():
    assert Context.learn((), waves(10), None) is None


def test_json_round_trip_and_damage():
    context = learned()
    document = json.loads(json.dumps(context.to_json()))
    twin = Context.from_json(document, columns=(1, 2))
    assert twin.to_json() == context.to_json()
    for change in (
        {"columns": [0, 2]}, {"low": [1.0]}, {"high": [0.0, 0.0]}, {"middle": [None, 1.0]},
        {"low": ["a", "b"]}, {"high": [float("inf"), 300.0]},
    ):  # fmt: skip
        with pytest.raises((ValueError, TypeError)):
            Context.from_json({**document, **change}, columns=(1, 2))


def watched(*rows, clips=True):
    watch = ContextWatch(learned(), NAMES, clips=clips)
    return watch, [list(map(str, watch.add(np.array([row])))) for row in rows]


def test_what_is_new_is_said_once():
    watch, said = watched([0, -5, 150], [0, 2, 150], [0, 20, 400])
    assert said == [
        ["ambient is -5 here, training saw 18 to 24: new context, other channels are judged as at "
         "18"],
        [],
        ["odometer is 150 to 400 here, training saw 100 to 300: new context, other channels are "
         "judged as at 300"],
    ]  # fmt: skip
    assert str(watch.found[0]).startswith("ambient is -5 to 20 here")


def test_a_detector_that_holds_the_context_judges_at_its_median():
    watch, _ = watched([0, -5, 150], clips=False)
    assert watch.found[0].judged_at == (20.0,)


def test_hardly_outside_and_missing_is_not_new():
    watch, said = watched([0, 24.05, np.nan], [0, 17.95, 100])
    assert said == [[], []]
    assert watch.found == ()


def test_both_sides():
    watch, _ = watched([0, -5, 150], [0, 35, 150])
    assert watch.found[0].judged_at == (18.0, 24.0)


def test_state_of_a_watch():
    watch, _ = watched([0, -5, np.nan])
    state = json.loads(json.dumps(watch.state()))
    assert state == [[-5, -5], None]
    twin = ContextWatch(learned(), NAMES, clips=True)
    twin.restore(state)
    assert twin.found == watch.found
    assert twin.add(np.array([[0, -6.0, 150]])) == []
    for bad in ([[0, 1]], [[2, 1], None], [["a", "b"], None], {"a": 1}, [[1], None]):
        with pytest.raises((ValueError, TypeError)):
            ContextWatch(learned(), NAMES, clips=True).restore(bad)


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ("ambient", r"must be a tuple of channel names, got 'ambient'; write \('ambient',\)"),
        (3, "must be a tuple of channel names, got 3"),
        ((1.5,), "must be a tuple of channel names"),
        (("a", "a"), "must name each channel once, got 'a' twice"),
    ],
)
def test_parameter_is_checked(context, message):
    with pytest.raises(ConfigError, match=message):
        check_context(context)


def test_unknown_channels():
    with pytest.raises(ChannelError, match=r"'ambiant' not in the training data; did you mean 'am"):
        find_columns(("ambiant",), NAMES, 3)
    with pytest.raises(ChannelError, match=r"'7' not in the training data; choose from 0, 1, 2"):
        find_columns(("7",), None, 3)
    assert find_columns(("2", 0), None, 3) == [0, 2]


def test_something_is_left_to_judge():
    X = waves(20)
    with pytest.raises(InputError, match="all 3 channels are context, so that none is left"):
        check_rest(NAMES, X, NAMES)
    X[:, 0] = 1.0
    with pytest.raises(InputError, match="all channels but the context are constant"):
        check_rest(("ambient", "odometer"), X, NAMES)
    check_rest((), X, NAMES)
