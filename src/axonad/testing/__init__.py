"""Checks that every detector has to pass, for use in the tests of your own detectors.

``run_checks(make)`` runs all of them; ``make()`` has to return a new, unfitted detector that fits
within a second. Each check covers one promise of :mod:`axonad.detector`.

>>> from axonad.testing import CHECKS
>>> "scores_are_finite_one_per_row" in CHECKS
True
"""

from __future__ import annotations

import copy
import pickle
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from axonad.errors import (
    ChannelError,
    ConfigError,
    DataWarning,
    InputError,
    NotFittedError,
)
from axonad.registry import load
from axonad.stream import TOLERANCE, Session
from axonad.testing.recordings import recordings_are_kept_apart
from axonad.testing.requirements import CheckError, Make, example
from axonad.testing.requirements import require as _require
from axonad.testing.requirements import require_equal as _require_equal
from axonad.testing.requirements import require_finite as _require_finite
from axonad.testing.requirements import require_raises as _require_raises

__all__ = ["CHECKS", "CheckError", "example", "run_checks"]


def run_checks(make: Make) -> None:
    """Run every check; the first that fails raises :class:`CheckError`."""
    for check in CHECKS.values():
        check(make)


def scores_are_finite_one_per_row(make: Make) -> None:
    """``decision_function`` returns one finite float64 per row, also for unseen rows."""
    detector = make().fit(example())
    for X in (example(), example(seed=1), 50 * example(rows=133, seed=2)):
        scores = detector.decision_function(X)
        _require(scores.shape == (len(X),), f"scores have shape {scores.shape} for {len(X)} rows")
        _require(scores.dtype == np.float64, f"scores are {scores.dtype}, not float64")
        _require_finite(scores)


def predict_is_the_threshold(make: Make) -> None:
    """``predict`` is 1 where the score exceeds a threshold set from training scores."""
    detector = make().fit(example())
    X = example(seed=1)
    alarms = detector.predict(X)
    _require(set(np.unique(alarms)) <= {0, 1}, "predict returned values other than 0 and 1")
    _require_equal(detector.decision_function(X) > detector.threshold_, alarms, "predict differs")
    median = float(np.median(detector.decision_scores_))
    _require(detector.threshold_ >= median, "threshold_ is below the median training score")


def same_seed_same_scores(make: Make) -> None:
    """Two detectors with the same parameters and training data give identical scores."""
    first, second = (make().fit(example()).decision_function(example(seed=1)) for _ in range(2))
    _require_equal(first, second, "the same parameters and data gave different scores")


def scoring_changes_nothing(make: Make) -> None:
    """Scoring modifies neither its input nor the detector."""
    detector = make().fit(example())
    X = example(seed=1)
    first = detector.decision_function(X)
    detector.decision_function(example(seed=2))
    _require_equal(X, example(seed=1), "decision_function changed its input")
    _require_equal(first, detector.decision_function(X), "scoring twice gave different scores")


def labels_are_ignored(make: Make) -> None:
    """``fit`` accepts scikit-learn's ``y`` and ignores it."""
    X = example()
    without, given = make().fit(X), make().fit(X, np.ones(len(X)))
    _require_equal(without.decision_scores_, given.decision_scores_, "labels changed the scores")


def planted_anomaly_stands_out(make: Make) -> None:
    """A block of large noise scores above 90 % of the normal steps."""
    detector = make().fit(example(rows=600))
    X = example(rows=400, seed=1)
    X[200:230] += 8 * np.random.default_rng(3).normal(size=(30, X.shape[1]))
    scores = detector.decision_function(X)
    normal = np.concatenate([scores[:100], scores[330:]])
    found = scores[200:230].max() > np.quantile(normal, 0.9)
    _require(bool(found), "a planted anomaly scores no higher than normal steps")


def bad_input_is_refused(make: Make) -> None:
    """Unusable input raises ``InputError`` with a message."""
    X = example()
    broken = X.copy()
    broken[17, 1] = np.nan
    still = np.zeros_like(X)
    for bad in (X[:, 0], X[:0], broken, np.full_like(X, np.inf), [["a", "b"]], X[None], still):
        _require_raises(InputError, partial(make().fit, bad), "fit accepted unusable input")
    score = make().fit(X).decision_function
    for bad in (X[:, 0], X[:0], broken, np.array([["a"] * X.shape[1]] * 200)):
        _require_raises(InputError, partial(score, bad), "unusable input was scored")
    _require_raises(ChannelError, partial(score, X[:, :2]), "2 of 3 channels were scored")


def unfitted_is_refused(make: Make) -> None:
    """Scoring and saving before ``fit`` raise ``NotFittedError``."""
    with tempfile.TemporaryDirectory() as folder:
        for use in (
            lambda: make().decision_function(example()),
            lambda: make().predict(example()),
            lambda: make().save(Path(folder) / "model"),
        ):
            _require_raises(NotFittedError, use, "an unfitted detector was used")


