"""Wheel and sdist: what is in them, and that building them again gives the same bytes."""

from __future__ import annotations

import subprocess
import tarfile
import tomllib
import zipfile
from email.parser import Parser

import pytest

import axonad
from tests.conftest import ROOT
from tests.packaging.conftest import build

pytestmark = pytest.mark.package

UPLOT = "src/axonad/report/page/assets/uplot/LICENSE"
INFO = f"axonad-{axonad.__version__}.dist-info"


def tracked(*folders):
    """Return the files of this repository that git knows."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout, so there is no list of files to compare with")
    words = ["git", "-C", str(ROOT), "ls-files", "-z", *folders]
    found = subprocess.run(words, capture_output=True, text=True, check=True)  # noqa: S603
    return set(found.stdout.split("\0")) - {""}


def test_the_wheel_has_the_package_the_suites_and_the_licences(built):
    with zipfile.ZipFile(built[1]) as wheel:
        names = wheel.namelist()
        metadata = Parser().parsestr(wheel.read(f"{INFO}/METADATA").decode())
    assert len(names) == len(set(names))
    included = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    suites = set(included["targets"]["wheel"]["force-include"].values())
    package = {name.removeprefix("src/") for name in tracked("src")}
    files = {"METADATA", "WHEEL", "RECORD", "entry_points.txt"}
    files |= {f"licenses/{path}" for path in ("LICENSE", UPLOT)}
    assert set(names) == package | suites | {f"{INFO}/{name}" for name in files}
    assert {"axonad/py.typed", UPLOT.removeprefix("src/"), "axonad/bench/suites/smoke.toml"} < set(
        names
    )
    assert metadata["License-Expression"] == "Apache-2.0"
    needed = [text for text in metadata.get_all("Requires-Dist") if "extra ==" not in text]
    assert not any(text.startswith("torch") for text in needed)


def test_every_suite_of_the_benchmarks_is_in_the_wheel():
    included = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    packed = set(included["targets"]["wheel"]["force-include"])
    assert packed == {name for name in tracked("benchmarks") if name.endswith("/suite.toml")}


def test_the_sdist_is_the_repository(built):
    with tarfile.open(built[0]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert names == tracked() | {"PKG-INFO"}


def test_the_sdist_builds_itself_and_the_wheel_again(built, tmp_path):
    """In another folder, at another time, from files with other permissions."""
    with tarfile.open(built[0]) as sdist:
        sdist.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    for path in source.rglob("*"):
        path.touch()
        path.chmod(path.stat().st_mode & 0o700)
    again = build(source, tmp_path / "dist")
    for first, second in zip(built, again, strict=True):
        assert first.name == second.name
        assert first.read_bytes() == second.read_bytes(), f"{first.name} differs"
