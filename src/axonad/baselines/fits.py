"""FITS: error of a window's last row, interpolated in the frequency domain from every n-th row.

Xu, Zeng, Xu: FITS, modeling time series with 10k parameters. ICLR 2024.

As in TSB-AD: a complex linear layer per channel on the lowest frequencies, scored by the error of
the window's last row (the paper uses the whole window's). Complex weights are stored as pairs of
real numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from axonad.baselines._neural import LEADERBOARD, NeuralDetector
from axonad.errors import ConfigError


class Net(nn.Module):
    """Windows (B, T, F) → windows (B, T, F), interpolated from every ``factor``-th row."""

    def __init__(self, channels: int, window: int, factor: int, cutoff: int) -> None:
        super().__init__()
        self._window, self._factor, self._cutoff = window, factor, cutoff
        outer = cutoff * factor
        bound = cutoff**-0.5
        weight, bias = torch.zeros(2, channels, outer, cutoff), torch.zeros(2, channels, outer)
        nn.init.uniform_(weight[0], -bound, bound)  # real parts; imaginary parts start at 0
        nn.init.uniform_(bias[0], -bound, bound)
        self.weight, self.bias = nn.Parameter(weight), nn.Parameter(bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return the interpolated windows."""
        x = x[:, :: self._factor]
        mean = x.mean(1, keepdim=True)
        deviation = (x.var(1, keepdim=True) + 1e-5).sqrt()
        low = torch.fft.rfft((x - mean) / deviation, dim=1)[:, : self._cutoff]
        weight, bias = torch.complex(*self.weight), torch.complex(*self.bias)
        spectrum = torch.einsum("bif,foi->bof", low, weight) + bias.T
        missing = self._window // 2 + 1 - spectrum.shape[1]
        spectrum = pad(spectrum, (0, 0, 0, missing))  # crops if negative
        full: Tensor = torch.fft.irfft(spectrum, n=self._window, dim=1) * self._factor
        return full * deviation + mean


@dataclass(kw_only=True, eq=False, repr=False)
class FITS(NeuralDetector):
    """Squared error of a window's last row, interpolated from every ``factor``-th row before it.

    Parameters
    ----------
    factor
        The network sees every ``factor``-th row.
    cutoff
        Number of lowest frequencies used.
    """

    factor: int = 4
    cutoff: int = 12
    align: str = "end"

    leaderboard = LEADERBOARD

    def _build(self, channels: int) -> nn.Module:
        return Net(channels, self.window, self.factor, self.cutoff)

    def _check_params(self) -> None:
        super()._check_params()
        seen, rest = divmod(self.window, self.factor)
        if rest or seen < 2:
            raise ConfigError(
                f"window ({self.window}) must be a multiple of factor ({self.factor}) and at least "
                f"{2 * self.factor}"
            )
        if self.cutoff > seen // 2 + 1:
            raise ConfigError(
                f"cutoff must be at most {seen // 2 + 1} with window {self.window} and factor "
                f"{self.factor}, got {self.cutoff}"
            )
