"""OFA: reconstruction error of windows by a pretrained language model, mostly frozen.

Zhou, Niu, Wang, Sun, Jin: One fits all, power general time series analysis by pretrained LM.
NeurIPS 2023.

The first six blocks of GPT-2 read the rows of a window as word embeddings. Only layer norms,
positions and a linear output layer are trained. As in TSB-AD, the score is the squared error of a
window's last row. TSB-AD then gives each row the mean over all windows that contain it, which looks
a window ahead; ``average=True`` does the same (parity). GPT-2's weights are not part of this
package: ``fit`` reads them from a folder in the layout of Hugging Face's ``gpt2``; a fitted
detector contains its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import pad

from axonad.baselines._gpt2 import FILES, GPT2, Shape, load_weights, read_shape
from axonad.baselines._neural import LEADERBOARD, NeuralDetector, parity_with
from axonad.config import check_int
from axonad.data.frames import Matrix, Names
from axonad.errors import ConfigError
from axonad.modelfile import Arrays, check_number


class Net(nn.Module):
    """Windows (B, T, F) → their reconstruction."""

    def __init__(self, channels: int, shape: Shape, *, segment: int, dropout: float) -> None:
        super().__init__()
        self._segment, self._padding = segment, shape.width - channels
        self.gpt2 = GPT2(shape, dropout=dropout)
        self.head = nn.Linear(shape.width, channels)

    def forward(self, x: Tensor) -> Tensor:
        """Return the reconstruction; segments are standardised first and restored at the end."""
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
        Number of GPT-2's blocks to use, from the first.
    segment
        Rows standardised together; must divide ``window``.
    dropout
        Dropout rate.
    average
        Give each row the mean score of all windows that contain it (parity), ignoring ``align``.
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

    changeable = NeuralDetector.changeable | {"average"}
    lr_schedule = (1, 0.5)
    parity = parity_with(average=True)
    leaderboard: ClassVar[Mapping[str, Any]] = {**LEADERBOARD, "average": False}
    score_batch = 256

    def _fit(self, X: Matrix, names: Names) -> NDArray[np.float64]:
        if self.weights is None:
            raise ConfigError(
                f"OFA needs weights, a folder with a GPT-2 ({' and '.join(FILES)}), for example a "
                "download of 'openai-community/gpt2' from Hugging Face"
            )
        folder = Path(self.weights)
        if not folder.is_dir():
            raise ConfigError(f"weights must be a folder with {' and '.join(FILES)}, got {folder}")
        self._pretrained: Path | None = folder
        self._shape = read_shape(folder, layers=self.layers, rows=self.window)
        if X.shape[1] > self._shape.width:
            raise ConfigError(
                f"X must have at most {self._shape.width} channels, the width of the GPT-2 in "
                f"{folder}, got {X.shape[1]}"
            )
        return super()._fit(X, names)

    def _build(self, channels: int) -> nn.Module:
        net = Net(channels, self._shape, segment=self.segment, dropout=self.dropout)
        if self._pretrained is not None:
            load_weights(net.gpt2, self._pretrained)
        return net

    def _aligned(self, values: NDArray[Any]) -> NDArray[Any]:
        if not self.average:
            return super()._aligned(values)
        total = np.zeros((len(values) + self.history - 1, *values.shape[1:]))
        count = np.zeros(len(total))
        for row in range(self.history):
            total[row : row + len(values)] += values
            count[row : row + len(values)] += 1
        return (total.T / count).T

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        values, arrays = super()._state()
        return {**values, "gpt2": asdict(self._shape)}, arrays

    def _restore(self, values: Mapping[str, Any], arrays: Arrays) -> None:
        self._pretrained = None  # all weights are in the arrays
        self._shape = shape = Shape(**values["gpt2"])
        for name in ("width", "heads", "layers", "rows"):
            check_int(name, getattr(shape, name), low=1)
        check_number("epsilon", shape.epsilon, above=0)
        if (shape.rows, shape.layers) != (self.window, self.layers):
            raise ValueError("rows and layers of its GPT-2 differ from window and layers")
        if shape.width % shape.heads:
            raise ValueError(f"heads ({shape.heads}) must divide width ({shape.width})")
        super()._restore(values, arrays)

    def _check_params(self) -> None:
        super()._check_params()
        if self.weights is not None and not isinstance(self.weights, str):
            raise ConfigError(f"weights must be the path of a folder, got {self.weights!r}")
        if self.window % self.segment:
            raise ConfigError(f"segment ({self.segment}) must divide window ({self.window})")
