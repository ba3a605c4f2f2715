"""``axonad live``: mistakes get one sentence, and the server starts, serves and stops."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request

import numpy as np
import pytest

from axonad import make_detector
from axonad.data.series import Series
from axonad.live.simulated import CHANNELS, YAW, SimulatedFleet


@pytest.fixture(scope="module")
def live_model(tmp_path_factory):
    values = np.random.default_rng(0).normal(size=(600, 2))
    series = Series(values=values, channels=("a", "b"), times=np.arange(600) / 10)
    detector = make_detector("PCA", window=1, alarm_budget="5 per 1000 steps").fit(series)
    folder = tmp_path_factory.mktemp("live") / "model"
    detector.save(folder)
    return folder


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--host", "0.0.0.0"], "there are no keys"),  # noqa: S104
        (["--config", "none.toml"], "none.toml does not exist"),
        (["--store", "mysql:x"], "url of [store] must be sqlite:FILE"),
        (["--engine", "spark"], "--engine must be one of 'local', 'ray', got 'spark'"),
    ],
)
def test_mistakes_get_one_sentence(run, live_model, words, sentence):
    code, out, err = run("live", live_model, *words)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert sentence in err


def test_a_model_without_alarms_is_refused(run, model):
    code, _, err = run("live", model, "--store", "sqlite::memory:")
    assert code == 2
    assert "the model has no alarm policy; fit it with --budget" in err


@pytest.mark.parametrize("files", [[], ["demo.png", "report.html"]])
def test_the_demo_is_no_folder_and_a_folder_no_demo(run, tmp_path, files):
    if files:
        (tmp_path / "demo").mkdir()
    for name in files:
        (tmp_path / "demo" / name).write_bytes(b"")
    code, out, err = run("live", "demo")
    assert (code, out) == (2, "")
    assert err == (
        "error: demo is not the folder of a model; the simulated fleet is axonad live --demo\n"
    )


def test_a_model_or_the_demo(run, live_model, tmp_path):
    assert "needs the folder of a model, or --demo" in run("live")[2]
    assert "leave one of them out" in run("live", live_model, "--demo")[2]
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "detector.json").write_text("{}")
    assert "demo/detector.json was not written by axonad" in run("live", "demo")[2]


def test_it_serves_stores_and_goes_on_after_a_restart(live_model, tmp_path):
    for seconds in (0, 100):
        command = [sys.executable, "-m", "axonad", "live", str(live_model), "--port", "0"]
        with subprocess.Popen(  # noqa: S603
            command, stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=dict(os.environ)
        ) as server:
            assert "kept in axonad-live.db" in server.stdout.readline()
            address = re.search(r"http://\S+", server.stdout.readline())[0]
            samples = [{"vehicle": "x", "time": seconds + n / 10, "a": 0, "b": 0} for n in range(9)]
            request = urllib.request.Request(  # noqa: S310
                address + "api/v1/samples", json.dumps(samples).encode(),
                {"Content-Type": "application/json"},
            )  # fmt: skip
            with urllib.request.urlopen(request) as answer:  # noqa: S310
                assert json.load(answer) == {"accepted": 9, "refused": {}}
            with urllib.request.urlopen(address + "api/v1/vehicles/x") as answer:  # noqa: S310
                rows = json.load(answer)["rows"]
            server.send_signal(signal.SIGTERM)
            assert server.wait() == 0
    assert rows > 9


def test_the_simulated_fault_stays_in_range_and_in_one_car():
    fleet = SimulatedFleet(cars=2, fault_after=1.0)
    plain = SimulatedFleet(cars=2, fault_after=60.0)
    rows = {car: [] for car in fleet.rows(0)}
    for number in range(300, 400):
        for car, row in fleet.rows(number).items():
            rows[car].append(row - plain.rows(number)[car])
    changed = {car: np.abs(found).max(axis=0) > 0 for car, found in rows.items()}
    assert [CHANNELS[i] for i in np.flatnonzero(changed[fleet.faulty])] == [CHANNELS[YAW]]
    (other,) = set(changed) - {fleet.faulty}
    assert not changed[other].any()
