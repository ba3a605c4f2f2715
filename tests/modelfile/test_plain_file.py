from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from axonad.errors import ModelFileError
from axonad.modelfile.plain_file import read_bytes, shown
from tests.fuzz.limits import limited


def test_a_plain_file_is_read_also_through_a_link(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert read_bytes(tmp_path / "b", most=5) == b"12345"
    with pytest.raises(ModelFileError, match="a has 5 bytes; expected at most 4"):
        read_bytes(tmp_path / "a", most=4)


def test_devices_pipes_and_folders_are_refused_at_once(tmp_path):
    (tmp_path / "zero").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("zero", "pipe", "folder"):
        with limited(5), pytest.raises(ModelFileError, match=f"{name} is not a plain file"):
            read_bytes(tmp_path / name, most=100)


def test_what_cannot_be_opened_is_named(tmp_path):
    with pytest.raises(ModelFileError, match="none is missing"):
        read_bytes(tmp_path / "none", most=100)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(ModelFileError, match="loop cannot be read: Too many levels"):
        read_bytes(tmp_path / "loop", most=100)
    with pytest.raises(ModelFileError, match="cannot be read: embedded null"):
        read_bytes(tmp_path / "a\0b", most=100)


def test_a_file_without_permission_is_named(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"1")

    def refuse(*_):  # root may read every file, whatever its mode
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(ModelFileError, match="a cannot be read: Permission denied"):
        read_bytes(tmp_path / "a", most=100)


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="needs /proc")
def test_a_file_that_grows_is_refused():
    with pytest.raises(ModelFileError, match="status changed while it was read; try again"):
        read_bytes(Path("/proc/self/status"), most=100)  # its size is said to be 0


def test_paths_are_shown_on_one_line():
    assert shown(Path("a b/ü")) == "a b/ü"
    assert shown(Path("a\nb")) == r"'a\nb'"
