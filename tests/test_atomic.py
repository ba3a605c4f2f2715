import errno
import os
import subprocess
import sys

import polars as pl
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


@pytest.mark.parametrize("write", ["write_csv", "write_parquet"])
def test_the_errors_of_polars_give_the_same_sentence(tmp_path, full_disk, write):
    frame = pl.DataFrame({"a": range(9_000)})
    with (
        full_disk(),
        pytest.raises(FileError, match=r"^cannot write .*/x: File too large$"),
        atomic.replacement(tmp_path / "x") as temporary,
    ):
        getattr(frame, write)(temporary)
    assert list(tmp_path.iterdir()) == []


def test_folders_made_for_a_file_that_is_not_written_are_removed(tmp_path):
    (tmp_path / "mine").mkdir()
    with pytest.raises(KeyError), atomic.replacement(tmp_path / "mine" / "a" / "b" / "x"):
        raise KeyError
    assert list(tmp_path.rglob("*")) == [tmp_path / "mine"]


def test_other_errors_pass_as_they_are(tmp_path):
    with pytest.raises(ValueError, match=r"^mine$"), atomic.writing("x"):
        raise ValueError("mine")
    with pytest.raises(FileError, match=r"^cannot write x: odd$"), atomic.writing("x"):
        raise OSError("odd")


def test_a_device_is_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match=r"pipe: it exists and is not a regular file"):
        atomic.write_bytes(tmp_path / "pipe", b"", overwrite=True)
    assert (tmp_path / "pipe").is_fifo()


def test_the_longest_file_name_can_be_written(tmp_path):
    path = tmp_path / ("x" * 255)
    atomic.write_bytes(path, b"new", overwrite=False)
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_for_parts_is_removed_whatever_happens(tmp_path):
    with pytest.raises(KeyboardInterrupt), atomic.parts_folder(tmp_path / "x") as folder:
        (folder / "part").write_bytes(b"")
        assert folder.parent == tmp_path
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
    write = f"""
import os, signal
from axonad import atomic
with atomic.parts_folder({str(tmp_path / "x")!r}) as folder:
    (folder / "part").write_bytes(b"")
    with atomic.replacement({str(tmp_path / "x")!r}) as temporary:
        temporary.write_bytes(b"half")
        os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", write], check=False)  # noqa: S603
    assert killed.returncode == -9
    left = sorted(path.name for path in tmp_path.iterdir())
    assert len(left) == 2
    dead = left[0].split("-")[1].split(".")[0]
    others = [
        left[0].replace(".x.", ".y."),  # of another target
        left[0].replace(dead, str(os.getppid())),  # of a process that runs
        f".x.00000000-{dead}.tmp",  # of another host
        f".x.{dead}.txt",
    ]
    for name in others:
        (tmp_path / name).write_bytes(b"")
    atomic.write_bytes(tmp_path / "x", b"new", overwrite=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*others, "x"])
