"""What the README tells to try first: the live demo, and a benchmark in half a minute."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from urllib.request import urlopen

import pytest

from tests.conftest import ROOT
from tests.docs.running import run_command


@pytest.mark.site
def test_the_live_demo_shows_its_page_and_stops(tmp_path):
    words = [sys.executable, "-m", "axonad", "live", "demo", "--port", "0"]
    with subprocess.Popen(  # noqa: S603
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"},
    ) as server:  # fmt: skip
        said = ""
        try:
            for line in server.stdout:
                said += line
                if found := re.search(r"open (http://\S+)", line):
                    with urlopen(found[1], timeout=60) as page:  # noqa: S310 - our own server
                        assert "car 1" in page.read().decode()
                    break
        finally:
            server.send_signal(signal.SIGINT)
            said += server.stdout.read()
        assert server.wait(60) in (0, 130), said
    assert "eight simulated cars" in said
    assert "Traceback" not in said
    assert not list(tmp_path.iterdir()), "nothing is left behind"


@pytest.mark.slow
def test_the_smoke_suite_runs_and_becomes_a_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_command("axonad bench run smoke", tmp_path)
    table = run_command("axonad bench table results/smoke", tmp_path)
    *names, last = [line.split()[0] for line in table.splitlines()[2:5]]
    assert sorted(names) == ["AxonAD", "CrossChannelRidge"]
    assert last == "RandomScore", "chance comes last"
