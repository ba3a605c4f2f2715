"""Write files atomically: under a temporary name, then renamed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from axonad.errors import FileError


@contextmanager
def replacement(target: str | Path) -> Iterator[Path]:
    """Yield a temporary path to write to; it becomes ``target`` when the block succeeds.

    After an error the temporary file is removed and ``target`` is as it was before.
    """
    with replacements(target) as (temporary,):
        yield temporary


@contextmanager
def replacements(*targets: str | Path) -> Iterator[tuple[Path, ...]]:
    """Yield one temporary path per target; the block has to write all of them.

    The files are renamed in the given order, and only once all of them are on disk: errors such as
    a full disk leave every target untouched.
    """
    paths = [Path(target) for target in targets]
    temporaries = tuple(path.with_name(f".{path.name}.{os.getpid()}.tmp") for path in paths)
    try:
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
        yield temporaries
        for temporary in temporaries:
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
        for temporary, path in zip(temporaries, paths, strict=True):
            temporary.replace(path)
    except FileError:
        raise
    except OSError as error:
        where = paths[0] if len(paths) == 1 else f"to {paths[0].parent}"
        raise FileError(f"cannot write {where}: {error.strerror or error}") from None
    finally:
        for temporary in temporaries:
            with suppress(OSError):
                temporary.unlink()


def write_bytes(path: str | Path, data: bytes, *, overwrite: bool) -> None:
    """Write a whole file; an existing one is replaced only with ``overwrite``."""
    check_free(path, overwrite=overwrite)
    with replacement(path) as temporary:
        temporary.write_bytes(data)


def check_free(*paths: str | Path, overwrite: bool) -> None:
    """Raise ``FileError`` if one of the paths exists, unless it may be overwritten."""
    taken = [path for path in paths if os.path.lexists(path)]
    if taken and not overwrite:
        other = "name" if len(paths) == 1 else "folder"
        raise FileError(f"{taken[0]} already exists; choose another {other} or pass overwrite=True")
