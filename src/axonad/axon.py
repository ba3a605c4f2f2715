"""AxonAD as a detector: windows → model → training → score.

The only module that knows both the contract and the network.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray

from axonad.config import check_choice, check_float, check_int, check_ints
from axonad.data.frames import Matrix, Names
from axonad.data.recordings import Recordings
from axonad.data.scaling import SCALINGS, Scaler, fit_scaler
from axonad.data.windows import ALIGNMENTS, count_windows, spread
from axonad.detector import Detector
from axonad.fast.choose import run_windows, train_net
from axonad.fast.cpu.live import CachedWindows, LiveNet
from axonad.live_windows import LiveWindows, Scored
from axonad.model.config import NetConfig
from axonad.model.net import AxonNet
from axonad.modelfile import Arrays
from axonad.progress import Progress
from axonad.score.blame import fit_channel_scale, withhold
from axonad.score.restoring import restore_scale, restore_scaler
from axonad.score.standardise import RobustScale, combine
from axonad.score.terms import TERMS, Term, WindowTerms, compute_terms, without_channels
from axonad.stretches import Parts
from axonad.torch_runtime.device import resolve_device
from axonad.torch_runtime.seed import seeded
from axonad.torch_runtime.switches import learning
from axonad.torch_runtime.training_params import (
    check_training_params,
    count_training_rows,
    select_fields,
)
from axonad.torch_runtime.weights import restore_net, weights_to_arrays
from axonad.torch_runtime.windows import Windows, split_windows
from axonad.train.checkpoint import History
from axonad.train.loop import TrainConfig

SCORE_BATCH = 256  # windows scored at a time
Trained = tuple[Scaler, AxonNet, History]


@dataclass(kw_only=True, eq=False, repr=False)
class AxonAD(Detector):
    """Reconstruction error plus mismatch between predicted and actual attention queries.

    The score of a window is rz(d_rec) + rz(d_q): its reconstruction error, and the cosine distance
    between its attention queries and those predicted from past rows alone. Both are standardised
    by median and IQR of the training windows (Özer et al., 2026, arXiv 2603.12916).

    The defaults are the paper's hyper-parameters with causal scaling, the best checkpoint kept and
    a shorter training with larger steps; :meth:`paper` gives the authors' own protocol.

    Parameters
    ----------
    window, d_model, heads
        Window length, width of the embedding, attention heads.
    horizon, tail
        The predictor sees the past up to ``horizon`` steps ago; the query mismatch is averaged over
        the last ``tail`` steps of a window.
    ema
        Momentum of the target encoder's moving average.
    mask_ratio, block_fraction
        Share of a window's later half to predict in training; share of it in one block.
    dropout, dilations
        Dropout rate and dilations of the predictor's convolutions.
    lr, weight_decay, batch_size, epochs, patience
        Settings of AdamW; training ends after ``patience`` epochs without improvement.
    epoch_windows
        Maximum number of windows per epoch, redrawn for each; None: all.
    validation
        Share of the training series, at its end, held out for early stopping.
    restore_best
        Keep the weights of the best epoch instead of the last.
    scaling
        ``"soft"`` or ``"train"`` (causal), or ``"array"`` (parity, looks into the future); see
        :mod:`axonad.data.scaling`.
    align
        ``"center"`` of the window (best for recorded data) or its ``"end"`` (what a live system
        sees).
    seed, device, verbose
        Random seed; ``"auto"``, ``"cpu"``, ``"cuda"``, ``"mps"``; a progress bar on terminals.
    """

    window: int = 100
    d_model: int = 128
    heads: int = 8
    horizon: int = 1
    tail: int = 10
    ema: float = 0.9
    mask_ratio: float = 0.5
    block_fraction: float = 0.5
    dropout: float = 0.1
    dilations: tuple[int, ...] = (1, 2, 4, 8)
    lr: float = 1e-3
    weight_decay: float = 1e-5
    batch_size: int = 128
    epochs: int = 25
    epoch_windows: int | None = 1500
    patience: int = 3
    validation: float = 0.2
    restore_best: bool = True
    scaling: str = "soft"
    align: str = "center"
    seed: int = 2024
    device: str = "auto"
    verbose: bool = True

    changeable: ClassVar[frozenset[str]] = frozenset({"align", "device", "verbose"})
    conditions: ClassVar[bool] = True
    divides: ClassVar[bool] = True
    parity: ClassVar[Mapping[str, Any]] = {
        "scaling": "array", "restore_best": False, "align": "center", "lr": 5e-4, "epochs": 50,
        "epoch_windows": None,
    }  # fmt: skip

    @classmethod
    def paper(cls, **params: Any) -> Self:
        """Return the detector in parity mode: the authors' protocol in every detail.

        Each array is scaled by its own statistics, the last epoch's weights are used. Scores look
        into the future of the series through the scaling; use the default for anything live.
        """
        return cls(**{**cls.parity, **params})

    @property
    def history(self) -> int:
        """Number of rows a score needs: one window."""
        return self.window

    @property
    def why_not_causal(self) -> str:
        """Why a score depends on rows after its window; empty unless ``scaling="array"``."""
        why = "its scaling needs the whole series; fit it with scaling='soft'"
        return why if self.scaling == "array" else ""

    # -- fitting -----------------------------------------------------------------------------

    @learning()
    def _fit(self, X: Matrix, names: Names) -> NDArray[np.float64] | None:
        return self.finish_fit(X, self.train(X, names, self.recordings_))

    def finish_fit(self, X: Matrix, trained: Trained) -> NDArray[np.float64] | None:
        """Store the network and statistics of its terms; return training scores, None if parity."""
        self._scaler, net, self.training_ = trained
        self.net_ = net.eval().requires_grad_(False)
        learned = self.recordings_.before(self.count_training_rows(self.recordings_))
        # With causal scaling, one pass gives both the statistics and the scores of all rows.
        scored = self.recordings_ if self.is_causal else learned
        parts, inside = scored.parts_with(self.window), learned.count(self.window)
        found = WindowTerms.join(self.window_terms(X[part], channels=True) for part in parts)
        self.scales_ = {name: RobustScale.fit(v[:inside]) for name, v in found.terms.items()}
        self._channel_scale = fit_channel_scale(found.channels[:inside], self._scaler)
        scores = self._standardise(found.terms)[0]
        return scored.place(self._aligned, scores, self.window) if self.is_causal else None

    def train(
        self, X: Matrix, names: Names, recordings: Recordings, *, show: bool | None = None
    ) -> Trained:
        """Return scaler, network, history; the detector stays. ``show`` overrides ``verbose``."""
        device = resolve_device(self.device)
        with seeded(self.seed, device):
            scaler, net, series, held_out = self.prepare(X, names, device, recordings)
            config = self.train_config()
            steps = self.epochs * config.steps(len(series))
            with Progress("fitting", steps, show=self.verbose if show is None else show) as bar:
                history = train_net(net, series, held_out, config, bar, seed=self.seed)
        return scaler, net, history

    def prepare(
        self, X: Matrix, names: Names, device: torch.device, recordings: Recordings
    ) -> tuple[Scaler, AxonNet, Windows, Windows | None]:
        """Return scaler, untrained network, and the windows for training and validation, scaled."""
        scaler, rows = fit_scaler(X, self.scaling, names), self.count_training_rows(recordings)
        net = self.make_net(X.shape[1]).to(device)
        how: dict[str, Any] = {"window": self.window, "scale": scaler.apply, "device": device}
        return scaler, net, *split_windows(X, recordings, rows, **how)

    def count_training_rows(self, rows: int | Recordings) -> int:
        """Return how many of ``rows`` rows are for training; the rest is for validation."""
        return count_training_rows(rows, validation=self.validation, window=self.window)

    def make_net(self, channels: int) -> AxonNet:
        """Return an untrained network for this number of channels."""
        return AxonNet(self.net_config(channels))

    def net_config(self, channels: int) -> NetConfig:
        """Return the sizes of the network for this number of channels."""
        return NetConfig(channels=channels, **select_fields(NetConfig, self.get_params()))

    def train_config(self) -> TrainConfig:
        """Return the settings of the training loop."""
        return TrainConfig(**select_fields(TrainConfig, self.get_params()))

    def scaled(self, X: Matrix, device: torch.device) -> torch.Tensor:
        """Return the scaled rows as a tensor on a device."""
        return torch.from_numpy(self._scaler.apply(X)).to(device)

    # -- scoring -----------------------------------------------------------------------------

    def _score(self, X: Matrix) -> NDArray[np.float64]:
        return self._aligned(self._score_ends(X)[0])

    def _score_ends(self, X: Matrix) -> Scored:
        return self._standardise(self.window_terms(X).terms)

    def live_windows(self, before: LiveWindows | None = None) -> LiveWindows | None:
        """Return an object that scores streams; all of them share one prepared network."""
        net = LiveNet.of(self, self.net_, self.device)
        if isinstance(before, CachedWindows) and before.net is net:
            return before
        return CachedWindows(net, self._scaler, what=self._term_table(), finish=self._standardise)

    def _explain(self, X: Matrix, *, blame: bool) -> Parts:
        found = self.window_terms(X, channels=blame)
        terms = {name: self._aligned(v) for name, v in self._standardise(found.terms)[1].items()}
        channels = withhold(self._channel_scale.apply(found.channels), X, self._scaler)
        return combine(terms), terms, self._aligned(channels) if blame else None

    @torch.inference_mode(mode=False)  # the mode is thread-local, and passes run on several threads
    def window_terms(self, X: Matrix, *, channels: bool = False) -> WindowTerms:
        """Return the raw terms of every window and, with ``channels``, its error per channel."""
        device = resolve_device(self.device)
        net = self.net_.to(device)
        windows = count_windows(len(X), self.window)
        show = self.verbose and windows > 10 * SCORE_BATCH
        with Progress("scoring", windows, show=show) as progress:
            return compute_terms(
                net, self.scaled(X, device), batch_size=SCORE_BATCH,
                progress=progress, channels=channels, table=self._term_table(), run=run_windows,
            )  # fmt: skip

    def _term_table(self) -> Mapping[str, Term]:
        return without_channels(TERMS, self.context_columns)

    def _standardise(self, found: Mapping[str, NDArray[np.float64]]) -> Scored:
        terms = {name: self.scales_[name].apply(values) for name, values in found.items()}
        return combine(terms), terms

    def _aligned(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return spread(values, window=self.window, align=self.align)

    # -- files -------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_live_net"}

    def export_onnx(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the fitted detector as one ONNX file that scores without torch (``docs/onnx.md``).

        It takes raw windows; its outputs equal the detector's within 1e-4. An existing file is
        replaced with ``overwrite=True`` only. Needs ``pip install 'axonad[onnx]'``.
        """
        from axonad.onnx.file import export_onnx

        self.check_fitted()
        config = self.net_config(self.n_features_in_)
        export_onnx(self, path, state=self._state()[1], config=config, overwrite=overwrite)

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        arrays = weights_to_arrays(self.net_)
        arrays["scaler.center"] = self._scaler.center
        arrays["scaler.unit"] = self._scaler.unit
        for name, scale in {**self.scales_, "channels": self._channel_scale}.items():
            arrays[f"{name}.median"], arrays[f"{name}.spread"] = scale.median, scale.spread
        return {}, arrays

    def _restore(self, values: Mapping[str, Any], arrays: Arrays) -> None:
        self.net_ = restore_net(lambda: self.make_net(self.n_features_in_), arrays)
        channels = self.n_features_in_
        self._scaler = restore_scaler(self.scaling, arrays, channels=channels)
        sizes = dict.fromkeys(self._term_table(), 1) | {"channels": channels}
        self.scales_ = {name: restore_scale(arrays, name, size) for name, size in sizes.items()}
        self._channel_scale = self.scales_.pop("channels")

    def _check_params(self) -> None:
        super()._check_params()
        check_int("window", self.window, low=2)
        check_training_params(self)
        for name in ("d_model", "heads", "tail"):
            check_int(name, getattr(self, name), low=1)
        check_int("horizon", self.horizon, low=0)
        for name in ("mask_ratio", "block_fraction"):
            check_float(name, getattr(self, name), above=0, high=1)
        check_float("ema", self.ema, low=0, below=1)
        check_float("dropout", self.dropout, low=0, below=1)
        check_choice("scaling", self.scaling, SCALINGS)
        check_choice("align", self.align, ALIGNMENTS)
        check_ints("dilations", self.dilations)
        self.net_config(channels=1)  # checks sizes against each other
