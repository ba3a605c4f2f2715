"""The memory layout of a stack's weights: each model is a row of one matrix.

With it, clipping, optimiser step and moving average of all models are single operations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Size, Tensor
from torch.nn.functional import pad

from axonad.model.net import AxonNet

Weights = Mapping[str, Tensor]

ALIGN = 8  # elements: weights begin at multiples of 16 bytes also in bfloat16, for fast products
ONLINE, PREDICTOR, LOSS = "online.", "predictor.", "log_variance"


class Layout:
    """Where each weight lies in a row.

    The query encoder comes first, so that it lines up with the row of its target encoder; then the
    rest of the reconstruction path, the predictor, and the two log variances of the loss.
    """

    def __init__(self, net: AxonNet) -> None:
        trained = {name: p.shape for name, p in net.named_parameters() if _is_trained(name)}
        first = {name: shape for name, shape in trained.items() if name.startswith(ONLINE)}
        self._shapes: dict[str, Size] = {**first, **trained, LOSS: Size([2])}
        predictor = tuple(name for name in trained if name.startswith(PREDICTOR))
        main = tuple(name for name in {**first, **trained} if name not in predictor)
        self._groups = main, predictor, (LOSS,)
        self._encoder = tuple(first)
        self.encoder_size = self._size(self._encoder)
        self.config = net.config

    def _extent(self, name: str) -> tuple[int, int]:
        """Return the number of elements of a weight and of the padding after it."""
        size = math.prod(self._shapes[name])
        return size, -size % ALIGN

    def _size(self, names: Sequence[str]) -> int:
        return sum(sum(self._extent(name)) for name in names)

    def pack(self, nets: Sequence[AxonNet]) -> tuple[Tensor, Tensor]:
        """Return the weights (M, P) and the target encoders (M, Q) of the networks."""
        names = [name for group in self._groups for name in group]
        rows, targets = [], []
        for net in nets:
            weights: dict[str, Tensor] = dict(net.named_parameters())
            weights[LOSS] = torch.zeros(2, device=net.head.weight.device)
            rows.append(self._row(weights, names))
            encoder = {ONLINE + name: p for name, p in net.target.encoder.named_parameters()}
            targets.append(self._row(encoder, self._encoder))
        return torch.stack(rows), torch.stack(targets)

    def _row(self, weights: Weights, names: Sequence[str]) -> Tensor:
        parts = []
        for name in names:
            value = weights[name].detach()
            value = (
                value.transpose(0, 2) if value.dim() == 3 else value
            )  # stored by tap, see _views
            parts.append(pad(value.flatten(), (0, self._extent(name)[1])))
        return torch.cat(parts)

    def weights(self, rows: Tensor) -> dict[str, Tensor]:
        """Return views of the weights by name, each (M, ...), of full rows or of target rows."""
        if rows.shape[1] == self.encoder_size:
            return self._views(rows, self._encoder)
        main, predictor, loss = self.groups(rows)
        return main | predictor | loss

    def groups(self, rows: Tensor, queries: torch.dtype | None = None) -> list[dict[str, Tensor]]:
        """Return views by name: reconstruction, predictor (cast to ``queries``) and loss.

        They are split apart because autograd fills the gradient of unused pieces with zeros.
        """
        main, predictor, loss = torch.split(
            rows, [self._size(group) for group in self._groups], dim=1
        )
        parts = main, predictor.to(queries or rows.dtype), loss
        return [self._views(*pair) for pair in zip(parts, self._groups, strict=True)]

    def _views(self, part: Tensor, names: Sequence[str]) -> dict[str, Tensor]:
        """Return views of the weights in a part; convolutions are stored tap by tap."""
        sizes = [size for name in names for size in self._extent(name)]
        pieces = torch.split(part, sizes, dim=1)[::2]  # one split has one torch.cat as gradient
        found = {}
        for name, piece in zip(names, pieces, strict=True):
            shape = self._shapes[name]
            if len(shape) == 3:
                found[name] = piece.view(len(part), *reversed(shape)).transpose(1, 3)
            else:
                found[name] = piece.view(len(part), *shape)
        return found

    @torch.no_grad()
    def unpack(self, row: Tensor, target: Tensor, net: AxonNet) -> None:
        """Copy one model's row and target row into a network."""
        weights = self.weights(row[None])
        for name, parameter in net.named_parameters():
            if _is_trained(name):
                parameter.copy_(weights[name][0])
        encoder = self.weights(target[None])
        for name, parameter in net.target.encoder.named_parameters():
            parameter.copy_(encoder[ONLINE + name][0])


def _is_trained(name: str) -> bool:
    """Whether a weight is trained; ``requires_grad`` is False on every weight after a fit."""
    return not name.startswith("target.")
