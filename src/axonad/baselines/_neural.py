"""The base of the neural baselines: a network trained on windows that says how strange one is.

A detector's own file holds three things: the network (:meth:`~NeuralDetector._build`), the loss
of a batch of windows (:meth:`~NeuralDetector._loss`) and the score of a batch of windows
(:meth:`~NeuralDetector._window_score`). Windows, scaling, training, early stopping, devices,
alignment, blame and files are done here. Windows are gathered from the series batch by batch, on
the device; no tensor of all windows exists.

``history`` is how many rows a window handed to those three has: ``window``, or one more for a
forecaster, whose last row is the one it predicts.

Two sets of figures are published under TSB-AD's name. Those of the AxonAD paper come from its
loader since 2025, which scales each array by its own statistics and credits a window to its middle
row: the parity protocol. Those of the leaderboard of 2024 come from a loader that left values as
they are and credited a window to its first row: ``scaling="raw", align="start"`` on top of parity.
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

from axonad.baselines._loop import LoopConfig, train_network
from axonad.config import check_bool, check_choice, check_float, check_int
from axonad.data.frames import Matrix, Names
from axonad.data.scaling import SCALINGS, Scaler, fit_scaler
from axonad.data.windows import ALIGNMENTS, count_windows, spread
from axonad.detector import Detector, Parts
from axonad.errors import ConfigError
from axonad.modelfile import Arrays
from axonad.progress import Progress
from axonad.score.standardise import RobustScale
from axonad.torch_runtime.cuda_graph import WARM, Recorded
from axonad.torch_runtime.device import resolve_device
from axonad.torch_runtime.seed import seeded
from axonad.torch_runtime.switches import learning
from axonad.torch_runtime.weights import check_shapes
from axonad.torch_runtime.windows import gather_windows

Scores = NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class NeuralDetector(Detector):
    """Base of the neural baselines; their shared parameters are described here.

    Parameters
    ----------
    window
        Rows the network sees at a time.
    lr, weight_decay, batch_size, epochs, patience
        Of the optimiser; training ends after ``patience`` epochs without improvement.
    epoch_windows
        Windows an epoch visits at most, drawn anew for each, and windows judged after it, evenly
        spread; None: all. Fitting a long series then costs what a short one does.
    validation
        Last share of the training series, kept for early stopping; where it or the rest is shorter
        than a window, all rows train and the training loss decides.
    restore_best
        Keep the weights of the best epoch instead of the last.
    scaling
        ``"soft"`` or ``"train"`` (causal), ``"array"`` (looks into the future), see
        :mod:`axonad.data.scaling`; or ``"raw"``: values as they come (TSB-AD in 2024).
    align
        Row of a window its score belongs to: ``"end"`` (what a live system sees), ``"center"``, or
        ``"start"`` (TSB-AD in 2024).
    seed, device, verbose
        Random seed; ``"auto"``, ``"cpu"``, ``"cuda"``, ``"mps"``; a progress bar on terminals.
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
    parity: ClassVar[Mapping[str, Any]] = {
        "scaling": "array", "align": "center", "restore_best": False,
    }  # fmt: skip
    lr_schedule: ClassVar[tuple[int, float]] = (5, 0.75)
    """Every so many epochs the learning rate is multiplied by that."""
    clip: ClassVar[float | None] = None
    """Gradients are scaled down to at most this norm."""
    recorded: ClassVar[bool] = True
    """Whether a step on CUDA can be recorded and replayed: nothing in it makes the host wait."""
    score_batch: ClassVar[int] = 1024
    """Windows scored at a time."""

    # -- what a detector writes --------------------------------------------------------------

    @abstractmethod
    def _build(self, channels: int) -> nn.Module:
        """Return the untrained network for series of so many channels."""

    @abstractmethod
    def _loss(self, net: nn.Module, x: Tensor, epoch: int) -> Tensor:
        """Return what training minimises, from windows (B, T, F) in epoch 1, 2, ...

        Called in training mode and, for early stopping, in evaluation mode (``net.training``).
        """

    def _stage(self, epoch: int) -> float:
        """Return what the loss makes of the epoch; by default nothing."""
        return 0.0

    @abstractmethod
    def _window_score(self, net: nn.Module, x: Tensor) -> Tensor:
        """Return how strange windows (B, T, F) are: (B, F) per channel, or (B,).

        Of a score per channel the detector's score is the mean, and channels can be blamed.
        Called in evaluation mode, without gradients. Must not draw random numbers.
        """

    def _prepare(self, X: Matrix) -> Matrix:
        """Return the rows as the scaler shall see them; each row by itself."""
        return X

    def _finish(self, net: nn.Module, series: Tensor) -> None:
        """Learn from the trained network and scaled training rows what scoring needs besides.

        It belongs into buffers of ``net``, which are saved with the weights.
        """

    # -- the contract ------------------------------------------------------------------------

    @property
    def history(self) -> int:
        """Rows a score needs: one window."""
        return self.window

    @property
    def is_causal(self) -> bool:
        """Whether a window's score depends on that window and the training series alone."""
        return self.scaling != "array"

    @learning()
    def _fit(self, X: Matrix, names: Names) -> Scores:
        device = resolve_device(self.device)
        self._scaler = self._fit_scaler(self._prepare(X), names)
        cut = self._split(len(X))
        series, rest = self._tensor(X[:cut], device), X[cut:]
        held_out = self._tensor(rest, device) if len(rest) >= self.history else None
        windows = min(self.epoch_windows or cut, count_windows(cut, self.history))
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
                    stage=self._stage,
                )
            self._net = net.eval().requires_grad_(False)
            self._finish(self._net, series)
        scores, channels = self._score_windows(X, blame=True)
        self._channel_scale = None if channels is None else RobustScale.fit(channels)
        return self._aligned(scores)

    def _split(self, rows: int) -> int:
        """Return how many rows to train on; all of them if the first share is no longer than T."""
        cut = int(rows * (1 - self.validation))
        return cut if cut > self.history else rows

    def _fit_scaler(self, X: Matrix, names: Names) -> Scaler:
        if self.scaling == "raw":
            return Scaler("train", np.zeros(X.shape[1]), np.ones(X.shape[1]))
        return fit_scaler(X, self.scaling, names)

    def _tensor(self, X: Matrix, device: torch.device) -> Tensor:
        return torch.from_numpy(self._scaler.apply(self._prepare(X))).to(device)

    def _loop_config(self) -> LoopConfig:
        return LoopConfig(
            rows=self.history,
            epochs=self.epochs,
            batch_size=self.batch_size,
            epoch_windows=self.epoch_windows,
            lr=self.lr,
            weight_decay=self.weight_decay,
            lr_step=self.lr_schedule[0],
            lr_decay=self.lr_schedule[1],
            clip=self.clip,
            patience=self.patience,
            restore_best=self.restore_best,
            recorded=self.recorded,
        )

    # -- scoring -----------------------------------------------------------------------------

    def _score(self, X: Matrix) -> Scores:
        return self._aligned(self._score_windows(X)[0])

    def _score_ends(self, X: Matrix) -> tuple[Scores, dict[str, Scores]]:
        return self._score_windows(X)[0], {}

    def _explain(self, X: Matrix, *, blame: bool) -> Parts:
        scores, channels = self._score_windows(X, blame=blame)
        aligned = self._aligned(scores)
        if channels is None or self._channel_scale is None:
            return aligned, {"score": aligned}, None
        return aligned, {"score": aligned}, self._aligned(self._channel_scale.apply(channels))

    @torch.no_grad()
    def _score_windows(
        self, X: Matrix, *, blame: bool = False
    ) -> tuple[Scores, NDArray[np.float32] | None]:
        """Return the score of every window and, if asked for and known, that of each channel."""
        device = resolve_device(self.device)
        net, series = self._net.to(device).eval(), self._tensor(X, device)
        starts = torch.arange(count_windows(len(X), self.history), device=device)
        # Results are allocated before the loop: small tensors kept between the large passing ones
        # would pin the allocator's memory, and a long series would grow without bound.
        scores = torch.empty(len(starts), device=device)
        channels = torch.empty(len(starts) if blame else 0, X.shape[1], device=device)
        passes = Recorded(
            lambda part: self._window_score(net, gather_windows(series, part, self.history)),
            size=self.score_batch,
            device=device,
            warm=1,
            use=self.recorded and len(starts) > WARM * self.score_batch,
        )
        show = self.verbose and len(starts) > 50 * self.score_batch
        with Progress("scoring", len(starts), show=show) as progress:
            for first in range(0, len(starts), self.score_batch):
                batch = slice(first, first + self.score_batch)
                found = passes(starts[batch])
                scores[batch] = found.mean(-1) if found.dim() == 2 else found
                if blame and found.dim() == 2:
                    channels[batch] = found
                progress.advance(len(found))
        known = blame and found.dim() == 2
        return scores.double().cpu().numpy(), channels.cpu().numpy() if known else None

    def _aligned(self, values: NDArray[Any]) -> NDArray[Any]:
        if self.align == "start":
            return np.concatenate([values, np.repeat(values[-1:], self.history - 1, axis=0)])
        return spread(values, window=self.history, align=self.align)

    # -- files -------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        arrays = {f"net.{k}": v.cpu().numpy() for k, v in self._net.state_dict().items()}
        arrays["scaler.center"], arrays["scaler.unit"] = self._scaler.center, self._scaler.unit
        if self._channel_scale is not None:
            arrays["channels.median"] = self._channel_scale.median
            arrays["channels.spread"] = self._channel_scale.spread
        return {"scaler": self._scaler.rule}, arrays

    def _restore(self, values: Mapping[str, Any], arrays: Arrays) -> None:
        with learning(), torch.random.fork_rng(devices=[]):  # weights are drawn and thrown away
            net = self._build(self.n_features_in_)
        shapes = {name: value.shape for name, value in net.state_dict().items()}
        weights = {}
        for key in [key for key in arrays if key.startswith("net.")]:
            name, value = key.removeprefix("net."), torch.from_numpy(arrays[key])
            weights[name] = value.squeeze() if shapes.get(name) == () else value  # files: 1-d
        check_shapes(net, weights)
        net.load_state_dict(weights)
        self._net = net.eval().requires_grad_(False)
        self._scaler = Scaler(values["scaler"], arrays["scaler.center"], arrays["scaler.unit"])
        self._channel_scale = None
        if "channels.median" in arrays:
            self._channel_scale = RobustScale(arrays["channels.median"], arrays["channels.spread"])

    def _check_params(self) -> None:
        super()._check_params()
        whole = ("window", "batch_size", "epochs", "patience")
        for name in whole if self.epoch_windows is None else (*whole, "epoch_windows"):
            check_int(name, getattr(self, name), low=1)
        check_int("seed", self.seed, low=0, high=2**63 - 1)
        check_float("lr", self.lr, above=0)
        check_float("weight_decay", self.weight_decay, low=0)
        check_float("validation", self.validation, low=0, below=1)
        check_bool("restore_best", self.restore_best)
        check_bool("verbose", self.verbose)
        check_choice("scaling", self.scaling, (*SCALINGS, "raw"))
        check_choice("align", self.align, (*ALIGNMENTS, "start"))
        if not isinstance(self.device, str):
            raise ConfigError(f"device must be a name such as 'auto' or 'cpu', got {self.device!r}")
