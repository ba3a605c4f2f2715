from __future__ import annotations

import pytest

from axonad.bench.execute import Setting, execute
from axonad.bench.results import Results, read_rows
from axonad.bench.row import COLUMNS
from axonad.bench.run import check_settings, pending, run_jobs
from axonad.errors import ConfigError, FileError, InputError
from tests.bench.jobs import make_job, make_row

FAILED = make_row(key="f", status="timeout", reason='said "no", then\tdied', metrics={})


def test_rows_come_back_as_they_went(tmp_path):
    rows = [make_row(), FAILED, make_row(key="other", alarms={"threshold": 1e-17})]
    with Results(tmp_path / "new") as results:
        for row in rows:
            results.append(row)
    assert read_rows(tmp_path / "new") == rows
    assert read_rows(tmp_path / "new" / "rows.csv") == rows
    assert read_rows(tmp_path / "new" / "rows.parquet") == rows


def test_a_row_is_on_the_disk_at_once_and_rows_are_only_added(tmp_path):
    with Results(tmp_path) as results:
        results.append(make_row())
        before = results.path.read_bytes()
        assert before.count(b"\n") == 2
    with Results(tmp_path) as results:
        assert results.rows == [make_row()]
        results.append(FAILED)
    assert results.path.read_bytes().startswith(before)


@pytest.mark.parametrize("cut", [1, 40, 200])
def test_a_torn_last_line_is_dropped(tmp_path, cut):
    with Results(tmp_path) as results:
        results.append(make_row())
        results.append(make_row(key="torn"))
    whole = results.path.read_bytes()
    results.path.write_bytes(whole[:-cut])
    with Results(tmp_path) as results:
        assert [row.key for row in results.rows] == [make_row().key]
        results.append(make_row(key="torn"))
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


def test_even_a_torn_heading(tmp_path):
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


def test_what_is_no_table_of_rows(tmp_path):
    with pytest.raises(FileError, match="does not exist; expected rows of"):
        read_rows(tmp_path / "none")
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="its columns differ"):
        read_rows(tmp_path)
    (tmp_path / "x.parquet").write_text("no")
    with pytest.raises(FileError, match="cannot be read"):
        read_rows(tmp_path / "x.parquet")
    with Results(tmp_path / "new") as results:
        results.append(make_row())
    text = results.path.read_text().replace("causal", "fair")
    results.path.write_text(text)
    with pytest.raises(InputError, match=r"rows.csv, row 1: row's protocol must be one of"):
        read_rows(results.path)


def test_what_is_still_to_do(tmp_path):
    done, failed, new = (make_job(seed=seed) for seed in (1, 2, 3))
    rows = [
        make_row(key=done.key),
        make_row(key=failed.key, status="failed", reason="x", metrics={}),
    ]
    jobs = [done, failed, new]
    assert pending(jobs, rows) == [new]
    assert pending(jobs, rows, retry_failed=True) == [failed, new]
    (tmp_path / done.fit_key).mkdir()
    assert pending(jobs, rows, rescore=tmp_path) == [], "an empty folder is no kept score"
    assert execute(done, Setting(scores=str(tmp_path))).is_ok
    assert pending(jobs, rows, rescore=tmp_path) == [done]


def test_a_failure_does_not_replace_a_result(tmp_path, monkeypatch):
    job = make_job()
    bad = make_row(key=job.key, status="timeout", reason="slow", metrics={})
    monkeypatch.setattr("axonad.bench.local.run", lambda *_, **__: (row for row in [bad]))
    with Results(tmp_path) as results:
        results.append(make_row(key=job.key))
        assert list(run_jobs([job], results)) == [bad]
    assert [row.status for row in read_rows(tmp_path)] == ["ok"]


def test_other_settings_under_the_same_name_are_refused():
    job = make_job()
    row = make_row(params=job.params | {"epochs": 9, "device": "cuda"})
    check_settings([job], [make_row(params=job.params | {"device": "cuda"})])
    check_settings([make_job(label="other")], [row])
    with pytest.raises(ConfigError, match=r"AxonAD \(causal\) with epochs=9, now it is 1; give"):
        check_settings([job], [row])


def test_a_torn_line_can_be_read_over(tmp_path):
    with Results(tmp_path) as results:
        results.append(make_row())
        results.append(make_row(key="torn"))
    results.path.write_bytes(results.path.read_bytes()[:-40])
    assert [row.key for row in read_rows(tmp_path)] == [make_row().key]
    results.path.write_text("broken\n")
    for _ in range(2):
        with pytest.raises(InputError, match="its columns differ"), Results(tmp_path):
            pass
