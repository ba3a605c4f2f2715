"""Patterns of topics such as ``fleet/{vehicle}/{channel}``: what to subscribe to, what it says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from axonad.errors import ConfigError

NAMES = ("{vehicle}", "{channel}")
REMEMBERED = 65_536  # topics whose meaning is remembered


@dataclass(frozen=True)
class Named:
    """What a topic says; an empty name is in the message."""

    vehicle: str = ""
    channel: str = ""


@dataclass(frozen=True)
class Syntax:
    """How a broker writes topics."""

    key: str  # of the configuration
    separator: str
    wildcard: str  # for one level
    forbidden: str  # characters of a level


MQTT = Syntax("topics of [mqtt]", "/", "+", "+#\0")
NATS = Syntax("subjects of [nats]", ".", "*", "*> \t\r\n\0")


class Topics:
    """The patterns of a source.

    A level is text, ``{vehicle}``, ``{channel}``, or the broker's wildcard for one level that says
    nothing. The first pattern that matches counts.

    >>> topics = Topics(["fleet/{vehicle}", "fleet/{vehicle}/{channel}"], MQTT)
    >>> topics.filters
    ('fleet/+', 'fleet/+/+')
    >>> topics.match("fleet/car 1/speed")
    Named(vehicle='car 1', channel='speed')
    """

    def __init__(self, patterns: Iterable[str], syntax: Syntax) -> None:
        self._syntax = syntax
        self._patterns = [self._parse(pattern) for pattern in patterns]
        if not self._patterns:
            raise ConfigError(f"{syntax.key} must name at least one pattern")
        self.filters = tuple(dict.fromkeys(map(self._filter, self._patterns)))
        self.match = lru_cache(maxsize=REMEMBERED)(self._match)

    def _match(self, topic: str) -> Named | None:
        """Return what a topic says, None if no pattern matches it."""
        levels = topic.split(self._syntax.separator)
        for pattern in self._patterns:
            if len(pattern) != len(levels):
                continue
            if all(self._is_any(a) or a == b for a, b in zip(pattern, levels, strict=True)):
                said = dict(zip(pattern, levels, strict=True))
                return Named(said.get("{vehicle}", ""), said.get("{channel}", ""))
        return None

    def _is_any(self, level: str) -> bool:
        return level in NAMES or level == self._syntax.wildcard

    def _filter(self, pattern: list[str]) -> str:
        levels = (self._syntax.wildcard if self._is_any(level) else level for level in pattern)
        return self._syntax.separator.join(levels)

    def _parse(self, pattern: str) -> list[str]:
        levels = pattern.split(self._syntax.separator)
        for level in levels:
            is_text = not any(char in level for char in "{}" + self._syntax.forbidden)
            if not level or not (self._is_any(level) or is_text):
                raise ConfigError(
                    f"{self._syntax.key} must have levels of text, {{vehicle}}, {{channel}} or "
                    f"{self._syntax.wildcard}, got {level!r} in {pattern!r}"
                )
        if any(levels.count(name) > 1 for name in NAMES):
            raise ConfigError(f"{self._syntax.key}: {pattern!r} has the same name twice")
        if "{channel}" in levels and "{vehicle}" not in levels:
            raise ConfigError(
                f"{self._syntax.key}: {pattern!r} names the channel but not the vehicle"
            )
        return levels
