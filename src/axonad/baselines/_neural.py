"""The base of the neural baselines: a network that is trained on windows and scores windows.

A detector's own file holds its network (:meth:`~NeuralDetector._build`), the loss of a batch of
windows (:meth:`~NeuralDetector._loss`) and their scores (:meth:`~NeuralDetector._window_score`).
By default the network reconstructs its input: the loss is the mean squared error, the score the
squared error of the window's last row. Scaling, training, early stopping, devices, alignment,
channel scores and files are handled here. Windows are gathered from the series batch by batch, on
the device; no tensor of all windows exists.

These methods get windows of ``history`` rows: ``window``, or one more for a :class:`Forecaster`,
which predicts the last one.

TSB-AD's loader since 2025, which the AxonAD paper used, scales each array by its own statistics and
assigns a window's score to its middle row (``parity``). That of the leaderboard of 2024 did not
scale and assigned the score to the first row (``leaderboard``).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from axonad.baselines._training_loop import LoopConfig, train_network
from axonad.config import check_choice
from axonad.data.frames import Matrix, Names
from axonad.data.recordings import Recordings
from axonad.data.scaling import SCALINGS, fit_scaler
from axonad.data.windows import ALIGNMENTS, count_windows, spread
from axonad.detector import Detector
from axonad.modelfile import Arrays
from axonad.progress import Progress
from axonad.score.blame import fit_channel_scale, withhold
from axonad.score.restoring import restore_scale, restore_scaler
from axonad.stretches import Parts
from axonad.torch_runtime.cuda_graph import WARM, Recorded
from axonad.torch_runtime.device import resolve_device
from axonad.torch_runtime.seed import seeded
from axonad.torch_runtime.switches import learning
from axonad.torch_runtime.training_params import (
    check_by_type,
    check_training_params,
    count_training_rows,
    select_fields,
)
from axonad.torch_runtime.weights import restore_net, weights_to_arrays
from axonad.torch_runtime.windows import Windows, gather_windows, split_windows

Scores = NDArray[np.float64]
LEADERBOARD: Mapping[str, Any] = {"scaling": "raw", "align": "start"}


def parity_with(**changes: Any) -> dict[str, Any]:
    """Return the parameters the neural baselines share under parity, with a detector's changes."""
    return {"scaling": "array", "align": "center", "restore_best": False, **changes}


