from __future__ import annotations

import hashlib
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from axonad import modelfile
from axonad.errors import FileError, ModelFileError

NAMES = ("x.json", "x.safetensors")
KIND = "axonad-test"
ARRAYS = {"a": np.arange(6.0).reshape(2, 3), "b": np.array(3, dtype=np.int8)}


def read(folder: Path):
    return modelfile.read(folder, names=NAMES, kind=KIND, newest=1)


def edit(folder: Path, **changes):
    document = json.loads((folder / "x.json").read_text()) | changes
    (folder / "x.json").write_text(json.dumps(document))


@pytest.fixture
def saved(tmp_path) -> Path:
    document = {"kind": KIND, "format": 1, "size": np.int64(3)}
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
    document = {"kind": KIND, "format": 1}
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
        (lambda f: (f / "x.json").write_text('{"kind": '), r"x\.json is damaged: not valid JSON"),
        (lambda f: (f / "x.json").write_bytes(b"\xff"), r"x\.json is damaged: not valid JSON"),
        (lambda f: (f / "x.json").write_text("[1]"), r"x\.json was not written by axonad"),
        (lambda f: edit(f, kind="other"), r"x\.json was not written by axonad"),
        (lambda f: edit(f, kind="axonad-b"), "is an 'axonad-b' document; expected 'axonad-test'"),
        (lambda f: edit(f, format=99), "has format 99, newer than 1.*upgrade axonad"),
        (lambda f: edit(f, format="x"), "its format number is 'x'; expected 1 to 1"),
        (lambda f: edit(f, arrays=None), r"x\.safetensors is damaged .* checksum"),
        (
            lambda f: (f / "x.safetensors").write_bytes(b""),
            r"x\.safetensors is damaged .* checksum",
        ),
    ],
)
def test_damaged_saves_name_the_file_and_the_reason(saved, damage, message):
    damage(saved)
    with pytest.raises(ModelFileError, match=message):
        read(saved)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ModelFileError, match=r"does not exist; expected a folder with x\.json and"):
        read(tmp_path / "none")
    (tmp_path / "file").write_text("x")
    with pytest.raises(ModelFileError, match="is a file, not a folder"):
        read(tmp_path / "file")


def test_a_pickle_in_place_of_the_arrays_is_never_opened(saved, tmp_path):
    class Trap:
        def __reduce__(self):
            return Path.touch, (tmp_path / "sprung",)

    data = pickle.dumps(Trap())
    (saved / "x.safetensors").write_bytes(data)
    edit(saved, arrays={"file": "x.safetensors", "sha256": hashlib.sha256(data).hexdigest()})
    with pytest.raises(ModelFileError, match=r"x\.safetensors is damaged"):
        read(saved)
    assert not (tmp_path / "sprung").exists()


def test_the_fingerprint_depends_on_values_and_arrays_only():
    first = modelfile.fingerprint({"a": 1, "b": 2}, ARRAYS)
    assert first == modelfile.fingerprint({"b": 2, "a": 1}, dict(reversed(ARRAYS.items())))
    assert first != modelfile.fingerprint({"a": 1, "b": 3}, ARRAYS)
    assert first != modelfile.fingerprint({"a": 1, "b": 2}, {**ARRAYS, "b": np.array(4)})
