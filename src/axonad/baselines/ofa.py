"""OFA: a language model, hardly retrained, reconstructs windows.

Zhou, Niu, Wang, Sun, Jin: One fits all, power general time series analysis by pretrained LM.
NeurIPS 2023.

The first six blocks of GPT-2 read the rows of a window as if they were embedded words. Only norms,
positions and a linear output are trained. Score, as in TSB-AD: squared error of a window's last
row. TSB-AD then gives each row the mean over all windows that hold it, which looks a window ahead;
here ``average=True`` does (parity). The weights are not part of this package: any folder in the
layout of Hugging Face's ``gpt2`` will do, once, for ``fit``; what was fitted carries its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import mse_loss, pad

from axonad.baselines._gpt2 import FILES, GPT2, Shape, load_weights, read_shape
from axonad.baselines._neural import NeuralDetector
from axonad.config import check_bool, check_float, check_int
from axonad.data.frames import Matrix, Names
from axonad.errors import ConfigError
from axonad.modelfile import Arrays


class Net(nn.Module):
    """Windows (B, T, F) → their reconstruction."""

    def __init__(self, channels: int, shape: Shape, *, segment: int, dropout: float) -> None:
        super().__init__()
        self._segment, self._padding = segment, shape.width - channels
        self.gpt2 = GPT2(shape, dropout=dropout)
        self.head = nn.Linear(shape.width, channels)

    def forward(self, x: Tensor) -> Tensor:
        """Each segment of rows is centred and scaled first, and put back at the end."""
        count, rows, channels = x.shape
        segments = x.reshape(count, -1, self._segment, channels)
        mean = segments.mean(2, keepdim=True)
        std = (segments.var(2, keepdim=True, correction=0) + 1e-5).sqrt()
        tokens = ((segments - mean) / std).reshape(count, rows, channels)
        back = self.head(self.gpt2(pad(tokens, (0, self._padding))))
        out: Tensor = (back.reshape_as(segments) * std + mean).reshape_as(x)
        return out


@dataclass(kw_only=True, eq=False, repr=False)
class OFA(NeuralDetector):
    """Squared error of each window's last row, reconstructed by a pretrained language model.

    Parameters
    ----------
    weights
        Folder with a GPT-2: ``config.json`` and ``model.safetensors``. Needed by ``fit``.
    layers
        Blocks of it to use, from the first.
    segment
        Rows centred and scaled together; divides ``window``.
    dropout
        While training.
    average
        Give each row the mean score of all windows that hold it (parity) instead of ``align``.
    """

    weights: str | None = None
    window: int = 50
    layers: int = 6
    segment: int = 25
    dropout: float = 0.1
    average: bool = False
    lr: float = 1e-4
    batch_size: int = 64
    epochs: int = 10
    align: str = "end"

    changeable: ClassVar[frozenset[str]] = NeuralDetector.changeable | {"average"}
    lr_schedule: ClassVar[tuple[int, float]] = (1, 0.5)
    parity: ClassVar[Mapping[str, Any]] = {**NeuralDetector.parity, "average": True}
    score_batch: ClassVar[int] = 256

    def _fit(self, X: Matrix, names: Names) -> NDArray[np.float64]:
        if self.weights is None:
            raise ConfigError(
                f"OFA needs weights: give the folder of a GPT-2 ({' and '.join(FILES)}), for "
                "instance a download of 'openai-community/gpt2' from Hugging Face"
            )
        folder = Path(self.weights)
        if not folder.is_dir():
            raise ConfigError(f"weights must be a folder with {' and '.join(FILES)}, got {folder}")
        self._pretrained: Path | None = folder
        self._shape = read_shape(folder, layers=self.layers, rows=self.window)
        if X.shape[1] > self._shape.width:
            raise ConfigError(
                f"OFA takes at most {self._shape.width} channels with these weights, "
                f"got {X.shape[1]}"
            )
        return super()._fit(X, names)

    def _build(self, channels: int) -> nn.Module:
        net = Net(channels, self._shape, segment=self.segment, dropout=self.dropout)
        if self._pretrained is not None:
            load_weights(net.gpt2, self._pretrained)
        return net

    def _loss(self, net: nn.Module, x: Tensor, epoch: int) -> Tensor:
        return mse_loss(net(x), x)

    def _window_score(self, net: nn.Module, x: Tensor) -> Tensor:
        error: Tensor = (net(x) - x)[:, -1]
        return error.square()

    def _aligned(self, values: NDArray[Any]) -> NDArray[Any]:
        if not self.average:
            return super()._aligned(values)
        total = np.zeros((len(values) + self.history - 1, *values.shape[1:]))
        count = np.zeros(len(total))
        for row in range(self.history):
            total[row : row + len(values)] += values
            count[row : row + len(values)] += 1
        mean: NDArray[Any] = (total.T / count).T
        return mean

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        values, arrays = super()._state()
        return {**values, "gpt2": self._shape.as_dict()}, arrays

    def _restore(self, values: Mapping[str, Any], arrays: Arrays) -> None:
        self._pretrained = None  # the arrays have everything
        self._shape = Shape(**values["gpt2"])
        super()._restore(values, arrays)

    def _check_params(self) -> None:
        super()._check_params()
        check_int("layers", self.layers, low=1)
        check_int("segment", self.segment, low=1)
        check_float("dropout", self.dropout, low=0, below=1)
        check_bool("average", self.average)
        if self.weights is not None and not isinstance(self.weights, str):
            raise ConfigError(f"weights must be the name of a folder, got {self.weights!r}")
        if self.window % self.segment:
            raise ConfigError(f"segment ({self.segment}) must divide window ({self.window})")
