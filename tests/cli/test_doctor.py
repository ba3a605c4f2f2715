"""``axonad doctor``: one screen for a bug report, nothing private in it."""

from __future__ import annotations

import json
import platform
import tempfile
import tomllib
from importlib import metadata

import pytest

from axonad.cli import installed, machine_facts
from tests.conftest import ROOT


def test_it_fits_a_screen_and_names_the_versions(run):
    code, out, err = run("doctor")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 120
    assert f"numpy {metadata.version('numpy')}" in out
    assert platform.python_version() in out
    for title in ("axonad", "Python", "CPU", "GPU", "threads", "BLAS", "disk", "verdict"):
        assert sum(line.startswith(f"{title} ") for line in lines) == 1


def test_json_has_the_same(run, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    code, out, err = run("doctor", "--json")
    assert (code, err) == (0, "")
    facts = json.loads(out)
    assert facts["packages"]["numpy"] == metadata.version("numpy")
    assert facts["thread_variables"]["OMP_NUM_THREADS"] == "1"
    assert facts["problems"] == []


def test_nothing_private_is_in_it(run, monkeypatch, tmp_path):
    home = tmp_path / "zz-person"
    home.mkdir()
    for name in ("HOME", "TMPDIR", "TMP", "TEMP"):
        monkeypatch.setenv(name, str(home))
    for name in ("USER", "LOGNAME", "USERNAME"):
        monkeypatch.setenv(name, "zz-person")
    monkeypatch.setattr(tempfile, "tempdir", str(home))
    monkeypatch.setattr("platform.node", lambda: "zz-host")
    monkeypatch.setattr("socket.gethostname", lambda: "zz-host")

    def fail(path):
        raise OSError(f"cannot read {path} on {home}")

    monkeypatch.setattr(machine_facts, "read", fail)
    code, out, _ = run("doctor", "--json")
    assert code == 1
    assert "cannot read" in out, "the reason is told"
    assert "zz-" not in out
    assert str(tmp_path) not in out


def test_what_is_missing_comes_with_the_command_that_installs_it(run, monkeypatch):
    known = installed.installed_version
    monkeypatch.setattr(
        installed, "installed_version", lambda name: None if name == "asammdf" else known(name)
    )
    code, out, _ = run("doctor")
    assert code == 0
    assert "missing   for MDF recordings: asammdf; run: pip install 'axonad[mdf]'" in out


def test_every_extra_has_a_purpose():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = set(extras["optional-dependencies"]) - {installed.DEVELOPMENT}
    assert named <= set(installed.PURPOSES)


def test_it_works_without_torch(run, monkeypatch):
    monkeypatch.setattr(machine_facts, "installed_version", lambda name: None)
    code, out, _ = run("doctor")
    assert code == 0
    assert "GPU       not known: torch is not installed" in out


@pytest.mark.parametrize("too_old", ["1.0", None])
def test_a_problem_is_named_and_sets_the_exit_code(run, monkeypatch, too_old):
    known = installed.installed_version
    monkeypatch.setattr(
        installed, "installed_version", lambda name: too_old if name == "polars" else known(name)
    )
    monkeypatch.setattr(installed, "requires", lambda _: ["polars>=1.5", "rich (>=13)"])
    monkeypatch.setattr(machine_facts, "check_reading", lambda: "OSError: no")
    code, out, _ = run("doctor")
    assert code == 1
    assert "problem   missing or too old: polars; run: pip install --upgrade axonad" in out
    assert "problem   reading a small CSV file failed: OSError: no" in out
    assert "verdict" not in out
