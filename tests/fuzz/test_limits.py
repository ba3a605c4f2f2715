from __future__ import annotations

import time

import pytest

from tests.fuzz.limits import TooSlow, items, limited, limited_memory


def test_a_block_that_takes_too_long_is_stopped():
    with pytest.raises(TooSlow, match=r"took more than 0\.05 s"), limited(0.05):
        time.sleep(10)
    with limited(0.01):
        pass
    time.sleep(0.02)  # the timer is off


def test_a_block_that_needs_too_much_memory_is_stopped():
    with limited_memory(64):
        assert len(bytearray(2**20)) == 2**20
        with pytest.raises(MemoryError):
            bytearray(2**30)
    assert len(bytearray(2**27)) == 2**27


def test_the_number_of_items(monkeypatch):
    monkeypatch.delenv("AXONAD_FUZZ", raising=False)
    assert items(20) == range(20)
    monkeypatch.setenv("AXONAD_FUZZ", "1000")
    assert items(20, start=5) == range(5, 1005)
