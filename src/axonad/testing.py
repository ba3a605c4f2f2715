"""Checks every detector must pass, shipped with the package.

``run_checks(make)`` runs them all on detectors from ``make()``, a function that returns a new,
unfitted, quick one. Each check states one promise of the contract in :mod:`axonad.detector`.

>>> from axonad.testing import CHECKS
>>> "scores_are_finite_one_per_row" in CHECKS
True
"""

from __future__ import annotations

import copy
import pickle
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from axonad.detector import Detector
from axonad.errors import AxonADError, ChannelError, InputError, NotFittedError
from axonad.registry import load
from axonad.stream import StreamScorer

Make = Callable[[], Detector]


class CheckError(AxonADError, AssertionError):
    """A detector broke a promise of the contract."""


def run_checks(make: Make) -> None:
    """Run every check; the first broken promise raises :class:`CheckError`."""
    for check in CHECKS.values():
        check(make)


def example(rows: int = 400, channels: int = 3, seed: int = 0) -> NDArray[np.float64]:
    """Return channels that move together, with a little noise."""
    rng = np.random.default_rng(seed)
    phase = np.arange(rows)[:, None] / 7 + np.arange(channels)[None, :]
    return np.asarray(np.sin(phase) + 0.05 * rng.normal(size=(rows, channels)))


def scores_are_finite_one_per_row(make: Make) -> None:
    """One finite float64 per row, also for rows never seen."""
    detector = make().fit(example())
    for X in (example(), example(seed=1), 50 * example(rows=133, seed=2)):
        scores = detector.decision_function(X)
        _require(scores.shape == (len(X),), f"scores have shape {scores.shape} for {len(X)} rows")
        _require(scores.dtype == np.float64, f"scores are {scores.dtype}, not float64")
        _require(bool(np.isfinite(scores).all()), "scores are not finite")


def predict_is_the_threshold(make: Make) -> None:
    """Alarms are scores above a threshold that came from training scores."""
    detector = make().fit(example())
    X = example(seed=1)
    alarms = detector.predict(X)
    _require(set(np.unique(alarms)) <= {0, 1}, "predict returned something other than 0 and 1")
    same = (detector.decision_function(X) > detector.threshold_) == alarms
    _require(bool(same.all()), "predict disagrees with threshold_")
    level = float(np.median(detector.decision_scores_))
    _require(detector.threshold_ >= level, "threshold_ lies below the middle of training scores")


def same_seed_same_scores(make: Make) -> None:
    """Two detectors made and fitted alike give identical scores."""
    first, second = make().fit(example()), make().fit(example())
    X = example(seed=1)
    equal = np.array_equal(first.decision_function(X), second.decision_function(X))
    _require(equal, "the same parameters and data gave different scores")


def scoring_changes_nothing(make: Make) -> None:
    """Input and detector are the same before and after scoring."""
    detector = make().fit(example())
    X = example(seed=1)
    kept = X.copy()
    first = detector.decision_function(X)
    detector.decision_function(example(seed=2))
    _require(np.array_equal(X, kept), "decision_function changed its input")
    _require(np.array_equal(first, detector.decision_function(X)), "scoring twice differs")


def labels_are_ignored(make: Make) -> None:
    """``fit`` takes scikit-learn's ``y`` and never reads it."""
    X = example()
    with_labels = make().fit(X, np.ones(len(X)))
    equal = np.array_equal(make().fit(X).decision_scores_, with_labels.decision_scores_)
    _require(equal, "labels changed the scores")


def planted_anomaly_stands_out(make: Make) -> None:
    """A stretch of wild values scores above the normal median."""
    detector = make().fit(example(rows=600))
    X = example(rows=400, seed=1)
    X[200:230] += 8 * np.random.default_rng(3).normal(size=(30, X.shape[1]))
    scores = detector.decision_function(X)
    normal = np.concatenate([scores[:100], scores[330:]])
    _require(scores[200:230].max() > np.quantile(normal, 0.9), "a planted anomaly is not ranked")


def bad_input_is_refused(make: Make) -> None:
    """Each kind of unusable input raises InputError with a reason."""
    X = example()
    broken = X.copy()
    broken[17, 1] = np.nan
    for bad in (X[:, 0], X[:0], broken, np.full_like(X, np.inf), [["a", "b"]], X[None]):
        _raises(InputError, partial(make().fit, bad), "fit took unusable input")
    detector = make().fit(X)
    for bad in (X[:, 0], X[:0], broken, np.array([["a"] * X.shape[1]] * 200)):
        _raises(InputError, partial(detector.decision_function, bad), "scored bad input")
    _raises(ChannelError, lambda: detector.decision_function(X[:, :2]), "took 2 of 3 channels")


