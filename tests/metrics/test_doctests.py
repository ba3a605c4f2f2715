"""The examples in the docstrings say what really comes out."""

import doctest
import importlib
import pkgutil

import pytest

import axonad.metrics

MODULES = ["axonad.metrics"] + [
    f"axonad.metrics.{module.name}" for module in pkgutil.iter_modules(axonad.metrics.__path__)
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
