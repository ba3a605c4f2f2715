"""Damaged and made-up model folders.

A damaged folder is refused or gives the very same detector. A made-up folder, whose checksums are
right, is refused or gives a detector whose scores are finite or refused.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import random
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load, save

import axonad
from axonad import Session, make_detector
from axonad.alarms.recalibrate import recalibrate
from axonad.detector import Detector
from axonad.errors import AxonADError, DataWarning, ModelFileError
from tests.conftest import waves
from tests.fuzz.forging import seal
from tests.fuzz.limits import items
from tests.fuzz.mutations import flip_bit, mutate, mutate_json, mutate_json_text
from tests.fuzz.runner import run

DETECTORS: dict[str, dict] = {
    "AxonAD": {
        "window": 8, "d_model": 4, "heads": 2, "tail": 3, "dilations": (1, 2), "epochs": 1,
        "device": "cpu", "verbose": False,
    },
    "USAD": {"window": 4, "epochs": 1, "device": "cpu", "verbose": False},
    "PCA": {"window": 2},
    "KNN": {"neighbours": 5},
    "LOF": {"neighbours": 5, "units": "soft"},
    "WindowStatistics": {"lengths": (4, 8), "max_train": 20},
    "ControlChart": {"memory": 0.5},
    "CrossChannelRidge": {"smooth": 2},
    "RobustPCA": {"rounds": 5},
    "IForest": {"trees": 3, "samples": 16},
    "EIF": {"trees": 3, "samples": 16},
    "HBOS": {"bins": 5},
    "COPOD": {},
    "CBLOF": {},
    "KMeansAD": {"window": 3, "clusters": 3},
    "RandomScore": {},
}  # fmt: skip
QUICK = ("AxonAD", "PCA", "KNN", "WindowStatistics", "ControlChart", "IForest")
NAMES = QUICK if "AXONAD_FUZZ" not in os.environ else tuple(DETECTORS)
CHANNELS = ["speed", "yaw_rate", "torque"]
ROWS = waves(40, seed=1)


@functools.cache
def example(name: str) -> Detector:
    """Return a fitted detector."""
    detector = make_detector(name, **DETECTORS[name])
    detector.fit(pd.DataFrame(waves(80), columns=CHANNELS))
    detector.interval_ = 0.1
    detector.set_alarms(recalibrate(detector, [waves(90, seed=3)], budget="9 per 90 steps")[0])
    return detector


@functools.cache
def saved(name: str, folder: Path) -> tuple[bytes, bytes]:
    """Return the content of the two files of a detector."""
    example(name).save(folder / name)
    found = folder / name
    return (found / "detector.json").read_bytes(), (found / "state.safetensors").read_bytes()


def identity(detector: Detector) -> list:
    """Return all that a loaded detector must have in common with the saved one."""
    return [
        type(detector), detector.fingerprint, detector.get_params(), detector.channel_names,
        detector.n_features_in_, detector.threshold_, detector.interval_, detector._state()[0],
        detector.decision_scores_.tolist(), detector.alarm_setup_.to_json(),
    ]  # fmt: skip


def write(folder: Path, document: bytes, arrays: bytes) -> None:
    (folder / "detector.json").write_bytes(document)
    (folder / "state.safetensors").write_bytes(arrays)


def load_damaged(folder: Path, name: str) -> str:
    """Load a folder that must be refused or give the detector ``name``."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DataWarning)
            found = axonad.load(folder)
    except ModelFileError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 1_000
        return "refused"
    except DataWarning:  # only a document that says it is of format 1 may lack its checksum
        document = json.loads((folder / "detector.json").read_bytes())
        assert document["format"] == 1
        return "warned"
    assert identity(found) == identity(example(name))
    return "same"


def damage(document: bytes, arrays: bytes, rng: random.Random) -> tuple[bytes, bytes]:
    """Return the two files with damage in one of them."""
    kind = rng.randrange(4)
    if kind == 0:
        return document, mutate(arrays, rng)
    if kind == 1:
        return json.dumps(mutate_json(json.loads(document), rng)).encode(), arrays
    if kind == 2:
        return mutate_json_text(document.decode(), rng).encode(), arrays
    return mutate(document, rng), arrays


