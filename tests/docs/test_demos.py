"""What the README tells to try first: the live demo, and a benchmark in half a minute."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.conftest import ROOT
from tests.docs.running import run_command


def watch_live_demo(words, folder, root=ROOT):
    """Start the live demo, look at its page, stop it; return what it printed."""
    with subprocess.Popen(  # noqa: S603
        words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=os.environ | {"PYTHONPATH": str(root / "src"), "PYTHONUNBUFFERED": "1"},
        start_new_session=True,
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
            os.killpg(server.pid, signal.SIGINT)
            said += server.stdout.read()
        server.wait(60)
    assert "eight simulated cars" in said
    assert "watching; open http" in said
    assert "Traceback" not in said
    return said


@pytest.mark.site
def test_the_live_demo_shows_its_page_and_stops(tmp_path):
    watch_live_demo([sys.executable, "-m", "axonad", "live", "--demo", "--port", "0"], tmp_path)
    assert not list(tmp_path.iterdir()), "nothing is left behind"


@pytest.mark.slow
def test_both_commands_of_the_readme_work_in_a_fresh_clone_in_any_order(tmp_path):
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)  # noqa: S603, S607
    (clone / ".venv").symlink_to(Path(sys.prefix))
    make = ["make", "-o", ".venv/.ready", "PORT=0"]  # the environment is made already
    for _ in range(2):
        watch_live_demo([*make, "live-demo"], clone, clone)
        demo = subprocess.run(  # noqa: S603
            [*make, "demo", "DEMO=--steps 4000 --epochs 1"], cwd=clone, capture_output=True,
            text=True, check=False, env=os.environ | {"PYTHONPATH": str(clone / "src")},
        )  # fmt: skip
        assert demo.returncode == 0, demo.stderr
        assert (clone / "demo" / "report.html").is_file()
    watch_live_demo([*make, "live-demo"], clone, clone)


@pytest.mark.slow
def test_the_smoke_suite_runs_and_becomes_a_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_command("axonad bench run smoke", tmp_path)
    table = run_command("axonad bench table results/smoke", tmp_path)
    *names, last = [line.split()[0] for line in table.splitlines()[2:5]]
    assert sorted(names) == ["AxonAD", "CrossChannelRidge"]
    assert last == "RandomScore", "chance comes last"
