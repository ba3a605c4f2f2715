"""Whose states a store holds: a model's, or one part of a fleet scored with a model on actors."""

from __future__ import annotations

from axonad.live.store.contract import StoreError

PART = " part "


def owner_of(fingerprint: str, part: str = "") -> str:
    """Return the owner of a store: a model's fingerprint, and the part such as ``0/4``.

    >>> owner_of("ab12", "0/4")
    'ab12 part 0/4'
    """
    return f"{fingerprint}{PART}{part}" if part else fingerprint


def refuse(store: str, *, holds: str, wanted: str) -> StoreError:
    """Return the error of a store that belongs to another owner, with what to do."""
    model, _, part = holds.partition(PART)
    other, _, wish = wanted.partition(PART)
    if model == other and part and wish:
        before, now = part.partition("/")[2], wish.partition("/")[2]
        return StoreError(
            f"{store} was written with {before} actors, this run has {now}; start with --actors "
            f"{before}, use another store, or give --new-model, which forgets the states of all "
            f"vehicles (events stay)"
        )
    return StoreError(
        f"{store} holds the states of another model ({model[:12]}, this one is {other[:12]}); use "
        f"that model or another store, or give --new-model, which forgets the states"
    )
