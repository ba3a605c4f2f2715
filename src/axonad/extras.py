"""Optional packages: imported where they are used, and the command that installs a missing one."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from axonad.errors import MissingDependencyError


class Package(NamedTuple):
    """An optional package: its name on the package index and the extra that installs it."""

    name: str
    extra: str


PACKAGES = {
    "asammdf": Package("asammdf", "mdf"),
    "can": Package("python-can", "can"),
    "cantools": Package("cantools", "can"),
    "matplotlib": Package("matplotlib", "plot"),
    "mcap": Package("mcap", "mcap"),
    "nats": Package("nats-py", "nats"),
    "onnx": Package("onnx", "onnx"),
    "onnxruntime": Package("onnxruntime", "onnx"),
    "paho": Package("paho-mqtt", "mqtt"),
    "psutil": Package("psutil", "bench"),
    "psycopg": Package("psycopg", "postgres"),
    "ray": Package("ray", "ray"),
    "rosbags": Package("rosbags", "mcap"),
    "scipy": Package("scipy", "bench"),
    "sklearn": Package("scikit-learn", "baselines"),
    "torch": Package("torch", "network"),
}
"""By the name that is imported; a test compares them with ``pyproject.toml``."""


def need(module: str, *, what: str, otherwise: str = "") -> Any:
    """Return a module that needs an optional package, or is one.

    If the package is missing, the error begins with ``what``, as in "CAN logs need", and ends with
    ``otherwise``, another way out.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package not in PACKAGES:
            raise
        raise missing(package, what=what, otherwise=otherwise) from None


def missing(package: str, *, what: str, otherwise: str = "") -> MissingDependencyError:
    """Return the error that names a missing package and the command that installs it."""
    found = PACKAGES[package]
    return MissingDependencyError(
        f"{what} {found.name}, which is not installed; "
        f"install it with: {command(package)}{otherwise}"
    )


def command(package: str) -> str:
    """Return the command that installs a package.

    >>> command("torch")
    "pip install 'axonad[network]'"
    """
    return f"pip install 'axonad[{PACKAGES[package].extra}]'"


def is_installed(package: str) -> bool:
    """Whether a package can be imported; it is not imported to find out."""
    return find_spec(package) is not None
