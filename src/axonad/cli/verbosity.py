"""How much a command says beside its result: ``--quiet`` and ``--verbose``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from axonad import progress

QUIET, NORMAL, VERBOSE = -1, 0, 1
_LEVEL = ContextVar("verbosity", default=NORMAL)


@contextmanager
def verbosity_scope() -> Iterator[None]:
    """Forget at the end of the block what :func:`choose` was told in it."""
    token = _LEVEL.set(NORMAL)
    try:
        with progress.hidden(False):
            yield
    finally:
        _LEVEL.reset(token)


def choose(*, quiet: bool, verbose: bool) -> None:
    """Say less or more from now on; ``quiet`` also hides progress."""
    _LEVEL.set(VERBOSE if verbose else QUIET if quiet else NORMAL)
    progress.hide(quiet)


def is_quiet() -> bool:
    """Whether notes are left out."""
    return _LEVEL.get() == QUIET


def is_verbose() -> bool:
    """Whether errors come with their traceback, and commands with versions and times."""
    return _LEVEL.get() == VERBOSE