def parameters_round_trip(make: Make) -> None:
    """``get_params`` rebuilds the detector; ``set_params`` rejects unknown names."""
    detector = make()
    twin = type(detector)(**detector.get_params())
    _require(twin.get_params() == detector.get_params(), "get_params does not rebuild the detector")
    detector.set_params(contamination=0.05)
    _require(detector.get_params()["contamination"] == 0.05, "set_params had no effect")
    set_unknown = partial(detector.set_params, no_such=1)
    _require_raises(ValueError, set_unknown, "set_params accepted an unknown name")


def copies_score_alike(make: Make) -> None:
    """Copies by ``deepcopy`` and ``pickle`` (between processes) give the same scores."""
    detector = make().fit(example())
    X = example(seed=1)
    expected = detector.decision_function(X)
    for twin in (copy.deepcopy(detector), pickle.loads(pickle.dumps(detector))):  # noqa: S301
        _require_equal(twin.decision_function(X), expected, "a copy scores differently")


def saved_is_the_same(make: Make) -> None:
    """A loaded detector has the same scores, threshold and parameters."""
    detector = make().fit(example())
    X = example(seed=1)
    with tempfile.TemporaryDirectory() as folder:
        detector.save(folder)
        twin = load(folder)
    _require(twin.get_params() == detector.get_params(), "loading changed the parameters")
    _require(twin.threshold_ == detector.threshold_, "loading changed threshold_")
    expected = detector.decision_function(X)
    _require_equal(twin.decision_function(X), expected, "a loaded detector scores differently")


def constant_channel_is_fine(make: Make) -> None:
    """A channel that is constant in training gives finite scores, even if it varies later.

    It is never blamed where it does not move.
    """
    X = example()
    X[:, 1] = 3.0
    detector = make().fit(X)
    for data in (X, example(seed=1)):
        _require_finite(detector.decision_function(data))
    X[200:230, 0] += 5.0
    blamed = {channel for event in detector.events(X, top=3) for channel in event.channels}
    _require("1" not in blamed, "a channel that never moved was blamed")


def one_channel_is_enough(make: Make) -> None:
    """A single channel gives finite scores."""
    detector = make().fit(example(channels=1))
    _require_finite(detector.decision_function(example(channels=1, seed=1)))


def number_types_agree(make: Make) -> None:
    """float32, integer and list input score like float64."""
    X = np.round(100 * example())
    expected = make().fit(X).decision_function(X)
    for same in (X.astype(np.float32), X.astype(np.int32), X.tolist()):
        scores = make().fit(same).decision_function(same)
        close = np.allclose(scores, expected, rtol=1e-2, atol=1e-2)
        _require(close, f"{type(same).__name__} input scores differently")


def causal_claim_holds(make: Make) -> None:
    """The scores of a causal detector do not depend on later rows; others say why they do."""
    detector = make().fit(example())
    if not detector.is_causal:
        _require(bool(detector.why_not_causal), "a detector that is not causal must say why")
        return
    X = example(rows=200, seed=1)
    changed = X.copy()
    changed[150:] = 9.0
    before, after = (
        detector.score_ends(data)[0][: 150 - detector.history + 1] for data in (X, changed)
    )
    close = np.allclose(before, after, rtol=TOLERANCE, atol=TOLERANCE)
    _require(close, "later rows changed the scores of a causal detector")


def stream_equals_batch(make: Make) -> None:
    """Row by row, a causal detector gives the scores of the whole series; others are refused."""
    detector = make().fit(example())
    if not detector.is_causal:
        refused = "a detector that is not causal must not score streams"
        _require_raises(ConfigError, lambda: Session(detector), refused)
        return
    X = example(rows=detector.history + 20, seed=1)
    expected = detector.score_ends(X)[0]
    live = _live_scores(detector, X)
    close = np.allclose(live, expected, rtol=TOLERANCE, atol=TOLERANCE)
    _require(close, "row by row the scores differ from those of the whole series")


def _live_scores(detector: Any, X: Any) -> Any:
    """Return the scores of rows that come one by one."""
    session = Session(detector)
    scores = np.concatenate([session.push(row).scores for row in X])
    return scores[np.isfinite(scores)]


def context_is_not_judged(make: Make) -> None:
    """A context channel raises no alarm and no blame; saved and live scores are the same."""
    X = example()
    X[:, 1] = np.linspace(0.0, 1.0, len(X))
    detector = make().set_params(context=("1",)).fit(X)
    edge = example(rows=detector.history + 40, seed=1)
    edge[:, 1] = 1.0
    far = edge.copy()
    far[:, 1] = np.linspace(1e3, 1e6, len(far))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # that the context is new
        scores, blame = detector.decision_function(far), detector.explain(far).blame
        _require_equal(scores, detector.decision_function(edge), "an unseen context changed scores")
        withheld = blame is None or not np.isfinite(blame[:, 1]).any()
        _require(bool(withheld), "a context channel was blamed")
        with tempfile.TemporaryDirectory() as folder:
            detector.save(folder)
            _require_equal(load(folder).decision_function(far), scores, "a saved context differs")
        if detector.is_causal:
            live = _live_scores(detector, far)
            close = np.allclose(live, detector.score_ends(far)[0], rtol=TOLERANCE, atol=TOLERANCE)
            _require(close, "row by row the scores in context differ from those of the series")


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
        context_is_not_judged,
        recordings_are_kept_apart,
    )
}
