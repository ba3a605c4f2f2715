"""Network: AxonAD's reconstruction error of the worst channel, and its query mismatch.

The paper's score adds the squared errors of all channels and steps of a window. Two changes make it
sharper. Steps are weighted: by a Hann window where the centre of the window is scored, and only the
last fifth counts where its end is scored. And each channel is measured in its own unit, the 99 %
quantile of its errors in held-out windows, so that channels which are hard to reconstruct do not
drown the others; what counts is the worst channel. A quarter of the query mismatch is added, in
held-out units too.

**Held-out windows** are those that end in the validation rows, the last fifth of training, from
which the weights were not learned. The windows before them have smaller errors; their training
scores are computed in units of their own, so that the threshold is not too low for new data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray

from axonad.axon import SCORE_BATCH, AxonAD
from axonad.config import check_choice
from axonad.data.frames import Matrix, Names
from axonad.data.windows import ALIGNMENTS, count_windows, spread
from axonad.fast.choose import run_windows
from axonad.fast.cpu.live import CachedWindows, LiveNet
from axonad.live_windows import LiveWindows, Scored
from axonad.modelfile import Arrays, take
from axonad.progress import Progress
from axonad.score.blame import withhold
from axonad.score.level import HIGH, Level
from axonad.score.restoring import restore_scaler
from axonad.score.step_errors import PLACES, Measured, end_errors, last_steps, measure_windows
from axonad.score.terms import query_mismatch
from axonad.stretches import Parts
from axonad.torch_runtime.device import resolve_device
from axonad.torch_runtime.switches import learning
from axonad.torch_runtime.weights import restore_net, weights_to_arrays
from axonad.views.view import LastFold, View

FLOOR = 1e-3  # smallest unit of a channel, as a share of the largest
TINY = 1e-12  # smallest unit of all
MISMATCH = 0.25  # weight of the query mismatch, chosen on tuning series and generated drives
BATCH, RATE = 64, 2e-3  # of training: larger steps than AxonAD's, see benchmarks/multiview


Values = NDArray[np.float64]


class Units(NamedTuple):
    """Units of what is measured: each channel's error, the worst of them, the mismatch."""

    channels: Values  # (F,)
    error: Level
    mismatch: Level

    @classmethod
    def fit(cls, errors: NDArray[np.floating], mismatch: NDArray[np.floating]) -> Self:
        """Return the units of windows with these errors (windows, F) and query mismatches."""
        high = np.array([np.quantile(c.astype(np.float64), HIGH) for c in errors.T])
        channels = np.maximum(high, max(FLOOR * high.max(), TINY))
        return cls(channels, Level.fit((errors / channels).max(axis=1)), Level.fit(mismatch))

    def score(self, errors: NDArray[np.floating], mismatch: NDArray[np.floating]) -> Scored:
        """Return score and components of windows."""
        error = self.error.apply((errors / self.channels).max(axis=1))
        surprise = MISMATCH * self.mismatch.apply(mismatch)
        return error + surprise, {"error": error, "mismatch": surprise}


