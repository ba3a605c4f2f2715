"""A document and its arrays in one folder: ``x.json`` and ``x.safetensors``."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad import atomic
from axonad.errors import ModelFileError
from axonad.modelfile.arrays import Arrays, decode, read_array_bytes
from axonad.modelfile.document import SMALL, canonical, check_size, digest, plain, read_document
from axonad.modelfile.plain_file import shown


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
    content = {
        **document,
        "arrays": {"file": names[1], "sha256": hashlib.sha256(data).hexdigest()},
    }
    content["checksum"] = digest(canonical(content))
    text = json.dumps(content, indent=2, allow_nan=False, default=plain) + "\n"
    check_size(document_path, text, most=SMALL)
    paths = arrays_path, document_path
    with atomic.replacements(*paths, overwrite=overwrite) as (new_arrays, new_document):
        new_arrays.write_bytes(data)
        new_document.write_bytes(text.encode())


def read(
    folder: str | Path, *, names: tuple[str, str], kind: str, newest: int
) -> tuple[dict[str, Any], Arrays]:
    """Return document and arrays; raise ``ModelFileError`` with the file and what is wrong.

    ``kind`` is the required kind of the document, ``newest`` the highest supported format number.
    """
    folder = Path(folder)
    _check_folder(folder, names)
    path = folder / names[1]
    with atomic.locked(folder, shared=True):
        document = read_document(folder / names[0], kind=kind, newest=newest, most=SMALL)
        data = read_array_bytes(path)
    recorded = document.get("arrays")
    found = hashlib.sha256(data).hexdigest()
    if not isinstance(recorded, dict) or recorded.get("sha256") != found:
        raise ModelFileError(
            f"{shown(path)} is damaged or belongs to another save: its checksum differs from the "
            "one in the JSON document; save again"
        )
    return document, decode(data, path)


def _check_folder(folder: Path, names: tuple[str, str]) -> None:
    wanted = f"expected a folder with {' and '.join(names)}"
    try:
        mode = os.stat(folder).st_mode  # noqa: PTH116 - Path.is_dir hides or raises some errors
    except (FileNotFoundError, NotADirectoryError):
        raise ModelFileError(f"{shown(folder)} does not exist; {wanted}") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a zero byte
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(f"{shown(folder)} cannot be read: {reason}") from None
    if not stat.S_ISDIR(mode):
        raise ModelFileError(f"{shown(folder)} is a file, not a folder; {wanted}")
