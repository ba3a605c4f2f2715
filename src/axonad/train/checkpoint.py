"""Early stopping: run epochs until the error stops falling, and keep the best weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from torch import Tensor, nn

from axonad.progress import Progress

MARGIN = 1e-4  # an improvement of the error must exceed this


@dataclass(kw_only=True)
class History:
    """Errors of each epoch, epochs run, epoch kept.

    ``training`` is empty if the loop does not compute the training error, ``validation`` without
    validation rows.
    """

    training: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    epochs: int = 0
    kept_epoch: int = 0


def run_epochs(
    net: nn.Module,
    train_epoch: Callable[[int], float | None],
    validate: Callable[[int], float] | None,
    *,
    epochs: int,
    patience: int,
    restore_best: bool,
    progress: Progress,
) -> History:
    """Train for at most ``epochs`` epochs and return the history.

    Training ends early when the validation error stops falling or, without ``validate``, the value
    that ``train_epoch`` returns; if that is None, all epochs run.
    """
    waiting, best, history = Patience(limit=patience, margin=MARGIN), BestWeights(), History()
    for epoch in range(1, epochs + 1):
        error = train_epoch(epoch)
        history.epochs = history.kept_epoch = epoch
        if error is not None:
            history.training.append(error)
        if validate is not None:
            error = validate(epoch)
            history.validation.append(error)
        if error is None:
            continue
        kind = "loss" if validate is None else "validation"
        progress.describe(f"epoch {epoch}, {kind} {error:.4g}")
        if restore_best:
            best.offer(net, error, epoch)
        if waiting.is_over(error):
            break
    if restore_best and best.epoch > 0:
        best.restore(net)
        history.kept_epoch = best.epoch
    progress.finish()
    return history


class Patience:
    """Counts epochs in which the validation error did not improve by more than ``margin``."""

    def __init__(self, *, limit: int, margin: float) -> None:
        self._limit = limit
        self._margin = margin
        self._best = float("inf")
        self._waited = 0

    def is_over(self, error: float) -> bool:
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
