"""Prints which tests and fixtures take the most CPU time, that of child processes included.

    OMP_NUM_THREADS=1 python tools/test_times.py -n 2 [PYTEST ARGUMENTS]

A fixture counts once for all its setups; TOP=50 says how many lines are printed.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

FOLDER = "AXONAD_TEST_TIMES"


def cpu() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    own, children = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def note(begun: float, name: str) -> None:
    """Add the CPU time since ``begun`` to this process's file."""
    with (Path(os.environ[FOLDER]) / str(os.getpid())).open("a", encoding="utf-8") as file:
        file.write(f"{cpu() - begun:.4f}\t{name}\n")


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef):
    """Measure the setup of a fixture, without that of the fixtures it uses."""
    begun = cpu()
    try:
        return (yield)
    finally:
        note(begun, f"fixture {fixturedef.baseid}::{fixturedef.argname}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Measure a test without its fixtures."""
    begun = cpu()
    try:
        return (yield)
    finally:
        note(begun, item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Measure what a process needs to find the tests."""
    begun = cpu()
    try:
        return (yield)
    finally:
        note(begun, "collection")


def main() -> int:
    """Run pytest with this file as its plugin and print what it measured."""
    with TemporaryDirectory() as folder:
        path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
        words = [sys.executable, "-m", "pytest", "-p", Path(__file__).stem, *sys.argv[1:]]
        begun = cpu()
        done = subprocess.run(
            words, env=os.environ | {FOLDER: folder, "PYTHONPATH": path}, check=False
        )
        whole, seconds, count = cpu() - begun, Counter(), Counter()
        for file in Path(folder).iterdir():
            for line in file.read_text(encoding="utf-8").splitlines():
                taken, name = line.split("\t")
                seconds[name] += float(taken)
                count[name] += 1
    top = int(os.environ.get("TOP", "50"))
    for name, taken in seconds.most_common(top):
        print(f"{taken:8.2f} s  {count[name]:4} x  {name}")
    print(f"{seconds.total():8.2f} s  all tests and fixtures, {whole:.2f} s the whole run")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
