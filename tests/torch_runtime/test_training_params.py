"""Checks of parameters by type, and the validation split."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from axonad.errors import ConfigError
from axonad.torch_runtime.training_params import check_by_type, count_training_rows, select_fields


@dataclass
class Params:
    layers: int = 2
    waves: int = 0
    dropout: float = 0.1
    weight: float = 3.0
    sigmoid: bool = False
    widths: tuple[int, ...] = (4, 2)
    name: str = ""


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("layers", 0, "layers must be at least 1, got 0"),
        ("layers", 2.0, "layers must be an integer, got 2.0"),
        ("waves", -1, "waves must be at least 0, got -1"),
        ("dropout", 1.0, "dropout must be below 1, got 1.0"),
        ("weight", -0.5, "weight must be at least 0, got -0.5"),
        ("sigmoid", 1, "sigmoid must be True or False, got 1"),
        ("widths", (4, 0), "widths must be at least 1, got 0"),
    ],
)
def test_values_are_checked_by_the_type_of_their_field(field, value, message):
    check_by_type(Params(), zero_allowed={"waves"})
    with pytest.raises(ConfigError, match=message):
        check_by_type(replace(Params(), **{field: value}), zero_allowed={"waves"})


@pytest.mark.parametrize(
    ("rows", "expected"), [(400, 320), (127, 101), (126, 126), (125, 125), (100, 100)]
)
def test_all_rows_are_trained_on_where_the_training_share_is_no_longer_than_a_window(
    rows, expected
):
    assert count_training_rows(rows, validation=0.2, window=100) == expected


def test_fields_are_selected_by_name():
    params: dict[str, Any] = {"layers": 3, "other": 1}
    assert select_fields(Params, params) == {"layers": 3}
