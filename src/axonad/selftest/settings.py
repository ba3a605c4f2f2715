"""The settings of a self-test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from axonad.config import check_bool, check_choice, check_float, check_int
from axonad.errors import ChannelError, ConfigError, suggest
from axonad.parameters import Parameters
from axonad.selftest.kinds import KINDS
from axonad.selftest.planting import FEWEST

SIZES = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
REPEATS = 10
SECONDS = 300.0


@dataclass(kw_only=True, eq=False, repr=False)
class Settings(Parameters):
    """What a self-test plants, and for how long.

    Parameters
    ----------
    kinds
        Kinds of faults, by default all; see :mod:`axonad.selftest.kinds`.
    channels
        Names of the channels to plant into (their numbers as text if they have no names); by
        default all that move.
    sizes
        Sizes in units of a channel, ascending.
    shortest, longest
        Rows of the shortest and longest fault; by default 5 and two periods of the recording.
    repeats
        Faults of each kind and size in each channel.
    seconds
        Time limit: fewer repeats are made if they would take longer. None for no limit.
    seed
        Seed of places, durations and courses.
    verbose
        Show a progress bar on terminals.
    """

    kinds: tuple[str, ...] = tuple(KINDS)
    channels: tuple[str, ...] | None = None
    sizes: tuple[float, ...] = SIZES
    shortest: int = FEWEST
    longest: int | None = None
    repeats: int = REPEATS
    seconds: float | None = SECONDS
    seed: int = 2024
    verbose: bool = True

    def _check_params(self) -> None:
        for name in ("kinds", "channels", "sizes"):
            value = getattr(self, name)
            if name == "channels" and value is None:
                continue
            if not isinstance(value, tuple | list) or len(value) == 0:
                raise ConfigError(f"{name} must be a tuple with at least one entry, got {value!r}")
        for kind in self.kinds:
            check_choice("kinds", kind, KINDS)
        for size in self.sizes:
            check_float("sizes", size, above=0)
        if any(b <= a for a, b in zip(self.sizes, self.sizes[1:], strict=False)):
            raise ConfigError(f"sizes must ascend, got {self.sizes!r}")
        check_int("shortest", self.shortest, low=1)
        if self.longest is not None:
            check_int("longest", self.longest, low=self.shortest)
        check_int("repeats", self.repeats, low=1)
        if self.seconds is not None:
            check_float("seconds", self.seconds, above=0)
        check_int("seed", self.seed, low=0)
        check_bool("verbose", self.verbose)

    def columns(self, labels: Sequence[str]) -> list[int]:
        """Return the numbers of the channels to plant into, given the names of all."""
        if self.channels is None:
            return list(range(len(labels)))
        for name in self.channels:
            if name not in labels:
                hint = suggest(str(name), labels) or f"; choose from {', '.join(labels)}"
                raise ChannelError(f"channel {name!r} not in model{hint}")
        return [i for i, label in enumerate(labels) if label in self.channels]
