"""Files of anything saved: a JSON document, and safetensors for arrays beside it.

JSON says what it is, safetensors holds the arrays; neither can execute code. Every file is written
under a temporary name and moved into place, the document, which carries the checksum of the
arrays, last: a reader finds a whole save, or an error that says what is wrong.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad import atomic
from axonad.errors import ModelFileError

Arrays = dict[str, NDArray[Any]]


def write(
    folder: str | Path,
    *,
    names: tuple[str, str],
    document: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    overwrite: bool = False,
) -> None:
    """Write ``document`` and ``arrays`` to the two files ``names`` (JSON, safetensors)."""
    from safetensors.numpy import save

    document_path, arrays_path = (Path(folder) / name for name in names)
    atomic.check_free(document_path, arrays_path, overwrite=overwrite)
    data = save({key: np.ascontiguousarray(value) for key, value in arrays.items()})
    document = {**document, "arrays": {"file": names[1], "sha256": _digest(data)}}
    text = json.dumps(document, indent=2, allow_nan=False, default=_plain) + "\n"
    # The document holds the checksum of the arrays, so it is renamed last.
    with atomic.replacements(arrays_path, document_path) as (new_arrays, new_document):
        new_arrays.write_bytes(data)
        new_document.write_bytes(text.encode())


def read(
    folder: str | Path, *, names: tuple[str, str], kind: str, newest: int
) -> tuple[dict[str, Any], Arrays]:
    """Return document and arrays, or say which file is wrong and why.

    ``kind`` is what the document must call itself; ``newest`` the highest format understood.
    """
    folder = Path(folder)
    if not folder.is_dir():
        problem = "is a file, not a folder" if folder.exists() else "does not exist"
        raise ModelFileError(f"{folder} {problem}; expected a folder with {' and '.join(names)}")
    document = read_document(folder / names[0], kind=kind, newest=newest)
    return document, _read_arrays(folder / names[1], document)


def write_document(path: str | Path, document: Mapping[str, Any], *, overwrite: bool) -> None:
    """Write a JSON document on its own."""
    text = json.dumps(document, allow_nan=False) + "\n"
    atomic.write_bytes(path, text.encode(), overwrite=overwrite)


def read_document(path: str | Path, *, kind: str, newest: int) -> dict[str, Any]:
    """Return a JSON document of the given kind, or say why it cannot be used."""
    path = Path(path)
    try:
        content = json.loads(_read_bytes(path).decode())
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ModelFileError(f"{path} is damaged: not valid JSON ({error})") from None
    document: dict[str, Any] = content if isinstance(content, dict) else {}
    found = document.get("kind")
    if isinstance(found, str) and found.startswith("axonad-") and found != kind:
        raise ModelFileError(f"{path} is an {found!r} document; expected {kind!r}")
    if found != kind:
        raise ModelFileError(f"{path} was not written by axonad: it is no {kind!r} document")
    version = document.get("format")
    if not isinstance(version, int) or version < 1:
        raise ModelFileError(f"{path} is damaged: its format number is {version!r}")
    if version > newest:
        raise ModelFileError(
            f"{path} has format {version}, newer than {newest}, the newest this version of axonad "
            "reads; upgrade axonad"
        )
    return document


def fingerprint(facts: Any, arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return a digest of plain facts and arrays."""
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True, default=_plain).encode())
    for name in sorted(arrays):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


def _read_arrays(path: Path, document: Mapping[str, Any]) -> Arrays:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    data = _read_bytes(path)
    expected = document.get("arrays")
    if not isinstance(expected, dict) or expected.get("sha256") != _digest(data):
        raise ModelFileError(
            f"{path} is damaged or belongs to another save: its checksum is not the recorded one"
        )
    try:
        return dict(load(data))
    except SafetensorError as error:
        raise ModelFileError(f"{path} is damaged: {error}") from None


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ModelFileError(f"{path} is missing") from None
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror}") from None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _plain(value: Any) -> Any:
    """Return a numpy scalar as the Python number JSON can write."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be written as JSON")
