"""Damaged and made-up state files of streams and fleets.

A damaged file is refused or restores the very same state. A made-up file, whose checksum is right,
is refused or gives a stream whose next rows are scored or refused.
"""

from __future__ import annotations

import functools
import json
import os
import random
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from axonad import AxonAD, FleetScorer, StreamScorer, make_detector
from axonad.alarms.bad_data import DataRules
from axonad.alarms.policy import AlarmPolicy
from axonad.alarms.setup import AlarmSetup
from axonad.detector import Detector
from axonad.errors import AxonADError, DataWarning, ModelFileError, StaleError
from tests.conftest import SMALL, waves
from tests.fuzz.forging import seal
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
def saved(kind: type, which: int, folder: Path) -> bytes:
    """Return the content of a state file; its stream has held values, refused rows and silence."""
    rows = ROWS[:40].copy()
    rows[5, 0] = rows[-2:, 1] = np.nan
    if kind is StreamScorer:
        scorer = StreamScorer(detectors()[which], hold_limit=3)
        for row in rows:
            scorer.push(row)
    else:
        scorer = FleetScorer(detectors()[which], hold_limit=3)
        for row in rows:
            scorer.push({"car 1": row, 2: row[::-1]})
        with pytest.raises(StaleError):
            scorer.push({"ü": [np.nan] * 3})
    scorer.save(folder / f"{kind.__name__}-{which}.json")
    return (folder / f"{kind.__name__}-{which}.json").read_bytes()


def state(scorer: StreamScorer | FleetScorer) -> list:
    """Return all that a restored stream or fleet must have in common with the saved one."""
    if isinstance(scorer, StreamScorer):
        alarms = None if scorer.alarms is None else scorer.alarms.finder.state()
        return [scorer.hold_limit, scorer._lane.state(), alarms]
    lanes = [(vehicle, scorer.state_of(vehicle)) for vehicle in scorer._lanes]
    return [scorer.hold_limit, lanes]


def restore_damaged(kind: type, which: int, path: Path, data: bytes) -> str:
    """Restore a file that must be refused or give the state that ``saved`` wrote."""
    path.write_bytes(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DataWarning)
            found = kind.restore(path, detectors()[which])
    except ModelFileError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 1_000
        return "refused"
    except DataWarning:  # only a document that says it is of format 1 may lack its checksum
        assert json.loads(data)["format"] == 1
        return "warned"
    assert state(found) == original(kind, which, path.parent)
    return "same"


@functools.cache
def original(kind: type, which: int, folder: Path) -> list:
    saved(kind, which, folder)
    return state(kind.restore(folder / f"{kind.__name__}-{which}.json", detectors()[which]))


@pytest.mark.parametrize("kind", [StreamScorer, FleetScorer])
def test_no_flipped_bit_changes_a_state(kind, tmp_path):
    data = saved(kind, 0, tmp_path)
    step = 1 if "AXONAD_FUZZ" in os.environ else 67
    order = iter(range(0, 8 * len(data), step))

    def flip(rng: random.Random) -> str:
        return restore_damaged(kind, 0, tmp_path / "x.json", flip_bit(data, next(order)))

    counts = run(flip, range(0, 8 * len(data), step))
    assert counts["refused"] > 0.9 * counts.total()


def test_damaged_states_are_refused_or_restored_unchanged(tmp_path):
    def damaged(rng: random.Random) -> str:
        kind, which = rng.choice((StreamScorer, FleetScorer)), rng.randrange(len(detectors()))
        data = saved(kind, which, tmp_path)
        change = rng.randrange(3)
        if change == 0:
            data = json.dumps(mutate_json(json.loads(data), rng)).encode()
        elif change == 1:
            data = mutate_json_text(data.decode(), rng).encode()
        else:
            data = mutate(data, rng)
        return restore_damaged(kind, which, tmp_path / "x.json", data)

    assert run(damaged, items(150))["refused"] > 0


def test_made_up_states_are_refused_or_continue(tmp_path):
    def made_up(rng: random.Random) -> str:
        kind, which = rng.choice((StreamScorer, FleetScorer)), rng.randrange(len(detectors()))
        document = json.loads(saved(kind, which, tmp_path))
        changed = mutate_json(document, rng)
        if isinstance(changed, dict) and rng.random() < 0.9:
            changed |= {key: document[key] for key in ("kind", "format", "detector")}
        (tmp_path / "x.json").write_text(seal(changed))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)
                scorer = kind.restore(tmp_path / "x.json", detectors()[which])
        except ModelFileError as error:
            assert "\n" not in str(error)
            assert len(str(error)) < 1_000
            return "refused"
        return use(scorer)

    counts = run(made_up, items(150))
    assert counts["refused"] > 0
    assert counts["scored"] > 0


def use(scorer: StreamScorer | FleetScorer) -> str:
    """Push rows, the first with a missing value; return what happened."""
    rows = ROWS[40:48].copy()
    rows[0, 1] = np.nan
    happened = "scored"
    for row in rows:
        try:
            if isinstance(scorer, StreamScorer):
                results = [scorer.push(row)]
            else:
                results = list(scorer.push(dict.fromkeys((*scorer.vehicles, "new"), row)).values())
        except AxonADError:
            happened = "rows refused"
        else:
            assert all(found is None or np.isfinite(found.score) for found in results)
    return happened
