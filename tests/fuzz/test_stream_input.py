"""Damaged streams through ``axonad stream``: every line of data is answered and counted.

``AXONAD_FUZZ=10000`` in the environment sets the number of streams.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from axonad import Session, make_detector
from axonad.cli.csv_header import is_header, split_line
from axonad.cli.event_log import EventLog
from axonad.cli.stream_answers import Answers
from axonad.cli.stream_lines import BLANK, LineReader, read_lines
from axonad.errors import InputError
from tests.fuzz.stream_mutations import damage, make_stream

STREAMS = int(os.environ.get("AXONAD_FUZZ", "150"))
NAMES = ["speed", "yaw_rate", "torque"]


@pytest.fixture(scope="module")
def detectors():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 3)), columns=NAMES)
    named = make_detector("ControlChart", memory=0.3, contamination=0.1).fit(X)
    named.interval_ = 1.0
    return named, make_detector("ControlChart", memory=0.3).fit(X.to_numpy())


def data_lines(text, form, names):
    """Return the number of lines that are rows: not blank, and not a header."""
    lines = [line.strip(BLANK) for line in io.StringIO(text, newline=None)]
    full = [line for line in lines if line.strip()]
    if form == "json":
        return len(full)
    for i, first in enumerate(full):  # the first line that can be split decides
        if form is None and first.startswith("{"):
            return len(full)
        try:
            separator, cells = split_line(first, names)
        except csv.Error:
            continue
        if separator == "\t":  # a line of tabs is a row without values
            full = full[:i] + [line for line in lines[lines.index(first) :] if line]
        return len(full) - is_header(cells, names)
    return len(full)


def refuse_constant(name):
    raise AssertionError(f"{name} is not strict JSON")


def run(detector, data, path, rng):
    """Run one stream as the command does; return what happened to its lines."""
    form = rng.choice([None, None, None, "json", "csv"])
    options = {"form": form, "time": rng.choice([None, None, "t_s"])}
    options["ignore_extra"] = extra = rng.random() < 0.3
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="replace")
    hold_limit = rng.choice([0, 2, 10])
    session = Session(detector, ignore_extra=extra, hold_limit=hold_limit, plain_events=True)
    reader = LineReader(detector.channel_names, 3, **options)
    seen = Counter()
    with EventLog(path, force=True) as log:
        answers = Answers(session, log)
        try:
            for row in reader.read(read_lines(text)):
                before = session.rows
                answer = answers.answer(row)
                assert session.rows == before + 1, "a line of data is one row"
                if answer is None:
                    assert not session.is_full
                    seen["filling"] += 1
                    continue
                written = json.dumps(answer, allow_nan=False)
                assert json.loads(written, parse_constant=refuse_constant)["step"] == before
                assert "error" in answer or "score" in answer
                seen["score" if "error" not in answer else "error"] += 1
        except InputError as error:
            assert answers.usable == 0, "only a header ends a stream"
            assert str(error)
            seen["header"] += 1
            return seen
        answers.finish(goes_on=False)
    expected = data_lines(data.decode("utf-8", errors="replace"), form, detector.channel_names)
    assert session.rows == expected
    assert answers.summary().startswith(f"{expected} row")
    for line in path.read_text().splitlines():
        json.loads(line, parse_constant=refuse_constant)
        seen["event"] += 1
    return seen


def test_every_line_of_a_damaged_stream_is_answered(detectors, tmp_path):
    seen = Counter()
    for seed in range(STREAMS):
        rng = random.Random(seed)
        data = damage(rng, make_stream(rng, NAMES, rows=25))
        try:
            seen += run(detectors[rng.random() < 0.1], data, tmp_path / "e.jsonl", rng)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {data[:2000]!r}") from error
    assert set(seen) == {"filling", "score", "error", "header", "event"}
    assert seen["score"] > 5 * STREAMS
    assert seen["error"] > STREAMS
