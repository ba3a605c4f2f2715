from __future__ import annotations

import json
import random

import pytest

from tests.fuzz.mutations import (
    BYTE_MUTATIONS,
    JSON_MUTATIONS,
    flip_bit,
    mutate,
    mutate_json,
    mutate_json_text,
)

DATA = b"time,speed\n0,1.5\n1,2.5\n"
DOCUMENT = {"kind": "x", "counts": [1, 2.5], "params": {"name": "a", "none": None}}


def test_mutations_change_the_data_and_repeat_with_the_seed():
    found = [mutate(DATA, random.Random(seed)) for seed in range(200)]
    assert DATA not in found
    assert len(set(found)) > 150
    assert found == [mutate(DATA, random.Random(seed)) for seed in range(200)]
    assert mutate(b"", random.Random(0))


@pytest.mark.parametrize("change", BYTE_MUTATIONS, ids=lambda change: change.__name__)
def test_every_mutation_of_bytes_has_an_effect(change):
    assert any(change(DATA, random.Random(seed)) != DATA for seed in range(10))
    change(b"", random.Random(0))


@pytest.mark.parametrize("change", JSON_MUTATIONS, ids=lambda change: change.__name__)
def test_every_mutation_of_json_has_an_effect(change):
    for seed in range(20):
        document = json.loads(json.dumps(DOCUMENT))
        change(document["params"], "name", random.Random(seed))
        change(document["counts"], 1, random.Random(seed))
        if document != DOCUMENT:
            return
    raise AssertionError("no effect")


def test_mutated_json_is_a_copy():
    before = json.dumps(DOCUMENT)
    found = [json.dumps(mutate_json(DOCUMENT, random.Random(seed))) for seed in range(100)]
    assert json.dumps(DOCUMENT) == before
    assert len(set(found)) > 60
    mutate_json([], random.Random(0))


def test_mutated_text_repeats_keys_nests_deeply_and_has_constants():
    found = [mutate_json_text(json.dumps(DOCUMENT), random.Random(seed)) for seed in range(100)]
    assert any("NaN" in text for text in found)
    assert any("[" * 900 in text for text in found)
    assert any(text.count('"kind"') == 2 for text in found)


def test_a_flipped_bit():
    assert flip_bit(b"ab", 8) == b"ac"
