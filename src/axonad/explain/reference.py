"""A sample of the training rows, kept with a detector so that its events can be explained.

Everything an explanation needs is computed from it when an event is explained: what the channels
say about each other, how well they do so in rows that were not learned from, and the range of each
channel. ``fit`` only takes the sample; a detector that is never asked pays for nothing else.

Short recordings are kept whole. Of longer ones, pieces of 250 rows are kept, spread evenly: at most
20,000 rows and a million values in all (4 MB), in single precision.

The rows are scaled by centre and unit of the soft rule (:mod:`axonad.data.scaling`), but linearly,
up to half again as far as training went: relations between channels are seldom bent, and a bent
scale would hide small contradictions. What lies beyond is compressed. A channel that did not move
in training is scaled by the soft rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from axonad.data.frames import Matrix, Names
from axonad.data.scaling import KNEE, LIMIT, MOST_SINH, Scaler, fit_scaler
from axonad.errors import ConfigError
from axonad.modelfile import Arrays, take

if TYPE_CHECKING:
    from axonad.explain.relations import Relations

MOST_ROWS = 20_000
MOST_VALUES = 1_000_000
PIECE = 250  # rows of a piece of a long recording
MOST_CHANNELS = 1_000
LINEAR = 1.5  # times the distance that training went, scaling is linear
PREFIX = "explain."
VERSION = 1

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reference:
    """Scaled training rows in pieces, each of rows that follow one another.

    ``starts`` are the first rows of the pieces, ``low`` and ``high`` the range of each channel in
    all training rows, in units of the input. ``context`` are the columns of the channels that only
    set the scene.
    """

    scaler: Scaler
    rows: NDArray[np.float32]
    starts: NDArray[np.int64]
    low: Array
    high: Array
    context: tuple[int, ...] = ()

    @classmethod
    def learn(
        cls,
        X: Matrix,
        names: Names = None,
        *,
        breaks: Sequence[int] = (),
        context: Sequence[int] = (),
    ) -> Self | None:
        """Return the sample of the training rows; None with more than 1,000 channels.

        A new recording, or new rows after a gap, begins at each row of ``breaks``.
        """
        if X.shape[1] > MOST_CHANNELS:
            return None
        scaler = fit_scaler(X, "soft", names)
        pieces = choose_pieces(len(X), X.shape[1], breaks)
        sizes = [stop - start for start, stop in pieces]
        starts = np.cumsum([0, *sizes[:-1]], dtype=np.int64)
        low, high = (np.asarray(edge, dtype=np.float64) for edge in (X.min(axis=0), X.max(axis=0)))
        made = cls(scaler, np.empty((0, X.shape[1]), np.float32), starts, low, high, tuple(context))
        rows = [made.scale(X[start:stop]).astype(np.float32) for start, stop in pieces]
        return replace(made, rows=np.concatenate(rows))

    @property
    def channels(self) -> int:
        """Number of channels."""
        return int(self.rows.shape[1])

    @property
    def pieces(self) -> list[NDArray[np.float32]]:
        """The rows of each piece."""
        return [self.rows[a:b] for a, b in pairwise([*self.starts.tolist(), len(self.rows)])]

    @cached_property
    def relations(self) -> Relations:
        """What the channels say about each other; computed once, when first asked for."""
        from axonad.explain.relations import Relations

        return Relations(self)

    def longest_run(self, channel: int) -> int:
        """Return the most rows that follow one another in which a channel keeps its value."""
        longest = 1
        for piece in self.pieces:
            changed = np.flatnonzero(np.diff(piece[:, channel]) != 0) + 1
            longest = max(longest, int(np.diff([0, *changed, len(piece)]).max()))
        return longest

    def scale(self, X: Matrix) -> Array:
        """Return rows in scaled units, with the context clipped to its training range."""
        if self.context:
            columns = list(self.context)
            X = X.copy()
            X[:, columns] = np.clip(X[:, columns], self.low[columns], self.high[columns])
        with np.errstate(over="ignore"):
            z = (X - self.scaler.center) / self.scaler.unit
        beyond = np.clip(np.abs(z) - self._far, 0.0, LIMIT)
        z = np.clip(z, -self._far, self._far) + np.sign(z) * KNEE * np.arcsinh(beyond / KNEE)
        still = self.scaler.still
        if still.any():
            z[:, still] = self.scaler.apply(X)[:, still]
        return np.asarray(z, dtype=np.float64)

    def unscale(self, scaled: Array, columns: list[int]) -> Array:
        """Return scaled values of some channels in units of the input."""
        far, scaler = self._far[columns], self.scaler
        beyond = np.clip((np.abs(scaled) - far) / KNEE, 0.0, MOST_SINH)
        z = np.clip(scaled, -far, far) + np.sign(scaled) * KNEE * np.sinh(beyond)
        still = scaler.still[columns]
        soft = Scaler("soft", scaler.center[columns], scaler.unit[columns])
        return np.where(still, soft.invert(scaled), soft.center + soft.unit * z)

    @cached_property
    def _far(self) -> Array:
        """Distance from the centre up to which a channel is scaled linearly, in its unit."""
        reach = np.maximum(
            np.abs(self.low - self.scaler.center), np.abs(self.high - self.scaler.center)
        )
        return np.asarray(np.maximum(LINEAR * reach / self.scaler.unit, KNEE))

    # -- files -------------------------------------------------------------------------------

    def to_arrays(self) -> Arrays:
        """Return the reference as arrays to save."""
        found = {
            "version": np.array([VERSION]), "rows": self.rows, "starts": self.starts,
            "center": self.scaler.center, "unit": self.scaler.unit,
            "low": self.low, "high": self.high,
        }  # fmt: skip
        return {PREFIX + name: np.ascontiguousarray(array) for name, array in found.items()}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], *, channels: int, context: Sequence[int] = ()
    ) -> Self | None:
        """Return a saved reference, None if there is none or a newer version of it.

        Raises KeyError or ValueError if it does not fit.
        """
        own = {k.removeprefix(PREFIX): a for k, a in arrays.items() if k.startswith(PREFIX)}
        if not own or int(take(own, "version", 1)[0]) != VERSION:
            return None
        rows = take(own, "rows", None, channels).astype(np.float32, copy=False)
        starts = take(own, "starts", None).astype(np.int64)
        if len(starts) == 0 or starts[0] != 0 or (np.diff([*starts, len(rows)]) <= 0).any():
            raise ValueError("the pieces of its training sample do not follow one another")
        unit = take(own, "unit", channels, above=0).astype(np.float64)
        scaler = Scaler("soft", take(own, "center", channels).astype(np.float64), unit)
        low, high = (take(own, name, channels).astype(np.float64) for name in ("low", "high"))
        return cls(scaler, rows, starts, low, high, tuple(context))


def require_reference(reference: Reference | None, *, channels: int) -> Reference:
    """Return the reference; raise ConfigError if the detector has none."""
    if reference is not None:
        return reference
    if channels > MOST_CHANNELS:
        raise ConfigError(
            f"events are explained for at most {MOST_CHANNELS} channels, the model has {channels}; "
            "fit one on fewer channels"
        )
    raise ConfigError(
        "the model was saved without the training sample that explanations need; fit it again "
        "with this version to have its events explained"
    )


def choose_pieces(rows: int, channels: int, breaks: Sequence[int] = ()) -> list[tuple[int, int]]:
    """Return first and last bounds of the rows to keep, none of which spans a break.

    >>> choose_pieces(300, 2, breaks=[100])
    [(0, 100), (100, 300)]
    """
    most = min(MOST_ROWS, max(MOST_VALUES // channels, PIECE))
    edges = sorted({0, *(at for at in breaks if 0 < at < rows), rows})
    if rows <= most:
        return list(pairwise(edges))
    wanted = np.linspace(0, rows - PIECE, most // PIECE).astype(int)
    found = []
    for start in np.unique(wanted).tolist():
        after = next(edge for edge in edges if edge > start)
        found.append((start, min(start + PIECE, after)))
    return found
