"""scikit-learn's own checks: all pass but those that contradict the contract, which are listed."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest
import sklearn.exceptions
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import axonad
from axonad.baselines.pca import PCA
from axonad.errors import NotFittedError
from axonad.testing.requirements import CheckError
from axonad.testing.scikit_learn import BY_NAME, expected_failures, run_sklearn_checks
from tests.conftest import ROOT, waves
from tests.quick import QUICK, write_gpt2

SHORT = {  # parameters with which at most 10 rows are needed
    "ControlChart": {"memory": 0.3},
    "FITS": {"cutoff": 2},
    "Forecast": {"lags": 1, "smooth": 2},
    "MultiView": {"views": ("network",)},
    "OFA": {"segment": 4},
    "Relation": {"lags": 0, "smooth": 3},
    "ShapeMemory": {"lengths": (4, 8)},
    "WindowStatistics": {"lengths": (4, 8)},
}
ALWAYS_RUN = (
    "AxonAD", "AutoEncoder", "ControlChart", "CrossChannelRidge", "Forecast", "IForest", "KNN",
    "PCA", "RandomScore", "ShapeMemory", "USAD",
)  # fmt: skip
NAMES = [
    pytest.param(entry.name, marks=() if entry.name in ALWAYS_RUN else pytest.mark.slow)
    for entry in axonad.list_detectors()
]


@pytest.mark.parametrize("name", NAMES)
def test_all_checks_pass_but_those_with_a_reason(name, tmp_path):
    params = QUICK.get(name, {}) | SHORT.get(name, {})
    if params.get("window", 1) > 8:
        params["window"] = 8
    if name == "OFA":  # some examples have ten channels
        params["weights"] = str(write_gpt2(tmp_path, width=16))

    def make():
        return axonad.make_detector(name, **params)

    status = run_sklearn_checks(make)
    failed = {check for check, how in status.items() if how == "xfail"}
    passed = set(expected_failures(make())) - failed
    lucky = {"check_methods_sample_order_invariance"}  # it shuffles without a seed
    assert passed <= lucky, "a listed check has begun to pass"
    assert len(status) > 40


class Remembers(PCA):
    def decision_function(self, X):
        self.seen = X
        return super().decision_function(X)


def test_a_detector_that_breaks_a_check_is_named():
    with pytest.raises(CheckError, match="check_dict_unchanged"):
        run_sklearn_checks(Remembers)
    with pytest.raises(CheckError, match=r"history is 31; .* choose a shorter window"):
        run_sklearn_checks(lambda: axonad.make_detector("ControlChart"))


def test_every_exception_is_documented():
    page = (ROOT / "docs" / "scikit-learn.md").read_text()
    windowed = axonad.make_detector("ControlChart")
    own = {check for checks in BY_NAME.values() for check in checks}
    for name in (*expected_failures(windowed), *BY_NAME, *own):
        assert f"`{name}`" in page


def test_an_unfitted_detector_raises_the_error_of_scikit_learn_too():
    pipeline = make_pipeline(StandardScaler(), PCA())
    pipeline.steps[0][1].fit(waves(50))
    with pytest.raises(sklearn.exceptions.NotFittedError, match="not fitted yet") as caught:
        pipeline[1].predict(waves(50))
    assert isinstance(caught.value, NotFittedError)
    copy = pickle.loads(pickle.dumps(caught.value))  # noqa: S301
    assert (type(copy), copy.args) == (type(caught.value), caught.value.args)


def test_the_error_does_not_load_scikit_learn():
    code = """
import sys
from axonad.errors import NotFittedError
made = NotFittedError("x")
assert type(made) is NotFittedError and "sklearn" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603
