"""What a saved detector must hold to be loaded, whatever its checksum says."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

import axonad
from axonad.errors import DataWarning, ModelFileError
from axonad.registry import list_detectors
from tests.conftest import SMALL, waves
from tests.fuzz.forging import forge, forge_arrays

PARAMS = {
    "AxonAD": SMALL | {"epochs": 1}, "USAD": {"window": 4, "epochs": 1, "verbose": False},
    "PCA": {}, "KNN": {"neighbours": 5}, "LOF": {"neighbours": 5, "units": "soft"},
    "WindowStatistics": {"lengths": (4, 8)}, "ControlChart": {}, "CrossChannelRidge": {},
    "RobustPCA": {"rounds": 5}, "IForest": {"trees": 2}, "EIF": {"trees": 2}, "HBOS": {},
    "COPOD": {}, "CBLOF": {}, "KMeansAD": {"window": 3},
}  # fmt: skip


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    """A saved detector of each kind of state."""
    root = tmp_path_factory.mktemp("models")
    train = pd.DataFrame(waves(100), columns=["speed", "yaw_rate", "torque"])
    for name, params in PARAMS.items():
        axonad.make_detector(name, **params).fit(train).save(root / name)
    return {name: root / name for name in PARAMS}


@pytest.fixture
def copied(folders, tmp_path):
    """Return a copy of a saved detector's folder."""

    def copy(name: str) -> Path:
        for path in folders[name].iterdir():
            (tmp_path / path.name).write_bytes(path.read_bytes())
        return tmp_path

    return copy


def forge_array(folder: Path, name: str, change) -> None:
    arrays = load_arrays((folder / "state.safetensors").read_bytes())
    changed = {**arrays, name: np.ascontiguousarray(change(arrays[name]))}
    forge_arrays(folder / "detector.json", save_arrays(changed))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"threshold": ...}, "entry 'threshold' is missing"),
        ({"threshold": "1"}, "threshold is '1'; expected a finite number"),
        ({"threshold": None}, "threshold is None; expected a finite number"),
        ({"interval": 0}, "interval is 0; expected a number above 0"),
        ({"interval": "1 s"}, "interval is '1 s'; expected a finite number"),
        ({"channel_count": 7}, "channel names and channel count differ"),
        ({"channel_count": 0, "channels": None}, "channel_count is 0; expected an integer from 1"),
        ({"channel_count": 10**9, "channels": None}, "channel_count is 1000000000; expected"),
        ({"channel_count": True, "channels": ["a"]}, "channel_count is True; expected an integer"),
        ({"channels": ["a", "b", "a"]}, "a channel name appears more than once"),
        ({"channels": ["a", "b", 3]}, "channels are .*; expected a list of names"),
        ({"channels": "abc"}, "channels are 'abc'; expected a list of names"),
        ({"params": {"memory": 2}}, "memory must be at most 0.999"),
        ({"params": {"memory": 0.99}}, "it has 100 training scores; .* has 688 rows"),
    ],
    ids=str,
)
def test_a_document_that_makes_no_sense_is_refused(copied, changes, why):
    folder = copied("ControlChart")
    forge(folder / "detector.json")
    axonad.load(folder)
    forge(folder / "detector.json", **changes)
    with pytest.raises(ModelFileError, match=rf"detector\.json .*{why}"):
        axonad.load(folder)
    document = json.loads((folder / "detector.json").read_text()) | {"format": 1}
    del document["checksum"]
    (folder / "detector.json").write_text(json.dumps(document))
    with (
        pytest.warns(DataWarning, match="was saved by an older version"),
        pytest.raises(ModelFileError, match=rf"detector\.json .*{why}"),
    ):
        axonad.load(folder)