def forge(document: bytes, arrays: bytes, rng: random.Random) -> tuple[bytes, bytes]:
    """Return two files of other content, with the checksums that belong to it."""
    content = json.loads(document)
    kind = rng.randrange(4)
    if kind == 0:
        arrays = mutate(arrays, rng)
    elif kind == 1:
        arrays = save(_other_arrays(load(arrays), rng))
    if kind >= 2 or rng.random() < 0.2:
        part = rng.choice((None, "params", "state", "params", "alarms"))
        if part is None:
            content = mutate_json(content, rng)
        else:
            content[part] = mutate_json(content[part], rng)
    if isinstance(content, dict) and isinstance(content.get("arrays"), dict):
        content["arrays"]["sha256"] = hashlib.sha256(arrays).hexdigest()
    return seal(content).encode(), arrays


def _other_arrays(arrays: dict[str, np.ndarray], rng: random.Random) -> dict[str, np.ndarray]:
    """Return arrays of which one is missing, or has other values, another shape or type."""
    name = rng.choice(sorted(arrays))
    array = arrays[name]
    kind = rng.randrange(6)
    if kind == 0:
        return {key: value for key, value in arrays.items() if key != name}
    if kind == 1:
        array = array.astype(rng.choice(("f2", "f4", "f8", "i8", "i4", "u1", "u8", "?")))
    elif kind == 2:
        array = array.reshape(*array.shape, 1) if rng.random() < 0.5 else array.reshape(-1)
    elif kind == 3:
        array = array[: rng.randrange(len(array) + 1)]
    elif kind == 4:
        array = np.concatenate([array, array])
    else:
        array = array.copy()
        wild = (0, -1, 1, 10**6, np.nan, np.inf, 1e308, -1e308, 1e-320, 2**62)
        with np.errstate(all="ignore"):
            array.flat[rng.randrange(max(1, array.size)) if array.size else []] = np.array(
                rng.choice(wild)
            ).astype(array.dtype)
    return {**arrays, name: np.ascontiguousarray(array)}


@pytest.mark.parametrize("name", NAMES[:1] if "AXONAD_FUZZ" not in os.environ else NAMES[:4])
def test_no_flipped_bit_of_a_document_changes_a_detector(name, tmp_path):
    document, arrays = saved(name, tmp_path)
    write(tmp_path, document, arrays)
    bits = 8 * len(document)
    step = 1 if "AXONAD_FUZZ" in os.environ else 101

    def flip(rng: random.Random) -> str:
        (tmp_path / "detector.json").write_bytes(flip_bit(document, next(order)))
        return load_damaged(tmp_path, name)

    order = iter(range(0, bits, step))
    counts = run(flip, range(0, bits, step))
    assert counts["refused"] > 0.9 * counts.total()


def test_damaged_folders_are_refused_or_load_unchanged(tmp_path):
    def damaged(rng: random.Random) -> str:
        name = rng.choice(NAMES)
        write(tmp_path, *damage(*saved(name, tmp_path), rng))
        return load_damaged(tmp_path, name)

    assert run(damaged, items(150))["refused"] > 0


def test_made_up_folders_are_refused_or_score(tmp_path):
    def made_up(rng: random.Random) -> str:
        name = rng.choice(NAMES)
        write(tmp_path, *forge(*saved(name, tmp_path), rng))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)
                detector = axonad.load(tmp_path)
        except ModelFileError as error:
            assert "\n" not in str(error)
            assert len(str(error)) < 1_000
            return "refused"
        return use(detector)

    counts = run(made_up, items(150))
    assert counts["refused"] > 0
    assert counts["scored"] > 0


def use(detector: Detector) -> str:
    """Use all that a made-up detector offers; return what happened."""
    try:
        assert np.isfinite(detector.decision_function(ROWS)).all()
        detector.predict(ROWS)
        detector.events(ROWS)
        if detector.alarm_setup_ is not None:
            detector.events(ROWS, policy=detector.alarm_setup_.policy)
        session = Session(detector)
        for row in ROWS[: min(detector.history, 20) + 1]:
            assert not np.isinf(session.push(row).scores).any()
    except AxonADError:
        return "scores refused"
    return "scored"
