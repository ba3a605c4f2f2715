"""Save and load detectors and stream states: JSON documents, and safetensors for arrays.

Neither format can execute code. The document holds the checksum of the arrays and is written last,
so a reader finds either a complete save or an error that names the damaged file.
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
    """Write ``document`` and ``arrays`` to the files ``names`` (JSON, safetensors) in a folder."""
    from safetensors.numpy import save

    document_path, arrays_path = (Path(folder) / name for name in names)
    atomic.check_free(document_path, arrays_path, overwrite=overwrite)
    data = save({key: np.ascontiguousarray(value) for key, value in arrays.items()})
    document = {
        **document,
        "arrays": {"file": names[1], "sha256": hashlib.sha256(data).hexdigest()},
    }
    text = json.dumps(document, indent=2, allow_nan=False, default=_plain) + "\n"
    with atomic.replacements(arrays_path, document_path) as (new_arrays, new_document):
        new_arrays.write_bytes(data)
        new_document.write_bytes(text.encode())


def read(
    folder: str | Path, *, names: tuple[str, str], kind: str, newest: int
) -> tuple[dict[str, Any], Arrays]:
    """Return document and arrays; raise ``ModelFileError`` with the file and what is wrong.

    ``kind`` is the required kind of the document, ``newest`` the highest supported format number.
    """
    folder = Path(folder)
    if not folder.is_dir():
        problem = "is a file, not a folder" if folder.exists() else "does not exist"
        raise ModelFileError(f"{folder} {problem}; expected a folder with {' and '.join(names)}")
    document = read_document(folder / names[0], kind=kind, newest=newest)
    return document, _read_arrays(folder / names[1], document)


def write_document(path: str | Path, document: Mapping[str, Any], *, overwrite: bool) -> None:
    """Write a JSON document without arrays."""
    text = json.dumps(document, allow_nan=False) + "\n"
    atomic.write_bytes(path, text.encode(), overwrite=overwrite)


def read_document(path: str | Path, *, kind: str, newest: int) -> dict[str, Any]:
    """Return a JSON document of the given kind, or raise ``ModelFileError`` with the reason."""
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
        raise ModelFileError(f"{path} was not written by axonad: it is not an {kind!r} document")
    version = document.get("format")
    if not isinstance(version, int) or version < 1:
        raise ModelFileError(
            f"{path} is damaged: its format number is {version!r}; expected 1 to {newest}"
        )
    if version > newest:
        raise ModelFileError(
            f"{path} has format {version}, newer than {newest}, the newest this version of axonad "
            "reads; upgrade axonad"
        )
    return document


def fingerprint(values: Any, arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return a SHA-256 digest of JSON values and arrays."""
    digest = hashlib.sha256(json.dumps(values, sort_keys=True, default=_plain).encode())
    for name in sorted(arrays):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


def _read_arrays(path: Path, document: Mapping[str, Any]) -> Arrays:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    data = _read_bytes(path)
    recorded = document.get("arrays")
    digest = hashlib.sha256(data).hexdigest()
    if not isinstance(recorded, dict) or recorded.get("sha256") != digest:
        raise ModelFileError(
            f"{path} is damaged or belongs to another save: its checksum differs from the one in "
            "the JSON document; save again"
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


def _plain(value: Any) -> Any:
    """Convert a numpy scalar for ``json.dumps``."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be written as JSON")
