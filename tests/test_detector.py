"""The contract: names, bad input, thresholds, files."""

from __future__ import annotations

import copy
import json
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import axonad
from axonad import AxonAD
from axonad.errors import (
    ChannelError,
    ConfigError,
    DivergedError,
    FileError,
    InputError,
    ModelFileError,
)
from axonad.registry import REGISTRY, detector_class
from axonad.testing import CHECKS, example
from tests.conftest import SMALL, waves
from tests.fuzz.forging import forge
from tests.quick import QUICK

NAMES = ["speed", "yaw_rate", "torque"]


FITTED_ONCE = (
    "scores_are_finite_one_per_row", "predict_is_the_threshold", "scoring_changes_nothing",
    "copies_score_alike", "saved_is_the_same", "causal_claim_holds", "stream_equals_batch",
)  # fmt: skip
"""Checks that do nothing with a new detector but fit it to the example."""


def make(name):
    return axonad.make_detector(name, **QUICK.get(name, {}))


@lru_cache(maxsize=1)
def fitted_to_the_example(name):
    return make(name).fit(example())


class FittedOnce:
    """Stands for a new detector in the checks that fit it to the example: gives a fitted copy."""

    def __init__(self, name):
        self.name = name

    def fit(self, X):
        np.testing.assert_array_equal(X, example())
        return copy.deepcopy(fitted_to_the_example(self.name))


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("entry", REGISTRY, ids=lambda entry: entry.name)
def test_every_detector_keeps_the_contract(entry, check):
    new = FittedOnce if check in FITTED_ONCE else make
    CHECKS[check](lambda: new(entry.name))


def test_checks_also_run_in_parity_mode():
    for name in ("scores_are_finite_one_per_row", "saved_is_the_same", "same_seed_same_scores"):
        CHECKS[name](lambda: AxonAD.paper(**SMALL))


def test_pipeline_of_scikit_learn(small):
    pipe = make_pipeline(StandardScaler(), AxonAD(**small))
    alarms = pipe.fit(waves(300)).predict(waves(100, seed=1))
    assert set(alarms) <= {0, 1}
    assert pipe.decision_function(waves(100)).shape == (100,)


# -- names -------------------------------------------------------------------------------------


def test_channels_are_matched_by_name(fitted):
    X = waves(60, seed=1)
    expected = fitted.decision_function(pd.DataFrame(X, columns=NAMES))
    for frame in (
        pd.DataFrame(X, columns=NAMES)[["torque", "speed", "yaw_rate"]],
        pl.DataFrame(X, schema=NAMES).select("yaw_rate", "torque", "speed"),
        X,
    ):
        np.testing.assert_array_equal(fitted.decision_function(frame), expected)


def test_wrong_channels_are_refused(fitted):
    X = waves(60)
    with pytest.raises(ChannelError, match="'yaw_rat' not in model; did you mean 'yaw_rate'"):
        fitted.decision_function(pd.DataFrame(X, columns=["speed", "yaw_rat", "torque"]))
    with pytest.raises(ChannelError, match="lacks channel 'torque'"):
        fitted.decision_function(pd.DataFrame(X[:, :2], columns=NAMES[:2]))
    with pytest.raises(ChannelError, match="X has 2 features, but AxonAD is expecting 3 features"):
        fitted.decision_function(X[:, :2])


def test_feature_names_follow_scikit_learn(fitted):
    assert fitted.n_features_in_ == 3
    assert fitted.feature_names_in_.tolist() == NAMES


# -- bad input ---------------------------------------------------------------------------------


def test_series_shorter_than_the_window(small, fitted):
    with pytest.raises(InputError, match="window must be at most the series length 10, got 16"):
        AxonAD(**small).fit(waves(10))
    with pytest.raises(InputError, match="window must be at most the series length 15, got 16"):
        fitted.decision_function(waves(15))
    assert len(fitted.decision_function(waves(16))) == 16


def test_nan_is_refused_with_its_place(small, fitted):
    X = pd.DataFrame(waves(100), columns=NAMES)
    X.loc[41, "yaw_rate"] = np.nan
    message = "X has 1 NaN or infinite value in training data, first at row 41, channel 'yaw_rate'"
    with pytest.raises(InputError, match=message):
        AxonAD(**small).fit(X)
    with pytest.raises(InputError, match="first at row 41, channel 'yaw_rate'"):
        fitted.decision_function(X)


@pytest.mark.parametrize(
    ("change", "X", "error"),
    [
        ({}, np.full((100, 3), np.nan), InputError),
        ({}, np.array([1e300, -1e300] * 150).reshape(100, 3), InputError),
        ({"device": "cuda:77"}, waves(100), ConfigError),
        ({"lr": 1e30, "restore_best": False}, waves(100), DivergedError),
    ],
)
def test_a_failed_fit_keeps_what_was_fitted(small, change, X, error):
    detector = AxonAD(**small).fit(waves(100))
    before = detector.decision_function(waves(50))
    detector.set_params(**change)
    with pytest.raises(error):
        detector.fit(X)
    detector.set_params(**{name: AxonAD(**small).get_params()[name] for name in change})
    np.testing.assert_array_equal(detector.decision_function(waves(50)), before)


