"""Fixtures of the tests of ``axonad bench``."""

from __future__ import annotations

import pytest

from axonad.cli import main


@pytest.fixture(scope="session")
def smoke(tmp_path_factory):
    """The smoke suite, end to end, with its scores kept."""
    folder = tmp_path_factory.mktemp("smoke") / "out"
    with pytest.raises(SystemExit) as caught:
        main(["bench", "run", "smoke", "--out", str(folder), "--keep-scores", "--device", "cpu"])
    assert caught.value.code == 0
    return folder
