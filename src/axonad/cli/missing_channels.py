"""``--allow-missing``: data that lacks channels of the model is scored without them."""

from __future__ import annotations

import csv
import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from axonad.cli.alarm_options import apply_threshold
from axonad.cli.csv_header import is_header, split_line
from axonad.cli.stream_lines import BLANK
from axonad.cli.terminal import print_note
from axonad.data.frames import Names
from axonad.data.series import Series
from axonad.detector import Detector
from axonad.errors import DataWarning


class Models:
    """A model, and the same without channels that some files lack; each is made once.

    Parameters
    ----------
    detector
        The model, with its threshold as the options say.
    allow_missing
        Whether files may lack channels. If not, they are refused elsewhere, by name.
    threshold, alarm_rate
        The options, which hold for every model.
    """

    def __init__(
        self,
        detector: Detector,
        *,
        allow_missing: bool,
        threshold: float | None = None,
        alarm_rate: float | None = None,
    ) -> None:
        self.detector, self._allowed = detector, allow_missing
        self._given = threshold, alarm_rate
        self._known: dict[tuple[str, ...], Detector] = {}

    def of(self, series: Series, *, whole: bool = True) -> tuple[Detector, Series]:
        """Return the model for a series, and the series without channels that have no value at all.

        With ``whole`` the series is all of a file, so that a column without values is one it lacks.
        """
        names = self.detector.channel_names
        if not self._allowed or names is None:
            return self.detector, series
        kept = series
        if whole:
            columns = zip(series.channels, series.values.T, strict=True)
            kept = series.keep([name for name, column in columns if np.isfinite(column).any()])
        missing = tuple(name for name in names if name not in kept.channels)
        if not missing or len(missing) == len(names):
            return self.detector, series
        made = self.without(missing)
        warnings.warn(f"{series.name} is {describe(missing)}", DataWarning, stacklevel=2)
        return made, kept

    def of_chunks(self, chunks: Iterable[Series]) -> Detector:
        """Return the model for a file that is read in chunks."""
        if not self._allowed:
            return self.detector
        return self.of(next(iter(chunks)), whole=False)[0]

    def without(self, missing: tuple[str, ...]) -> Detector:
        """Return the model without some channels."""
        if missing not in self._known:
            made = self.detector.without(missing)
            apply_threshold(made, *self._given)
            self._known[missing] = made
        return self._known[missing]


def describe(missing: Sequence[str]) -> str:
    """Return what is said about data that lacks channels.

    >>> describe(["speed", "gear"])
    "scored without 'speed', 'gear', which it lacks"
    """
    return f"scored without {', '.join(map(repr, missing))}, which it lacks"


def missing_in_stream(lines: Iterator[str], names: Names) -> tuple[tuple[str, ...], Iterator[str]]:
    """Return the channels that the first line of a stream does not name, and all lines.

    The first line is a JSON object or a header; plain numbers name none, so none is missing.
    """
    seen: list[str] = []
    for line in lines:
        seen.append(line)
        if line.strip(BLANK):
            break
    rest = chain(seen, lines)
    found = _named(seen[-1].strip(BLANK), names) if seen and names is not None else None
    if found is None or names is None or not set(names) & found:
        return (), rest
    missing = tuple(name for name in names if name not in found)
    if missing:
        print_note(f"the stream is {describe(missing)}")
    return missing, rest


def _named(text: str, names: Names) -> set[str] | None:
    """Return the names in a first line; None if it has none."""
    if text.lstrip().startswith("{"):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return None
        return set(found) if isinstance(found, dict) else None
    try:
        _, cells = split_line(text, names)
    except csv.Error:
        return None
    return {cell.strip() for cell in cells} if is_header(cells, names) else None
