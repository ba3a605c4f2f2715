"""Damaged data files: a series comes back or an AxonADError, nothing else, and in time.

``AXONAD_FUZZ=50000`` reads that many files instead of a few.
"""

from __future__ import annotations

import os
import random
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import axonad
from axonad.data.readers import limits, process
from axonad.data.readers.chunks import FileChunks
from axonad.errors import AxonADError, DataWarning
from tests.fuzz.data_mutations import corpus, damage

ITEMS = int(os.environ.get("AXONAD_FUZZ", "150"))
SEED = int(os.environ.get("AXONAD_FUZZ_SEED", "16"))
SECONDS = 10.0  # time limit of one reading; the process that exceeds it is ended
CORPUS = corpus()
READABLE = sorted(
    set(CORPUS)
    - {f"{name}.csv{gz}" for name in ("comment", "short") for gz in ("", ".gz")}
    - {f"{name}.parquet" for name in ("lists", "records", "bytes", "arrays")}
)


@pytest.fixture
def bounded(monkeypatch):
    """Small limits, so that a damaged size costs neither minutes nor the machine's memory."""
    monkeypatch.setattr(limits, "SECONDS", SECONDS)
    monkeypatch.setattr(limits, "process_memory", lambda: 2**30)
    monkeypatch.setenv("POLARS_MAX_THREADS", "1")  # small files are read faster so
    process.close_all()
    yield
    process.close_all()


def attempt(action):
    """Return the result and no error, or no result and the error's text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            return action(), ""
    except AxonADError as error:
        text = str(error)
        assert text
        assert len(text.splitlines()) == 1, text
        return None, text


def join(chunks):
    chunks = list(chunks)
    columns = ("values", "labels", "times")
    return [
        None
        if getattr(chunks[0], column) is None
        else np.concatenate([getattr(chunk, column) for chunk in chunks])
        for column in columns
    ]


def check_file(path, size) -> str:
    """Read a file at once and in chunks; return what came of it."""
    whole, reason = attempt(lambda: axonad.read(path))
    chunks, reason_of_chunks = attempt(lambda: FileChunks(path, size=size))
    parts, reason_of_parts = (None, "") if chunks is None else attempt(lambda: join(chunks))
    if whole is not None and parts is not None:
        if whole.times is not None:
            parts = join(chunks)  # times have one type from the second iteration on
        for column, part in zip(("values", "labels", "times"), parts, strict=True):
            np.testing.assert_array_equal(getattr(whole, column), part, err_msg=column)
    if "the reader process" in reason + reason_of_chunks + reason_of_parts:
        return "died"
    if (whole is None) != (parts is None):
        return "differs"
    return "refused" if whole is None else "read"


@pytest.mark.parametrize("name", READABLE)
def test_the_files_themselves_are_read(tmp_path, name):
    (tmp_path / name).write_bytes(CORPUS[name])
    assert check_file(tmp_path / name, 7) == "read"


def test_a_size_of_exabytes_costs_a_sentence(tmp_path):
    path = tmp_path / "x.parquet"
    path.write_bytes((Path(__file__).parent / "exabytes.parquet").read_bytes())
    assert check_file(path, 7) in ("died", "refused")


def test_damaged_files_give_a_series_or_a_sentence(tmp_path, bounded, capsys):
    rng = random.Random(SEED)
    names, others = sorted(CORPUS), list(CORPUS.values())
    found: Counter[str] = Counter()
    for i in range(ITEMS):
        name = rng.choice(names)
        path = tmp_path / f"{i}-{name}"
        path.write_bytes(damage(name, CORPUS[name], rng, others))
        started = time.monotonic()
        kind = check_file(path, rng.choice((5, 9, 9, 100)))
        assert time.monotonic() - started < 4 * SECONDS, path.name
        found[kind] += 1
        found[f"{kind} {path.suffix}"] += 1
        if kind not in ("died", "differs"):
            path.unlink()
    with capsys.disabled():
        if "AXONAD_FUZZ" in os.environ:
            sys.stdout.write(f"{dict(found)}\n")
    assert found["read"] > ITEMS / 20
    assert found["refused"] > ITEMS / 20
