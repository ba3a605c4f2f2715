"""Write files atomically: under a temporary name beside the target, then renamed.

The name ``.TARGET.HOST-PID-NUMBER.tmp`` tells who writes: a killed process cannot remove its
temporary files, so the next one that writes the same target does. The number differs from one call
to the next, so that threads may write one target too: the last to finish wins.

Files that belong together are renamed under a lock of their folder (:func:`locked`). Who reads them
under it finds all of one write.
"""

from __future__ import annotations

import os
import re
import shutil
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from threading import Lock

from axonad.errors import FileError

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

# How libraries written in Rust (polars, safetensors) report an error of the operating system.
RUST_ERROR = re.compile(r"([^:]+) \(os error \d+\)")
LONGEST = 200  # bytes of a target's name repeated in the temporary one; file systems allow 255

_numbers = count()
_here = Lock()  # where the operating system has no lock for folders


@contextmanager
def replacement(target: str | Path) -> Iterator[Path]:
    """Yield a temporary path to write to; it becomes ``target`` when the block succeeds.

    After an error the temporary file is removed and ``target`` is as it was before.
    """
    with replacements(target) as (temporary,):
        yield temporary


@contextmanager
def replacements(*targets: str | Path, overwrite: bool = True) -> Iterator[tuple[Path, ...]]:
    """Yield one temporary path per target of one folder; the block has to write all of them.

    The files are renamed in the given order, and only once all of them are on disk: errors such as
    a full disk leave every target untouched. Without ``overwrite`` a target that exists by then is
    an error.
    """
    paths = [Path(target) for target in targets]
    temporaries = tuple(_temporary(path) for path in paths)
    where = str(paths[0]) if len(paths) == 1 else f"to {paths[0].parent}"
    with writing(where), ExitStack() as stack:
        try:
            for path in paths:
                stack.enter_context(_prepared(path))
            yield temporaries
            for temporary in temporaries:
                with temporary.open("rb+") as file:
                    os.fsync(file.fileno())
            with locked(paths[0].parent):
                check_free(*paths, overwrite=overwrite)
                for temporary, path in zip(temporaries, paths, strict=True):
                    temporary.replace(path)
        finally:
            for temporary in temporaries:
                with suppress(OSError):
                    temporary.unlink()


@contextmanager
def parts_folder(target: str | Path) -> Iterator[Path]:
    """Yield an empty folder beside ``target`` for the parts of it; it is removed at the end."""
    path = Path(target)
    folder = _temporary(path, "-parts")
    with ExitStack() as stack:
        with writing(path):
            stack.enter_context(_prepared(path))
            stack.callback(_remove, folder)
            folder.mkdir()
        yield folder


def write_bytes(path: str | Path, data: bytes, *, overwrite: bool) -> None:
    """Write a whole file; an existing one is replaced only with ``overwrite``."""
    check_free(path, overwrite=overwrite)
    with replacements(path, overwrite=overwrite) as (temporary,):
        temporary.write_bytes(data)


@contextmanager
def locked(folder: str | Path, *, shared: bool = False) -> Iterator[None]:
    """Keep other threads and processes from renaming files of a folder in the block.

    With ``shared`` they may read it at the same time. On a file system without locks only threads
    that write wait for each other.
    """
    with ExitStack() as stack:
        try:
            if fcntl is None:
                raise OSError
            handle = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, handle)  # gives the lock back too
            fcntl.flock(handle, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        except OSError:
            if not shared:
                stack.enter_context(_here)
        yield


def check_free(*paths: str | Path, overwrite: bool) -> None:
    """Raise ``FileError`` if one of the paths exists, unless it may be overwritten."""
    taken = [path for path in paths if os.path.lexists(path)]
    if taken and not overwrite:
        other = "name" if len(paths) == 1 else "folder"
        raise FileError(f"{taken[0]} already exists; choose another {other} or pass overwrite=True")


@contextmanager
def writing(where: object) -> Iterator[None]:
    """Raise errors of the operating system in the block as a ``FileError`` with the reason."""
    try:
        yield
    except FileError:
        raise
    except Exception as error:
        reason = _reason(error)
        if reason is None:
            raise
        raise FileError(f"cannot write {where}: {reason}") from None


def _reason(error: Exception) -> str | None:
    """Return why the operating system refused; None if the error is none of its errors."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    found = RUST_ERROR.search(str(error))
    if found:
        return found[1].strip()
    return str(error) if isinstance(error, OSError) else None


@contextmanager
def _prepared(path: Path) -> Iterator[None]:
    """Make the folder of a target, and remove what killed processes left there for this target.

    After an error in the block, the folders made for it are removed too.
    """
    if path.exists() and not path.is_file():  # a device such as /dev/null must not be replaced
        raise FileError(f"cannot write {path}: it exists and is not a regular file")
    made = [parent for parent in path.parents if not parent.exists()]  # innermost first
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for left in _leftovers(path):
            _remove(left)
        yield
    except BaseException:
        with suppress(OSError):  # not empty
            for folder in made:
                folder.rmdir()
        raise


def _temporary(path: Path, suffix: str = "") -> Path:
    return path.with_name(f"{_stem(path)}{os.getpid()}-{next(_numbers)}{suffix}.tmp")


def _stem(path: Path) -> str:
    """Return how the temporary names of a target begin on this host."""
    name = path.name
    if len(os.fsencode(name)) > LONGEST:
        name = f"{zlib.crc32(os.fsencode(name)):08x}"
    host = zlib.crc32(os.uname().nodename.encode()) if hasattr(os, "uname") else 0
    return f".{name}.{host:08x}-"


def _leftovers(path: Path) -> list[Path]:
    """Return the temporary files and folders of processes of this host that do not run."""
    if os.name != "posix":  # elsewhere, asking whether a process runs could end it
        return []
    own = re.compile(re.escape(_stem(path)) + r"(\d+)(-\d+)?(-parts)?\.tmp")
    try:
        entries = list(path.parent.iterdir())
    except OSError:  # a folder may be writable but not readable
        return []
    found = ((entry, own.fullmatch(entry.name)) for entry in entries)
    return [entry for entry, match in found if match and not _runs(int(match[1]))]


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # it belongs to somebody else, or is no process number
        return True
    return True


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
