"""TFTResidual: distance of a row from the median forecast of a Temporal Fusion Transformer.

Lim, Arık, Loeff, Pfister: Temporal fusion transformers for interpretable multi-horizon time series
forecasting. International Journal of Forecasting 37(4), 2021.

The last ``horizon`` rows of a window are forecast from the rows before; the score is the distance
of the last row from its median forecast. As in the runs published with AxonAD, the context that the
paper takes from static inputs comes from the mean of the past rows, and the known future inputs are
positions in the window. Differs from those runs in selecting variables by their embeddings, as the
paper does, instead of by the transformed variables.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from axonad.baselines._gated_residual import Affine, Gate, PerVariable, Residual
from axonad.baselines._neural import NeuralDetector, parity_with
from axonad.baselines._transformer import split_heads
from axonad.errors import ConfigError

QUANTILES = (0.1, 0.5, 0.9)


class Selection(nn.Module):
    """Variables (B, T, N) → one vector per row (B, T, D), a weighted mean of their embeddings."""

    def __init__(self, variables: int, width: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.embedding = PerVariable(variables, 1, width)
        self.each = Residual(width, hidden, width, dropout, variables=variables)
        self.weight = Residual(variables * width, hidden, variables, dropout, context=width)

    def forward(self, x: Tensor, context: Tensor) -> Tensor:
        """Return the weighted mean; ``context`` is (B, 1, D).

        Embeddings are linear in their variable, so the linear layers that follow are applied to the
        variable and a constant one directly, without computing the embeddings.
        """
        embedding = Affine.of(self.embedding)
        first, shortcut = (
            self._read(x, layer) for layer in (self.weight.first, self.weight.shortcut)
        )
        share = self.weight.forward_from(first, shortcut, context).softmax(-1)
        numbers = x.flatten(0, 1).T  # (N, B·T)
        numbers = torch.stack([numbers, torch.ones_like(numbers)], dim=-1)
        first = numbers @ Affine.of(self.each.first).after(embedding).with_ones()
        each = self.each.forward_from(first, numbers @ embedding.with_ones())  # (N, B·T, D)
        selected = share.flatten(0, 1)[:, None] @ each.transpose(0, 1)
        return selected.view(*x.shape[:2], -1)

    def _read(self, x: Tensor, layer: nn.Module) -> Tensor:
        """Return the output of a layer whose input is all embeddings, concatenated."""
        embedding = Affine.of(self.embedding)
        if isinstance(layer, nn.Identity):  # scalar embeddings
            return x * embedding.weight.flatten() + embedding.bias.flatten()
        weight = layer.get_parameter("weight").view(-1, *self.embedding.bias.shape)  # (outer, N, D)
        slope, level = (embedding.with_ones() @ weight.permute(1, 2, 0)).unbind(1)
        return linear(x, slope.T, level.sum(0) + layer.get_parameter("bias"))


class Attention(nn.Module):
    """The paper's interpretable attention: heads share their values and are averaged."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self._heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width // heads, bias=False)
        self.out = nn.Linear(width // heads, width, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, horizon: int) -> Tensor:
        """Return the last ``horizon`` rows, each attending to itself and the rows before it."""
        q = split_heads(self.query(x[:, -horizon:]), self._heads)
        k = split_heads(self.key(x), self._heads)
        affinity = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        rows = torch.arange(x.shape[1], device=x.device)
        later = rows > rows[-horizon:, None]
        share = self.dropout(affinity.masked_fill(later, -torch.inf).softmax(-1)).mean(1)
        out: Tensor = self.dropout(self.out(share @ self.value(x)))
        return out


class Net(nn.Module):
    """Past rows (B, T, F) → quantiles of the next rows, (B, horizon, Q, F)."""

    future: Tensor

    def __init__(
        self,
        channels: int,
        *,
        window: int,
        horizon: int,
        width: int,
        hidden: int,
        heads: int,
        dropout: float,
        frequencies: int,
    ) -> None:
        super().__init__()
        self._channels, self._horizon = channels, horizon
        known = positions(window, frequencies)[-horizon:]
        self.register_buffer("future", known, persistent=False)
        self.summary = nn.Linear(channels, width)
        self.context = Residual(width, hidden, width, dropout)
        self.select_past = Selection(channels, width, hidden, dropout)
        self.select_future = Selection(known.shape[1], width, hidden, dropout)
        self.encoder = nn.LSTM(width, width, batch_first=True)
        self.decoder = nn.LSTM(width, width, batch_first=True)
        self.local = Gate(width, width, dropout)
        self.enrich = Residual(width, hidden, width, dropout, context=width)
        self.attention = Attention(width, heads, dropout)
        self.attended = Gate(width, width, dropout)
        self.feed = Residual(width, hidden, width, dropout)
        self.last = Gate(width, width, dropout)
        self.head = nn.Linear(width, channels * len(QUANTILES))

    def forward(self, x: Tensor) -> Tensor:
        """Select variables, encode them in order, attend from the future to the past."""
        context = self.context(self.summary(x.mean(1)))[:, None]
        past = self.select_past(x, context)
        future = self.select_future(self.future.expand(len(x), -1, -1), context)
        read, state = self.encoder(past)
        ahead, _ = self.decoder(future, state)
        local = self.local(torch.cat([read, ahead], dim=1), torch.cat([past, future], dim=1))
        enriched = self.enrich(local, context)
        n = self._horizon
        attended = self.attended(self.attention(enriched, n), enriched[:, -n:])
        out = self.last(self.feed(attended), local[:, -n:])
        quantiles: Tensor = self.head(out).unflatten(-1, (len(QUANTILES), self._channels))
        return quantiles


def positions(rows: int, frequencies: int) -> Tensor:
    """Return each row's position in 0…1, and sines and cosines of it."""
    place = torch.linspace(0, 1, rows)
    angles = [2 * math.pi * k * place for k in range(1, frequencies + 1)]
    return torch.stack([place, *(wave for a in angles for wave in (a.sin(), a.cos()))], dim=1)


def pinball(quantiles: Tensor, y: Tensor) -> Tensor:
    """Return the mean quantile loss of forecasts (..., Q, F) given the values (..., F).

    The loss max(level · e, (level - 1) · e) of an error e equals |e| / 2 + (level - 1/2) · e.
    """
    short = y[..., None, :] - quantiles
    slopes = [
        (level - 0.5) * part.mean() for level, part in zip(QUANTILES, short.unbind(-2), strict=True)
    ]
    return 0.5 * short.abs().mean() + torch.stack(slopes).mean()


@dataclass(kw_only=True, eq=False, repr=False)
class TFTResidual(NeuralDetector):
    """Distance of each window's last row from the median a fusion transformer forecasts.

    Parameters
    ----------
    window, horizon
        Rows of a window, and how many of the last ones are forecast.
    width, hidden, heads, dropout
        Width of the network, hidden width of its residual networks, attention heads, dropout rate.
    frequencies
        Number of sine waves that encode a row's position.
    """

    horizon: int = 10
    width: int = 64
    hidden: int = 128
    heads: int = 4
    dropout: float = 0.1
    frequencies: int = 2
    weight_decay: float = 0.01
    align: str = "end"

    zero_allowed = frozenset({"seed", "frequencies"})
    lr_schedule = (1, 1.0)
    parity = parity_with(epochs=30, patience=30)
    score_batch = 128

    def _build(self, channels: int) -> nn.Module:
        sizes = self._params("window", "horizon", "width", "hidden", "heads", "frequencies")
        return Net(channels, dropout=self.dropout, **sizes)

    def _loss(self, net: nn.Module, x: Tensor, epoch: int) -> Tensor:
        return pinball(net(x[:, : -self.horizon]), x[:, -self.horizon :])

    def _window_score(self, net: nn.Module, x: Tensor) -> Tensor:
        median: Tensor = net(x[:, : -self.horizon])[:, -1, QUANTILES.index(0.5)]
        return (x[:, -1] - median).abs()

    def _check_params(self) -> None:
        super()._check_params()
        if self.horizon >= self.window:
            raise ConfigError(f"horizon must be below window ({self.window}), got {self.horizon}")
        if self.width % self.heads:
            raise ConfigError(f"heads ({self.heads}) must divide width ({self.width})")
