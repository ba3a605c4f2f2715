"""Fixtures of the tests of ``axonad bench``."""

from __future__ import annotations

import pytest

from axonad.cli import main
from tests.bench.in_process import WorkerHere, in_process
from tests.cli.bench.small_results import SMOKE

__all__ = ["in_process"]


@pytest.fixture(scope="session")
def smoke(tmp_path_factory):
    """A miniature of the smoke suite, end to end, with its scores kept; the suite lies beside."""
    folder = tmp_path_factory.mktemp("smoke") / "out"
    suite = folder.with_name("suite.toml")
    suite.write_text(SMOKE)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as caught:
        patch.setattr("axonad.bench.engines.local.Worker", WorkerHere)
        main(["bench", "run", str(suite), "--out", str(folder), "--keep-scores", "--device", "cpu"])
    assert caught.value.code == 0
    return folder
