"""The package as a whole: public names, import time, file lengths, doctests."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys

import pytest

import axonad
from tests.conftest import ROOT

NAMES = {
    "AxonAD", "AxonADError", "Detector", "Fleet", "MultiView", "Series", "Session", "Step",
    "__version__", "evaluate", "fit_many", "list_detectors", "load", "make_detector", "read",
}  # fmt: skip
MODULES = [m.name for m in pkgutil.walk_packages(axonad.__path__, "axonad.")]
ELSEWHERE = {"axonad.__main__", "axonad.fast.gpu.kernels"}  # a script; needs triton


def run(code):
    return subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout


def test_public_names():
    assert set(axonad.__all__) == NAMES
    for name in NAMES:
        assert getattr(axonad, name) is not None
    with pytest.raises(AttributeError, match="no name 'AxonDA'; did you mean 'AxonAD'"):
        axonad.AxonDA  # noqa: B018


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import axonad; axonad.__version__", "torch numpy polars rich typer matplotlib pandas"),
        ("import axonad; axonad.list_detectors()", "torch polars matplotlib pandas"),
        ("import axonad; axonad.evaluate; axonad.Detector; axonad.Session", "torch polars"),
        ("from axonad import AxonAD", "polars matplotlib pandas sklearn rich typer"),
        ("import axonad.cli", "torch matplotlib pandas"),
    ],
)
def test_imports_stay_light(code, absent):
    loaded = run(f"{code}\nimport sys; print(*sys.modules)").split()
    assert not set(absent.split()) & set(loaded)


@pytest.mark.parametrize("name", sorted(set(MODULES) - ELSEWHERE))
def test_examples_in_docstrings_work(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


def test_no_assert_or_print_in_the_package():
    for path in (ROOT / "src").rglob("*.py"):
        for line in path.read_text().splitlines():
            assert not re.match(r"\s*(assert |print\()", line), f"{path.name}: {line}"


def test_version_is_in_the_changelog_and_the_citation():
    assert f"[{axonad.__version__}]" in (ROOT / "CHANGELOG.md").read_text()
    assert f"\nversion: {axonad.__version__}\n" in (ROOT / "CITATION.cff").read_text()
