"""The predictor of queries, which sees the past only."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import dropout, pad, relu

from axonad.model.config import KERNEL, NetConfig
from axonad.model.embedding import split_heads


class QueryPredictor(nn.Module):
    """Causal dilated convolutions over H shifted by s steps: q̂ at τ sees H up to τ - s only."""

    def __init__(self, config: NetConfig) -> None:
        super().__init__()
        self.config = config
        width = config.d_model
        self.convolutions = nn.ModuleList(
            nn.Conv1d(width, width, KERNEL, dilation=dilation) for dilation in config.dilations
        )
        self.out = nn.Conv1d(width, width, 1)

    def forward(self, H: Tensor, last: int | None = None) -> Tensor:
        """Return predicted queries (B, N, T, d) from H (B, T, D), or those of the ``last`` steps.

        A prediction sees ``config.reach`` steps back, so the last steps need no earlier ones.
        """
        steps = H.shape[1] if last is None else last
        seen = steps + self.config.reach
        z = shift(H, self.config.horizon)[:, -seen:].transpose(1, 2)  # (B, D, T) for Conv1d
        needs_zeros = z.shape[2] < seen
        for convolution, dilation in zip(self.convolutions, self.config.dilations, strict=True):
            past = pad(z, ((KERNEL - 1) * dilation, 0)) if needs_zeros else z  # left only: causal
            z = dropout(relu(convolution(past)), self.config.dropout, self.training)
        z = self.out(z[:, :, -steps:])
        return split_heads(z.transpose(1, 2).contiguous(), self.config.heads)


def shift(H: Tensor, steps: int) -> Tensor:
    """Return H (B, T, D) moved ``steps`` later in time, with zeros in front."""
    return pad(H, (0, 0, steps, 0))[:, : H.shape[1]]
