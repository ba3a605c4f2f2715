"""What the user asked for: columns or channels, their names, and the raster of a recording."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from axonad.data.frames import check_unique
from axonad.data.raster import parse_duration, parse_rate
from axonad.errors import ChannelError, ConfigError, FileError, InputError, suggest

LISTED = 10  # names in a message
LISTS = ("ignore", "channels", "dbc")


@dataclass(frozen=True)
class Asked:
    """The parameters of :func:`axonad.data.readers.read`, checked. All can be written as JSON."""

    label: str | None = None
    time: str | None = None
    ignore: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    known: tuple[str, ...] | None = None  # channels of the model that scores the file
    rename: Mapping[str, str] = field(default_factory=dict)
    dbc: tuple[str, ...] = ()  # absolute paths
    rate: str | None = None
    max_age: str | Mapping[str, str | int] | None = None
    codes: bool = False
    allow_missing: bool = False

    @classmethod
    def of(cls, **given: Any) -> Self:
        """Return what was asked for; raise an error for a value that cannot be meant."""
        known = {name: value for name, value in given.items() if value is not None}
        for name in (*LISTS, *(["known"] if "known" in known else [])):
            value = known.get(name, ())
            if isinstance(value, str | Path):
                raise InputError(f"{name} must be a list, got {value!r}; pass [{str(value)!r}]")
            known[name] = tuple(map(str, value))
        found = cls(**known)
        found.interval()
        for channel in found.max_age if isinstance(found.max_age, Mapping) else [""]:
            found.age(channel)
        for path in found.dbc:
            if not Path(path).is_file():
                raise FileError(f"{path} is not a file; expected a DBC file (--dbc)")
        rename = dict(found.rename)
        if not all(isinstance(name, str) and name for pair in rename.items() for name in pair):
            raise ConfigError("rename must be a table of old names = new names, all text")
        paths = tuple(str(Path(path).absolute()) for path in found.dbc)
        return cls(**vars(found) | {"rename": rename, "dbc": paths})

    def interval(self) -> int | None:
        """Return the interval of the raster in microseconds; None if it is to be chosen."""
        return None if self.rate is None else parse_rate(self.rate)

    def age(self, channel: str) -> int | None:
        """Return the microseconds for which a channel's value is held; None: its samples decide."""
        given = self.max_age
        age = given.get(channel) if isinstance(given, Mapping) else given
        return parse_duration("max_age", age) if isinstance(age, str) else age

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON has them."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Return what was asked for from its fields."""
        known = {one.name: values[one.name] for one in fields(cls)}
        lists = [name for name in (*LISTS, "known") if known[name] is not None]
        return cls(**known | {name: tuple(known[name]) for name in lists})

    def wanted(self, names: Sequence[str], *, name: str, what: str = "column") -> set[str]:
        """Return the channels asked for; raise an error for one that the file lacks.

        Without any that was asked for these are all. With ``allow_missing`` some may be lacking,
        but not all.
        """
        if not self.channels:
            return set(names)
        asked: Iterable[str] = self.channels
        if self.allow_missing:
            asked = [one for one in self.channels if find_matches(one, names)] or self.channels
        return check_matches(asked, names, name=name, what=what)

    def renamed(self, names: Iterable[str], *, name: str) -> list[str]:
        """Return the names of a file's columns as the user wants them; ``name`` is the file's."""
        before = list(names)
        after = [self.rename.get(one, one) for one in before]
        if self.rename:
            try:
                check_unique([one for one in after if one])
            except ChannelError as error:
                raise ChannelError(f"{error} in {name}, with rename (--rename)") from None
        return after


def find_matches(pattern: str, names: Iterable[str]) -> list[str]:
    """Return the names that are ``pattern``, or else those it fits; ``*`` and ``?`` are wild.

    >>> find_matches("acc*", ["acc_x", "acc_y", "gear"]), find_matches("v [m/s]", ["v [m/s]"])
    (['acc_x', 'acc_y'], ['v [m/s]'])
    """
    listed = list(names)
    if pattern in listed:
        return [pattern]
    if not is_pattern(pattern):
        return []
    parts = re.split(r"([*?])", pattern)
    wild = {"*": ".*", "?": "."}
    expression = re.compile("".join(wild.get(part) or re.escape(part) for part in parts), re.DOTALL)
    return [name for name in listed if expression.fullmatch(name)]


def is_pattern(text: str) -> bool:
    """Return whether a text has a ``*`` or ``?``."""
    return "*" in text or "?" in text


def check_matches(
    patterns: Iterable[str], names: Sequence[str], *, name: str, what: str = "column"
) -> set[str]:
    """Return the names that fit one of the patterns; raise an error for one that fits none."""
    found: set[str] = set()
    for pattern in patterns:
        matched = find_matches(pattern, names)
        if not matched:
            raise missing_name(pattern, names, name=name, what=what)
        found.update(matched)
    return found


def missing_name(asked: str, names: Sequence[str], *, name: str, what: str) -> ChannelError:
    """Return the error for a column or channel that a file does not have."""
    hint = suggest(asked, names)
    if not hint:
        listed = ", ".join(one if len(one) <= 40 else f"{one[:40]}…" for one in names[:LISTED])
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        hint = f"; {what}s: {listed}{more}"
    fits = "that fits " if is_pattern(asked) else ""
    return ChannelError(f"{name} has no {what} {fits}{asked!r}{hint}")
