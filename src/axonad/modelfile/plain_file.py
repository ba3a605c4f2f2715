"""Read plain files of a limited size, never a device or a pipe.

A file from elsewhere may be a link to ``/dev/zero``, which never ends, or a pipe that nobody writes
to, which blocks. Kind and size are therefore known before the first byte is read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from axonad.errors import ModelFileError

# A pipe is opened without waiting for its other end, and Windows changes no line ends.
FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@contextmanager
def opened(path: Path, *, most: int) -> Iterator[tuple[BinaryIO, int]]:
    """Yield a plain file of at most ``most`` bytes and its size; raise ``ModelFileError``."""
    try:
        with open(path, "rb", opener=_open) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise ModelFileError(f"{shown(path)} is not a plain file")
            if found.st_size > most:
                raise ModelFileError(
                    f"{shown(path)} has {found.st_size} bytes; expected at most {most}"
                )
            yield file, found.st_size
    except FileNotFoundError:
        raise ModelFileError(f"{shown(path)} is missing") from None
    except IsADirectoryError:
        raise ModelFileError(f"{shown(path)} is not a plain file") from None
    except ModelFileError:
        raise
    except OSError as error:
        raise ModelFileError(f"{shown(path)} cannot be read: {error.strerror}") from None
    except MemoryError:
        raise ModelFileError(f"{shown(path)} does not fit into memory") from None
    except ValueError as error:  # a path with a zero byte
        raise ModelFileError(f"{shown(path)} cannot be read: {error}") from None


def read_bytes(path: Path, *, most: int) -> bytes:
    """Return the content of a plain file of at most ``most`` bytes."""
    with opened(path, most=most) as (file, size):
        return read_exactly(file, size, path, at_end=True)


def read_exactly(file: BinaryIO, size: int, path: Path, *, at_end: bool = False) -> bytes:
    """Return the next ``size`` bytes, after which, with ``at_end``, the file has to end."""
    data = file.read(size)
    if len(data) != size or (at_end and file.read(1)):
        raise ModelFileError(f"{shown(path)} changed while it was read; try again")
    return data


def _open(path: str, _: int) -> int:
    return os.open(path, FLAGS)


def shown(path: str | Path) -> str:
    """Return a path as text of one line; one with line breaks or undecodable bytes is quoted."""
    text = str(path)
    return text if text.isprintable() else ascii(text)
