"""MultiView: a shape memory, a forecast, a relation and a network look at the same series.

The score is the weighted sum of the views' scores, each in units of what normal rows gave that the
view had not learned from (:mod:`axonad.score.level`). The weights are decided by a self-test
during ``fit``; :mod:`axonad.multiview.weighing` has the rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from axonad.config import build, check_bool, check_choice, check_int
from axonad.data.frames import Matrix, Names
from axonad.data.recordings import Recordings
from axonad.data.windows import ALIGNMENTS
from axonad.detector import Detector
from axonad.errors import ConfigError, InputError
from axonad.extras import need
from axonad.live_windows import LiveWindows, Scored
from axonad.modelfile import Arrays, check_entries, check_number, take
from axonad.multiview.installed import VIEWS, WITHOUT_TORCH
from axonad.multiview.live import ManyWindows, WholeWindows
from axonad.multiview.weighing import Skills, describe, weigh
from axonad.score.level import Level, Values
from axonad.selftest.ranking import Scorer, rank_faults
from axonad.stretches import Parts
from axonad.views.view import HeldOutView, View

OF_NETWORK = ("window", "d_model", "heads", "epochs", "epoch_windows", "seed")
IN_DEVIATIONS = ("forecast", "relation")  # their scores are not in units of held-out scores yet

GROUND = 8_000  # most rows into which faults are planted
SIZES, CHANNELS, REPEATS = (1.0,), 6, 2  # of planted faults, see selftest.ranking.rank_faults


@dataclass(kw_only=True, eq=False, repr=False)
class MultiView(Detector):
    """Several views of a series, weighed by which of them find planted faults on it.

    Parameters
    ----------
    views
        Any of ``"shape"``, ``"forecast"``, ``"relation"``, ``"network"``. Without the network, a
        fit takes seconds and needs no torch.
    window, d_model, heads, epochs, epoch_windows
        Of the network, see :class:`axonad.Network`.
    self_tested
        Weigh the views by a self-test; False gives all of them the weight 1.
    align
        ``"center"`` of the windows (best for recorded data) or their ``"end"`` (as live).
    seed
        Seed of the network and of the planted faults.
    device, verbose
        Of the network: ``"auto"``, ``"cpu"``, ``"cuda"``, ``"mps"``; a progress bar on terminals.

    Attributes
    ----------
    views_, weights_
        The fitted views and their weights in the score, by name.
    skills_
        How well each view finds each kind of planted fault; None where there was no self-test.
    """

    views: tuple[str, ...] = tuple(VIEWS)
    window: int = 100
    d_model: int = 128
    heads: int = 8
    epochs: int = 12
    epoch_windows: int | None = 600
    self_tested: bool = True
    align: str = "center"
    seed: int = 2024
    device: str = "auto"
    verbose: bool = True

    changeable: ClassVar[frozenset[str]] = frozenset({"align", "device", "verbose"})
    end_is_shift: ClassVar[bool] = False
    holds_out: ClassVar[bool] = True
    conditions: ClassVar[bool] = True
    divides: ClassVar[bool] = True
    can_score_without: ClassVar[bool] = True

    def changes_without(self) -> dict[str, Any]:
        """Return the views that learn in seconds: all but the network."""
        views = tuple(name for name in self.views if name != "network")
        if not views:
            raise ConfigError(
                "a MultiView with the network alone cannot score without a channel; fit one with "
                f"other views: {', '.join(name for name in VIEWS if name != 'network')}"
            )
        return {"views": views}

    @property
    def history(self) -> int:
        """Rows a score needs: those of the view that needs most."""
        views = vars(self).get("views_") or self._make_views()
        return max(view.history for view in views.values())

    # -- fitting -----------------------------------------------------------------------------

    def rows_needed(self, X: Matrix, recordings: Recordings) -> int:
        """Return how many rows the shortest stretch of some training data must have."""
        return max(view.rows_needed(X, recordings) for view in self._make_views().values())

    def _fit(self, X: Matrix, names: Names) -> Values:
        views, held_out = self._make_views(), {}
        for name, view in views.items():
            text = "" if name == "network" else f"fitting the view {name}"  # it has a bar
            with self.stopwatch_.part(name, text=text, show=self.verbose):
                held_out[name] = view.fit_and_hold_out(X, names, self.recordings_)
        self.views_: dict[str, Detector] = dict(views)
        self._levels = {
            name: Level.fit(self.views_[name].decision_scores_)
            for name in self.views
            if name in IN_DEVIATIONS
        }
        self.skills_: Skills | None = None
        if self.self_tested:
            text = "planting faults, to see which view finds them"
            with self.stopwatch_.part("self-test", text=text, show=self.verbose):
                self.skills_ = self._find_skills(X, held_out)
        self.weights_ = (
            weigh(self.views, self.skills_) if self.self_tested else dict.fromkeys(self.views, 1.0)
        )
        if "network" in self.views:
            self.training_ = vars(self.views_["network"])["training_"]
        self.fit_notes_ = (describe(self.weights_, self.skills_),)
        return self._combine({n: view.decision_scores_ for n, view in self.views_.items()})[0]

    def _find_skills(self, X: Matrix, held_out: Mapping[str, HeldOutView | None]) -> Skills | None:
        """Return how well each view finds faults in rows it has not learned from."""
        tested = {name: each for name, each in held_out.items() if each is not None}
        if len(tested) < len(held_out):
            return None  # too short
        start = max(each.start for each in tested.values())
        rest = self.recordings_.after(start)
        rest = rest.before(min(GROUND, rest.rows))
        scorers = {name: _scorer(each.view) for name, each in tested.items()}
        try:
            found = rank_faults(
                scorers, X[start : start + rest.rows], sizes=SIZES, channels=CHANNELS,
                repeats=REPEATS, seed=self.seed, skipped=self.context_columns, stretches=rest.parts,
            )  # fmt: skip
        except InputError:  # too short
            return None
        return found if all(found.values()) else None

    # -- scoring -----------------------------------------------------------------------------

    def _score(self, X: Matrix) -> Values:
        views = self._aligned_views()
        return self._combine({n: v._score(v.in_context(X)) for n, v in views.items()})[0]

    def _score_ends(self, X: Matrix) -> Scored:
        rows = len(X) - self.history + 1
        return self._combine({n: v.score_ends(X)[0][-rows:] for n, v in self.views_.items()})

    def _explain(self, X: Matrix, *, blame: bool) -> Parts:
        views = self._aligned_views()
        found = {n: v._explain(v.in_context(X), blame=blame) for n, v in views.items()}
        score, parts = self._combine({name: scores for name, (scores, _, _) in found.items()})
        if not blame:
            return score, parts, None
        total, moved = np.zeros(X.shape), np.zeros(X.shape, dtype=bool)
        for name, (_, _, channels) in found.items():
            if channels is None:
                continue
            moved |= np.isfinite(channels)
            positive = np.where(np.isfinite(channels), np.maximum(channels, 0), 0)
            shares = positive / np.maximum(positive.sum(axis=1, keepdims=True), 1e-12)
            total += shares * parts[name][:, None]
        return score, parts, np.where(moved, total, -np.inf)

    def live_windows(self, before: LiveWindows | None = None) -> LiveWindows | None:
        """Return an object that scores streams row by row."""
        known = before.parts if isinstance(before, ManyWindows) else {}
        parts = {name: self._live(name, known.get(name)) for name in self.views_}
        if isinstance(before, ManyWindows) and all(parts[n] is known.get(n) for n in parts):
            return before
        return ManyWindows(parts, self.views_, self._combine)

    def _live(self, name: str, before: LiveWindows | None) -> LiveWindows:
        view = self.views_[name]
        if name == "network":
            setattr(view, "device", self.device)  # noqa: B010 - a parameter of this view only
        found = view.live_windows(before)
        if found is not None:
            return found
        is_same = isinstance(before, WholeWindows) and before.detector is view
        return before if is_same and before is not None else WholeWindows(view)

    def _combine(self, scores: Mapping[str, Values]) -> Scored:
        """Return the weighted sum of the views' scores, and what each of them adds."""
        parts = {}
        for name, values in scores.items():
            scaled = self._levels[name].apply(values) if name in self._levels else values
            parts[name] = self.weights_[name] * scaled
        return np.sum(list(parts.values()), axis=0), parts

    # -- views -------------------------------------------------------------------------------

    def _make_views(self) -> dict[str, View]:
        """Return the unfitted views."""
        return {name: self._make_view(name) for name in self.views}

    def _make_view(self, name: str) -> View:
        module, _, cls = VIEWS[name].partition(":")
        own = {key: getattr(self, key) for key in OF_NETWORK} if name == "network" else {}
        own["context"] = self.context
        found = need(
            module, what="MultiView's network view needs",
            otherwise=f", or fit without it: views={WITHOUT_TORCH}",
        )  # fmt: skip
        made: View = build(getattr(found, cls), self._settings(name) | own)
        return made

    def _settings(self, name: str) -> dict[str, Any]:
        """Return the parameters of a view that may change after ``fit``."""
        if name == "network":
            return {"align": self.align, "device": self.device, "verbose": self.verbose}
        if name == "shape":  # "auto" would import torch, which no other view needs
            on_cpu = self.device == "auto" and "network" not in self.views
            return {"align": self.align, "device": "cpu" if on_cpu else self.device}
        return {"align": self.align}

    def _aligned_views(self) -> dict[str, Detector]:
        """Return copies of the fitted views with this detector's present settings."""
        return {name: _with(view, self._settings(name)) for name, view in self.views_.items()}

    def _check_params(self) -> None:
        super()._check_params()
        if not isinstance(self.views, tuple | list) or len(self.views) == 0:
            raise ConfigError(f"views must be a tuple with at least one name, got {self.views!r}")
        for name in self.views:
            check_choice("views", name, VIEWS)
        if len(set(self.views)) < len(self.views):
            raise ConfigError(f"views must name each view once, got {self.views!r}")
        check_bool("self_tested", self.self_tested)
        check_choice("align", self.align, ALIGNMENTS)
        check_int("seed", self.seed, low=0, high=2**63 - 1)
        for view in self._make_views().values():
            view._check_params()

    # -- files -------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        values: dict[str, Any] = {}
        arrays: Arrays = {}
        for name, view in self.views_.items():
            values[name], own = view._state()
            arrays |= {f"{name}.{key}": array for key, array in own.items()}
        for name, level in self._levels.items():
            arrays[f"{name}.held_out"] = np.array([level.median, level.unit])
        return {"views": values, "weights": self.weights_, "skills": self.skills_}, arrays

    def _restore(self, values: Mapping[str, Any], arrays: Arrays) -> None:
        self.weights_ = {
            name: check_number("weight", weight)
            for name, weight in check_entries("weights", values["weights"]).items()
        }
        if set(self.weights_) != set(self.views):
            raise ValueError(f"it has weights of {sorted(self.weights_)}")
        self.skills_ = values["skills"]
        states, self.views_, self._levels = check_entries("views", values["views"]), {}, {}
        for name, view in self._make_views().items():
            start = f"{name}."
            own = {k.removeprefix(start): a for k, a in arrays.items() if k.startswith(start)}
            view.n_features_in_, view.context_ = self.n_features_in_, self.context_
            view._restore(check_entries(name, states[name]), own)
            self.views_[name] = view
            if name in IN_DEVIATIONS:
                median, unit = take(own, "held_out", 2, above=0).tolist()
                self._levels[name] = Level(median, unit)


def _scorer(view: Detector) -> Scorer:
    return Scorer(lambda rows: view.score_ends(rows)[0], view.history)


def _with(view: Detector, settings: Mapping[str, Any]) -> Detector:
    changed = copy(view)
    for name, value in settings.items():
        setattr(changed, name, value)
    return changed
