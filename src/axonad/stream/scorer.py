"""Live scoring, written against the contract: it works with every causal detector.

Missing values. A live row may lack a value (NaN, infinite, None, or a missing name). The channel's
last value is held in its place for at most ``hold_limit`` rows in a row; then, or when there is no
earlier value, the row is refused with :class:`~axonad.errors.StaleError`, the window empties and
has to fill anew, so that no window ever spans a gap. Held values and refused rows are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from axonad import modelfile
from axonad.config import check_int
from axonad.data.frames import channel_label, match_channels, to_matrix
from axonad.detector import Detector
from axonad.errors import ChannelError, ConfigError, InputError, ModelFileError, StaleError, suggest
from axonad.stream.buffer import RowBuffer

KIND = "axonad-stream"
FORMAT = 1
BLOCK = 2_048  # rows scored at a time by push_many

Row = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class StreamResult:
    """The score of one live row."""

    step: int
    score: float
    alarm: bool
    components: dict[str, float] = field(default_factory=dict)
    held: tuple[str, ...] = ()


class StreamScorer:
    """Scores a live stream row by row, equal to batch scoring with ``align="end"``.

    Parameters
    ----------
    detector
        A fitted, causal detector. It is not changed, and many scorers may share it.
    hold_limit
        How many rows in a row a missing value may be replaced by the channel's last one.

    Attributes
    ----------
    rows, scored, held, refused
        Counts: rows taken, scores given, values held, rows refused.
    """

    def __init__(self, detector: Detector, *, hold_limit: int = 10) -> None:
        check_int("hold_limit", hold_limit, low=0)
        detector._require_fitted()
        if not detector.is_causal:
            why = "it adapts to what it scores; fit it with adapt=False"
            if getattr(detector, "scaling", "") == "array":
                why = "its scaling needs the whole series; fit it with scaling='soft'"
            raise ConfigError(f"{type(detector).__name__} cannot run live as it was fitted: {why}")
        self.detector = detector
        self.hold_limit = hold_limit
        self.rows = self.scored = self.held = self.refused = 0
        self._names = detector._names
        self._window = detector.history
        self._buffer = RowBuffer(self._window, detector.n_features_in_)
        self._silent = np.zeros(detector.n_features_in_, dtype=np.int64)
        self._last: Row | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the channels, empty where the detector was fitted without."""
        return self._names or ()

    def push(self, row: Any) -> StreamResult | None:
        """Take one row; return its score, or None until a window is full.

        ``row`` is a sequence of values in channel order, or a mapping from channel names.
        """
        try:
            filled, held = self._fill(self._to_row(row))
        except StaleError:
            self._reset()
            raise
        self._buffer.append(filled)
        if not self._buffer.is_full:
            return None
        scores, components = self.detector._score_ends(self._buffer.rows())
        self.detector._finite(scores)
        return self._result(self.rows - 1, scores, components, 0, held)

    def push_many(self, rows: Any) -> list[StreamResult | None]:
        """Take many rows at once; return what :meth:`push` would have, one entry per row.

        A refused row raises :class:`~axonad.errors.StaleError` after all rows before it were
        taken; the error's ``results`` and ``row`` say how far it came.
        """
        matrix = self._to_rows(rows)
        results: list[StreamResult | None] = []
        for start in range(0, len(matrix), BLOCK):
            block = matrix[start : start + BLOCK]
            filled, names, stale = self._fill_block(block)
            results += self._score_block(filled, names, refused=stale is not None)
            if stale is not None:
                self._reset()
                raise StaleError(str(stale), results=results, row=len(results))
        return results

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the stream's state to one JSON file; :meth:`restore` continues from it."""
        document = {
            "kind": KIND,
            "format": FORMAT,
            "detector": self.detector.fingerprint,
            "hold_limit": self.hold_limit,
            "counts": [self.rows, self.scored, self.held, self.refused],
            "silent": self._silent.tolist(),
            "buffer": self._buffer.rows().tolist(),
        }
        modelfile.write_document(path, document, overwrite=overwrite)

    @classmethod
    def restore(cls, path: str | Path, detector: Detector) -> Self:
        """Return a scorer that continues where the saved one stopped, with the same scores."""
        document = modelfile.read_document(path, kind=KIND, newest=FORMAT)
        scorer = cls(detector)
        if document.get("detector") != detector.fingerprint:
            raise ModelFileError(f"{path} belongs to another detector than the one given")
        try:
            scorer._take_back(document)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"{path} is damaged: {error}") from None
        return scorer

    def _take_back(self, document: Mapping[str, Any]) -> None:
        check_int("hold_limit", document["hold_limit"], low=0)
        self.hold_limit = document["hold_limit"]
        counts = [int(count) for count in document["counts"]]
        self.rows, self.scored, self.held, self.refused = counts
        silent = np.array(document["silent"], dtype=np.int64)
        rows = np.array(document["buffer"], dtype=np.float64).reshape(-1, len(silent))
        if len(silent) != len(self._silent) or not np.isfinite(rows).all():
            raise ValueError(f"its buffer does not hold {len(self._silent)} finite channels")
        self._silent = silent
        self._buffer.extend(rows)
        self._last = rows[-1].copy() if len(rows) else None

    # -- scoring -----------------------------------------------------------------------------

    def _score_block(
        self, filled: Row, names: list[tuple[str, ...]], *, refused: bool
    ) -> list[StreamResult | None]:
        """Score rows that follow the buffer, then move the buffer on."""
        first = self.rows - len(filled) - int(refused)
        known = np.concatenate([self._buffer.rows()[-(self._window - 1) :], filled])
        if self._window == 1:
            known = filled
        complete = max(0, len(known) - self._window + 1)
        results: list[StreamResult | None] = [None] * (len(filled) - complete)
        if complete:
            scores, components = self.detector._score_ends(known)
            self.detector._finite(scores)
            for i in range(complete):
                row = len(filled) - complete + i
                results.append(self._result(first + row, scores, components, i, names[row]))
        self._buffer.extend(filled)
        return results

    def _result(
        self,
        step: int,
        scores: Row,
        components: Mapping[str, Row],
        index: int,
        held: tuple[str, ...],
    ) -> StreamResult:
        score = float(scores[index])
        self.scored += 1
        return StreamResult(
            step=step,
            score=score,
            alarm=score > self.detector.threshold_,
            components={name: float(values[index]) for name, values in components.items()},
            held=held,
        )

    # -- missing values ----------------------------------------------------------------------

    def _fill(self, row: Row) -> tuple[Row, tuple[str, ...]]:
        """Return the row with missing values held, and the names of those channels."""
        missing = ~np.isfinite(row)
        reason = self._refusal(missing) if missing.any() else None
        self.rows += 1
        if reason is not None:
            self.refused += 1
            raise StaleError(reason)
        names: tuple[str, ...] = ()
        if self._last is not None and missing.any():
            row = np.where(missing, self._last, row)
            names = tuple(self._label(i) for i in np.flatnonzero(missing).tolist())
            self.held += len(names)
        self._silent = np.where(missing, self._silent + 1, 0)
        self._last = row
        return row, names

    def _fill_block(self, block: Row) -> tuple[Row, list[tuple[str, ...]], StaleError | None]:
        """Fill rows one after another up to the first refused one."""
        if np.isfinite(block).all():
            self.rows += len(block)
            self._silent[:] = 0
            self._last = block[-1].copy()
            return block, [()] * len(block), None
        filled, names = np.empty_like(block), list[tuple[str, ...]]()
        for row in block:
            try:
                filled[len(names)], held = self._fill(row)
            except StaleError as error:
                return filled[: len(names)], names, error
            names.append(held)
        return filled, names, None

    def _label(self, channel: int) -> str:
        return self._names[channel] if self._names is not None else str(channel)

    def _refusal(self, missing: NDArray[np.bool_]) -> str | None:
        """Say why missing values cannot be held, or None if they can."""
        first = int(np.argmax(missing))
        if self._last is None:
            label = channel_label(first, self._names)
            return f"channel {label} has no value at row {self.rows} and no earlier one to hold"
        late = missing & (self._silent >= self.hold_limit)
        if late.any():
            label = channel_label(int(np.argmax(late)), self._names)
            return (
                f"channel {label} has been silent for more than hold_limit={self.hold_limit} rows "
                f"at row {self.rows}; the window starts anew"
            )
        return None

    def _reset(self) -> None:
        self._buffer.clear()
        self._silent[:] = 0
        self._last = None

    # -- input -------------------------------------------------------------------------------

    def _to_row(self, row: Any) -> Row:
        """Return one row in channel order, missing values as NaN."""
        if hasattr(row, "to_dict"):  # a row of a pandas frame knows its channels
            row = row.to_dict() if self._names is not None else row.to_numpy()
        if isinstance(row, Mapping):
            values: Iterable[Any] = self._by_name(row)
        else:
            values = row.tolist() if isinstance(row, np.ndarray) else row
        try:
            array = np.array([_number(value) for value in values], dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"a row must hold numbers, got {row!r:.200}") from None
        if array.shape != (self.detector.n_features_in_,):
            shape = array.shape[0] if array.ndim == 1 else array.shape
            raise ChannelError(
                f"a row must have {self.detector.n_features_in_} values, got {shape}"
            )
        return array

    def _by_name(self, row: Mapping[str, Any]) -> list[Any]:
        if self._names is None:
            raise ChannelError("the detector was fitted without channel names; push plain values")
        for name in row:
            if name not in self._names:
                hint = suggest(str(name), self._names)
                raise ChannelError(f"channel {name!r} not in model{hint}")
        return [row.get(name) for name in self._names]

    def _to_rows(self, rows: Any) -> Row:
        count = self.detector.n_features_in_
        if isinstance(rows, list | tuple):
            return np.array([self._to_row(row) for row in rows]).reshape(len(rows), count)
        if hasattr(rows, "__len__") and len(rows) == 0:
            return np.empty((0, count))
        matrix, names = to_matrix(rows)
        matched = match_channels(matrix, names, expected=self._names, count=count)
        return matched.astype(np.float64)


def _number(value: Any) -> Any:
    """Return a value of a live row, NaN where there is none; text is no number."""
    if value is None or type(value).__name__ == "NAType":
        return np.nan
    if isinstance(value, str | bytes):
        raise TypeError(value)
    return value
