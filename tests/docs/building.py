"""Builds the site as `make site` does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT


def build_site(folder: Path) -> Path:
    """Build the documentation into a folder and return it; a warning is an error.

    ``AXONAD_SITE`` names the folder of one that was built already.
    """
    if built := os.environ.get("AXONAD_SITE"):
        return ROOT / built
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT, text=True, capture_output=True, check=False,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return folder
