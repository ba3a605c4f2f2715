"""Optional packages: each one that is missing is answered with the command that installs it."""

from __future__ import annotations

import re
import sys
import tomllib

import numpy as np
import pytest

import axonad
from axonad.bench.correlation import mean_ranks
from axonad.bench.engines import worker
from axonad.bench.engines.ray_cluster import run_on_ray
from axonad.bench.execute import Setting
from axonad.errors import MissingDependencyError
from axonad.extras import PACKAGES, is_installed, need
from axonad.onnx.graph import Graph
from axonad.report.drawing import load_pyplot
from axonad.report.statistics import wilcoxon_p
from tests.conftest import ROOT, waves


@pytest.fixture
def without(monkeypatch):
    """Make a package impossible to import, and forget modules of axonad that have imported it."""

    def without(package, *users):
        for name in [*sys.modules, package]:
            if name.partition(".")[0] == package:
                monkeypatch.setitem(sys.modules, name, None)
        for user in users:
            monkeypatch.delitem(sys.modules, user, raising=False)

    return without


def test_every_package_is_in_its_extra():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    core, extras = extras["dependencies"], extras["optional-dependencies"]
    for package in PACKAGES.values():
        names = [re.match(r"[\w-]+", text).group() for text in extras[package.extra]]
        assert package.name in names
        assert not any(text.startswith(f"{package.name}>") for text in core)


def fit(name):
    return lambda: axonad.make_detector(name).fit(waves(300))


@pytest.mark.parametrize(
    ("package", "what", "use"),
    [
        ("sklearn", "KMeansAD needs", fit("KMeansAD")),
        ("sklearn", "CBLOF needs", fit("CBLOF")),
        ("sklearn", "IForest needs", fit("IForest")),
        ("sklearn", "KNN needs", fit("KNN")),
        ("sklearn", "LOF needs", fit("LOF")),
        ("sklearn", "WindowStatistics needs", fit("WindowStatistics")),
        ("scipy", "tests and intervals need", lambda: wilcoxon_p([0.1, 0.2])),
        ("scipy", "ranks need", lambda: mean_ranks([1, 2])),
        ("matplotlib", "figures need", load_pyplot),
        ("onnx", "the ONNX export needs", Graph),
        ("psutil", "a memory limit needs", lambda: worker.Worker(Setting(memory_limit=1))),
        ("ray", "--engine ray needs", lambda: next(run_on_ray([None]))),
    ],
)
def test_a_missing_package_is_named_with_its_command(without, package, what, use):
    without(package)
    found = PACKAGES[package]
    sentence = (
        f"{what} {found.name}, which is not installed; "
        f"install it with: pip install 'axonad[{found.extra}]'"
    )
    with pytest.raises(MissingDependencyError) as caught:
        use()
    assert str(caught.value) == sentence


SENTENCE = "needs torch, which is not installed; install it with: pip install 'axonad[network]'"
LIGHT = "views=('shape', 'forecast', 'relation')"


@pytest.mark.parametrize(
    ("user", "what", "use"),
    [
        ("axonad.axon", "AxonAD ", fit("AxonAD")),
        ("axonad.baselines.usad", "USAD ", fit("USAD")),
        ("axonad.joint_fit", "fit_many ", lambda: axonad.__getattr__("fit_many")),
        ("axonad.views.network", "MultiView's network view ", fit("MultiView")),
        ("axonad.torch_runtime.device", "the device 'cuda' ",
         lambda: axonad.make_detector("ShapeMemory", device="cuda").fit(waves(300))),
    ],
)  # fmt: skip
def test_without_torch_networks_name_its_command(without, user, what, use):
    without("torch", user)
    with pytest.raises(MissingDependencyError) as caught:
        use()
    text = str(caught.value)
    assert text.startswith(what + SENTENCE)
    assert text.endswith(f", or fit without it: {LIGHT}") == (user == "axonad.views.network")


def test_a_model_with_a_network_says_what_it_needs(without, tmp_path):
    axonad.make_detector("Network", window=8, d_model=8, heads=1, epochs=1).fit(waves(60)).save(
        tmp_path / "m"
    )
    without("torch", "axonad.views.network")
    with pytest.raises(MissingDependencyError, match=r"Network needs torch, .*'axonad\[network\]'"):
        axonad.load(tmp_path / "m")


def test_other_missing_modules_are_not_explained_away(without):
    without("json")
    with pytest.raises(ModuleNotFoundError, match="json"):
        need("json", what="nothing needs")
    assert not is_installed("json")


def test_what_needs_no_torch_does_not_ask_for_it(without, tmp_path):
    without("torch")
    X = waves(300)
    for name in ("ControlChart", "ShapeMemory", "CrossChannelRidge"):
        params = {"device": "auto"} if name == "ShapeMemory" else {}
        axonad.make_detector(name, **params).fit(X).save(tmp_path / name)
        scores = axonad.load(tmp_path / name).decision_function(X)
        assert np.isfinite(scores).all()
