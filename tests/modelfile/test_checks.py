from __future__ import annotations

import math

import numpy as np
import pytest

from axonad.modelfile import (
    check_counts,
    check_entries,
    check_indices,
    check_number,
    check_rows,
    take,
)


@pytest.mark.parametrize("value", [math.nan, math.inf, True, "1", None, [1.0]])
def test_a_number_is_finite(value):
    assert check_number("x", 2) == 2.0
    with pytest.raises(ValueError, match=r"x is .*; expected a finite number"):
        check_number("x", value)
    with pytest.raises(ValueError, match="x is 0; expected a number above 0"):
        check_number("x", 0, above=0)


def test_entries_are_a_json_object():
    assert check_entries("x", {"a": 1}) == {"a": 1}
    with pytest.raises(TypeError, match=r"x is \[\]; expected an object with entries"):
        check_entries("x", [])


@pytest.mark.parametrize("value", [None, 3, [-1], [1.0], [True], ["1"], [2**63]])
def test_counts_are_integers_of_at_least_0(value):
    assert check_counts("x", [0, 2**40]) == [0, 2**40]
    with pytest.raises(ValueError, match=r"x is .*; expected a list of integers of at least 0"):
        check_counts("x", value)


@pytest.mark.parametrize(
    "value", [None, [[]], [1.0, 2.0], [[1.0]], [["1", "2"]], [[1.0, None]], [[10**400, 1]], {}]
)
def test_rows_are_finite_numbers(value):
    np.testing.assert_array_equal(check_rows("x", [[1, 2.5]], columns=2), [[1.0, 2.5]])
    assert check_rows("x", [], columns=2).shape == (0, 2)
    with pytest.raises(ValueError, match="its x does not hold 2 finite channels"):
        check_rows("x", value, columns=2)


def test_indices_are_integers_within_bounds():
    check_indices("x", np.array([-1, 3]), low=-1, count=4)
    for array in (np.array([-2]), np.array([4]), np.array([1.0])):
        with pytest.raises(ValueError, match="array 'x' must hold integers from -1 to 3"):
            check_indices("x", array, low=-1, count=4)


def test_an_array_has_its_shape_and_finite_values_within_bounds():
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.arange(3), "c": np.array([1.0, np.nan])}
    lengths = {"columns": 3}
    assert take(arrays, "a", "rows", "columns", lengths=lengths) is arrays["a"]
    assert lengths == {"columns": 3, "rows": 2}
    assert take(arrays, "b", None, low=0, high=2, whole=True) is arrays["b"]
    with pytest.raises(ValueError, match=r"'b' has shape \(3,\); expected \(2\)"):
        take(arrays, "b", "rows", lengths=lengths)
    with pytest.raises(ValueError, match=r"'a' has shape \(2, 3\); expected \(3\)"):
        take(arrays, "a", 3)
    with pytest.raises(ValueError, match="'a' holds values of type float64"):
        take(arrays, "a", None, None, whole=True)
    with pytest.raises(ValueError, match="'c' has values that are not finite"):
        take(arrays, "c", 2)
    for name, words in (("low", "at least"), ("high", "at most"), ("above", "above")):
        with pytest.raises(ValueError, match=f"'b' must be {words} 1 everywhere"):
            take(arrays, "b", 3, **{name: 1})
    with pytest.raises(KeyError, match="none"):
        take(arrays, "none", 3)
