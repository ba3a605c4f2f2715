"""Append-only files survive a killed process and leave foreign files alone."""

from __future__ import annotations

import pytest

from axonad.bench.results import Results, read_rows
from axonad.bench.row import COLUMNS
from axonad.errors import FileError, InputError
from tests.bench.jobs import make_row


def test_a_row_is_on_the_disk_at_once_and_rows_are_only_added(tmp_path):
    with Results(tmp_path) as results:
        results.append(make_row())
        before = results.path.read_bytes()
        assert before.count(b"\n") == 2
    with Results(tmp_path) as results:
        assert results.rows == [make_row()]
        results.append(make_row(key="other"))
    assert results.path.read_bytes().startswith(before)


@pytest.mark.parametrize("cut", [1, 40, 200])
def test_an_incomplete_last_line_is_dropped(tmp_path, cut):
    with Results(tmp_path) as results:
        results.append(make_row())
        results.append(make_row(key="second"))
    whole = results.path.read_bytes()
    results.path.write_bytes(whole[:-cut])
    with Results(tmp_path) as results:
        assert [row.key for row in results.rows] == [make_row().key]
        results.append(make_row(key="second"))
    assert results.path.read_bytes() == whole


@pytest.mark.parametrize("text", ["precious notes", "a,b\n1,2\n3,4", "\xff\xfe\x00\n", "\n1"])
def test_a_file_of_another_kind_is_not_touched(tmp_path, text):
    path = tmp_path / "rows.csv"
    path.write_bytes(text.encode("latin-1"))
    with (
        pytest.raises(InputError, match="its columns differ; choose another folder"),
        Results(tmp_path),
    ):
        pass
    assert path.read_bytes() == text.encode("latin-1")


@pytest.mark.parametrize("change", [lambda line: line.rsplit(",", 2)[0], lambda line: line + ",9"])
def test_a_line_of_another_length_is_named(tmp_path, change):
    with Results(tmp_path) as results:
        results.append(make_row())
    heading, line = (tmp_path / "rows.csv").read_text().splitlines()
    (tmp_path / "rows.csv").write_text(f"{heading}\n{change(line)}\n")
    with pytest.raises(InputError, match=r"row 1: it has more or fewer fields than the heading"):
        read_rows(tmp_path)


def test_an_incomplete_heading_is_replaced(tmp_path):
    (tmp_path / "rows.csv").write_text(",".join(COLUMNS)[:50])
    with Results(tmp_path) as results:
        results.append(make_row())
    assert read_rows(tmp_path) == [make_row()]


def test_one_run_at_a_time(tmp_path):
    with (
        Results(tmp_path),
        pytest.raises(FileError, match="is in use by another run"),
        Results(tmp_path),
    ):
        pass
    with Results(tmp_path):
        pass


def test_an_incomplete_line_can_be_read_over(tmp_path):
    with Results(tmp_path) as results:
        results.append(make_row())
        results.append(make_row(key="second"))
    results.path.write_bytes(results.path.read_bytes()[:-40])
    assert [row.key for row in read_rows(tmp_path)] == [make_row().key]
    results.path.write_text("broken\n")
    for _ in range(2):
        with pytest.raises(InputError, match="its columns differ"), Results(tmp_path):
            pass
