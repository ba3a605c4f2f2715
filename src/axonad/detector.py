"""The contract every detector keeps.

``fit(X)`` learns from an array (time, channels) assumed normal and returns self.
``decision_function(X)`` returns one finite float per row of ``X``, higher is stranger, and changes
nothing. ``predict(X)`` returns 0/1 with ``threshold_``, set from training scores alone. Labels
are never used.

A detector is a keyword-only dataclass; its fields are its hyper-parameters. A new one writes
``_fit`` and ``_score``, and ``_state`` / ``_restore`` if it can be saved. Input is checked here,
once, before any of them is called.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from axonad import modelfile
from axonad.config import check_choice, check_float, check_names, outlier_tags
from axonad.data.frames import Matrix, Names, check_finite, check_sound, match_channels, to_matrix
from axonad.errors import ConfigError, DivergedError, InputError, NotFittedError
from axonad.explanation import Explanation
from axonad.live_windows import LiveWindows
from axonad.threshold import THRESHOLDS, Event, check_rate, set_threshold

FORMAT = 1
FILES = ("detector.json", "state.safetensors")
KIND = "axonad-detector"
Parts = tuple[NDArray[np.float64], dict[str, NDArray[np.float64]], NDArray[np.float64] | None]


@dataclass(kw_only=True, eq=False, repr=False)
class Detector(ABC):
    """Base of every detector: checks the input, keeps names and threshold, saves and loads.

    Parameters
    ----------
    contamination
        Share of normal steps that may lie above ``threshold_``.
    threshold
        Rule that sets ``threshold_`` from the training scores: ``"pot"`` (extreme values, also for
        shares rarer than the training series is long), ``"quantile"`` or ``"conformal"``; see
        :mod:`axonad.threshold`.
    """

    contamination: float = 1e-4
    threshold: str = "pot"

    changeable: ClassVar[frozenset[str]] = frozenset()
    """Parameters that may change after ``fit``, because scoring reads them anew."""
    parity: ClassVar[Mapping[str, Any]] = {}
    """Parameters the parity protocol sets: what the published runs used where defaults differ."""

    def __post_init__(self) -> None:
        self._check_params()

    # -- the contract ------------------------------------------------------------------------

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn what normal looks like from ``X`` (time, channels) and return self.

        ``y`` is there because scikit-learn pipelines pass it; it is never read.
        """
        before = dict(vars(self))
        try:
            self._fit_checked(*self._admitted(X))
        except BaseException:  # whatever went wrong, an interrupt too: what was fitted stays
            vars(self).clear()
            vars(self).update(before)
            raise
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return one score per row of ``X``, higher is stranger."""
        return self._finite(self._score(self._checked(X)))

    def predict(self, X: Any) -> NDArray[np.int8]:
        """Return 1 for each row of ``X`` that scores above ``threshold_``, else 0."""
        return (self.decision_function(X) > self.threshold_).astype(np.int8)

    def components(self, X: Any) -> dict[str, NDArray[np.float64]]:
        """Return the named parts the score is made of, each one value per row of ``X``."""
        return self._explain(self._checked(X), blame=False)[1]

    def events(self, X: Any, *, gap: int = 0, top: int = 4) -> list[Event]:
        """Return the alarms in ``X`` as events: when, how strong, and the ``top`` channels."""
        return self.explain(X).events(gap=gap, top=top)

    def explain(self, X: Any, *, blame: bool = True) -> Explanation:
        """Return scores, parts and, if asked, the channels to blame, from one pass over ``X``."""
        scores, parts, channels = self._explain(self._checked(X), blame=blame)
        return Explanation(self._finite(scores), parts, channels, self.threshold_, self._names)

    @property
    def labels_(self) -> NDArray[np.int8]:
        """0/1 for the training rows, as ``predict`` would say (PyOD's name for it)."""
        self._require_fitted()
        return (self.decision_scores_ > self.threshold_).astype(np.int8)

    @property
    def history(self) -> int:
        """How many rows, the current one included, a score needs."""
        return 1

    @property
    def why_not_causal(self) -> str:
        """Why a score depends on more than its own window, and what to do; empty if causal."""
        return ""

    @property
    def is_causal(self) -> bool:
        """Whether the score of a full window depends on nothing behind that window."""
        return not self.why_not_causal

    @property
    def fingerprint(self) -> str:
        """A digest of what was learned and how; equal for a detector and its saved copy."""
        self._require_fitted()
        params = {k: v for k, v in self.get_params().items() if k not in self.changeable}
        return modelfile.fingerprint([type(self).__name__, params, self._names], self._state()[1])

    # -- what a detector writes --------------------------------------------------------------

    @abstractmethod
    def _fit(self, X: Matrix, names: Names) -> NDArray[np.float64] | None:
        """Learn from checked data; return its scores if they are known by the way, else None."""

    @abstractmethod
    def _score(self, X: Matrix) -> NDArray[np.float64]:
        """Return one score per row of checked data."""

    def _score_ends(self, X: Matrix) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
        """Return score and components of each row that has its full history, none behind it."""
        return self._score(X)[self.history - 1 :], {}

    def _live(self, before: LiveWindows | None = None) -> LiveWindows | None:
        """Return what scores streams row by row, ``before`` if still true; None: score windows."""
        return None

    def _explain(self, X: Matrix, *, blame: bool) -> Parts:
        """Return per row score, components and, if known and asked for, channels' strangeness."""
        scores = self._score(X)
        return scores, {"score": scores}, None

    def _state(self) -> tuple[dict[str, Any], modelfile.Arrays]:
        """Return what was learned as JSON values and arrays."""
        raise ConfigError(f"{type(self).__name__} cannot be saved")

    def _restore(self, values: Mapping[str, Any], arrays: modelfile.Arrays) -> None:
        """Take back what ``_state`` returned; raise KeyError or ValueError on what does not fit."""
        raise ConfigError(f"{type(self).__name__} cannot be loaded")

    def _check_params(self) -> None:
        """Refuse impossible parameters; subclasses add theirs."""
        check_float("contamination", self.contamination, above=0, below=0.5)
        check_choice("threshold", self.threshold, THRESHOLDS)

    # -- scikit-learn's manners --------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all parameters by name (``deep`` is scikit-learn's and changes nothing here)."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def set_params(self, **params: Any) -> Self:
        """Change parameters; all of them are checked before any is kept."""
        check_names(type(self), params)
        before = {name: getattr(self, name) for name in params}
        try:
            for name, value in params.items():
                setattr(self, name, value)
            self._check_params()
        except Exception:
            for name, value in before.items():
                setattr(self, name, value)
            raise
        return self

    def __repr__(self) -> str:
        changed = (
            f"{field.name}={getattr(self, field.name)!r}"
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "threshold_")

    def __sklearn_tags__(self) -> Any:
        return outlier_tags()

    # -- files -------------------------------------------------------------------------------

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write the fitted detector to ``detector.json`` and ``state.safetensors`` in ``folder``.

        An existing save is only replaced with ``overwrite=True``.
        """
        from axonad import __version__

        self._require_fitted()
        values, arrays = self._state()
        document = {
            "kind": KIND,
            "format": FORMAT,
            "axonad": __version__,
            "detector": type(self).__name__,
            "params": self.get_params(),
            "channels": None if self._names is None else list(self._names),
            "channel_count": self.n_features_in_,
            "threshold": self.threshold_,
            "state": values,
        }
        arrays = {**arrays, "training_scores": self.decision_scores_}
        modelfile.write(folder, names=FILES, document=document, arrays=arrays, overwrite=overwrite)

    def _load(self, document: Mapping[str, Any], arrays: modelfile.Arrays) -> Self:
        """Take back a saved document; a missing or misshapen entry raises KeyError or the like."""
        channels = document["channels"]
        self.n_features_in_ = int(document["channel_count"])
        if channels is not None:
            if len(channels) != self.n_features_in_:
                raise ValueError("channel names and channel count differ")
            self.feature_names_in_ = np.array([str(name) for name in channels], dtype=object)
        self.threshold_ = float(document["threshold"])
        self.decision_scores_ = arrays.pop("training_scores")
        self._restore(document["state"], arrays)
        self._fitted_with = self.get_params()
        return self

    # -- checks ------------------------------------------------------------------------------

    @property
    def _names(self) -> Names:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(names.tolist())

    def _admitted(self, X: Any) -> tuple[Matrix, Names]:
        """Return ``X`` as a matrix to learn from, and its names, or refuse it."""
        self._check_params()
        values, names = to_matrix(X)
        check_sound(values, names)
        self._check_rows(values, self.history)
        check_rate(rule=self.threshold, rate=self.contamination, steps=len(values))
        return values, names

    def _checked(self, X: Any) -> Matrix:
        """Return ``X`` as a matrix that fits the fitted detector, or refuse it."""
        self._require_fitted()
        values, names = to_matrix(X)
        values = match_channels(values, names, expected=self._names, count=self.n_features_in_)
        check_finite(values, self._names or names, purpose="X")
        self._check_rows(values, self.history)
        return values

    def _check_rows(self, X: Matrix, history: int) -> None:
        if len(X) < history:
            raise InputError(
                f"window must be at most the series length {len(X)}, got {history}; "
                f"X needs at least {history} rows"
            )

    def _require_fitted(self) -> None:
        if not hasattr(self, "threshold_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit(X) first")
        for name, value in self._fitted_with.items():
            now = getattr(self, name)
            if now != value and name not in self.changeable:
                raise ConfigError(
                    f"{name} is now {now!r} but the detector was fitted with {value!r}; "
                    "set it back or call fit again"
                )

    def _fit_checked(self, X: Matrix, names: Names) -> None:
        self._forget()
        scores = self._fit(X, names)
        self.n_features_in_ = X.shape[1]
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        self._fitted_with = self.get_params()
        self.decision_scores_ = self._finite(self._score(X) if scores is None else scores)
        self.threshold_ = set_threshold(
            self.decision_scores_, rule=self.threshold, rate=self.contamination
        )

    def _forget(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_") or name == "_fitted_with"]:
            delattr(self, name)

    def _finite(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Refuse to hand out scores that are not numbers."""
        scores = np.asarray(scores, dtype=np.float64)
        if not np.isfinite(scores).all():
            raise DivergedError(
                f"{type(self).__name__} gave scores that are not finite; look for extreme values "
                "in X and in the training data, or fit a network again with a smaller lr"
            )
        return scores