def first(value):
    """Return a change that sets an array's first element."""

    def change(array):
        array = array.copy()
        array.flat[0] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "array", "change", "why"),
    [
        ("PCA", "training_scores", first(np.nan), "'training_scores' has values that are not"),
        ("PCA", "training_scores", lambda a: a[:, None], "'training_scores' has shape"),
        ("PCA", "training_scores", lambda a: a[:0], "it has 0 training scores"),
        ("PCA", "kept", first(3), "'kept' must hold integers from 0 to 2"),
        ("PCA", "axes", lambda a: a[:, :2], "'axes' has shape"),
        ("PCA", "deviation", first(0), "a deviation or a share of the variance is not above 0"),
        ("AxonAD", "scaler.unit", first(0), "'scaler.unit' must be above 0 everywhere"),
        ("AxonAD", "scaler.center", first(np.inf), "'scaler.center' has values that are not"),
        ("AxonAD", "d_rec.spread", first(-1), "'d_rec.spread' must be at least 0 everywhere"),
        ("USAD", "scaler.unit", first(-1), "'scaler.unit' must be above 0 everywhere"),
        ("USAD", "channels.spread", lambda a: a[:1], r"'channels.spread' has shape \(1,\)"),
        ("KNN", "reference", lambda a: a[:, :1], "'reference' has shape"),
        ("KNN", "reference", lambda a: a[:1], "fewer than two training windows"),
        ("LOF", "reach", lambda a: a[1:], "'reach' has shape"),
        ("LOF", "scaler.unit", first(0), "'scaler.unit' must be above 0 everywhere"),
        ("WindowStatistics", "reference.1", lambda a: a[:, 1:], "'reference.1' has shape"),
        ("WindowStatistics", "reference.1", lambda a: a[:0], "it has no training windows"),
        ("ControlChart", "precision", lambda a: a[0], "'precision' has shape"),
        ("CrossChannelRidge", "spread", first(0), "'spread' must be above 0 everywhere"),
        ("RobustPCA", "ends", first(10**6), "'ends' must be at most"),
        ("RobustPCA", "kept", lambda a: a.astype(float), "'kept' holds values of type float64"),
        ("IForest", "children", first(0), "its trees are not trees"),
        ("IForest", "feature", first(3), "'feature' must hold integers from 0 to 2"),
        ("IForest", "roots", first(10**6), "'roots' must hold integers from"),
        ("EIF", "children", first(-(10**6)), "'children' must hold integers from"),
        ("EIF", "point", lambda a: a[1:], "'point' has shape"),
        ("HBOS", "edges", lambda a: a[1:], "its histograms do not have 30 bins"),
        ("COPOD", "sorted", lambda a: a[::-1], "its training values are not sorted"),
        ("CBLOF", "large", first(0), "'large' must hold integers from 1 to"),
        ("KMeansAD", "centers", lambda a: a[:0], "it has no cluster"),
    ],
)  # fmt: skip
def test_arrays_that_make_no_sense_are_refused(copied, name, array, change, why):
    folder = copied(name)
    forge_array(folder, array, change)
    with pytest.raises(ModelFileError, match=rf"detector\.json is damaged: .*{why}"):
        axonad.load(folder)


@pytest.mark.parametrize(
    ("name", "state", "why"),
    [
        ("WindowStatistics", {"levels": [[0.0, 1.0]]}, "it has 1 levels for 2 lengths"),
        ("WindowStatistics", {"levels": [[0.0, 1.0], [0.0, 0.0]]}, "its unit is 0.0; expected"),
        ("RobustPCA", {"bound": None}, "bound is None; expected a finite number"),
        ("USAD", {"scaler": "none"}, "scaler must be one of"),
    ],
)
def test_state_that_makes_no_sense_is_refused(copied, name, state, why):
    folder = copied(name)
    forge(folder / "detector.json", state=state)
    with pytest.raises(ModelFileError, match=rf"detector\.json .*{why}"):
        axonad.load(folder)


def test_parameters_of_a_huge_network_cost_no_memory(copied):
    folder = copied("AxonAD")
    params = json.loads((folder / "detector.json").read_text())["params"]
    for change in ({"d_model": 2**20}, {"dilations": [1] * 10**4}):
        forge(folder / "detector.json", params=params | change)
        with pytest.raises(ModelFileError, match=r"the parameters (say|describe)"):
            axonad.load(folder)


def test_the_sampling_interval_is_saved(copied, tmp_path):
    folder = copied("ControlChart")
    detector = axonad.load(folder)
    assert detector.interval_ is None
    detector.interval_ = 0.25
    detector.save(tmp_path / "new")
    assert axonad.load(tmp_path / "new").interval_ == 0.25
    forge(folder / "detector.json", interval=...)
    assert axonad.load(folder).interval_ is None


def test_names_of_any_text_survive(tmp_path):
    names = ["", "two\nlines", "\ud800", "ü" * 200]
    detector = axonad.make_detector("ControlChart")
    detector.fit(pd.DataFrame(waves(100, channels=4), columns=names)).save(tmp_path / "model")
    assert axonad.load(tmp_path / "model").channel_names == tuple(names)


def test_the_kinds_of_state_above_are_those_of_registered_detectors():
    assert set(PARAMS) <= {entry.name for entry in list_detectors()}
