"""The best weights so far, and when to stop looking for better ones."""

from __future__ import annotations

from torch import Tensor, nn


class Patience:
    """Counts epochs in which the validation error did not improve by more than ``margin``."""

    def __init__(self, *, limit: int, margin: float) -> None:
        self._limit = limit
        self._margin = margin
        self._best = float("inf")
        self._waited = 0

    def ends_with(self, error: float) -> bool:
        """Record one epoch's error and return whether training should end."""
        if error < self._best - self._margin:
            self._best = error
            self._waited = 0
        else:
            self._waited += 1
        return self._waited >= self._limit


class BestWeights:
    """A copy of the weights with the lowest validation error."""

    def __init__(self) -> None:
        self.error = float("inf")
        self.epoch = -1
        self._weights: dict[str, Tensor] = {}

    def offer(self, net: nn.Module, error: float, epoch: int) -> None:
        """Copy the network's weights if their error is the lowest so far."""
        if error < self.error:
            self.error, self.epoch = error, epoch
            self._weights = {k: v.detach().clone() for k, v in net.state_dict().items()}

    def restore(self, net: nn.Module) -> None:
        """Load the best weights into the network, if any were kept."""
        if self._weights:
            net.load_state_dict(self._weights)
