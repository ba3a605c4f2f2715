"""The channels of a recording as it holds them: samples at their own times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from axonad.data.raster import Micros
from axonad.data.readers.asked import Asked, check_matches, find_matches, missing_name
from axonad.errors import InputError

NUMBER, CODE, TEXT = "number", "integer code", "text"
NO_TIMES: Micros = np.empty(0, np.int64)
NO_VALUES = np.empty(0)


@dataclass(frozen=True)
class Samples:
    """The samples of one channel, in the order of the file.

    Parameters
    ----------
    name, unit
        As the file or its database says; the unit is empty if it is not known.
    times
        Microseconds, since 1970 or since the beginning of the recording.
    values
        One number per time.
    why
        Why the channel is not used; then it may have times, but it has no values.
    """

    name: str
    unit: str = ""
    times: Micros = field(default_factory=lambda: NO_TIMES)
    values: NDArray[np.float64] = field(default_factory=lambda: NO_VALUES)
    why: str = ""


class Choice:
    """Which channels of a recording are read.

    Without ``channels`` all that hold numbers are. Integer codes are read if they are named, or
    with ``codes``. Text is not.

    Parameters
    ----------
    kinds
        Name, as the user wants it → what the channel holds: ``NUMBER``, ``CODE``, ``TEXT``, or
        another word for what cannot be read.
    """

    def __init__(self, asked: Asked, kinds: dict[str, str], *, name: str) -> None:
        self._kinds, self._codes = kinds, asked.codes
        names = list(kinds)
        self._named = set(asked.channels) & set(names)
        self._wanted = asked.wanted(names, name=name, what="channel")
        self._ignored = check_matches(asked.ignore, names, name=name, what="channel")
        for one in sorted(self._named - self._ignored):
            if kinds[one] not in (NUMBER, CODE):
                raise InputError(
                    f"channel {one!r} of {name} holds {kinds[one]}; expected numbers; leave it "
                    "out of channels (--channels)"
                )

    def why_not(self, name: str) -> str:
        """Return why a channel is not read; empty if it is."""
        kind = self._kinds[name]
        if name in self._ignored:
            return "ignored"
        if name not in self._wanted:
            return "not asked for"
        if kind == CODE and not (self._codes or name in self._named):
            return "integer code; read with --codes or by its name"
        return "" if kind in (NUMBER, CODE) else kind


def find_label(asked: Asked, names: Sequence[str], *, name: str) -> str | None:
    """Return the channel with labels: the one asked for, or the one called label, if any."""
    if asked.label is not None:
        if not find_matches(asked.label, names):
            raise missing_name(asked.label, names, name=name, what="channel")
        return asked.label
    return next((one for one in names if one.lower() == "label"), None)
