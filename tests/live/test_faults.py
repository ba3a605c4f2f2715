"""A short run of benchmarks/live/faults.py: kills at random moments change nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = {"mqtt": "mosquitto", "nats": "nats-server", "postgres": "initdb"}


def is_installed(program):
    places = ["/usr/sbin", "/usr/local/sbin", *os.environ["PATH"].split(os.pathsep)]
    places += map(str, Path("/usr/lib/postgresql").glob("*/bin"))
    return any((Path(place) / program).exists() for place in places)


@pytest.mark.live
@pytest.mark.parametrize(
    "scenario",
    ["server-http", "server-mqtt", "server-nats", "broker-mqtt", "broker-nats", "postgres"],
)
def test_kills_change_nothing(scenario):
    for word, program in PROGRAMS.items():
        if word in scenario and not is_installed(program):
            pytest.skip(f"needs {program}, which is not installed")
    script = ROOT / "benchmarks/live/faults.py"
    done = subprocess.run(  # noqa: S603
        [sys.executable, str(script), scenario, "--kills", "3", "--rows", "300"],
        capture_output=True, text=True, check=False, timeout=600,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-3_000:]
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["kills"] >= 3 and report["events"] > 0
    assert report["differs"] == [] and report["exit"] == 0
