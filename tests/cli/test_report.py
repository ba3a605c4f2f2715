"""``axonad report``: several files, bad ones among them, one page."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from tests.cli.small_runs import NAMES, assert_one_red_line, frame
from tests.conftest import waves

RIDGE = ["--detector", "CrossChannelRidge"]


def drive(path, rows=400, names=NAMES):
    X = waves(rows, seed=5)
    X[100:130, 1] += 2
    data = pl.DataFrame(X, schema=names).with_columns(t_s=pl.Series(np.arange(rows) / 10))
    data.write_csv(path)


@pytest.fixture
def ready(run, tmp_path):
    """A model ``m`` with alarms, a normal recording and one with a fault."""
    frame(400, time=True).write_csv(tmp_path / "train.csv")
    for seed in (1, 2):
        frame(300, seed=seed, time=True).write_csv(tmp_path / f"n{seed}.csv")
    drive(tmp_path / "drive.csv")
    assert run("fit", "train.csv", "-o", "plain", *RIDGE)[0] == 0
    words = ("--budget", "400 per hour", "-o", "m")
    assert run("recalibrate", "plain", "n1.csv", "n2.csv", *words)[0] == 0
    return run


def test_one_page_about_several_files_whatever_their_order_on_disk(ready, tmp_path):
    code, out, err = ready("report", "m", "drive.csv", "n*.csv", "n1.csv", "--out", "r.html")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert [line.split(":")[0] for line in lines[:-1]] == ["drive.csv", "n1.csv", "n2.csv"]
    assert "1 critical" in lines[0]
    assert "in 40 s." in lines[0]
    assert lines[-1] == "wrote r.html"
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "axonad report m drive.csv &#x27;n*.csv&#x27; n1.csv --out report.html" in page
    assert "Report on 3 recordings" in page
    assert "train.csv, 400 rows, 40 s at 0.1 s per row" in page
    assert "0 to 39.9" in page, "the times of the training data"
    assert ready("report", "m", "drive.csv", "n*.csv", "n1.csv", "--out", "other.html")[0] == 0
    assert (tmp_path / "other.html").read_text(encoding="utf-8") == page


def test_a_bad_file_does_not_stop_the_others(ready, tmp_path):
    (tmp_path / "bad.csv").write_text("speed,yaw_rate\n1,2\n")
    words = ("missing.csv", "bad.csv", "drive.csv")
    code, out, err = ready("report", "m", *words, "--out", "r.html")
    assert code == 1
    assert "wrote r.html" in out
    notes = err.splitlines()
    assert len(notes) == 2
    assert notes[0].startswith("error: missing.csv could not be scored: missing.csv does not exist")
    assert notes[1].startswith("error: bad.csv could not be scored: ")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "missing.csv does not exist" in page
    assert "torque" in page


def test_files_of_one_name_are_told_apart(ready, tmp_path):
    for folder in ("monday", "tuesday"):
        (tmp_path / folder).mkdir()
        drive(tmp_path / folder / "drive.csv")
    code, out, _ = ready("report", "m", "*day/drive.csv", "n1.csv", "-o", "r.html")
    assert code == 0
    names = [line.split(":")[0] for line in out.splitlines()[:-1]]
    assert names == ["monday/drive.csv", "tuesday/drive.csv", "n1.csv"]


def test_notes_about_the_data_are_on_the_page_and_on_the_terminal(ready, tmp_path):
    data = pl.read_csv(tmp_path / "drive.csv").with_columns(
        speed=pl.when(pl.int_range(pl.len()) == 7).then(None).otherwise("speed")
    )
    data.write_csv(tmp_path / "holes.csv")
    code, _, err = ready("report", "m", "holes.csv", "--fill", "hold", "--out", "r.html")
    assert code == 0
    assert "1 missing value held" in err
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "1 missing value held" in page
    assert "--fill hold --out report.html" in page


def test_hostile_channel_and_file_names(run, tmp_path):
    names = ["</script><script>alert(1)</script>", '"><img src=x>', "x" * 10_000]
    pl.DataFrame(waves(300), schema=names).write_csv(tmp_path / "train.csv")
    target = tmp_path / "<img src=x onerror=alert(1)>.csv"
    drive(target, names=names)
    assert run("fit", "train.csv", "-o", "m", *RIDGE)[0] == 0
    code, _, err = run("report", "m", target.name, "-o", "r.html", "--title", "<b>")
    assert (code, err) == (0, "")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    for attack in ("<img", "<script>alert", "<b>"):
        assert attack not in page
    assert page.count("<script") == 2
    assert len(page) < 400_000


def test_a_self_test_is_shown(ready, tmp_path):
    words = ("--kinds", "frozen", "--repeats", "1", "--out", "found")
    assert ready("selftest", "m", "n1.csv", *words)[0] == 0
    for given in ("found", "found/selftest.json"):
        code = ready("report", "m", "n1.csv", "--selftest", given, "-o", "r.html", "--force")[0]
        assert code == 0
        assert "clean rows" in (tmp_path / "r.html").read_text(encoding="utf-8")
    document = json.loads((tmp_path / "found" / "selftest.json").read_text())
    del document["rows"]
    (tmp_path / "broken.json").write_text(json.dumps(document))
    words = ("report", "m", "n1.csv", "-o", "s.html", "--selftest")
    assert_one_red_line(ready(*words, "broken.json"), "this is not the JSON of a self-test")
    assert_one_red_line(ready(*words, "gone.json"), "gone.json does not exist; expected the self")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("m", "x*.csv", "-o", "r.html"), "no file fits 'x*.csv'"),
        (("m", "drive.csv", "-o", "r.txt"), "its ending must be one of .html, .htm"),
        (("m", "drive.csv", "-o", "there.html"), "already exists; choose another name"),
        (("gone", "drive.csv", "-o", "r.html"), "gone does not exist; expected a folder"),
        (("m", "a.csv", "b.csv", "-o", "r.html"), "none of the 2 recordings could be scored"),
        (("m", "a.csv", "-o", "r.html"), "a.csv does not exist; expected a file"),
        (("m", "drive.csv", "-o", "r.html", "--max-hold", "3"), "--max-hold needs --fill hold"),
    ],
)
def test_mistakes_are_one_sentence(ready, tmp_path, words, message):
    (tmp_path / "there.html").write_text("mine")
    assert_one_red_line(ready("report", *words), message)
    assert not (tmp_path / "r.html").exists()
    assert (tmp_path / "there.html").read_text() == "mine"