@dataclass(kw_only=True, eq=False, repr=False)
class Network(View):
    """Reconstruction error of AxonAD's worst channel plus its query mismatch, in held-out units.

    Parameters
    ----------
    window, d_model, heads, epochs, epoch_windows
        Sizes and training of AxonAD's network, see :class:`axonad.AxonAD`; it is trained in smaller
        batches and with a higher learning rate than there, on fewer windows.
    align
        ``"center"`` of the window (best for recorded data) or its ``"end"`` (as in a live system).
    seed, device, verbose
        Random seed; ``"auto"``, ``"cpu"``, ``"cuda"``, ``"mps"``; a progress bar on terminals.
    """

    window: int = 100
    d_model: int = 128
    heads: int = 8
    epochs: int = 12
    epoch_windows: int | None = 600
    align: str = "center"
    seed: int = 2024
    device: str = "auto"
    verbose: bool = True

    changeable: ClassVar[frozenset[str]] = frozenset({"align", "device", "verbose"})
    end_is_shift: ClassVar[bool] = False
    holds_out: ClassVar[bool] = True
    conditions: ClassVar[bool] = True
    divides: ClassVar[bool] = True

    @property
    def history(self) -> int:
        """Number of rows a score needs: one window."""
        return self.window

    # -- the contract ------------------------------------------------------------------------

    @learning()
    def _learn(self, X: Matrix, names: Names) -> tuple[Values, LastFold | None]:
        axon = self._axon()
        self._scaler, net, self.training_ = axon.train(X, names, self.recordings_)
        self.net_ = net.eval().requires_grad_(False)
        found = Measured.join(self._measure(X[part]) for part in self.recordings_.parts)
        rows = axon.count_training_rows(self.recordings_)
        learned = self.recordings_.before(rows).count(self.window)
        if learned == len(found.mismatch):  # too short for validation rows
            learned = 0
        self._units = {
            place: Units.fit(found.errors[i, learned:], found.mismatch[learned:])
            for i, place in enumerate(PLACES)
        }
        scores = self._training_scores(found, learned)
        scores = self.recordings_.place(self._aligned, scores, self.window)
        return scores, LastFold(rows, {}) if learned else None

    def _training_scores(self, found: Measured, learned: int) -> Values:
        """Return the scores of training windows; the learned ones are measured by themselves."""
        errors, mismatch = found.errors[PLACES.index(self.align)], found.mismatch
        held_out, _ = self._units[self.align].score(errors[learned:], mismatch[learned:])
        if learned == 0:
            return held_out
        own = errors[:learned], mismatch[:learned]
        return np.concatenate([Units.fit(*own).score(*own)[0], held_out])

    def _score(self, X: Matrix) -> Values:
        return self._aligned(self._score_windows(X, self.align)[0])

    def _score_ends(self, X: Matrix) -> Scored:
        return self._score_windows(X, "end")

    def _score_windows(self, X: Matrix, place: str) -> Scored:
        found = self._measure(X, [place])
        return self._units[place].score(found.errors[0], found.mismatch)

    def _explain(self, X: Matrix, *, blame: bool) -> Parts:
        found, units = self._measure(X, [self.align]), self._units[self.align]
        errors = found.errors[0]
        score, parts = units.score(errors, found.mismatch)
        parts = {name: self._aligned(values) for name, values in parts.items()}
        if not blame:
            return self._aligned(score), parts, None
        channels = withhold(errors / units.channels, X, self._scaler)
        return self._aligned(score), parts, self._aligned(channels)

    def live_windows(self, before: LiveWindows | None = None) -> LiveWindows | None:
        """Return an object that scores streams; all of them share one prepared network."""
        net = LiveNet.of(self, self.net_, self.device)
        if isinstance(before, CachedWindows) and before.net is net:
            return before
        return CachedWindows(
            net, self._scaler, what={"errors": end_errors, "mismatch": query_mismatch},
            finish=lambda found: self._units["end"].score(
                self._judged(found["errors"].T), found["mismatch"]
            ),
            decoded=last_steps(self.window),
        )  # fmt: skip

    # -- the network -------------------------------------------------------------------------

    def _axon(self) -> AxonAD:
        """Return the detector whose network is trained."""
        return AxonAD(
            window=self.window, d_model=self.d_model, heads=self.heads, epochs=self.epochs,
            epoch_windows=self.epoch_windows, tail=min(10, self.window), seed=self.seed,
            batch_size=BATCH, lr=RATE, device=self.device, verbose=self.verbose,
        )  # fmt: skip

    @torch.inference_mode(mode=False)
    def _measure(self, X: Matrix, places: Sequence[str] = PLACES) -> Measured:
        """Return each channel's error at these places, and the query mismatch, of each window."""
        device = resolve_device(self.device)
        series = torch.from_numpy(self._scaler.apply(X)).to(device)
        windows = count_windows(len(X), self.window)
        show = self.verbose and windows > 10 * SCORE_BATCH
        with Progress("scoring", windows, show=show) as progress:
            found = measure_windows(
                self.net_.to(device), series, batch_size=SCORE_BATCH, progress=progress,
                places=places, run=run_windows,
            )  # fmt: skip
        return found._replace(errors=self._judged(found.errors))

    def _judged(self, errors: NDArray[Any]) -> NDArray[Any]:
        """Return the errors (..., F) with 0 for the context, whose own errors do not count."""
        if self.context_columns:
            errors[..., self.context_columns] = 0.0
        return errors

    def _aligned(self, values: Values) -> Values:
        return spread(values, window=self.window, align=self.align)

    def _check_params(self) -> None:
        super()._check_params()
        check_choice("align", self.align, ALIGNMENTS)
        self._axon()._check_params()

    # -- files -------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_live_net"}

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        arrays = weights_to_arrays(self.net_)
        arrays |= {"scaler.center": self._scaler.center, "scaler.unit": self._scaler.unit}
        for place, units in self._units.items():
            arrays[f"{place}.units"] = units.channels
            levels = [(level.median, level.unit) for level in units[1:]]
            arrays[f"{place}.levels"] = np.array(levels)
        return {}, arrays

    def _restore(self, values: Mapping[str, Any], arrays: Arrays) -> None:
        channels = self.n_features_in_
        self.net_ = restore_net(lambda: self._axon().make_net(channels), arrays)
        self._scaler = restore_scaler("soft", arrays, channels=channels)
        self._units = {}
        for place in PLACES:
            levels = take(arrays, f"{place}.levels", 2, 2, low=0).tolist()
            units = take(arrays, f"{place}.units", channels, above=0)
            if min(unit for _, unit in levels) <= 0:
                raise ValueError(f"a unit of its scores at the {place} is 0")
            self._units[place] = Units(units, *(Level(*level) for level in levels))
