"""CNN: squared error of a convolutional forecast of the next row.

Munir, Siddiqui, Dengel, Ahmed: DeepAnT, a deep learning approach for unsupervised anomaly
detection in time series. IEEE Access 7, 2019.

Differs from the paper in averaging features over time before the head, as TSB-AD does, and in
scoring by the squared error instead of the Euclidean distance. Differs from TSB-AD in transposing
windows to (channels, time); TSB-AD reshapes them, which mixes up channels and time, and
``tsb_ad=True`` does the same to reproduce the published results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor, nn

from axonad.baselines._forecaster import Forecaster
from axonad.baselines._neural import parity_with
from axonad.errors import ConfigError

KERNEL = 3


class Net(nn.Module):
    """Windows (B, T, F) → the next row (B, F)."""

    def __init__(self, channels: int, widths: tuple[int, ...], *, reshape: bool) -> None:
        super().__init__()
        self._reshape = reshape
        layers: list[nn.Module] = []
        for inner, outer in zip((channels, *widths), widths, strict=False):
            layers += [nn.Conv1d(inner, outer, KERNEL), nn.ReLU(), nn.MaxPool1d(2)]
        self.convolutions = nn.Sequential(*layers)
        self.head = nn.Sequential(
            nn.Linear(widths[-1], widths[-1]),
            nn.ReLU(),
            nn.Dropout(0.25),
            nn.Linear(widths[-1], channels),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return the predicted row."""
        x = x.reshape(len(x), x.shape[2], x.shape[1]) if self._reshape else x.transpose(1, 2)
        predicted: Tensor = self.head(self.convolutions(x).mean(-1))
        return predicted


@dataclass(kw_only=True, eq=False, repr=False)
class CNN(Forecaster):
    """Squared error of a convolutional forecast of each row from the ``window`` rows before it.

    Parameters
    ----------
    widths
        Filters of each convolution.
    tsb_ad
        Reshape windows instead of transposing them (parity).
    """

    window: int = 50
    widths: tuple[int, ...] = (32, 40)
    lr: float = 8e-4
    align: str = "end"
    tsb_ad: bool = False

    parity = parity_with(align="end", tsb_ad=True)
    leaderboard: ClassVar[Mapping[str, Any]] = {"scaling": "raw"}

    def _build(self, channels: int) -> nn.Module:
        return Net(channels, self.widths, reshape=self.tsb_ad)

    def _check_params(self) -> None:
        super()._check_params()
        rows = self.window
        for _ in self.widths:
            rows = (rows - KERNEL + 1) // 2
        if rows < 1:
            raise ConfigError(
                f"window ({self.window}) is too short for {len(self.widths)} convolutions"
            )
