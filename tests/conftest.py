"""Shared fixtures: small data, small detectors, the folder with real series."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
import typer.main

from axonad import AxonAD

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in a job in the background of a shell
    signal.signal(signal.SIGINT, signal.default_int_handler)

typer.main.get_command = cache(typer.main.get_command)  # a process of a user runs one command

ROOT = Path(__file__).resolve().parents[1]
THREADS = torch.get_num_threads()
SMALL = {
    "window": 16, "d_model": 16, "heads": 2, "tail": 4, "epochs": 2, "batch_size": 64,
    "device": "cpu", "verbose": False,
}  # fmt: skip


def waves(rows: int, channels: int = 3, seed: int = 0) -> np.ndarray:
    """Return channels that move together, with a little noise."""
    rng = np.random.default_rng(seed)
    phase = np.arange(rows)[:, None] / 7 + np.arange(channels)[None, :]
    return np.sin(phase) + 0.05 * rng.normal(size=(rows, channels))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """With AXONAD_NO_SKIP, fail where a test is skipped for want of a server or browser."""
    report = yield
    needs = any(item.get_closest_marker(name) for name in ("live", "browser", "ray", "package"))
    if report.skipped and needs and os.environ.get("AXONAD_NO_SKIP"):
        report.outcome = "failed"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item):
    """Fail a test that leaves torch another number of threads: all later tests would run on it."""
    yield
    if torch.get_num_threads() != THREADS:
        torch.set_num_threads(THREADS)
        pytest.fail(f"{item.nodeid} leaves torch another number of threads than {THREADS}")


@pytest.fixture(scope="session")
def fitted() -> AxonAD:
    """A small fitted detector with channel names. Do not change it."""
    import pandas as pd

    return AxonAD(**SMALL).fit(pd.DataFrame(waves(500), columns=["speed", "yaw_rate", "torque"]))


@pytest.fixture
def small() -> dict:
    return dict(SMALL)


@pytest.fixture
def double():
    """Double precision: rounding cannot hide a difference, nor a ReLU near 0 make one."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture
def full_disk():
    """A context manager in which no file can grow beyond ``size`` bytes."""
    import resource

    @contextmanager
    def full(size: int = 700):
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return full


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with real series, or a skip where it is absent."""
    folder = Path(os.environ.get("AXONAD_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real series: {folder} does not exist (set AXONAD_DATA)")
    return folder