def unfitted_is_refused(make: Make) -> None:
    """Scoring and saving before fit raise NotFittedError."""
    with tempfile.TemporaryDirectory() as folder:
        for use in (
            lambda: make().decision_function(example()),
            lambda: make().predict(example()),
            lambda: make().save(Path(folder) / "model"),
        ):
            _raises(NotFittedError, use, "an unfitted detector was used")


def parameters_round_trip(make: Make) -> None:
    """get_params rebuilds an equal detector; set_params changes one; unknown names are refused."""
    detector = make()
    twin = type(detector)(**detector.get_params())
    _require(twin.get_params() == detector.get_params(), "get_params does not rebuild the detector")
    detector.set_params(contamination=0.05)
    _require(detector.get_params()["contamination"] == 0.05, "set_params did not set")
    _raises(ValueError, lambda: detector.set_params(no_such=1), "set_params took an unknown name")


def copies_score_alike(make: Make) -> None:
    """Copies by deepcopy and pickle (between processes, never to disk) keep what was fitted."""
    detector = make().fit(example())
    X = example(seed=1)
    expected = detector.decision_function(X)
    for twin in (copy.deepcopy(detector), pickle.loads(pickle.dumps(detector))):  # noqa: S301
        _require(np.array_equal(twin.decision_function(X), expected), "a copy scores differently")


def saved_is_the_same(make: Make) -> None:
    """A loaded detector gives the same scores, threshold and parameters."""
    detector = make().fit(example())
    X = example(seed=1)
    with tempfile.TemporaryDirectory() as folder:
        detector.save(folder)
        twin = load(folder)
    _require(twin.get_params() == detector.get_params(), "parameters changed on disk")
    _require(twin.threshold_ == detector.threshold_, "threshold_ changed on disk")
    same = np.array_equal(twin.decision_function(X), detector.decision_function(X))
    _require(same, "a loaded detector scores differently")


def constant_channel_is_fine(make: Make) -> None:
    """A channel that never moves in training neither breaks fit nor scoring, even if it moves."""
    X = example()
    X[:, 1] = 3.0
    detector = make().fit(X)
    moved = example(seed=1)
    for data in (X, moved):
        scores = detector.decision_function(data)
        _require(bool(np.isfinite(scores).all()), "a constant channel gave infinite scores")
    make().fit(np.zeros((400, 2)))


def one_channel_is_enough(make: Make) -> None:
    """A single channel works."""
    scores = make().fit(example(channels=1)).decision_function(example(channels=1, seed=1))
    _require(bool(np.isfinite(scores).all()), "one channel gave infinite scores")


def number_types_agree(make: Make) -> None:
    """float32, integers and lists are taken as the numbers they are."""
    X = np.round(100 * example())
    expected = make().fit(X).decision_function(X)
    for same in (X.astype(np.float32), X.astype(np.int32), X.tolist()):
        scores = make().fit(same).decision_function(same)
        close = np.allclose(scores, expected, rtol=1e-2, atol=1e-2)
        _require(close, f"{type(same).__name__} input scores differently")


def causal_claim_holds(make: Make) -> None:
    """A detector that calls itself causal gives the same live scores whatever comes later."""
    detector = make().fit(example())
    if not detector.is_causal:
        return
    X = example(rows=200, seed=1)
    changed = X.copy()
    changed[150:] = 9.0
    before = detector.score_ends(X)[0][: 150 - detector.history + 1]
    after = detector.score_ends(changed)[0][: 150 - detector.history + 1]
    _require(np.allclose(before, after, rtol=1e-5, atol=1e-5), "the future changed a causal score")


def stream_equals_batch(make: Make) -> None:
    """Row by row gives the scores of the batch."""
    detector = make().fit(example())
    if not detector.is_causal:
        return
    X = example(rows=detector.history + 20, seed=1)
    expected = detector.score_ends(X)[0]
    scorer = StreamScorer(detector)
    live = [result.score for row in X if (result := scorer.push(row)) is not None]
    _require(np.allclose(live, expected, rtol=1e-5, atol=1e-5), "live and batch scores differ")


CHECKS: dict[str, Callable[[Make], None]] = {
    check.__name__: check
    for check in (
        scores_are_finite_one_per_row,
        predict_is_the_threshold,
        same_seed_same_scores,
        scoring_changes_nothing,
        labels_are_ignored,
        planted_anomaly_stands_out,
        bad_input_is_refused,
        unfitted_is_refused,
        parameters_round_trip,
        copies_score_alike,
        saved_is_the_same,
        constant_channel_is_fine,
        one_channel_is_enough,
        number_types_agree,
        causal_claim_holds,
        stream_equals_batch,
    )
}


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise CheckError(message)


def _raises(error: type[Exception], action: Callable[[], object], otherwise: str) -> None:
    try:
        action()
    except error as found:
        _require(bool(str(found)), f"{error.__name__} without a reason")
        return
    raise CheckError(otherwise)
