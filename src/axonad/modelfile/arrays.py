"""The arrays of a model: a safetensors file, checked before its body is read.

Such a file is the length of a header (8 bytes), the header (JSON: type, shape and place of every
array) and the bytes of all arrays, one after another.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from axonad.errors import ModelFileError
from axonad.modelfile.document import damaged, parse
from axonad.modelfile.plain_file import opened, read_exactly, shown

Arrays = dict[str, NDArray[Any]]

LARGEST = 2**36  # bytes of all arrays
LONGEST = 2**26  # bytes of the header
SIZES = {
    "BOOL": 1, "I8": 1, "U8": 1, "I16": 2, "U16": 2, "F16": 2, "I32": 4, "U32": 4, "F32": 4,
    "I64": 8, "U64": 8, "F64": 8,
}  # fmt: skip


def read_array_bytes(path: Path) -> bytes:
    """Return a whole safetensors file whose header, shapes and size agree."""
    with opened(path, most=LARGEST) as (file, size):
        start = file.read(8)
        length = int.from_bytes(start, "little")
        if len(start) < 8 or length > min(size - 8, LONGEST):
            raise ModelFileError(
                f"{shown(path)} is damaged: its header does not fit into {size} bytes"
            )
        try:
            _check_header(parse(read_exactly(file, length, path), path), body=size - 8 - length)
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(path, error) from None
        file.seek(0)
        return read_exactly(file, size, path, at_end=True)


def decode(data: bytes, path: Path) -> Arrays:
    """Return the arrays in the bytes of :func:`read_array_bytes`."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        return dict(load(data))
    except (SafetensorError, KeyError, ValueError, MemoryError) as error:
        raise damaged(path, error) from None


def _check_header(header: Any, *, body: int) -> None:
    """Raise KeyError, TypeError or ValueError unless the arrays fill the body exactly."""
    if not isinstance(header, dict):
        raise TypeError("its header is not a JSON object")
    places = []
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        if not isinstance(entry, dict):
            raise TypeError(f"array {name[:40]!r} is not described")
        first, end = (_whole(number) for number in entry["data_offsets"])
        size = SIZES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
        if size is None:
            raise ValueError(f"array {name[:40]!r} has the unknown type {entry['dtype']!r:.40}")
        if math.prod(_whole(length) for length in entry["shape"]) * size != end - first:
            raise ValueError(f"shape and size of array {name[:40]!r} differ")
        places.append((first, end))
    reached = 0
    for first, end in sorted(places):
        if first != reached:
            raise ValueError("its arrays overlap or leave gaps")
        reached = end
    if reached != body:
        raise ValueError(f"its arrays need {reached} bytes and the file has {body}")


def _whole(number: object) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= LARGEST:
        raise ValueError(f"its header has the number {number!r:.40}")
    return number
