"""Commands on several files: patterns, one result each, and what becomes of files that fail.

A file that cannot be used never stops the others. It is named at the end and the exit code is 1; it
is 2 if no file could be used.
"""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import typer

from axonad.cli.terminal import print_error
from axonad.data.readers import is_bag_folder
from axonad.data.series import Series
from axonad.errors import AxonADError, FileError, InputError
from axonad.progress import Progress

SOME_FAILED = 1  # exit code
PATTERN = "*?["

T = TypeVar("T")


def expand(paths: Sequence[Path]) -> list[Path]:
    """Return the files that paths and patterns such as ``drives/*.csv`` stand for, each once.

    The files of a pattern are sorted by name. Raise ``FileError`` if a pattern fits no file.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        text = str(path)
        files = [path]
        if not path.exists() and any(mark in text for mark in PATTERN):
            names = glob.glob(text, recursive=True)  # noqa: PTH207 - Path.glob is relative
            files = [Path(name) for name in sorted(names)]
            files = [file for file in files if file.is_file() or is_bag_folder(file)]
            if not files:
                raise FileError(f"no file fits {text!r}; check the folder and the ending")
        for file in files:
            found.setdefault(file.absolute(), file)
    return list(found.values())


def outputs(folder: Path, sources: Sequence[Path], *, ending: str | None = None) -> list[Path]:
    """Return the file in ``folder`` for the result of each source, called as the source.

    Without an ``ending`` it is that of the source if that is ``.parquet``, else ``.csv``. Raise
    ``FileError`` if two sources would be written to one file.
    """
    if folder.suffix or folder.is_file():
        raise FileError(
            f"{len(sources)} files give as many results: {folder} must be a folder, without an "
            "ending such as .csv"
        )
    found: dict[str, Path] = {}
    for source in sources:
        own = ".parquet" if source.suffix.lower() == ".parquet" else ".csv"
        name = f"{source.stem}{ending or own}"
        if name in found:
            raise FileError(
                f"{found[name]} and {source} would both be written to {folder / name}; run the "
                "command once for each of their folders"
            )
        found[name] = source
    return [folder / name for name in found]


class SeveralFiles:
    """Works through files one by one and remembers which of them failed.

    With ``stop`` the first that fails ends the work.
    """

    def __init__(self, paths: Sequence[Path], *, stop: bool = False) -> None:
        self._paths, self._stop = paths, stop
        self._failed: list[str] = []

    def each(self, do: Callable[[Path], T], *, text: str) -> Iterator[tuple[Path, T]]:
        """Yield what ``do`` makes of each file; raise the error of a single file.

        Several errors are left for :meth:`finish`, unless all files fail.
        """
        several, done = len(self._paths) > 1, 0
        with Progress(text, len(self._paths), show=several) as progress:
            for path in self._paths:
                try:
                    result = do(path)
                except AxonADError as error:
                    if not several or (self._stop and path.name in str(error)):
                        raise
                    named = path.name in str(error)
                    self._failed.append(str(error) if named else f"{path}: {error}")
                    if self._stop:
                        raise InputError(self._failed[-1]) from None
                else:
                    done += 1
                    yield path, result
                progress.advance()
        if not done:
            raise FileError(
                f"none of {len(self._paths)} files could be used; the first: {self._failed[0]}"
            )

    def read(self, read: Callable[[Path], Series]) -> list[Series]:
        """Return the series of all files that can be read."""
        return [series for _, series in self.each(read, text="reading")]

    def finish(self) -> None:
        """Name the files that failed and end the command with exit code 1; go on if none did."""
        if not self._failed:
            return
        for reason in self._failed:
            print_error(reason)
        print_error(f"{len(self._failed)} of {len(self._paths)} files could not be used")
        raise typer.Exit(SOME_FAILED)
