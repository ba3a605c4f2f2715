"""``axonad inspect``, and recordings through ``fit`` and ``score``."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from axonad.cli.reading import read_names
from axonad.errors import ConfigError, FileError
from tests.cli.small_runs import assert_one_red_line
from tests.data.readers import recordings

RIDGE = ("--detector", "CrossChannelRidge", "-s", "smooth=4")
DBC = ("--dbc", "bus.dbc")


@pytest.fixture
def drive(tmp_path):
    (tmp_path / "bus.dbc").write_text(recordings.DBC)
    return recordings.write_log(tmp_path / "drive.log", recordings.make_messages(20.0))


def test_the_channels_of_a_recording(run, drive, saved_figures):
    code, out, err = run("inspect", "drive.log", *DBC, "--ignore", "f*", "--figure", "a.png")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("drive.log: 1000 rows at 50 Hz (from ")
    assert "2021-07-26T04:40:54" in lines[0]
    assert "4 of 7 channels" in lines[0]
    rows = {line.split()[0]: line.split() for line in lines[2:] if line}
    assert rows["speed"][1:4] == ["km/h", "50", "Hz"]
    assert rows["wheel_speed"][-2:] == ["2", "s"]
    assert rows["fuel"][-1] == "ignored"
    assert "integer code; read with --codes or by its name" in out
    assert list(saved_figures) == ["a.png"]
    assert "[km/h]" in saved_figures["a.png"].axes[0].get_ylabel()
    code, out, _ = run("inspect", "drive.log", *DBC, "--json", "--rate", "10Hz", "--codes")
    about = json.loads(out)
    assert (about["interval"], about["rows"]) == (100_000, 200)
    assert all(not one["why"] for one in about["channels"])
    assert_one_red_line(run("inspect", "drive.log"), "holds CAN frames; pass the DBC file")


def test_the_columns_of_a_table(run, tmp_path):
    (tmp_path / "a.csv").write_text("time;speed\ns;km/h\n0;1,5\n0,1;\n0,2;3,5\n0,3;2\n")
    code, out, err = run("inspect", "a.csv")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "a.csv: 4 rows at 10 Hz, 0 to 0.3, 1 channel"
    assert out.splitlines()[2].split() == (
        ["speed", "km/h", "10", "Hz", "3", "1.5", "3.5", "75", "%", "0", "%", "25", "%"]
    )  # fmt: skip


def test_a_model_reads_its_channels_at_its_rate(run, drive, tmp_path):
    (tmp_path / "names.toml").write_text('wheel_speed = "wheel"\n')
    words = ("--rename", "names.toml", "--rate", "20Hz", *DBC)
    code, _, err = run("fit", drive, "--out", "m", *RIDGE, *words, "--ignore", "oil")
    assert code == 0
    assert "not learned from" in err
    document = json.loads((tmp_path / "m" / "detector.json").read_text())
    assert document["channels"] == ["speed", "yaw_rate", "fuel", "wheel"]
    assert document["units"]["wheel"] == "km/h"
    code, _, _ = run("score", "m", drive, "--out", "s.csv", "--rename", "names.toml", *DBC)
    assert code == 0
    scores = pl.read_csv(tmp_path / "s.csv", try_parse_dates=True)
    assert scores.height == 400
    assert scores["time"].diff().drop_nulls().dt.total_milliseconds().unique().to_list() == [50]
    code, _, _ = run("score", "m", drive, "--out", "c.csv", "--rename", "names.toml", *DBC,
                     "--chunk", "90")  # fmt: skip
    assert code == 0
    chunked = pl.read_csv(tmp_path / "c.csv")["score"].to_numpy()
    np.testing.assert_allclose(chunked, scores["score"].to_numpy(), rtol=1e-9)
    assert_one_red_line(run("score", "m", drive, "--out", "n.csv", *DBC), "no channel 'wheel'")
    changed = recordings.DBC.replace('[0|655] "km/h"', '[0|655] "m/s"')
    (tmp_path / "bus.dbc").write_text(changed)
    for more in ((), ("--chunk", "90")):
        answer = run("score", "m", drive, "--out", "n.csv", "--rename", "names.toml", *DBC, *more)
        assert_one_red_line(answer, "drive.log: speed was km/h in training, is m/s here")


def test_the_raster_of_training_is_that_of_scoring(run, drive, tmp_path):
    words = ("--rate", "20Hz", "--max-age", "60ms", "--ignore", "wheel_speed")
    code, _, _ = run("fit", drive, "--out", "m", *RIDGE, *DBC, *words)
    assert code == 0
    code, _, err = run("score", "m", drive, "--out", "a.csv", *DBC)
    assert "note: raster of recordings: 20 Hz as in training, values held for 0.06 s, as in" in err
    code, _, err = run("score", "m", drive, "--out", "b.csv", *DBC, *words[2:4])
    assert "values held for 0.06 s, as in training" in err
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()
    code, _, err = run("score", "m", drive, "--out", "c.csv", *DBC, "--max-age", "2s",
                       "--rate", "25Hz")  # fmt: skip
    assert code == 0
    assert "25 Hz (--rate; in training 20 Hz), values held for 2s (--max-age; in training" in err
    assert (tmp_path / "c.csv").read_text() != (tmp_path / "a.csv").read_text()
    answer = run("score", "m", drive, "--out", "d.csv", *DBC, "--max-age", "long")
    assert_one_red_line(answer, "max_age must be a duration such as 500ms, 2s or 1min, got 'long'")


def test_files_of_names(tmp_path):
    path = tmp_path / "names.toml"
    path.write_text("a = 3\n")
    with pytest.raises(ConfigError, match="'a' must be a name in quotation marks, got 3"):
        read_names(path)
    path.write_text("a b = 3\n")
    with pytest.raises(ConfigError, match="is not a TOML file"):
        read_names(path)
    with pytest.raises(FileError, match="No such file"):
        read_names(tmp_path / "none.toml")
