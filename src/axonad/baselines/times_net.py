"""TimesNet: reconstruction error of a window folded into images by its own periods.

Wu, Hu, Liu, Zhou, Wang, Long: TimesNet, temporal 2D-variation modeling for general time series
analysis. ICLR 2023.

Differs from the authors' code and TSB-AD in the choice of periods: there they come from the average
spectrum of the batch, so that a window's score depends on the windows it is scored with; here each
window has its own, as in the paper's formula. As in TSB-AD, the score is the squared error of the
window's last row.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d, gelu, pad

from axonad.baselines._neural import LEADERBOARD, NeuralDetector
from axonad.baselines._ragged_images import RaggedImages
from axonad.baselines._transformer import RowEmbedding
from axonad.config import check_int


class Inception(nn.Module):
    """Images (N, C, rows, columns) → the mean of convolutions of sizes 1, 3, 5, ..."""

    tap_matrix: Tensor

    def __init__(self, inner: int, outer: int, kernels: int) -> None:
        super().__init__()
        self.sizes = nn.ModuleList(
            nn.Conv2d(inner, outer, 2 * i + 1, padding=i) for i in range(kernels)
        )
        for convolution in self.sizes:
            nn.init.kaiming_normal_(convolution.weight, mode="fan_out", nonlinearity="relu")  # type: ignore[arg-type]
            nn.init.zeros_(convolution.bias)  # type: ignore[arg-type]
        self.register_buffer("tap_matrix", _tap_matrix(kernels), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return images of the same size."""
        return conv2d(x, *self.merged(), padding="same")

    def merged(self) -> tuple[Tensor, Tensor]:
        """Return weight and bias of one convolution, of the largest size, with the same output.

        A small kernel is a large one padded with zeros.
        """
        weights, biases = (
            [convolution.get_parameter(name) for convolution in self.sizes]
            for name in ("weight", "bias")
        )
        taps = torch.cat([weight.flatten(2) for weight in weights], dim=2) @ self.tap_matrix
        return taps.view_as(weights[-1]) / len(weights), torch.stack(tuple(biases)).mean(0)


def _tap_matrix(kernels: int) -> Tensor:
    """Return the 0/1 matrix (1 + 9 + ..., size²) from all kernels' taps to the largest kernel's."""
    taps = [torch.eye(size**2).view(-1, size, size) for size in range(1, 2 * kernels, 2)]
    largest = [pad(tap, [kernels - 1 - i] * 4).flatten(1) for i, tap in enumerate(taps)]
    return torch.cat(largest)


def strongest_frequencies(x: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return each window's strongest frequencies (B, k), 1 and up, and their amplitudes."""
    amplitude = torch.fft.rfft(x, dim=1).abs().mean(-1)
    strongest = amplitude[:, 1:].topk(count, dim=1)
    return strongest.indices + 1, strongest.values


class TimesBlock(nn.Module):
    """Tokens (B, T, D) → tokens, through one image for each of a window's strongest periods."""

    def __init__(self, width: int, *, hidden: int, top: int, kernels: int) -> None:
        super().__init__()
        self._top, self._reach = top, kernels - 1
        self.images = nn.Sequential(
            Inception(width, hidden, kernels), nn.GELU(), Inception(hidden, width, kernels)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return ``x`` plus the periods' outputs, weighted by amplitude."""
        frequency, amplitude = strongest_frequencies(x, self._top)
        period = x.shape[1] // frequency
        out = self._at_once(x, period) if x.is_cuda else self._one_by_one(x, period)
        share = amplitude.softmax(1)[:, :, None, None]
        return x + (share * out).sum(1)

    def _kernels(self) -> list[tuple[Tensor, Tensor]]:
        return [layer.merged() for layer in self.images if isinstance(layer, Inception)]

    def _at_once(self, x: Tensor, period: Tensor) -> Tensor:
        """Return (B, k, T, D): ``x`` processed as an image of each of its periods (B, k)."""
        first, second = self._kernels()
        strips = RaggedImages(period.flatten(), rows=x.shape[1], reach=self._reach)
        images = strips.fold(x[:, None].expand(-1, self._top, -1, -1).flatten(0, 1))
        images = strips.convolve(gelu(strips.convolve(images, *first)), *second)
        return strips.unfold(images).reshape(*period.shape, *x.shape[1:])

    def _one_by_one(self, x: Tensor, period: Tensor) -> Tensor:
        """Return the same, period by period: less work, but it copies the periods to the host."""
        first, second = self._kernels()
        out = x.new_zeros(*period.shape, *x.shape[1:])
        for length in torch.unique(period).tolist():
            windows, ranks = torch.nonzero(period == length, as_tuple=True)
            image = _fold(x[windows], length)
            image = conv2d(gelu(conv2d(image, *first, padding="same")), *second, padding="same")
            out[windows, ranks] = image.permute(0, 2, 3, 1).flatten(1, 2)[:, : x.shape[1]]
        return out


def _fold(x: Tensor, period: int) -> Tensor:
    """Return windows (N, T, D) as images (N, D, rows, columns) with one period per row."""
    count, rows, width = x.shape
    image = pad(x, (0, 0, 0, -rows % period)).reshape(count, -1, period, width)
    return image.permute(0, 3, 1, 2)


class Net(nn.Module):
    """Windows (B, T, F) → their reconstruction."""

    def __init__(
        self,
        channels: int,
        *,
        window: int,
        width: int,
        hidden: int,
        top: int,
        kernels: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.embedding = RowEmbedding(channels, width, window=window, dropout=dropout)
        self.block = TimesBlock(width, hidden=hidden, top=top, kernels=kernels)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, channels)

    def forward(self, x: Tensor) -> Tensor:
        """Return the reconstruction; channels are standardised first and restored at the end."""
        mean = x.mean(1, keepdim=True)
        std = (x.var(1, keepdim=True, correction=0) + 1e-5).sqrt()
        tokens = self.norm(self.block(self.embedding((x - mean) / std)))
        back: Tensor = self.head(tokens) * std + mean
        return back


@dataclass(kw_only=True, eq=False, repr=False)
class TimesNet(NeuralDetector):
    """Squared error of each window's last row, reconstructed from the window folded by periods.

    Parameters
    ----------
    width, hidden
        Token width; channels between the two convolutions.
    top
        Number of strongest periods a window is folded by.
    kernels
        Number of convolution sizes 1, 3, 5, ...
    dropout
        Dropout rate of the tokens.
    """

    window: int = 96
    width: int = 8
    hidden: int = 16
    top: int = 3
    kernels: int = 6
    dropout: float = 0.1
    lr: float = 1e-4
    align: str = "end"

    lr_schedule = (1, 0.5)
    leaderboard = LEADERBOARD
    score_batch = 256

    def _build(self, channels: int) -> nn.Module:
        names = ("window", "width", "hidden", "top", "kernels", "dropout")
        return Net(channels, **self._params(*names))

    def _check_params(self) -> None:
        super()._check_params()
        check_int("window", self.window, low=2)
        check_int("top", self.top, low=1, high=self.window // 2)
