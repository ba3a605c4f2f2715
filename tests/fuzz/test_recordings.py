"""Damaged recordings: a series comes back or an AxonADError in one sentence, and in time.

They take a while, so they run in ``make fuzz`` only: 300 files of each format.
"""

from __future__ import annotations

import os
import random
import sys
import time
import warnings
from collections import Counter

import numpy as np
import pytest

import axonad
from axonad.data.readers import limits, process
from axonad.errors import AxonADError, DataWarning
from tests.fuzz.data_mutations import damage

ITEMS = min(int(os.environ.get("AXONAD_FUZZ", "0")), 300)
SEED = int(os.environ.get("AXONAD_FUZZ_SEED", "21"))
SECONDS = 10.0  # time limit of one reading; the process that exceeds it is ended
FORMATS = (".mf4", ".mdf", ".blf", ".asc", ".log", ".mcap", ".bag", ".db3", ".dbc")

pytestmark = pytest.mark.skipif(not ITEMS, reason="damaged recordings are read by make fuzz")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """The bytes of small recordings by name, each of two or more kinds."""
    from tests.data.readers import recordings

    folder = tmp_path_factory.mktemp("corpus")
    messages = recordings.make_messages(1.0)
    seconds = np.arange(40) / 20
    channels = {
        "speed": (seconds, np.sin(seconds), "km/h"),
        "gear": (seconds[::4], np.arange(10), ""),
        "oil": (seconds[::10], np.arange(4) * 1.5, "degC"),
    }
    (folder / "bus.dbc").write_text(recordings.DBC)
    for ending in (".blf", ".asc", ".log"):
        recordings.write_log(folder / f"a{ending}", messages)
        recordings.write_log(folder / f"b{ending}", messages[:7])
    recordings.write_bus_mdf(folder / "bus.mf4", messages)
    recordings.write_mdf(folder / "plain.mf4", channels)
    recordings.write_mdf(folder / "plain.mdf", channels, version="3.30")
    recordings.write_mdf(folder / "old.mdf", channels, version="2.14")
    recordings.write_mcap(folder / "json.mcap", channels)
    recordings.write_ros_mcap(folder / "ros1.mcap", version=1)
    recordings.write_ros_mcap(folder / "ros2.mcap", version=2)
    recordings.write_bag(folder / "ros1.bag")
    recordings.write_bag(folder / "bag", storage="sqlite3")
    (folder / "bag" / "bag.db3").rename(folder / "ros2.db3")
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


@pytest.fixture
def bounded(monkeypatch):
    """Small limits, so that a damaged size costs neither minutes nor the machine's memory."""
    monkeypatch.setattr(limits, "SECONDS", SECONDS)
    monkeypatch.setattr(limits, "process_memory", lambda: 2**31)
    process.close_all()
    yield
    process.close_all()


def spoil(data: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    """Return a file cut short, with some bits or bytes changed, or of random bytes."""
    kind = rng.randrange(10)
    if kind < 2:
        return data[: rng.randrange(1, len(data))]
    if kind < 5:
        changed = bytearray(data)
        for _ in range(rng.choice((1, 1, 2, 8, 50))):
            changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        return bytes(changed)
    if kind == 5:
        return data[: rng.choice((0, 8, 64, 300))] + rng.randbytes(rng.randrange(1, 3000))
    return damage("x", data, rng, others) or b"\0"


def attempt(path, dbc) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            series = axonad.read(path, dbc=[dbc] if dbc else [])
    except AxonADError as error:
        text = str(error)
        assert text
        assert len(text.splitlines()) == 1, text
        return "stopped" if "the reader process" in text else "refused"
    assert len(series) == len(series.times)
    return "read"


@pytest.mark.parametrize("ending", FORMATS)
def test_damaged_recordings_give_a_series_or_a_sentence(corpus, tmp_path, bounded, capsys, ending):
    rng = random.Random(f"{SEED}{ending}")
    names = [name for name in corpus if name.endswith(ending)]
    others = list(corpus.values())
    good = tmp_path / "bus.dbc"
    good.write_bytes(corpus["bus.dbc"])
    found: Counter[str] = Counter()
    for i in range(ITEMS):
        name = rng.choice(names)
        path = tmp_path / f"{i}-{name}"
        path.write_bytes(spoil(corpus[name], rng, others) or b"\0")
        needs_dbc = name == "bus.mf4" or ending in (".blf", ".asc", ".log")
        started = time.monotonic()
        if ending == ".dbc":
            log = tmp_path / "a.log"
            log.write_bytes(corpus["a.log"])
            kind = attempt(log, path)
        else:
            kind = attempt(path, good if needs_dbc else None)
        assert time.monotonic() - started < 4 * SECONDS, path.name
        found[kind] += 1
        if kind != "stopped":
            path.unlink()
    with capsys.disabled():
        sys.stdout.write(f"{ending}: {ITEMS} files, {dict(found)}\n")
    assert found["read"] + found["refused"] > 0.9 * ITEMS
