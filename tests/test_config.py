from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from axonad import config
from axonad.errors import ConfigError, FileError


@dataclass
class Params:
    window: int = 100
    rate: float = 0.1
    limit: int | None = None
    verbose: bool = False
    align: str = "end"
    sizes: tuple[int, ...] = (1,)


def test_assignments_take_the_type_of_the_field():
    words = ["window=50", " rate = 1 ", "limit=none", "verbose=True", "align=center", "sizes=1,2"]
    values = config.parse_assignments(Params, words)
    assert values == {
        "window": 50, "rate": 1.0, "limit": None,
        "verbose": True, "align": "center", "sizes": (1, 2),
    }  # fmt: skip
    assert isinstance(values["rate"], float)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("window", "expected NAME=VALUE, got 'window'; write for example window=50"),
        ("windwo=3", "Params has no parameter 'windwo'; did you mean 'window'"),
        ("zzz=3", "Params has no parameter 'zzz'; choose one of window, rate, limit"),
        ("window=5.5", "window must be an integer, got '5.5'"),
        ("rate=high", "rate must be a number, got 'high'"),
        ("limit=x", "limit must be an integer or none, got 'x'"),
        ("verbose=maybe", "verbose must be true or false, got 'maybe'"),
        ("sizes=1,x", "sizes must be values separated by commas, got '1,x'"),
    ],
)
def test_wrong_assignments_are_rejected(word, message):
    with pytest.raises(ConfigError, match=message):
        config.parse_assignments(Params, [word])


def test_lists_become_tuples():
    assert config.build(Params, {"sizes": [1, 2]}).sizes == (1, 2)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"low": 4}, "x must be at least 4, got 3"),
        ({"high": 2}, "x must be at most 2, got 3"),
        ({"above": 3}, "x must be above 3, got 3"),
        ({"below": 3}, "x must be below 3, got 3"),
    ],
)
def test_numbers_outside_their_bounds_are_rejected(bounds, message):
    with pytest.raises(ConfigError, match=message):
        config.check_float("x", np.int64(3), **bounds)
    config.check_float("x", 3.0, low=3, high=3)


@pytest.mark.parametrize("value", [True, "3", None, float("nan"), float("inf")])
def test_values_that_are_not_numbers_are_rejected(value):
    with pytest.raises(ConfigError, match="x must be a number, got"):
        config.check_float("x", value)
    with pytest.raises(ConfigError, match="x must be an integer, got"):
        config.check_int("x", value)


def test_toml_files(tmp_path):
    (tmp_path / "good.toml").write_text("window = 3")
    assert config.read_toml(tmp_path / "good.toml") == {"window": 3}
    (tmp_path / "bad.toml").write_text("window =")
    with pytest.raises(ConfigError, match=r"bad\.toml is not valid TOML"):
        config.read_toml(tmp_path / "bad.toml")
    with pytest.raises(FileError, match=r"none\.toml does not exist; expected a TOML file"):
        config.read_toml(tmp_path / "none.toml")


@pytest.mark.parametrize("value", [10**400, float("inf"), float("nan")], ids=["huge", "inf", "nan"])
def test_numbers_without_end_are_refused(value):
    with pytest.raises(ConfigError, match="x must be a number, got"):
        config.check_float("x", value)
    with pytest.raises(ConfigError):
        config.check_int("x", value)
