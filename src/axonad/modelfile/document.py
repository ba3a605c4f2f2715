"""JSON documents with a kind, a format number and a checksum of their content.

The checksum is the SHA-256 of the canonical form: the parsed content without the checksum, sorted
by key, without spaces. Format 1, written by axonad 0.1, has none.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from axonad import atomic
from axonad.errors import DataWarning, FileError, ModelFileError
from axonad.modelfile.plain_file import read_bytes, shown

FORMAT = 2  # the first with a checksum of the whole document, and the newest
SMALL = 64 * 2**20  # largest document that describes arrays
LARGE = 2**30  # largest document without arrays: the state of a fleet
DIGITS = 300  # longest integer; longer ones exceed the range of a float
LONGEST = 300  # characters of a reason in an error message
MISFITS = (LookupError, TypeError, ValueError, ArithmeticError, RuntimeError, MemoryError)
"""What a reader may raise for content that does not fit; :func:`damaged` makes it a sentence."""


def write_document(path: str | Path, document: Mapping[str, Any], *, overwrite: bool) -> None:
    """Write a JSON document without arrays, with its checksum."""
    body = canonical(document)
    text = f'{body[:-1]},"checksum":"{digest(body)}"}}\n'
    check_size(path, text, most=LARGE)
    atomic.write_bytes(path, text.encode(), overwrite=overwrite)


def read_document(path: str | Path, *, kind: str, newest: int, most: int = LARGE) -> dict[str, Any]:
    """Return a JSON document of the given kind, or raise ``ModelFileError`` with the reason.

    ``newest`` is the highest supported format number, ``most`` the largest size in bytes.
    """
    path = Path(path)
    content = parse(read_bytes(path, most=most), path)
    document: dict[str, Any] = content if isinstance(content, dict) else {}
    found = document.get("kind")
    if isinstance(found, str) and found.startswith("axonad-") and found != kind:
        raise ModelFileError(f"{shown(path)} is an {found[:40]!r} document; expected {kind!r}")
    if found != kind:
        raise ModelFileError(
            f"{shown(path)} was not written by axonad: it is not an {kind!r} document"
        )
    check_format(path, document.get("format"), newest)
    _check_content(path, document)
    return document


def parse(data: bytes, path: str | Path) -> Any:
    """Return the content of JSON text; repeated keys, NaN and huge integers are refused."""
    try:
        return json.loads(
            data.decode(), parse_int=_integer, parse_constant=_constant, object_pairs_hook=_unique
        )
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ModelFileError(f"{shown(path)} is damaged: not valid JSON ({error})") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise damaged(path, error) from None


def damaged(path: str | Path, error: Exception) -> ModelFileError:
    """Return the error for a file whose content made ``error``, as one short sentence."""
    if isinstance(error, KeyError):
        reason = f"entry {error} is missing"
    elif isinstance(error, RecursionError):
        reason = "it is nested too deeply"
    elif isinstance(error, MemoryError):
        reason = "what it describes does not fit into memory"
    else:
        reason = str(error)
    reason = " ".join(reason.split())
    short = reason if len(reason) <= LONGEST else f"{reason[:LONGEST]}…"
    return ModelFileError(f"{shown(path)} is damaged: {short}")


def warn_without_checksum(
    path: str | Path, document: Mapping[str, Any], *, stacklevel: int = 3
) -> None:
    """Warn about a document of format 1; by default the caller's caller."""
    if "checksum" not in document:
        warnings.warn(
            f"{shown(path)} was saved by an older version, without a checksum that would "
            "reveal changed numbers; save it again to add one",
            DataWarning,
            stacklevel=stacklevel,
        )


def canonical(document: Mapping[str, Any]) -> str:
    """Return the form of a document that its checksum covers; ValueError for NaN or infinity."""
    return json.dumps(
        document, sort_keys=True, separators=(",", ":"), allow_nan=False, default=plain
    )


def digest(text: str) -> str:
    """Return the checksum of a canonical form."""
    return hashlib.sha256(text.encode()).hexdigest()


def check_size(path: str | Path, text: str, *, most: int) -> None:
    """Raise ``FileError`` for a document that could be written but not be read again."""
    if len(text) > most:
        raise FileError(
            f"cannot write {shown(path)}: it would have {len(text)} bytes, and at most "
            f"{most} can be read"
        )


def plain(value: Any) -> Any:
    """Convert a numpy scalar for ``json.dumps``."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be written as JSON")


def check_format(path: str | Path, version: object, newest: int) -> None:
    """Raise ModelFileError unless the format number of a document is one of those read."""
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise ModelFileError(
            f"{shown(path)} is damaged: its format number is {version!r:.40}; "
            f"expected 1 to {newest}"
        )
    if version > newest:
        raise ModelFileError(
            f"{shown(path)} has format {version:.4g}, newer than {newest}, the newest this version "
            "of axonad reads; upgrade axonad"
        )


def _check_content(path: Path, document: Mapping[str, Any]) -> None:
    """Compare the checksum; a document of format 1 may have none."""
    try:
        body = canonical({key: value for key, value in document.items() if key != "checksum"})
    except (ValueError, RecursionError, MemoryError) as error:
        raise damaged(path, error) from None
    if "checksum" not in document:
        if document["format"] >= FORMAT:
            raise ModelFileError(f"{shown(path)} is damaged: entry 'checksum' is missing")
    elif document["checksum"] != digest(body):
        raise ModelFileError(
            f"{shown(path)} is damaged or was edited: its content does not match its checksum; "
            "save again"
        )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"entry {twice[:40]!r} appears twice")
    return found


def _integer(text: str) -> int:
    if len(text) > DIGITS:
        raise ValueError(f"it has an integer of {len(text)} digits; expected at most {DIGITS}")
    return int(text)


def _constant(text: str) -> float:
    raise ValueError(f"it has the value {text}; expected finite numbers")