@dataclass(kw_only=True, eq=False, repr=False)
class NeuralDetector(Detector):
    """Base of the neural baselines, with the parameters they share.

    Parameters
    ----------
    window
        Rows the network sees at a time.
    lr, weight_decay, batch_size, epochs, patience
        Learning rate, weight decay, windows per batch and maximum number of epochs for AdamW;
        training stops after ``patience`` epochs without improvement.
    epoch_windows
        Maximum number of training windows per epoch, redrawn for each epoch, and of validation
        windows, evenly spaced; None for all. Limits the cost of fitting a long series.
    validation
        Share of the training series, at its end, held out for early stopping. If it or the rest is
        shorter than a window, all rows are used for training and the training loss decides.
    restore_best
        Keep the weights of the best epoch instead of the last.
    scaling
        ``"soft"`` or ``"train"`` (causal) or ``"array"`` (looks into the future), see
        :mod:`axonad.data.scaling`; or ``"raw"``: no scaling (TSB-AD in 2024).
    align
        The row of a window that gets its score: ``"end"`` (as in a live system), ``"center"``, or
        ``"start"`` (TSB-AD in 2024).
    seed, device, verbose
        Random seed; ``"auto"``, ``"cpu"``, ``"cuda"`` or ``"mps"``; show a progress bar.
    """

    window: int = 100
    lr: float = 1e-3
    weight_decay: float = 0.0
    batch_size: int = 128
    epochs: int = 50
    patience: int = 3
    epoch_windows: int | None = None
    validation: float = 0.2
    restore_best: bool = True
    scaling: str = "soft"
    align: str = "center"
    seed: int = 2024
    device: str = "auto"
    verbose: bool = True

    changeable: ClassVar[frozenset[str]] = frozenset({"align", "device", "verbose"})
    divides: ClassVar[bool] = True
    parity: ClassVar[Mapping[str, Any]] = parity_with()
    zero_allowed: ClassVar[frozenset[str]] = frozenset({"seed"})
    """Integer parameters that may be 0; all others must be at least 1."""
    lr_schedule: ClassVar[tuple[int, float]] = (5, 0.75)
    """Learning rate schedule (epochs, factor): multiply by ``factor`` every ``epochs`` epochs."""
    clip: ClassVar[float | None] = None
    """Maximum norm of the gradient."""
    score_batch: ClassVar[int] = 1024
    """Windows scored at a time."""

    # -- what a detector writes --------------------------------------------------------------

    @abstractmethod
    def _build(self, channels: int) -> nn.Module:
        """Return the untrained network for series of ``channels`` channels."""

    def _loss(self, net: nn.Module, x: Tensor, epoch: int) -> Tensor:
        """Return the loss of windows (B, T, F) in epoch 1, 2, ...

        Also called in evaluation mode (``net.training`` is False), for early stopping. It runs in a
        CUDA graph, so it must not synchronise with the host.
        """
        return mse_loss(net(x), x)

    def _epoch_factor(self, epoch: int) -> float:
        """Return a number that changes whenever the epoch changes the loss."""
        return 0.0

    def _window_score(self, net: nn.Module, x: Tensor) -> Tensor:
        """Return the scores of windows (B, T, F) per channel (B, F); their mean is the score.

        Called in evaluation mode, without gradients; must not draw random numbers.
        """
        return torch.square((net(x) - x)[:, -1])

    def _preprocess(self, X: Matrix) -> Matrix:
        """Return the rows before scaling, each transformed by itself."""
        return X

    def _calibrate(self, net: nn.Module, series: Windows) -> None:
        """Set buffers of the trained network that scoring needs, from the scaled training rows."""

    # -- the contract ------------------------------------------------------------------------

    @property
    def history(self) -> int:
        """Rows a score needs: one window."""
        return self.window

    @property
    def why_not_causal(self) -> str:
        """Why a score depends on more than its own window, and what to do; empty if causal."""
        if self.scaling == "array":
            return "its scaling needs the whole series; fit it with scaling='soft'"
        return ""

    @learning()
    def _fit(self, X: Matrix, names: Names) -> Scores:
        device = resolve_device(self.device)
        self._scaler = fit_scaler(self._preprocess(X), self.scaling, names)
        recordings = self.recordings_
        series, held_out = split_windows(
            X, recordings, self.count_training_rows(recordings), window=self.history,
            scale=self._scaled, device=device, stride=self._stride,
        )  # fmt: skip
        windows = min(self.epoch_windows or len(series), len(series))
        steps = self.epochs * -(-windows // self.batch_size)
        with seeded(self.seed, device):
            net = self._build(X.shape[1]).to(device)
            with Progress("fitting", steps, show=self.verbose) as progress:
                self.training_ = train_network(
                    net,
                    self._loss,
                    series=series,
                    held_out=held_out,
                    config=self._loop_config(),
                    progress=progress,
                    epoch_factor=self._epoch_factor,
                )
            self._net = net.eval().requires_grad_(False)
            self._calibrate(self._net, series)
        found = [self._score_windows(X[part], blame=True) for part in recordings.parts]
        channels = np.concatenate([part for _, part in found])
        self._channel_scale = fit_channel_scale(channels, self._scaler)
        return np.concatenate([self._aligned(scores) for scores, _ in found])

    def count_training_rows(self, rows: int | Recordings) -> int:
        """Return how many of ``rows`` rows are for training; the rest is for validation."""
        return count_training_rows(rows, validation=self.validation, window=self.history)

    @property
    def _stride(self) -> int:
        """Rows from the beginning of one training window to that of the next."""
        return 1

    def _scaled(self, X: Matrix) -> Matrix:
        return self._scaler.apply(self._preprocess(X))

    def _tensor(self, X: Matrix, device: torch.device) -> Tensor:
        return torch.from_numpy(self._scaled(X)).to(device)

    def _loop_config(self) -> LoopConfig:
        return LoopConfig(
            window_rows=self.history,
            lr_schedule=self.lr_schedule,
            clip=self.clip,
            **select_fields(LoopConfig, self.get_params()),
        )

    def _params(self, *names: str) -> dict[str, Any]:
        """Return the parameters of these names, to build a network from."""
        return {name: getattr(self, name) for name in names}

    # -- scoring -----------------------------------------------------------------------------

    def _score(self, X: Matrix) -> Scores:
        return self._aligned(self._score_windows(X)[0])

    def _score_ends(self, X: Matrix) -> tuple[Scores, dict[str, Scores]]:
        return self._score_windows(X)[0], {}

    def _explain(self, X: Matrix, *, blame: bool) -> Parts:
        scores, channels = self._score_windows(X, blame=blame)
        aligned = self._aligned(scores)
        blamed = withhold(self._channel_scale.apply(channels), self._preprocess(X), self._scaler)
        return aligned, {"score": aligned}, self._aligned(blamed) if blame else None

    @torch.no_grad()
    def _score_windows(
        self, X: Matrix, *, blame: bool = False
    ) -> tuple[Scores, NDArray[np.float32]]:
        """Return the score of every window and, only needed with ``blame``, of its channels."""
        device = resolve_device(self.device)
        net, series = self._net.to(device).eval(), self._tensor(X, device)
        starts = torch.arange(count_windows(len(X), self.history), device=device)
        # Results are allocated before the loop: small tensors that outlive the large temporary ones
        # would fragment the allocator's memory, which would grow with the length of the series.
        scores = torch.empty(len(starts), device=device)
        channels = torch.empty(len(starts) if blame else 0, X.shape[1], device=device)
        score_batch = Recorded(
            lambda part: self._window_score(net, gather_windows(series, part, self.history)),
            size=self.score_batch,
            device=device,
            warm=1,
            use=len(starts) > WARM * self.score_batch,
        )
        show = self.verbose and len(starts) > 50 * self.score_batch
        with Progress("scoring", len(starts), show=show) as progress:
            for first in range(0, len(starts), self.score_batch):
                batch = slice(first, first + self.score_batch)
                found = score_batch(starts[batch])
                scores[batch] = found.mean(-1)
                if blame:
                    channels[batch] = found
                progress.advance(len(found))
        return scores.double().cpu().numpy(), channels.cpu().numpy()

    def _aligned(self, values: NDArray[Any]) -> NDArray[Any]:
        if self.align == "start":
            return np.concatenate([values, np.repeat(values[-1:], self.history - 1, axis=0)])
        return spread(values, window=self.history, align=self.align)

    # -- files -------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        arrays = weights_to_arrays(self._net)
        arrays["scaler.center"], arrays["scaler.unit"] = self._scaler.center, self._scaler.unit
        arrays["channels.median"] = self._channel_scale.median
        arrays["channels.spread"] = self._channel_scale.spread
        return {"scaler": self._scaler.rule}, arrays

    def _restore(self, values: Mapping[str, Any], arrays: Arrays) -> None:
        self._net = restore_net(lambda: self._build(self.n_features_in_), arrays)
        channels = self.n_features_in_
        check_choice("scaler", values["scaler"], SCALINGS)
        self._scaler = restore_scaler(values["scaler"], arrays, channels=channels)
        self._channel_scale = restore_scale(arrays, "channels", channels)

    def _check_params(self) -> None:
        super()._check_params()
        check_training_params(self)
        check_by_type(self, zero_allowed=self.zero_allowed)
        check_choice("scaling", self.scaling, (*SCALINGS, "raw"))
        check_choice("align", self.align, (*ALIGNMENTS, "start"))
