from __future__ import annotations

import subprocess
import sys

import pytest

from axonad.data.readers import limits


def test_a_container_has_less_memory_than_its_machine(tmp_path, monkeypatch):
    whole = limits.machine_memory()
    assert whole > 2**28
    for text, expected in (("max\n", whole), ("1048576\n", 2**20)):
        (tmp_path / "memory.max").write_text(text)
        monkeypatch.setattr(limits, "CGROUPS", (str(tmp_path / "memory.max"),))
        assert limits.machine_memory() == expected
    assert limits.largest_series() < 2**19
    assert limits.process_memory() == 2**32, "enough for the threads of many cores"


def test_larger_files_have_more_time():
    assert limits.seconds_for(2**30) == limits.seconds_for(0) + 1024


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not enforce the limit")
def test_memory_of_a_process_can_be_bounded():
    code = (
        "from axonad.data.readers.limits import limit_this_process\n"
        "limit_this_process(2**28)\n"
        "try: bytearray(2**29)\n"
        "except MemoryError: print('bounded')"
    )
    ran = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "bounded\n"
