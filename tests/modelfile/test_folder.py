from __future__ import annotations

import contextlib
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from axonad import modelfile
from axonad.errors import FileError, ModelFileError
from tests.fuzz.forging import forge, forge_arrays
from tests.fuzz.mutations import flip_bit

NAMES = ("x.json", "x.safetensors")
KIND = "axonad-test"
ARRAYS = {"a": np.arange(6.0).reshape(2, 3), "b": np.array(3, dtype=np.int8)}


def read(folder: Path):
    return modelfile.read(folder, names=NAMES, kind=KIND, newest=2)


@pytest.fixture
def saved(tmp_path) -> Path:
    document = {"kind": KIND, "format": 2, "size": np.int64(3)}
    modelfile.write(tmp_path / "model", names=NAMES, document=document, arrays=ARRAYS)
    return tmp_path / "model"


def test_what_was_written_is_read(saved):
    document, arrays = read(saved)
    assert document["size"] == 3
    assert set(arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype


def test_an_existing_save_is_kept_unless_overwritten(saved):
    document = {"kind": KIND, "format": 2}
    with pytest.raises(FileError, match=r"x\.json already exists; choose another folder"):
        modelfile.write(saved, names=NAMES, document=document, arrays={})
    modelfile.write(saved, names=NAMES, document=document, arrays={}, overwrite=True)
    assert read(saved)[1] == {}


def test_saving_into_a_file_is_rejected(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileError, match="cannot write to"):
        modelfile.write(tmp_path / "file", names=NAMES, document={}, arrays={})


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "x.json").unlink(), r"x\.json is missing"),
        (lambda f: (f / "x.safetensors").unlink(), r"x\.safetensors is missing"),
        (lambda f: (f / "x.json").write_text("{"), r"x\.json is damaged: not valid JSON"),
        (lambda f: forge(f / "x.json", arrays=None), r"x\.safetensors is damaged .* checksum"),
        (
            lambda f: (f / "x.safetensors").write_bytes(save({})),
            r"x\.safetensors is damaged .* checksum",
        ),
    ],
)
def test_damaged_saves_name_the_file_and_the_reason(saved, damage, message):
    damage(saved)
    with pytest.raises(ModelFileError, match=message):
        read(saved)


def test_a_folder_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ModelFileError, match=r"does not exist; expected a folder with x\.json and"):
        read(tmp_path / "none")
    (tmp_path / "file").write_text("x")
    with pytest.raises(ModelFileError, match="is a file, not a folder"):
        read(tmp_path / "file")
    with pytest.raises(ModelFileError, match="does not exist"):
        read(tmp_path / "file" / "model")
    with pytest.raises(ModelFileError, match="cannot be read: File name too long"):
        read(tmp_path / ("x" * 300))
    with pytest.raises(ModelFileError, match=r"cannot be read: .*null"):
        read(tmp_path / "a\0b")


def test_odd_names_make_messages_of_one_line(saved, tmp_path):
    odd = tmp_path / "two\nlines"
    saved.rename(odd)
    assert read(odd)[0]["size"] == 3
    (odd / "x.safetensors").unlink()
    with pytest.raises(ModelFileError, match=r"two\\nlines/x\.safetensors' is missing"):
        read(odd)
    with pytest.raises(ModelFileError, match=r"caf\\udce9' does not exist"):
        read(tmp_path / os.fsdecode(b"caf\xe9"))


def test_a_pickle_in_place_of_the_arrays_is_never_opened(saved, tmp_path):
    class Trap:
        def __reduce__(self):
            return Path.touch, (tmp_path / "sprung",)

    forge_arrays(saved / "x.json", pickle.dumps(Trap()))
    with pytest.raises(ModelFileError, match=r"x\.safetensors is damaged"):
        read(saved)
    assert not (tmp_path / "sprung").exists()


def test_every_flipped_bit_of_a_document_is_noticed(saved):
    path = saved / "x.json"
    data, expected = path.read_bytes(), read(saved)[0]
    for bit in range(0, 8 * len(data), 23):
        path.write_bytes(flip_bit(data, bit))
        with contextlib.suppress(ModelFileError):
            assert read(saved)[0] == expected, f"bit {bit}"


def test_a_document_too_large_to_be_read_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr("axonad.modelfile.folder.SMALL", 100)
    with pytest.raises(FileError, match=r"x\.json: it would have \d+ bytes, and at most 100"):
        modelfile.write(tmp_path / "new", names=NAMES, document={"a": "b" * 99}, arrays={})
    assert not (tmp_path / "new").exists()
