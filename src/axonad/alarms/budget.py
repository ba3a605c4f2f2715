"""How many false events a person accepts, such as ``"1 per hour"`` or ``"3 per 10000 steps"``.

Rates of events come with their exact Poisson interval, from the definition: the rates at which as
many events or more, or as many or fewer, would be seen with 2.5 % probability each.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from axonad.errors import ConfigError, InputError

CONFIDENCE = 0.95
SECONDS = {"hour": 3600.0, "day": 86400.0}
FORMS = '"1 per hour", "2 per day" or "3 per 10000 steps"'
PATTERN = re.compile(
    r"\s*(?P<events>[-+.\d]+)\s+per\s+(?:(?P<count>[\d.,_]+)\s+)?(?P<unit>hour|day|step)s?\s*",
    flags=re.IGNORECASE,
)


@dataclass(frozen=True)
class Budget:
    """So many ``events`` per ``count`` of a ``unit``: hour, day or step.

    >>> Budget.parse("3 per 10,000 steps")
    Budget(events=3.0, count=10000.0, unit='step')
    """

    events: float
    count: float
    unit: str

    @classmethod
    def parse(cls, text: str | Budget) -> Budget:
        """Return the budget in a text; raise ConfigError if there is none in it."""
        if isinstance(text, Budget):
            return text
        found = PATTERN.fullmatch(text) if isinstance(text, str) else None
        try:
            if found is None:
                raise ValueError
            events = float(found["events"])
            count = float(re.sub("[,_]", "", found["count"] or "1"))
        except ValueError:
            raise ConfigError(
                f"the alarm budget must be written like {FORMS}, got {text!r:.60}"
            ) from None
        if not (math.isfinite(events) and events > 0 and count > 0):
            raise ConfigError(
                f"the alarm budget must be above 0, got {text!r:.60}; no threshold can promise "
                f"that no event is ever false, so write for example {FORMS}"
            )
        return cls(events, count, found["unit"].lower())

    def per_step(self, seconds_per_step: float | None) -> float:
        """Return the events accepted per step."""
        return self.events / self.steps(seconds_per_step)

    def steps(self, seconds_per_step: float | None) -> float:
        """Return the number of steps that the events are accepted in."""
        if self.unit == "step":
            return self.count
        if seconds_per_step is None:
            raise InputError(
                f"a budget per {self.unit} needs the time between two steps, and the data has no "
                "times; give the seconds per step (seconds_per_step, or --seconds-per-step on the "
                'command line), or write the budget as "3 per 10000 steps"'
            )
        return self.count * SECONDS[self.unit] / seconds_per_step

    def __str__(self) -> str:
        return f"{self.events:g} per {self.period}"

    @property
    def period(self) -> str:
        """The period as words: hour, 8 hours, 10,000 steps.

        >>> Budget.parse("1 per 8 hours").period
        '8 hours'
        """
        return self.unit if self.count == 1 else f"{self.count:,g} {self.unit}s"


@dataclass(frozen=True)
class Rate:
    """A number of events seen in a number of steps, as a rate per period of a budget."""

    events: int
    periods: float
    """Length of the data in periods of the budget."""

    @classmethod
    def of(cls, events: int, *, steps: int, period: float) -> Self:
        """Return the rate of events in so many steps, with a period of so many."""
        return cls(events, steps / period)

    @property
    def value(self) -> float:
        """Events per period."""
        return self.events / self.periods

    @property
    def interval(self) -> tuple[float, float]:
        """The exact Poisson interval of the rate at 95 %."""
        low, high = poisson_interval(self.events)
        return low / self.periods, high / self.periods


def smallest_promise(periods: float) -> float:
    """Return the smallest rate that so many periods without an event promise at 95 %.

    If the true rate were this one, no event would be seen with 5 % probability.

    >>> round(smallest_promise(3.0), 3)
    0.999
    """
    return -math.log(1 - CONFIDENCE) / periods


def poisson_interval(events: int, *, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the exact interval of the mean of a Poisson distribution of which one draw is known.

    >>> [round(bound, 3) for bound in poisson_interval(0)]
    [0.0, 3.689]
    """
    tail = (1 - confidence) / 2
    reach = events + 10 * math.sqrt(events + 1) + 20
    low = 0.0
    if events:
        low = _solve(lambda mean: at_most(events - 1, mean) - (1 - tail), 0.0, reach)
    return low, _solve(lambda mean: at_most(events, mean) - tail, 0.0, reach)


def at_most(events: int, mean: float) -> float:
    """Return the probability of so many events or fewer.

    >>> round(at_most(1, 2.0), 4)
    0.406
    """
    if mean <= 0:
        return 1.0
    counts = np.arange(events + 1)
    steps = np.cumsum(np.log(np.maximum(counts, 1)))  # log of the factorial
    return float(np.exp(counts * math.log(mean) - mean - steps).sum())


def _solve(falling: Callable[[float], float], low: float, high: float) -> float:
    """Return where a falling function is 0, by bisection to the last digits."""
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return (low + high) / 2
