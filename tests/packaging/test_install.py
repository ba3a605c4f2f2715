"""The wheel in an empty environment: the main job without torch, then ONNX, then the network.

The environment grows from test to test, in the order of this file, by the commands that the error
messages name.
"""

from __future__ import annotations

import pytest

from axonad.extras import PACKAGES
from tests.conftest import ROOT, waves

pytestmark = pytest.mark.package

STREAM = """
import sys
import axonad
from axonad.data.telemetry import generate_telemetry
detector = axonad.load("model")
drive = generate_telemetry(steps=4_000, seed=7)
assert all(event.why.sentence for event in detector.events(drive.test, why=True))
session, fleet = axonad.Session(detector), axonad.Fleet(detector)
for row in drive.test[:400]:
    alone, together = session.push(row), fleet.push({"a": row, "b": row})
assert all(abs(one.scores[0] - alone.scores[0]) < 1e-6 for one in together.values())
assert "torch" not in sys.modules
"""

BENCH = ("bench", "run", "smoke", "--detectors", "RandomScore", "--out", "rows")


@pytest.fixture(scope="module")
def drive(core):
    """Data and results of the demo, which is the first thing that runs in the environment."""
    _, notes = core.axonad("demo", "--steps", 4000, "--data", "--out", "demo")
    return notes


def show(capfd, what, environment):
    with capfd.disabled():
        print(f"\n{what}: {environment.megabytes()} MB", end=" ")  # noqa: T201


def test_the_core_is_small(core, capfd):
    optional = {package.name for package in PACKAGES.values()}
    assert not optional & core.packages()
    core.python("-m", "pip", "check")
    show(capfd, "pip install axonad", core)


def test_the_demo_says_what_it_leaves_out(core, drive):
    assert sum(line.startswith("note: ") for line in drive.splitlines()) == 2
    assert "pip install 'axonad[plot]'" in drive
    assert "pip install 'axonad[network]'" in drive
    names = {path.name for path in (core.work / "demo").iterdir()}
    assert names == {"normal.csv", "other.csv", "drive.csv", "scores.csv", "report.html"}


def test_fit_score_report_and_stream_need_no_torch(core, drive):
    out, notes = core.axonad("fit", "demo/normal.csv", "--out", "model", "--budget", "1 per hour")
    assert "saved to model" in out
    assert notes.count("note: torch is not installed") == 1
    for words in (
        ("score", "model", "demo/drive.csv", "--out", "scores.csv", "--explain"),
        ("report", "model", "demo/drive.csv", "--out", "report.html"),
        ("recalibrate", "model", "demo/other.csv", "--out", "again", "--budget", "1 per hour"),
        ("evaluate", "scores.csv"),
        ("inspect", "demo/drive.csv"),
        ("list",),
        ("bench", "suites"),
        ("selftest", "model", "demo/other.csv", "--repeats", 1, "--channels", "yaw_rate"),
    ):
        core.axonad(*words)
    rows = "".join((core.work / "demo" / "drive.csv").read_text().splitlines(True)[:400])
    lines, _ = core.axonad("stream", "model", stdin=rows)
    assert lines.count('"score"') > 100
    assert "uPlot" in (core.work / "report.html").read_text()
    core.python("-c", STREAM)


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("fit", "demo/normal.csv", "--out", "m", "--detector", "AxonAD"), "network"),
        (("list", "TranAD"), "network"),
        (("fit", "demo/normal.csv", "--out", "m", "--detector", "KNN"), "baselines"),
        (("inspect", "drive.mf4"), "mdf"),
        (("inspect", "drive.mcap"), "mcap"),
        (("inspect", "drive.blf", "--dbc", "bus.dbc"), "can"),
        (("score", "model", "demo/drive.csv", "--out", "s.csv", "--figure", "s.png"), "plot"),
        ((*BENCH, "--engine", "ray"), "ray"),
        ((*BENCH, "--memory-limit", 100), "bench"),
        ((*BENCH, "--engine", "together"), "network"),
    ],
)
def test_what_is_missing_is_answered_with_its_command(core, drive, words, extra):
    for name in ("drive.mf4", "drive.mcap", "drive.blf", "bus.dbc"):
        (core.work / name).write_bytes(b"x" * 100)
    _, message = core.axonad(*words, ok=False)
    *notes, error = message.splitlines()
    assert all(line.startswith("note:") for line in notes)
    assert error.startswith("error: ")
    assert error.endswith(f"install it with: pip install 'axonad[{extra}]'")


def test_an_exported_model_runs_without_torch(core, drive, fitted, capfd):
    fitted.export_onnx(core.work / "model.onnx")
    core.install("axonad[onnx]")
    assert "torch" not in core.packages()
    text = "\n".join(",".join(map(str, row)) for row in waves(60).tolist())
    (core.work / "waves.csv").write_text(f"speed,yaw_rate,torque\n{text}\n")
    lines, _ = core.python(ROOT / "examples" / "onnx_scorer.py", "model.onnx", "waves.csv")
    assert lines.count('"score"') == 60 - fitted.window + 1
    show(capfd, "axonad[onnx]", core)


def test_with_the_network_all_four_views_are_fitted(core, drive, capfd):
    core.install("axonad[network]")
    show(capfd, "axonad[network,onnx]", core)
    _, notes = core.axonad("fit", "demo/normal.csv", "--out", "all", "--set", "epochs=1")
    assert notes == ""
    core.axonad("score", "all", "demo/drive.csv", "--out", "all.csv")
    heading = (core.work / "all.csv").read_text().splitlines()[0]
    assert heading == "step,time,score,shape,forecast,relation,network,alarm,label"
