"""Parameters as scikit-learn expects them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import axonad
from axonad import AxonAD
from axonad.errors import ConfigError, NotFittedError
from tests.conftest import waves


def test_clone_and_params():
    detector = AxonAD(window=50, heads=4)
    twin = clone(detector)
    assert twin is not detector
    assert twin.get_params() == detector.get_params()
    assert detector.set_params(window=60).window == 60
    assert repr(twin) == "AxonAD(window=50, heads=4)"


def test_cloning_a_fitted_detector_forgets_the_fit(fitted):
    with pytest.raises(NotFittedError, match=r"this AxonAD is not fitted yet; call fit\(X\) first"):
        clone(fitted).predict(waves(50))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"window": 1}, "window must be at least 2, got 1"),
        ({"window": 10.5}, "window must be an integer, got 10.5"),
        ({"window": True}, "window must be an integer, got True"),
        ({"heads": 3}, r"heads \(3\) must divide d_model \(128\)"),
        ({"horizon": 100}, r"horizon must be below window \(100\), got 100"),
        ({"tail": 101}, r"tail must be at most window \(100\), got 101"),
        ({"lr": 0}, "lr must be above 0, got 0"),
        ({"lr": float("nan")}, "lr must be a number, got nan"),
        ({"ema": 1.0}, "ema must be below 1, got 1.0"),
        ({"scaling": "sofd"}, "scaling must be one of .* got 'sofd'; did you mean 'soft'"),
        ({"align": "start"}, "align must be one of 'center', 'end', got 'start'"),
        ({"contamination": 0.7}, "contamination must be below 0.5, got 0.7"),
        ({"threshold": "best"}, "threshold must be one of"),
        ({"dilations": [1, 2]}, "dilations must be a tuple"),
        ({"device": 3}, "device must be a name"),
        ({"validation": 1.0}, "validation must be below 1"),
        ({"seed": -1}, "seed must be at least 0"),
    ],
)
def test_impossible_parameters_are_refused(params, message):
    with pytest.raises(ConfigError, match=message):
        AxonAD(**params)
    detector = AxonAD()
    with pytest.raises(ConfigError, match=message):
        detector.set_params(**params)
    assert detector.get_params() == AxonAD().get_params(), "nothing of a refused change is kept"


def test_unknown_parameters_get_a_suggestion():
    with pytest.raises(ConfigError, match="no parameter 'windwo'; did you mean 'window'"):
        axonad.make_detector("AxonAD", windwo=3)
    with pytest.raises(ConfigError, match="no parameter 'head'; did you mean 'heads'"):
        AxonAD().set_params(head=3)


def test_parameters_changed_after_fit_are_noticed(small):
    detector = AxonAD(**small).fit(waves(200))
    detector.set_params(window=20)
    with pytest.raises(ConfigError, match="window is now 20 but the detector was fitted with 16"):
        detector.decision_function(waves(100))
    detector.set_params(window=16, align="end")
    assert len(detector.decision_function(waves(100))) == 100


def test_numpy_numbers_are_numbers(small, tmp_path):
    detector = AxonAD(**{**small, "window": np.int64(16), "lr": np.float32(1e-3)}).fit(waves(100))
    detector.save(tmp_path / "m")
    assert axonad.load(tmp_path / "m").window == 16
