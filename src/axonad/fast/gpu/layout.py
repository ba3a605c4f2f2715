"""Where the weights of many models of one shape lie: each model a row of one matrix.

So that clipping, optimiser and moving average are single operations. What a row holds comes from
the networks' own weights by name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Size, Tensor
from torch.nn.functional import pad

from axonad.model.net import AxonNet

Weights = Mapping[str, Tensor]

ALIGN = 8  # numbers: a weight begins at a multiple of 16 bytes, as fast products like it
ONLINE, PREDICTOR, LOSS = "online.", "predictor.", "log_variance"


class Layout:
    """Where each weight lies in a row.

    The query encoder comes first, as it does in its target; then what reconstructs, the predictor,
    and the loss's own two.
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

    def _room(self, name: str) -> tuple[int, int]:
        """Return how many numbers a weight has and how many stay unused behind it."""
        size = math.prod(self._shapes[name])
        return size, -size % ALIGN

    def _size(self, names: Sequence[str]) -> int:
        return sum(sum(self._room(name)) for name in names)

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
            value = value.transpose(0, 2) if value.dim() == 3 else value  # by tap, see _views
            parts.append(pad(value.flatten(), (0, self._room(name)[1])))
        return torch.cat(parts)

    def weights(self, rows: Tensor) -> dict[str, Tensor]:
        """Return views of the rows by name, each (M, ...); of target rows, the encoder's alone."""
        if rows.shape[1] == self.encoder_size:
            return self._views(rows, self._encoder)
        main, predictor, loss = self.groups(rows)
        return main | predictor | loss

    def groups(self, rows: Tensor, queries: torch.dtype | None = None) -> list[dict[str, Tensor]]:
        """Return what reconstructs, the predictor (as ``queries``) and the loss's own, by name.

        Apart, because splitting gives a gradient of zeros to every piece that had no use.
        """
        main, predictor, loss = torch.split(
            rows, [self._size(group) for group in self._groups], dim=1
        )
        parts = main, predictor.to(queries or rows.dtype), loss
        return [self._views(*pair) for pair in zip(parts, self._groups, strict=True)]

    def _views(self, part: Tensor, names: Sequence[str]) -> dict[str, Tensor]:
        """Return the weights in a part; a convolution lies tap by tap, as ``convolve`` wants it."""
        sizes = [size for name in names for size in self._room(name)]
        pieces = torch.split(part, sizes, dim=1)[
            ::2
        ]  # one split: its gradient is one concatenation
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
        """Put one model's row and target row into a network."""
        weights = self.weights(row[None])
        for name, parameter in net.named_parameters():
            if _is_trained(name):
                parameter.copy_(weights[name][0])
        encoder = self.weights(target[None])
        for name, parameter in net.target.encoder.named_parameters():
            parameter.copy_(encoder[ONLINE + name][0])


def _is_trained(name: str) -> bool:
    """Whether a weight is one of those a gradient reaches; a fitted network no longer says so."""
    return not name.startswith("target.")
