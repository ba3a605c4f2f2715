"""Damaged and made-up states of sessions and fleets.

A damaged one is refused or restores the very same state. A made-up one, whose checksum is right,
is refused or gives a stream whose next rows are scored or refused.
"""

from __future__ import annotations

import functools
import json
import os
import random
import warnings

import numpy as np
import pandas as pd
import pytest

from axonad import AxonAD, Fleet, Session, make_detector
from axonad.alarms.bad_data import DataRules
from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.setup import AlarmSetup
from axonad.detector import Detector
from axonad.errors import DataWarning, ModelFileError
from tests.conftest import SMALL, waves
from tests.fuzz.forging import seal_state
from tests.fuzz.limits import items
from tests.fuzz.mutations import flip_bit, mutate, mutate_json, mutate_json_text
from tests.fuzz.runner import run

ROWS = waves(60, seed=1)


@functools.cache
def detectors() -> tuple[Detector, ...]:
    train = pd.DataFrame(waves(200), columns=["speed", "yaw_rate", "torque"])
    found = (
        make_detector("PCA", window=1), make_detector("ControlChart", memory=0.5),
        AxonAD(**{**SMALL, "epochs": 1}),
    )  # fmt: skip
    rules = DataRules.learn([train.to_numpy()], names=tuple(train.columns))
    for detector in found[:2]:  # the third has no alarms
        detector.fit(train)
        policy = AlarmPolicy(start=float(np.median(detector.decision_scores_)), merge_gap=9)
        detector.set_alarms(AlarmSetup(policy, rules))
    found[2].fit(train)
    return found


@functools.cache
def saved(kind: type, which: int) -> bytes:
    """Return a state; its stream has held values, refused rows and silence."""
    rows = ROWS[:40].copy()
    rows[5, 0] = rows[-2:, 1] = np.nan
    made = kind(detectors()[which], hold_limit=3)
    for row in rows:
        made.push(row if kind is Session else {"car 1": row, 2: row[::-1]})
    if kind is Fleet:
        assert made.push({"ü": [np.nan] * 3})["ü"].refused
    return made.state()


def restore_damaged(kind: type, which: int, data: bytes) -> str:
    """Go on from a state that must be refused or be the one that ``saved`` returned."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DataWarning)
            found = kind(detectors()[which], data)
    except ModelFileError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 1_000
        return "refused"
    assert found.state() == saved(kind, which)
    return "same"


@pytest.mark.parametrize("kind", [Session, Fleet])
def test_no_flipped_bit_changes_a_state(kind):
    data = saved(kind, 0)
    step = 1 if "AXONAD_FUZZ" in os.environ else 67
    order = iter(range(0, 8 * len(data), step))

    def flip(rng: random.Random) -> str:
        return restore_damaged(kind, 0, flip_bit(data, next(order)))

    counts = run(flip, range(0, 8 * len(data), step))
    assert counts["refused"] > 0.9 * counts.total()


def test_damaged_states_are_refused_or_restored_unchanged():
    def damaged(rng: random.Random) -> str:
        kind, which = rng.choice((Session, Fleet)), rng.randrange(len(detectors()))
        data = saved(kind, which)
        change = rng.randrange(3)
        if change == 0:
            data = json.dumps(mutate_json(json.loads(data), rng)).encode()
        elif change == 1:
            data = mutate_json_text(data.decode(), rng).encode()
        else:
            data = mutate(data, rng)
        return restore_damaged(kind, which, data)

    assert run(damaged, items(150))["refused"] > 0


def test_made_up_states_are_refused_or_continue():
    def made_up(rng: random.Random) -> str:
        kind, which = rng.choice((Session, Fleet)), rng.randrange(len(detectors()))
        document = json.loads(saved(kind, which))
        changed = mutate_json(document, rng)
        if isinstance(changed, dict) and rng.random() < 0.9:
            changed |= {key: document[key] for key in ("kind", "format", "detector")}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)
                found = kind(detectors()[which], seal_state(changed))
        except ModelFileError as error:
            assert "\n" not in str(error)
            assert len(str(error)) < 1_000
            return "refused"
        return use(found)

    counts = run(made_up, items(150))
    assert counts["refused"] > 0
    assert counts["scored"] > 0


def use(made: Session | Fleet) -> str:
    """Push rows, the first with a missing value; return what happened."""
    rows = ROWS[40:48].copy()
    rows[0, 1] = np.nan
    happened = "scored"
    for row in rows:
        if isinstance(made, Session):
            steps = [made.push(row)]
        else:
            steps = list(made.push(dict.fromkeys((*made.vehicles, "new"), row)).values())
        if any(step.refused for step in steps):
            happened = "rows refused"
        assert not any(np.isinf(step.scores).any() for step in steps)
    return happened
