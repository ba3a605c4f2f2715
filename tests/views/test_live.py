"""Live rows of the views: each scores like the windows of its stream that end there."""

from __future__ import annotations

import numpy as np
import pytest

from axonad import Fleet, make_detector
from axonad.views import shape_live, shape_search
from tests.conftest import waves

VIEWS = {
    "ShapeMemory": {"lengths": (9, 30, 16), "directions": 5},
    "Forecast": {"lags": 4, "smooth": 6},
    "Relation": {"lags": 0, "smooth": 1},
}


def noisy(rows, seed, channels=3):
    return waves(rows, channels, seed) + 0.3 * np.random.default_rng(seed).normal(
        size=(rows, channels)
    )


@pytest.fixture(scope="module", params=VIEWS)
def fitted(request):
    return make_detector(request.param, **VIEWS[request.param]).fit(noisy(400, 0))


def check(fitted, live, slots, series, ends):
    scores, components = live.score(slots)
    history = fitted.history
    expected = [fitted.score_ends(series[s][ends[s] - history : ends[s]])[0][0] for s in slots]
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-12)
    assert components == {}


@pytest.mark.parametrize(("values", "together"), [(200, 8), (400_000, 3)])  # 200: two streams
def test_slots_out_of_step_score_like_their_windows(fitted, monkeypatch, values, together):
    monkeypatch.setattr(shape_live, "BATCH_VALUES", values)
    monkeypatch.setattr(shape_search, "TOGETHER", together)
    live, history = fitted.live_windows(), fitted.history
    series = [noisy(history + 60, seed) for seed in range(1, 6)]
    ends = [history, history + 4, history + 1, history + 24, history]
    for slot, (X, end) in enumerate(zip(series, ends, strict=True)):
        live.load(slot, X[end - history : end])
    rng = np.random.default_rng(0)
    for _ in range(40):
        some = rng.permutation(5)[: rng.integers(1, 6)].tolist()
        some = [slot for slot in some if ends[slot] < len(series[slot])]
        if some:
            live.append(some, np.stack([series[slot][ends[slot]] for slot in some]))
            for slot in some:
                ends[slot] += 1
            check(fitted, live, some, series, ends)


def test_many_rows_later_scores_are_as_exact(fitted):
    X, history = noisy(3000, 6), fitted.history
    X[500:700] += 1e6  # nothing of it may stay
    live = fitted.live_windows()
    live.load(0, X[:history])
    for i in range(history, len(X)):
        live.append([0], X[i : i + 1])
    check(fitted, live, [0], [X], [len(X)])


def test_a_slot_may_be_loaded_again_and_slots_may_be_far_apart(fitted):
    X, history = noisy(100, 7), fitted.history
    live = fitted.live_windows()
    for first in (0, 11):
        live.load(3, X[first : first + history])
        live.append([3], X[first + history : first + history + 1])
    check(fitted, live, [3], {3: X}, {3: 12 + history})


def test_live_windows_are_kept_until_the_detector_is_fitted_again(fitted):
    live = fitted.live_windows()
    assert fitted.live_windows(live) is live
    again = make_detector(type(fitted).__name__, **VIEWS[type(fitted).__name__])
    assert again.fit(noisy(300, 8)).live_windows(live) is not live


def test_a_fleet_gives_the_scores_placed_at_the_end(fitted):
    series = {f"car {seed}": noisy(fitted.history + 20, seed) for seed in range(1, 4)}
    fleet = Fleet(fitted)
    found = {name: [] for name in series}
    for step in range(fitted.history + 20):
        for name, given in fleet.push({name: X[step] for name, X in series.items()}).items():
            found[name] += [score for score in given.scores.tolist() if not np.isnan(score)]
    for name, X in series.items():
        np.testing.assert_allclose(found[name], fitted.score_ends(X)[0], rtol=1e-9, atol=1e-12)


def test_a_lookup_of_flat_windows_is_exact():
    """Most remembered windows are equal, which no bound can tell apart."""
    X = np.zeros((400, 2))
    X[::97] = 1.0
    X[1::97, 1] = 0.5
    detector = make_detector("ShapeMemory", lengths=(12,)).fit(X)
    Y = np.zeros((60, 2))
    Y[20:23] = 0.4
    live = detector.live_windows()
    live.load(0, Y[:12])
    found = []
    for row in Y[12:]:
        live.append([0], row[None])
        found.append(live.score([0])[0][0])
    np.testing.assert_allclose(found, detector.score_ends(Y)[0][1:], rtol=1e-6, atol=1e-6)
