"""Context: channels that only set the scene, such as ambient temperature, odometer or clock.

A context channel is never judged. A detector that can condition on it sees it clipped to the range
it had in training; any other detector sees it held at its training median, like a channel that
never moves. A context that training has not seen therefore neither raises an alarm by itself nor
takes a prediction beyond what was learned; :class:`NewContext` says that it is new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import Matrix, Names
from axonad.data.series import Series
from axonad.errors import ChannelError, ConfigError, InputError, suggest

NOTED = 0.01  # distance from the training range that is worth a word, as a share of its width
ROUNDING = 1e-6  # the same for a channel that was constant in training, as a share of its value

Array = NDArray[np.float64]


@dataclass(frozen=True)
class NewContext:
    """A context channel that leaves the range it had in training; ``str()`` gives a sentence.

    The other channels are judged as at the values ``judged_at``.
    """

    channel: str
    low: float
    high: float
    trained_low: float
    trained_high: float
    judged_at: tuple[float, ...]

    def __str__(self) -> str:
        here, there = _span(self.low, self.high), _span(self.trained_low, self.trained_high)
        at = " and ".join(f"{value:.7g}" for value in self.judged_at)
        return (
            f"{self.channel} is {here} here, training saw {there}: new context, other channels "
            f"are judged as at {at}"
        )


@dataclass(frozen=True, eq=False)
class Context:
    """Which channels are context, and the range and median of each in training."""

    columns: tuple[int, ...]
    low: Array
    high: Array
    middle: Array

    @classmethod
    def learn(cls, context: Sequence[str], X: Matrix, names: Names) -> Self | None:
        """Return the context of training data; None if no channel is context."""
        if len(context) == 0:
            return None
        columns = find_columns(context, names, X.shape[1])
        part = X[:, columns]
        # A value that was seen, not a mean of two: in float32 and float64 it is the same number.
        middle = np.quantile(part, 0.5, axis=0, method="lower")
        bounds = (np.asarray(each, dtype=np.float64) for each in (part.min(0), part.max(0), middle))
        return cls(tuple(columns), *bounds)

    def clip(self, X: Matrix) -> Matrix:
        """Return ``X`` with the context clipped to its training range."""
        part = X[:, self.columns]
        return self._with(X, part, np.clip(part, self.low, self.high))

    def hold(self, X: Matrix) -> Matrix:
        """Return ``X`` with the context at its training median."""
        part = X[:, self.columns]
        return self._with(X, part, np.broadcast_to(self.middle, part.shape))

    def _with(self, X: Matrix, before: Matrix, after: Matrix) -> Matrix:
        if np.array_equal(before, after):
            return X
        result = X.copy()
        result[:, self.columns] = after
        return result

    def withhold(self, blame: Array) -> Array:
        """Return the blame (rows, channels) with -inf for the context, which is never blamed."""
        result = np.array(blame, dtype=np.float64)
        result[:, self.columns] = -np.inf
        return result

    def to_json(self) -> dict[str, Any]:
        """Return the context as JSON values."""
        bounds = {name: getattr(self, name).tolist() for name in ("low", "high", "middle")}
        return {"columns": list(self.columns), **bounds}

    @classmethod
    def from_json(cls, document: Mapping[str, Any], *, columns: Sequence[int]) -> Self:
        """Return a saved context of these channels; raise KeyError or ValueError if it differs."""
        if document["columns"] != list(columns):
            raise ValueError(f"its context is that of channels {document['columns']!r:.40}")
        found = [np.array(document[name]) for name in ("low", "high", "middle")]
        for values in found:
            if values.shape != (len(columns),) or values.dtype.kind not in "fiu":
                raise ValueError(f"its context does not fit {len(columns)} channels")
            if not np.isfinite(values).all():
                raise ValueError("its context has values that are not finite")
        low, high, middle = (values.astype(np.float64) for values in found)
        if (low > middle).any() or (middle > high).any():
            raise ValueError("its context has a median outside of its range")
        return cls(tuple(columns), low, high, middle)


class ContextWatch:
    """Keeps the range of the context in one series or stream, as its rows come.

    ``names`` are those of all channels. ``clips`` says whether the detector sees the context
    clipped, not held at its median.
    """

    def __init__(self, context: Context, names: Names, *, clips: bool) -> None:
        self._context, self._names, self._clips = context, names, clips
        self.low = np.full(len(context.columns), np.inf)
        self.high = np.full(len(context.columns), -np.inf)
        self._said = np.zeros(len(context.columns), dtype=bool)

    def add(self, values: Matrix) -> list[NewContext]:
        """Add rows with the channels of training; return what is new for the first time."""
        part = values[:, self._context.columns]
        known = np.isfinite(part)
        self.low = np.minimum(self.low, np.where(known, part, np.inf).min(axis=0, initial=np.inf))
        top = np.where(known, part, -np.inf).max(axis=0, initial=-np.inf)
        self.high = np.maximum(self.high, top)
        fresh = self._is_new() & ~self._said
        self._said |= fresh
        return [self._statement(i) for i in np.flatnonzero(fresh).tolist()]

    @property
    def found(self) -> tuple[NewContext, ...]:
        """All context channels that have left their training range, with what was seen of them."""
        return tuple(self._statement(i) for i in np.flatnonzero(self._is_new()).tolist())

    def state(self) -> list[list[float] | None]:
        """Return the range of each context channel, None before its first value."""
        pairs = zip(self.low.tolist(), self.high.tolist(), strict=True)
        return [[low, high] if low <= high else None for low, high in pairs]

    def restore(self, state: object) -> None:
        """Continue from a state; raise ValueError if it does not fit. None: nothing was seen."""
        if state is None:
            return
        if not isinstance(state, list) or len(state) != len(self.low):
            raise ValueError(f"its context does not fit {len(self.low)} channels")
        for i, pair in enumerate(state):
            if pair is not None:
                self.low[i], self.high[i] = pair
                if not (np.isfinite(pair).all() and pair[0] <= pair[1]):
                    raise ValueError(f"its context has the range {pair!r:.40}")
        self._said = self._is_new()

    def _is_new(self) -> NDArray[np.bool_]:
        low, high = self._context.low, self._context.high
        size = np.maximum(np.abs(low), np.abs(high))
        reach = np.maximum(NOTED * (high - low), ROUNDING * size)
        return (self.low <= self.high) & ((self.low < low - reach) | (self.high > high + reach))

    def _statement(self, i: int) -> NewContext:
        context, column = self._context, self._context.columns[i]
        low, high = float(context.low[i]), float(context.high[i])
        judged = [low] if self.low[i] < low else []
        judged += [high] if self.high[i] > high and high not in judged else []
        return NewContext(
            str(column) if self._names is None else self._names[column],
            float(self.low[i]), float(self.high[i]), low, high,
            tuple(judged) if self._clips else (float(context.middle[i]),),
        )  # fmt: skip


def usable_rows(X: Any, values: Matrix) -> Matrix:
    """Return the rows of ``values`` that are not marked unusable in the series ``X``."""
    return values[~X.unusable] if isinstance(X, Series) and X.unusable is not None else values


def check_context(context: object) -> None:
    """Raise ConfigError unless the value is a tuple of different channel names."""
    if not isinstance(context, tuple | list) or not all(
        isinstance(name, str | int) and not isinstance(name, bool) for name in context
    ):
        hint = f"; write ({context!r},)" if isinstance(context, str) else ""
        raise ConfigError(f"context must be a tuple of channel names, got {context!r:.100}{hint}")
    for i, name in enumerate(context):
        if name in context[:i]:
            raise ConfigError(f"context must name each channel once, got {name!r} twice")


def find_columns(context: Sequence[str], names: Names, count: int) -> list[int]:
    """Return the columns of context channels, given by name, or by number if there are no names."""
    labels = names or tuple(map(str, range(count)))
    for name in context:
        if str(name) not in labels:
            shown = ", ".join(labels[:20]) + (", ..." if len(labels) > 20 else "")
            hint = suggest(str(name), labels) or f"; choose from {shown}"
            raise ChannelError(f"context channel {name!r} not in the training data{hint}")
    return sorted(labels.index(str(name)) for name in context)


def check_rest(context: Sequence[str], X: Matrix, names: Names) -> None:
    """Raise InputError unless the training data has a channel to judge that is not context."""
    if len(context) == 0:
        return
    rest = np.delete(np.arange(X.shape[1]), find_columns(context, names, X.shape[1]))
    if len(rest) == 0:
        raise InputError(
            f"all {X.shape[1]} channels are context, so that none is left to judge; name fewer"
        )
    if (X.min(axis=0) == X.max(axis=0))[rest].all():
        raise InputError(
            "nothing to learn from the training data: all channels but the context are constant; "
            "fit on rows in which another channel changes"
        )


def _span(low: float, high: float) -> str:
    return f"{low:.7g}" if low == high else f"{low:.7g} to {high:.7g}"
