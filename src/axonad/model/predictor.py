"""The history-only predictor of queries."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import dropout, pad, relu

from axonad.model.config import NetConfig
from axonad.model.embedding import split_heads

KERNEL = 3


class QueryPredictor(nn.Module):
    """Causal dilated convolutions over H shifted by s steps: q̂ at τ sees H up to τ - s only."""

    def __init__(self, config: NetConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.horizon = config.horizon
        self.dropout = config.dropout
        width = config.d_model
        self.convolutions = nn.ModuleList(
            nn.Conv1d(width, width, KERNEL, dilation=dilation) for dilation in config.dilations
        )
        self.dilations = config.dilations
        self.reach = (KERNEL - 1) * sum(config.dilations)
        self.out = nn.Conv1d(width, width, 1)

    def forward(self, H: Tensor, last: int | None = None) -> Tensor:
        """Return predicted queries (B, N, T, d) from H (B, T, D), or those of the last steps.

        The last steps see ``reach`` steps back and no further: computing on these alone gives the
        same answer, because what the zeros in front spoil lies before the steps returned.
        """
        steps = H.shape[1] if last is None else last
        z = shift(H, self.horizon)[:, -(steps + self.reach) :]
        z = z.transpose(1, 2)  # (B, D, T), as convolutions want it
        for convolution, dilation in zip(self.convolutions, self.dilations, strict=True):
            past = pad(z, ((KERNEL - 1) * dilation, 0))  # zeros in front: never a look ahead
            z = dropout(relu(convolution(past)), self.dropout, self.training)
        z = self.out(z[:, :, -steps:])
        return split_heads(z.transpose(1, 2).contiguous(), self.heads)


def shift(H: Tensor, steps: int) -> Tensor:
    """Return H moved ``steps`` later in time, zeros in front (B, T, D)."""
    return pad(H, (0, 0, steps, 0))[:, : H.shape[1]]
