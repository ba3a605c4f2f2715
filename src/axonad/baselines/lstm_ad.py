"""LSTMAD: squared error of a recurrent forecast of the next row.

Malhotra, Vig, Shroff, Agarwal: Long short term memory networks for anomaly detection in time
series. ESANN 2015.

Differs from the paper, as TSB-AD does, in forecasting one step with an encoder and a decoder of two
layers each, and in scoring by the squared error instead of a Gaussian fitted to errors. Differs
from TSB-AD where the validation rows hold no window: TSB-AD stops after four epochs, we go on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor, nn
from torch.nn.functional import gelu

from axonad.baselines._forecaster import Forecaster
from axonad.baselines._neural import parity_with


class Net(nn.Module):
    """Windows (B, T, F) → the next row (B, F)."""

    def __init__(self, channels: int, width: int, layers: int) -> None:
        super().__init__()
        self.encoder = nn.LSTM(channels, width, layers, batch_first=True)
        self.decoder = nn.LSTM(channels, width, layers, batch_first=True)
        self.head = nn.Linear(width, channels)

    def forward(self, x: Tensor) -> Tensor:
        """Return the predicted row: one decoder step from the encoder's last state."""
        _, state = self.encoder(x)
        out, _ = self.decoder(x.new_zeros(len(x), 1, x.shape[2]), state)
        predicted: Tensor = self.head(gelu(out[:, 0]))
        return predicted


@dataclass(kw_only=True, eq=False, repr=False)
class LSTMAD(Forecaster):
    """Squared error of a recurrent forecast of each row from the ``window`` rows before it.

    Parameters
    ----------
    width, layers
        Width and number of recurrent layers, in the encoder and in the decoder.
    """

    window: int = 150
    width: int = 20
    layers: int = 2
    lr: float = 8e-4
    align: str = "end"

    parity = parity_with(align="end")
    leaderboard: ClassVar[Mapping[str, Any]] = {"scaling": "raw"}

    def _build(self, channels: int) -> nn.Module:
        return Net(channels, self.width, self.layers)
