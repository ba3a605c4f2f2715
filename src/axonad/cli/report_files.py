"""The files of ``axonad report``: names on the page, checksums, a self-test, the command."""

from __future__ import annotations

import hashlib
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from axonad.errors import FileError
from axonad.report.page.content import Source
from axonad.selftest.result import SelfTest

BLOCK = 2**20  # bytes


def display_names(files: Sequence[Path]) -> list[str]:
    """Return what files are called on the page: their names, or paths where names are the same.

    >>> display_names([Path("a/x.csv"), Path("b/x.csv"), Path("b/y.csv")])
    ['a/x.csv', 'b/x.csv', 'y.csv']
    """
    seen = Counter(path.name for path in files)
    return [path.name if seen[path.name] == 1 else str(path) for path in files]


def source_of(path: Path, name: str) -> Source:
    """Return size and checksum of a file or a bag, with what it is called on the page."""
    digest, size = hashlib.sha256(), 0
    for part in sorted(path.iterdir()) if path.is_dir() else [path]:  # the folder of a ROS 2 bag
        with part.open("rb") as file:
            while block := file.read(BLOCK):
                digest.update(block)
                size += len(block)
    return Source(name, size, digest.hexdigest())


def read_self_test(path: Path) -> SelfTest:
    """Return the self-test in a file, or in the ``selftest.json`` of a folder."""
    file = path / "selftest.json" if path.is_dir() else path
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FileError(
            f"{file} does not exist; expected the selftest.json of axonad selftest --out"
        ) from None
    except UnicodeDecodeError:
        raise FileError(f"{file} is not text; expected the selftest.json of a self-test") from None
    return SelfTest.from_json(text)


def command_line(words: Sequence[str], given: Mapping[str, Any]) -> str:
    """Return a command that a shell understands, with the options that were given.

    >>> command_line(["report", "m", "a b.csv"], {"--fill": None, "--ignore": ["x"]})
    "axonad report m 'a b.csv' --ignore x --out report.html"
    """
    parts = ["axonad", *words]
    for option, value in given.items():
        if value is None or value is False:
            continue
        if value is True:
            parts.append(option)
            continue
        for one in value if isinstance(value, list) else [value]:
            parts += [option, str(one)]
    return shlex.join([*parts, "--out", "report.html"])
