"""The part of a detector that treats context channels: those that only set the scene.

Detectors need not know of it. What they learn from and score is their data *in context*: the
context channels clipped to their training range, or held at their training median. A detector whose
predictions can use them sets ``conditions`` and leaves the channels of ``context_columns`` out of
what it scores.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from axonad.data.context import (
    Context,
    ContextWatch,
    NewContext,
    check_context,
    usable_rows,
)
from axonad.data.frames import Matrix, Names
from axonad.data.series import Series
from axonad.errors import DataWarning
from axonad.parameters import Parameters


class Conditioning(Parameters):
    """Base of a detector with context channels.

    Parameters
    ----------
    context
        Names of channels that only set the scene, such as an ambient temperature or an odometer
        (their numbers as text if they have no names): they are never judged and never blamed; see
        :mod:`axonad.data.context`.
    """

    context: tuple[str, ...]

    conditions: ClassVar[bool] = False
    """Whether the context is an input that the detector predicts other channels from."""
    context_: Context | None = None
    """Range of the context channels in training; None if no channel is context."""

    @property
    def context_columns(self) -> tuple[int, ...]:
        """Columns of the context channels of a fitted detector."""
        return () if self.context_ is None else self.context_.columns

    def in_context(self, X: Matrix) -> Matrix:
        """Return rows with the channels of training as the detector is meant to see them."""
        if self.context_ is None:
            return X
        return self.context_.clip(X) if self.conditions else self.context_.hold(X)

    def watch_context(self, names: Names) -> ContextWatch | None:
        """Return what notices a context that training has not seen; None without context."""
        if self.context_ is None:
            return None
        return ContextWatch(self.context_, names, clips=self.conditions)

    def _find_new_context(self, X: Any, values: Matrix, names: Names) -> tuple[NewContext, ...]:
        """Return what is new in ``X``, whose matrix with the channels of training is ``values``."""
        watch = self.watch_context(names)
        return () if watch is None else tuple(watch.add(usable_rows(X, values)))

    def _enter_context(self, X: Any, values: Matrix, names: Names) -> Matrix:
        """Return ``values`` in context, with a warning for each context channel that is new."""
        for new in self._find_new_context(X, values, names):
            name = f"{X.name}: " if isinstance(X, Series) else ""
            warnings.warn(f"{name}{new}", DataWarning, stacklevel=5)
        return self.in_context(values)

    def _withhold_context(self, blame: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        """Return the blame with -inf for the context."""
        if blame is None or self.context_ is None:
            return blame
        return self.context_.withhold(blame)

    def _check_params(self) -> None:
        check_context(self.context)
