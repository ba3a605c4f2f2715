"""Damaged messages of vehicles: each is samples that can be used, or one sentence.

``AXONAD_FUZZ=100000`` in the environment sets the number of messages.
"""

from __future__ import annotations

import math
import os
import random

from axonad.errors import InputError
from axonad.live.sources.http import parse_body
from axonad.live.sources.messages import parse, parse_value
from tests.fuzz.message_mutations import mutated
from tests.fuzz.runner import run

MESSAGES = max(3_000, int(os.environ.get("AXONAD_FUZZ", "0")))
READERS = (
    lambda data: parse(data, arrival=7),
    lambda data: parse(data, arrival=7, vehicle="car"),
    lambda data: parse_value(data, vehicle="car", channel="speed", arrival=7),
    lambda data: parse_body(data, content_type="application/x-ndjson", arrival=7),
)


def check(rng: random.Random) -> str:
    data = mutated(rng)
    try:
        samples = rng.choice(READERS)(data)
    except InputError as error:
        text = str(error)
        assert 10 < len(text) < 600, text
        assert text.isprintable(), text
        return "refused"
    assert samples
    for sample in samples:
        assert 1 <= len(sample.vehicle) <= 128
        assert sample.vehicle.isprintable()
        assert type(sample.time) is int
        assert 0 <= sample.time < 10**17
        assert sample.values
        for name, value in sample.values.items():
            assert 1 <= len(name) <= 128
            assert name.isprintable()
            assert type(value) is float
            assert not math.isinf(value)
    return "read"


def test_damaged_messages_are_samples_or_one_sentence():
    counts = run(check, range(MESSAGES), seconds=2)
    assert counts["read"] > 0.15 * MESSAGES
    assert counts["refused"] > 0.15 * MESSAGES
