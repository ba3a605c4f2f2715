"""Run a check over many seeds, each within limits, and report the seeds that failed."""

from __future__ import annotations

import random
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable

from tests.fuzz.limits import TooSlow, limited, limited_memory

Check = Callable[[random.Random], str]
"""Checks one item and returns what happened, to be counted."""


def run(
    check: Check, seeds: Iterable[int], *, seconds: float = 10, mebibytes: int = 1024
) -> Counter[str]:
    """Call ``check`` with a generator of each seed; raise AssertionError with what failed.

    Return how often each outcome happened. ``check(random.Random(seed))`` repeats one item.
    """
    counts: Counter[str] = Counter()
    failures = []
    start = time.perf_counter()
    with limited_memory(mebibytes), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # numpy: overflow in made-up numbers
        for seed in seeds:
            try:
                with limited(seconds):
                    counts[check(random.Random(seed))] += 1
            except (Exception, TooSlow) as error:
                failures.append(f"seed {seed}: {type(error).__name__}: {error!s:.300}")
    took = time.perf_counter() - start
    print(f"{check.__name__}: {counts.total()} in {took:.0f} s, {dict(counts)}")  # noqa: T201
    assert not failures, f"{len(failures)} failed\n" + "\n".join(failures[:20])
    return counts