def test_an_impossible_rate_is_refused_before_training(small):
    with pytest.raises(ConfigError, match="needs at least 9999 training steps, got 100"):
        AxonAD(**small, threshold="conformal").fit(waves(100))


def test_diverged_training_says_so(small):
    X = waves(200)
    with pytest.raises(DivergedError, match=r"look for extreme values .* smaller lr"):
        AxonAD(**{**small, "lr": 1e30, "restore_best": False}).fit(X)


# -- thresholds and events ---------------------------------------------------------------------


def test_threshold_is_a_quantile_of_training_scores(small):
    detector = AxonAD(**small, contamination=0.05, threshold="quantile").fit(waves(300))
    assert detector.threshold_ == np.quantile(detector.decision_scores_, 0.95)
    assert detector.labels_.mean() == pytest.approx(0.05, abs=0.01)


def test_default_threshold_lies_beyond_the_training_scores(small):
    detector = AxonAD(**small).fit(waves(1500))
    assert detector.threshold_ > np.quantile(detector.decision_scores_, 0.99)
    assert detector.labels_.mean() <= 0.002


def test_events_name_when_and_which(small):
    detector = AxonAD(**{**small, "epochs": 12}).fit(pd.DataFrame(waves(600), columns=NAMES))
    X = waves(300, seed=1)
    X[150:165, 1] += 6.0
    events = detector.events(pd.DataFrame(X, columns=NAMES), gap=5)
    strongest = max(events, key=lambda event: event.score)
    assert strongest.start <= 165
    assert strongest.end >= 150
    assert strongest.start <= strongest.peak < strongest.end
    assert strongest.channels[0] == "yaw_rate"


# -- files -------------------------------------------------------------------------------------


@pytest.fixture
def saved(fitted, tmp_path) -> Path:
    fitted.save(tmp_path / "model")
    return tmp_path / "model"


def test_saved_files_are_json_and_safetensors(saved):
    assert sorted(path.name for path in saved.iterdir()) == ["detector.json", "state.safetensors"]
    document = json.loads((saved / "detector.json").read_text())
    assert document["detector"] == "AxonAD"
    assert document["channels"] == NAMES
    assert document["params"]["window"] == 16


def test_loaded_detector_is_the_same(fitted, saved):
    twin = axonad.load(saved)
    X = waves(80, seed=3)
    np.testing.assert_array_equal(twin.decision_function(X), fitted.decision_function(X))
    np.testing.assert_array_equal(twin.decision_scores_, fitted.decision_scores_)
    assert twin.fingerprint == fitted.fingerprint
    assert twin.feature_names_in_.tolist() == NAMES
    assert [event.channels for event in twin.events(X)] == [e.channels for e in fitted.events(X)]


def test_nothing_is_overwritten_unless_asked(fitted, saved):
    before = (saved / "detector.json").read_bytes()
    with pytest.raises(FileError, match="already exists; choose another folder or pass overwrite"):
        fitted.save(saved)
    assert (saved / "detector.json").read_bytes() == before
    (saved / "notes.txt").write_text("mine")
    fitted.save(saved, overwrite=True)
    assert (saved / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"detector": "Foreign"}, "no detector 'Foreign'"),
        ({"detector": ["AxonAD"]}, "no detector and no parameter is named"),
        ({"detector": "A" * 9_999}, "no detector and no parameter is named"),
        ({"params": {"wide": 3}}, "no parameter 'wide'"),
        ({"params": {"window": "x" * 9_999}}, "window must be an integer"),
        ({"params": ...}, "entry 'params' is missing"),
        ({"params": {"layers": 2}}, "no parameter 'layers'"),
        ({"state": []}, "state is \\[\\]; expected an object"),
    ],
    ids=str,
)
def test_made_up_folders_say_which_file_and_why(saved, changes, why):
    forge(saved / "detector.json", **changes)
    with pytest.raises(ModelFileError, match=rf"detector\.json .*{why}") as caught:
        axonad.load(saved)
    assert len(str(caught.value)) < 600


def test_parameters_that_do_not_fit_the_arrays(saved):
    params = json.loads((saved / "detector.json").read_text())["params"]
    forge(saved / "detector.json", params={**params, "d_model": 32})
    with pytest.raises(
        ModelFileError, match=r"has shape \(16, 16\), the parameters say \(16, 32\)"
    ):
        axonad.load(saved)


# -- registry ----------------------------------------------------------------------------------


def test_unknown_detector():
    with pytest.raises(LookupError, match="no detector 'AxonDA'; did you mean 'AxonAD'"):
        axonad.make_detector("AxonDA")


def test_registry_names_are_class_names():
    for entry in axonad.list_detectors():
        assert detector_class(entry.name).__name__ == entry.name
