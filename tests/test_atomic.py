import errno
import os

import pytest

from axonad import atomic
from axonad.errors import FileError


def test_a_file_is_written_with_its_folders_and_nothing_else(tmp_path):
    atomic.write_bytes(tmp_path / "a" / "b.bin", b"new", overwrite=False)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b.bin"]
    assert (tmp_path / "a" / "b.bin").read_bytes() == b"new"


def test_an_existing_file_is_replaced_only_on_request(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with pytest.raises(FileError, match=r"x already exists; choose another name or pass overwrite"):
        atomic.write_bytes(path, b"new", overwrite=False)
    assert path.read_bytes() == b"old"
    atomic.write_bytes(path, b"new", overwrite=True)
    assert path.read_bytes() == b"new"


def test_a_dangling_link_counts_as_existing(tmp_path):
    (tmp_path / "x").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileError, match="already exists"):
        atomic.check_free(tmp_path / "x", overwrite=False)


def test_one_of_several_files_that_exists_names_the_folder(tmp_path):
    (tmp_path / "b").write_bytes(b"")
    with pytest.raises(FileError, match=r"b already exists; choose another folder"):
        atomic.check_free(tmp_path / "a", tmp_path / "b", overwrite=False)


@pytest.mark.parametrize("error", [KeyError("x"), KeyboardInterrupt()])
def test_an_error_in_the_block_leaves_the_old_file_and_no_other(tmp_path, error):
    (tmp_path / "x").write_bytes(b"old")
    with pytest.raises(type(error)), atomic.replacement(tmp_path / "x") as temporary:
        temporary.write_bytes(b"half")
        raise error
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"x": b"old"}


def test_a_full_disk_leaves_all_files_as_they_were(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "x").write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(FileError, match=r"cannot write to .*: No space left on device"),
        atomic.replacements(tmp_path / "x", tmp_path / "y") as new,
    ):
        for path in new:
            path.write_bytes(b"new")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"x": b"old"}


def test_a_file_in_place_of_the_folder_is_named(tmp_path):
    (tmp_path / "file").write_bytes(b"mine")
    with pytest.raises(FileError, match=r"cannot write .*file/x"):
        atomic.write_bytes(tmp_path / "file" / "x", b"", overwrite=False)
