"""CNN: a convolutional network predicts the next row; the error is the score.

Munir, Siddiqui, Dengel, Ahmed: DeepAnT, a deep learning approach for unsupervised anomaly
detection in time series. IEEE Access 7, 2019.

Differs from the paper in the head: features are averaged over time, as TSB-AD does, and the score
is the squared error instead of the Euclidean distance. Differs from TSB-AD, which hands the network
each window's memory read as (channels, time) without transposing it, in transposing it; with
``tsb_ad=True`` the mix-up is kept, for the published figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor, nn
from torch.nn.functional import mse_loss

from axonad.baselines._neural import NeuralDetector
from axonad.config import check_bool, check_ints
from axonad.errors import ConfigError

KERNEL = 3


class Net(nn.Module):
    """Windows (B, T, F) → the next row (B, F)."""

    def __init__(self, channels: int, widths: tuple[int, ...], *, mixed: bool) -> None:
        super().__init__()
        self._mixed = mixed
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
        x = x.reshape(len(x), x.shape[2], x.shape[1]) if self._mixed else x.transpose(1, 2)
        predicted: Tensor = self.head(self.convolutions(x).mean(-1))
        return predicted


@dataclass(kw_only=True, eq=False, repr=False)
class CNN(NeuralDetector):
    """Squared error of a convolutional forecast of each row from the ``window`` rows before it.

    Parameters
    ----------
    widths
        Filters of the convolutions.
    tsb_ad
        Keep TSB-AD's mix-up of channels and time (parity).
    """

    window: int = 50
    widths: tuple[int, ...] = (32, 40)
    lr: float = 8e-4
    align: str = "end"
    tsb_ad: bool = False

    parity: ClassVar[Mapping[str, Any]] = {
        "scaling": "array", "align": "end", "restore_best": False, "tsb_ad": True,
    }  # fmt: skip

    @property
    def history(self) -> int:
        """Rows a score needs: a window and the row predicted from it."""
        return self.window + 1

    def _build(self, channels: int) -> nn.Module:
        return Net(channels, self.widths, mixed=self.tsb_ad)

    def _loss(self, net: nn.Module, x: Tensor, epoch: int) -> Tensor:
        return mse_loss(net(x[:, :-1]), x[:, -1])

    def _window_score(self, net: nn.Module, x: Tensor) -> Tensor:
        error: Tensor = net(x[:, :-1]) - x[:, -1]
        return error.square()

    def _check_params(self) -> None:
        super()._check_params()
        check_bool("tsb_ad", self.tsb_ad)
        check_ints("widths", self.widths)
        rows = self.window
        for _ in self.widths:
            rows = (rows - KERNEL + 1) // 2
        if rows < 1:
            raise ConfigError(
                f"window ({self.window}) is too short for {len(self.widths)} convolutions"
            )
