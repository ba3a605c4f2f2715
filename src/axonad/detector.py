"""The contract every detector keeps.

``fit(X)`` learns from an array (time, channels) assumed normal and returns self.
``decision_function(X)`` returns one finite float per row of ``X``, higher is more anomalous, and
changes nothing. ``predict(X)`` returns 0/1 with ``threshold_``, set from training scores alone.
Labels are never used.

A detector is a keyword-only dataclass; its fields are its hyper-parameters. A new one writes
``_fit`` and ``_score``, and ``_state`` / ``_restore`` if it can be saved. Input is checked here,
once, before any of these is called.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from axonad.alarmed import Alarmed
from axonad.config import build, check_choice, check_float, outlier_tags
from axonad.data.context import Context, NewContext
from axonad.data.frames import Matrix, Names, check_finite, match_channels, to_matrix
from axonad.data.holding import learn_hold
from axonad.data.recordings import Recordings
from axonad.data.units import check_units, common_units
from axonad.errors import ConfigError
from axonad.explain import Reference
from axonad.explanation import Explanation, scene_of
from axonad.fit_report import report_fit
from axonad.live_windows import LiveWindows, Scored
from axonad.progress import Stopwatch
from axonad.stretches import Parts, cuts_of, finite_scores, score_stretches, stretches_of
from axonad.threshold import THRESHOLDS, set_threshold
from axonad.training_data import (
    TrainingData,
    as_list,
    check_length,
    gather_for,
    list_long,
    timed,
)
from axonad.without_channels import HINT, without_channels

if TYPE_CHECKING:
    from axonad.selftest import SelfTest

Learn = Callable[[Matrix, Names], NDArray[np.float64] | None]


@dataclass(kw_only=True, eq=False, repr=False)
class Detector(Alarmed):
    """Base of every detector: checks the input, keeps names and threshold, saves and loads.

    Parameters
    ----------
    contamination
        Share of normal steps that may lie above ``threshold_``.
    threshold
        Rule that sets ``threshold_`` from the training scores: ``"pot"`` (extreme value theory),
        ``"quantile"`` or ``"conformal"``; see :mod:`axonad.threshold`.
    """

    contamination: float = 1e-4
    threshold: str = "pot"
    context: tuple[str, ...] = ()
    alarm_budget: str | None = None
    seconds_per_step: float | None = None

    parity: ClassVar[Mapping[str, Any]] = {}
    """Parameters of the parity protocol: those of the paper's runs, where our defaults differ."""
    leaderboard: ClassVar[Mapping[str, Any]] = {}
    """Parameters of TSB-AD's leaderboard of 2024, where they differ from parity."""
    end_is_shift: ClassVar[bool] = True
    """Whether scores at the end of windows are those at their centre, moved by half a window."""

    # -- the contract ------------------------------------------------------------------------

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn what normal looks like from ``X`` (time, channels) and return self.

        A list of Series, frames or two-dimensional arrays is a set of recordings, and no window
        reaches from one to the next. ``y`` exists because scikit-learn pipelines pass it; it is
        ignored.
        """
        X = timed(X)
        values, names, recordings, interval = self.training_data(X)
        return self.fit_by(
            self._fit, values, names, interval=interval, recordings=recordings, source=as_list(X)
        )

    def fit_by(
        self,
        learn: Learn,
        X: Matrix,
        names: Names,
        *,
        interval: float | None = None,
        recordings: Recordings | None = None,
        source: Sequence[Any] | None = None,
        explained: bool = True,
    ) -> Self:
        """Fit with ``learn`` in place of ``_fit``, on checked data from :meth:`training_data`.

        ``recordings`` says how the rows divide, by default not at all; ``source`` are the
        recordings as they were given, which alarms are calibrated on. ``explained`` keeps a sample
        of the rows, by which events are explained. If anything fails, an
        interrupt included, the detector stays as it was.
        """
        before, source = dict(vars(self)), [X] if source is None else source
        try:
            self._prepare_alarms(source, interval)
            for name in [n for n in before if n.endswith("_") or n == "_fitted_with"]:
                delattr(self, name)
            self.stopwatch_ = watch = Stopwatch()
            self.units_ = common_units(source)
            self.recordings_ = Recordings.one(len(X)) if recordings is None else recordings
            self.context_ = Context.learn(self.context, X, names)
            with watch.whole("learning"):
                scores = learn(self.in_context(X), names)
            self.n_features_in_ = X.shape[1]
            if names is not None:
                self.feature_names_in_ = np.array(names, dtype=object)
            self.interval_ = interval
            self.hold_ = learn_hold(source, names, interval)
            self._fitted_with = self.get_params()
            if scores is None:
                with watch.part("training scores"):
                    scores = self.recordings_.each(self._score, self.in_context(X))
            self.decision_scores_ = finite_scores(scores, of=self)
            self.threshold_ = set_threshold(
                self.decision_scores_, rule=self.threshold, rate=self.contamination
            )
            if explained:
                with watch.part("reference"):
                    self.reference_ = Reference.learn(
                        X, names, breaks=[part.start for part in self.recordings_.parts[1:]],
                        context=self.context_columns,
                    )  # fmt: skip
            with watch.part("calibration"):
                calibration = self._calibrate_alarms(source, X)
            self.fit_report_ = report_fit(self, X, names, calibration)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return one score per row of ``X``; higher is more anomalous.

        A :class:`~axonad.data.series.Series` with gaps in its times or unusable rows is scored
        stretch by stretch. Rows without a full window get NaN; an array has no such rows.
        """
        return self._by_stretch(X, lambda rows: (self._score(rows), {}, None))[0][0]

    def predict(self, X: Any) -> NDArray[np.int8]:
        """Return 1 for each row of ``X`` that scores above ``threshold_``, else 0."""
        return (self.decision_function(X) > self.threshold_).astype(np.int8)

    def components(self, X: Any) -> dict[str, NDArray[np.float64]]:
        """Return the named parts the score is made of, each one value per row of ``X``."""
        return self._by_stretch(X, lambda rows: self._explain(rows, blame=False))[0][1]

    def explain(self, X: Any, *, blame: bool = True) -> Explanation:
        """Return scores, components and, with ``blame``, a value per channel, in one pass."""

        def explain(rows: Matrix) -> Parts:
            scores, components, blamed = self._explain(rows, blame=blame)
            return scores, components, self._withhold_context(blamed)

        X = self.timed(X)
        found, cuts = self._by_stretch(X, explain)
        scene = partial(scene_of, self, X, cuts)
        return Explanation(
            *found, self.threshold_, self.channel_names, cuts, self.lead, self.scores_at_end, scene
        )

    scene = scene_of
    without = without_channels

    def score_rows(self, X: Matrix) -> NDArray[np.float64]:
        """Return one score per row of checked data without gaps."""
        return finite_scores(self._score(self.in_context(X)), of=self)

    def self_test(self, X: Any, **settings: Any) -> SelfTest:
        """Plant faults into held-out normal data, one series or a list; return which are found.

        ``settings`` are the fields of :class:`~axonad.selftest.settings.Settings`.
        """
        from axonad.selftest import Settings, run_self_test

        self.check_fitted()
        parts = list_long([self.timed(part) for part in as_list(X)], self.history)
        checked = [self._checked(part) for part in parts]
        return run_self_test(self, parts, checked, build(Settings, settings))

    def score_ends(self, X: Matrix) -> Scored:
        """Return score and components of each row of checked data that has its full history.

        Each is the score of the window that ends at the row, as live streams need it.
        """
        scores, components = self._score_ends(self.in_context(X))
        return finite_scores(scores, of=self), components

    def live_windows(self, before: LiveWindows | None = None) -> LiveWindows | None:
        """Return an object that scores streams row by row, None if windows must be scored whole.

        ``before`` is the object of an earlier call; it is returned again while it is still valid.
        """
        return None

    @property
    def labels_(self) -> NDArray[np.int8]:
        """0/1 for the training rows, as ``predict`` would return (PyOD's name for it)."""
        self.check_fitted()
        return (self.decision_scores_ > self.threshold_).astype(np.int8)

    @property
    def history(self) -> int:
        """Number of rows a score needs, the current one included."""
        return 1

    @property
    def why_not_causal(self) -> str:
        """Why a score depends on rows after its window, and what to do; empty if it does not."""
        return ""

    @property
    def is_causal(self) -> bool:
        """Whether the score of a full window depends on nothing after that window."""
        return not self.why_not_causal

    def check_causal(self, purpose: str) -> None:
        """Raise ConfigError unless the detector is fitted and causal."""
        self.check_fitted()
        if why := self.why_not_causal:
            raise ConfigError(f"{type(self).__name__} cannot {purpose} as it was fitted: {why}")

    # -- what a detector writes --------------------------------------------------------------

    @abstractmethod
    def _fit(self, X: Matrix, names: Names) -> NDArray[np.float64] | None:
        """Learn from checked data; return its scores if training yields them, else None."""

    @abstractmethod
    def _score(self, X: Matrix) -> NDArray[np.float64]:
        """Return one score per row of checked data."""

    def _score_ends(self, X: Matrix) -> Scored:
        """Return score and components of each row that has its full history."""
        return self._score(X)[self.history - 1 :], {}

    def _explain(self, X: Matrix, *, blame: bool) -> Parts:
        """Return per row the score, its components and, with ``blame``, a value per channel."""
        scores = self._score(X)
        return scores, {"score": scores}, None

    def _check_params(self) -> None:
        super()._check_params()
        check_float("contamination", self.contamination, above=0, below=0.5)
        check_choice("threshold", self.threshold, THRESHOLDS)

    def __sklearn_tags__(self) -> Any:
        return outlier_tags()

    # -- checks ------------------------------------------------------------------------------

    def training_data(self, X: Any) -> TrainingData:
        """Return ``X``, one series or several recordings, as rows to learn from."""
        self._check_params()
        return gather_for(self, timed(X))

    def rows_needed(self, X: Matrix, recordings: Recordings) -> int:
        """Return how many rows the shortest stretch of some training data must have."""
        return self.history

    def _by_stretch(
        self, X: Any, explain: Callable[[Matrix], Parts]
    ) -> tuple[Parts, tuple[int, ...]]:
        """Check ``X`` and score each of its stretches without a gap; return the cuts too."""
        X = self.timed(X)
        values = self._checked(X)
        parts = stretches_of(X, window=self.history, interval=self.interval_, split=self.is_causal)

        def finite(rows: Matrix) -> Parts:
            scores, components, blame = explain(rows)
            return finite_scores(scores, of=self), components, blame

        return score_stretches(finite, values, parts), cuts_of(parts, len(values))

    def new_context(self, X: Any) -> tuple[NewContext, ...]:
        """Return the context channels that leave their training range in ``X``, and how far."""
        X = self.timed(X)
        return self._find_new_context(X, self.matched(X), self.channel_names)

    def matched(self, X: Any) -> Matrix:
        """Return ``X`` as a matrix with the channels of training, all values finite."""
        X = self.timed(X)
        check_units(self.units_, X)
        values, names = to_matrix(X)
        known = self.channel_names
        count, of = self.n_features_in_, type(self).__name__
        values = match_channels(values, names, expected=known, count=count, of=of, hint=HINT)
        check_finite(values, known or names, purpose="X")
        return values

    def _checked(self, X: Any) -> Matrix:
        """Return ``X`` as a matrix to score, in context; raise InputError if it is invalid."""
        values = self.matched(X)
        check_length(values, self.history)
        return self._enter_context(X, values, self.channel_names)
