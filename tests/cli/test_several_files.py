"""Several files and patterns on the command line."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import axonad
from axonad.cli.several_files import expand, outputs
from axonad.errors import FileError
from tests.cli.small_runs import frame

PCA = ("--detector", "PCA", "-s", "window=10")


@pytest.fixture
def drives(tmp_path):
    folder = tmp_path / "drives"
    folder.mkdir()
    for number in range(3):
        frame(120, seed=number).write_csv(folder / f"d{number}.csv")
    (folder / "torn.csv").write_text("speed,yaw_rate,torque\n1,2,x\n")
    return folder


def test_patterns_that_no_shell_has_expanded(drives, monkeypatch):
    monkeypatch.chdir(drives.parent)
    found = expand([Path("drives/d2.csv"), Path("drives/d*.csv")])
    assert [path.name for path in found] == ["d2.csv", "d0.csv", "d1.csv"]
    assert expand([Path("none.csv")]) == [Path("none.csv")], "the reader says what is wrong"
    with pytest.raises(FileError, match="no file fits 'drives/x"):
        expand([Path("drives/x*.csv")])
    odd = drives / "a[1].csv"
    odd.write_text("")
    assert expand([odd]) == [odd], "a file that exists is no pattern"


def test_results_are_called_as_their_files(tmp_path):
    found = outputs(tmp_path, [Path("x/a.csv"), Path("b.parquet")])
    assert [path.name for path in found] == ["a.csv", "b.parquet"]
    with pytest.raises(FileError, match="would both be written to"):
        outputs(tmp_path, [Path("x/a.csv"), Path("y/a.csv")])


def test_fit_and_score_a_folder(run, drives, tmp_path):
    code, out, err = run("fit", "drives/*.csv", "-o", "m", *PCA)
    assert (code, out) == (2, "")
    assert "torn.csv" in err
    assert not (tmp_path / "m").exists()
    code, out, err = run("fit", "drives/*.csv", "-o", "m", *PCA, "--skip-bad")
    assert code == 1
    assert "on 3 recordings, 360 rows" in out
    assert "torn.csv" in err and "1 of 4 files could not be used" in err
    assert axonad.load(tmp_path / "m").decision_scores_.shape == (360,)
    frame(5).write_csv(drives / "e_short.csv")
    code, out, err = run("score", "m", "drives/*.csv", "-o", "scored", "--events", "scored")
    assert code == 1
    assert [line.split(":")[0] for line in out.splitlines()[:3]] == ["d0.csv", "d1.csv", "d2.csv"]
    assert "e_short.csv: window must be at most" in err and "2 of 5 files" in err
    names = sorted(path.name for path in (tmp_path / "scored").iterdir())
    assert names == sorted(f"d{n}.{ending}" for n in range(3) for ending in ("csv", "json"))
    assert run("score", "m", "drives/d1.csv", "-o", "one.csv")[0] == 0
    one, many = (pl.read_csv(tmp_path / name) for name in ("one.csv", "scored/d1.csv"))
    assert one.equals(many)
    code, _, err = run("score", "m", "drives/torn.csv", "drives/e_short.csv", "-o", "none")
    assert code == 2
    assert "none of 2 files could be used" in err
    assert not (tmp_path / "none").exists()


def test_mistakes_get_one_sentence(run, drives, tmp_path):
    assert run("fit", "drives/d*.csv", "-o", "m", *PCA)[0] == 0
    code, _, err = run("score", "m", "drives/d0.csv", "drives/d1.csv", "-o", "s.csv")
    assert code == 2 and "2 files give as many results: s.csv must be a folder" in err
    code, _, err = run("fit", "drives/d*.csv", "-o", "n", *PCA, "--rows", "50")
    assert code == 2 and "--rows is for one file, got 3" in err
    words = ("--budget", "1 per 100 steps", "-o", "n")
    code, out, err = run("recalibrate", "m", "drives/*.csv", *words, "--refit")
    assert code == 1 and "saved to n" in out and "torn.csv" in err
    code, out, err = run("selftest", "m", "drives/d*.csv", "--repeats", "1")
    assert code == 0 and "planted in 360 rows" in out
