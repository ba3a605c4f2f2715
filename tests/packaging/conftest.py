"""The built wheel and sdist, and an empty environment to install them into."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.conftest import ROOT

FROM_HERE = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")  # not for the new environment


def execute(*words, cwd, ok=True, stdin=None):
    """Run a program and return what it printed: stdout, stderr."""
    env = {name: value for name, value in os.environ.items() if name not in FROM_HERE}
    env |= {"OMP_NUM_THREADS": "1", "PIP_CONSTRAINT": str(ROOT / "constraints.txt")}
    done = subprocess.run(  # noqa: S603
        [str(word) for word in words], cwd=cwd, env=env, capture_output=True, text=True,
        check=False, input=stdin,
    )  # fmt: skip
    assert (done.returncode == 0) == ok, f"{words}: {done.stdout}\n{done.stderr}"
    return done.stdout, done.stderr


def build(source, target):
    """Build an sdist, and a wheel from it, into a folder; return both paths."""
    execute(sys.executable, "-m", "build", "--outdir", target, ".", cwd=source)
    return next(target.glob("*.tar.gz")), next(target.glob("*.whl"))


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """Paths of sdist and wheel: those in AXONAD_DIST, or built now."""
    if given := os.environ.get("AXONAD_DIST"):
        folder = ROOT / given
        return next(folder.glob("*.tar.gz")), next(folder.glob("*.whl"))
    return build(ROOT, tmp_path_factory.mktemp("dist"))


class Environment:
    """A virtual environment with a folder of its own to work in."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder / "env", with_pip=True)
        self.bin = folder / "env" / "bin"
        self.work = folder / "work"
        self.work.mkdir()

    def install(self, wanted: Path | str) -> None:
        """Install a wheel or, once it is there, its extras: ``"axonad[onnx]"``."""
        execute(self.bin / "python", "-m", "pip", "install", "--quiet", wanted, cwd=self.work)

    def axonad(self, *words, **options):
        """Run a command of axonad; return stdout and stderr."""
        return execute(self.bin / "axonad", *words, cwd=self.work, **options)

    def python(self, *words, **options):
        """Run the environment's Python; return stdout and stderr."""
        return execute(self.bin / "python", *words, cwd=self.work, **options)

    def packages(self) -> set[str]:
        """Return the names of the installed packages, without pip's own."""
        found, _ = self.python("-m", "pip", "list", "--format", "json")
        return {one["name"].lower() for one in json.loads(found)} - {"pip", "setuptools"}

    def megabytes(self) -> int:
        """Return the size of the installed packages, without pip's own, in MB of 1e6 bytes."""
        (site,) = (self.bin.parent / "lib").glob("python*/site-packages")
        own = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
        return round(
            sum(
                path.stat().st_size
                for top in site.iterdir()
                if not top.name.startswith(own)
                for path in ([top] if top.is_file() else top.rglob("*"))
                if path.is_file()
            )
            / 1e6
        )


@pytest.fixture(scope="session")
def core(built, tmp_path_factory):
    """The wheel in an empty environment, without extras."""
    folder = tmp_path_factory.mktemp("installed")
    environment = Environment(folder)
    environment.install(built[1].resolve())
    yield environment
    shutil.rmtree(folder)  # more than a gigabyte in the end
