"""``axonad selftest``, end to end with a small model."""

from __future__ import annotations

import json
import sys

import polars as pl
import pytest

from axonad.cli import main
from tests.cli.small_runs import assert_one_red_line, frame


@pytest.fixture(scope="module")
def ridge(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ridge")
    frame(600, time=True).write_csv(folder / "fit.csv")
    frame(500, seed=2, time=True, label=True).write_csv(folder / "normal.csv")
    words = ["--detector", "CrossChannelRidge", "-s", "smooth=4"]
    with pytest.raises(SystemExit) as end:
        main(["fit", str(folder / "fit.csv"), "--out", str(folder / "model"), *words])
    assert not end.value.code
    return folder


def test_table_and_files(run, ridge, tmp_path, saved_figures):
    words = ("selftest", ridge / "model", ridge / "normal.csv", "--repeats", "2", "--out", "found")
    code, out, err = run(*words)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split()[:3] == ["channel", "frozen", "shifted"]
    assert [line.split()[0] for line in lines[1:4]] == ["speed", "yaw_rate", "torque"]
    assert "per hour" in out
    assert lines[-1] == "wrote found/selftest.csv and found/selftest.json and found/selftest.png"
    assert list(saved_figures) == ["selftest.png"]
    rows = pl.read_csv(tmp_path / "found" / "selftest.csv")
    assert rows.columns == ["channel", "kind", "size", "plantings", "found", "median_delay"]
    assert rows.height == 3 * (5 * 6 + 3)
    document = json.loads((tmp_path / "found" / "selftest.json").read_text())
    assert document["repeats"] == 2
    assert_one_red_line(run(*words), "already exists; choose another name or pass --force")
    code, printed, err = run(*words, "--force", "--json")
    assert (code, err) == (0, "")
    assert json.loads(printed) == document


def test_choices_and_notes(run, ridge, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = run(
        "selftest", ridge / "model", ridge / "normal.csv", "--kinds", "noisy", "--kinds", "frozen",
        "--channels", "torque", "--repeats", "1", "--longest", "600", "--out", "d",
    )  # fmt: skip
    assert code == 0
    assert out.splitlines()[0].split() == ["channel", "noisy", "frozen"]
    assert out.splitlines()[1].split()[0] == "torque"
    assert [line.partition(":")[0] for line in err.splitlines()] == ["note", "note"]
    assert "no selftest.png is drawn: figures need matplotlib" in err
    assert "faults are at most" in err
    assert out.endswith("wrote d/selftest.csv and d/selftest.json\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--kinds", "frozn"], "did you mean 'frozen'"),
        (["--channels", "spee"], "channel 'spee' not in model; did you mean 'speed'"),
        (["--seconds", "0"], "seconds must be above 0"),
    ],
)
def test_refusals(run, ridge, words, message):
    assert_one_red_line(
        run("selftest", ridge / "model", ridge / "normal.csv", *words, "--out", "d"), message
    )
