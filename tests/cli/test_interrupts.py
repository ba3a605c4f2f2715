from __future__ import annotations

import signal

import pytest

from axonad.cli.interrupts import Interrupts


@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)]
)
def test_a_signal_waits_for_the_end_of_the_block(number, error):
    before = signal.getsignal(number)
    done = []
    with Interrupts() as interrupts:
        with pytest.raises(error), interrupts.delayed():
            signal.raise_signal(number)
            done.append(1)
        assert done == [1]
        signal.raise_signal(number)  # a repeated one does not disturb what follows
    with Interrupts(), pytest.raises(error):
        signal.raise_signal(number)
    assert signal.getsignal(number) is before


def test_the_error_of_a_block_comes_first():
    error = pytest.raises(ValueError, match="mine")
    with Interrupts() as interrupts, error, interrupts.delayed():
        signal.raise_signal(signal.SIGTERM)
        raise ValueError("mine")
