"""A child process ends with its parent, also if the parent is killed."""

from __future__ import annotations

import subprocess
import sys

CHILD = """
import time
from axonad.parent_process import exit_with_parent
exit_with_parent()
print("started", flush=True)
time.sleep(600)
"""
PARENT = """
import os, signal, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdout=subprocess.PIPE)
print(child.stdout.readline().decode(), end="", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_child_ends_with_its_parent():
    words = [sys.executable, "-c", PARENT, CHILD]
    # stderr stays open as long as one of the two lives, so this returns when both have ended
    ended = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    assert ended.stdout == "started\n"
