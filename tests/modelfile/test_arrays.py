from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from axonad.errors import ModelFileError
from axonad.modelfile.arrays import SIZES, decode, read_array_bytes
from tests.fuzz.limits import limited_memory

HEADER = {
    "a": {"dtype": "F64", "shape": [2], "data_offsets": [0, 16]},
    "b": {"dtype": "U8", "shape": [2, 2], "data_offsets": [16, 20]},
}


def write(path: Path, header, body: bytes = bytes(20)) -> Path:
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)
    return path


def test_arrays_of_every_type_are_read(tmp_path):
    kinds = ("?", "b", "B", "h", "H", "e", "i", "I", "f", "q", "Q", "d")
    arrays = {kind: np.ones((2, 1), dtype=kind) for kind in kinds} | {"empty": np.ones((0, 3))}
    (tmp_path / "x").write_bytes(save(arrays))
    found = decode(read_array_bytes(tmp_path / "x"), tmp_path / "x")
    assert len(kinds) == len(SIZES)
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array, strict=True)


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ([], "its header is not a JSON object"),
        ({"a": []}, "array 'a' is not described"),
        ({"a": {}}, "entry 'data_offsets' is missing"),
        (HEADER | {"b": HEADER["b"] | {"dtype": "F128"}}, "'b' has the unknown type 'F128'"),
        (HEADER | {"b": HEADER["b"] | {"dtype": ["U8"]}}, "'b' has the unknown type"),
        (HEADER | {"b": HEADER["b"] | {"shape": [2, 3]}}, "shape and size of array 'b' differ"),
        (HEADER | {"b": HEADER["b"] | {"shape": [-2, -2]}}, "its header has the number -2"),
        (HEADER | {"b": HEADER["b"] | {"shape": [2.0, 2]}}, "its header has the number 2.0"),
        (HEADER | {"b": HEADER["b"] | {"data_offsets": [0, 4]}}, "overlap or leave gaps"),
        (HEADER | {"c": {"dtype": "U8", "shape": [9], "data_offsets": [20, 29]}}, "need 29 bytes"),
        ({"a": HEADER["a"]}, "its arrays need 16 bytes and the file has 20"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_header_that_contradicts_itself_or_the_size_is_refused(tmp_path, header, reason):
    assert len(read_array_bytes(write(tmp_path / "x", HEADER))) > 20
    with pytest.raises(ModelFileError, match=f"x is damaged: .*{reason}"):
        read_array_bytes(write(tmp_path / "x", header))


@pytest.mark.parametrize("start", [b"", b"1234567", bytes(7) + b"\x01", b"\xff" * 8])
def test_a_header_longer_than_the_file_is_refused(tmp_path, start):
    (tmp_path / "x").write_bytes(start)
    with pytest.raises(ModelFileError, match="x is damaged: its header does not fit into"):
        read_array_bytes(tmp_path / "x")


def test_a_file_larger_than_memory_is_refused_before_it_is_read(tmp_path):
    size = 2**35
    path = write(tmp_path / "x", {"a": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}})
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 20 + size)  # a sparse file: it takes no space
    with limited_memory(256), pytest.raises(ModelFileError, match="x does not fit into memory"):
        read_array_bytes(path)
    with path.open("r+b") as file:
        file.truncate(2**40)
    with pytest.raises(ModelFileError, match="x has 1099511627776 bytes; expected at most"):
        read_array_bytes(path)
