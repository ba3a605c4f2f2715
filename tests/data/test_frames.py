from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from axonad.data.frames import check_finite, check_sound, match_channels, to_matrix
from axonad.data.series import Series
from axonad.errors import ChannelError, InputError, NotNumericError

X = np.arange(12.0).reshape(4, 3)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_float_arrays_pass_without_a_copy(kind):
    array = X.astype(kind)
    values, names = to_matrix(array)
    assert values is array
    assert names is None


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int64, bool, np.float16])
def test_other_numbers_become_floats(kind):
    values, _ = to_matrix(X.astype(kind))
    assert values.dtype in (np.float32, np.float64)
    np.testing.assert_array_equal(values, X.astype(kind).astype(float))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(X, columns=["a", "b", "c"]),
        pl.DataFrame(X, schema=["a", "b", "c"]),
        Series(values=X, channels=("a", "b", "c")),
        pd.DataFrame({"a": [0, 3, 6, 9], "b": X[:, 1], "c": X[:, 2].astype("float32")}),
        pd.DataFrame(X, columns=["a", "b", "c"]).astype({"a": "Int64"}),
        pl.DataFrame({"a": [0, 3, 6, 9], "b": X[:, 1], "c": X[:, 2].astype("float32")}),
    ],
)
def test_frames_keep_names(frame):
    values, names = to_matrix(frame)
    assert names == ("a", "b", "c")
    np.testing.assert_allclose(values, X)


def test_missing_values_in_frames_become_nan():
    for frame in (
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [1.0, 2.0]}),
        pl.DataFrame({"a": [1, None], "b": [1.0, 2.0]}),
    ):
        values, _ = to_matrix(frame)
        assert np.isnan(values[1, 0])


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (X[:, 0], r"two dimensions \(time, channels\), got shape \(4,\)\. Reshape .*\(-1, 1\)"),
        (X[None], r"two dimensions"),
        (X[:0], r"X is empty: 0 sample\(s\) \(shape=\(0, 3\)\)"),
        (X[:, :0], r"X is empty"),
        ([], r"got shape \(0,\)"),
        (5.0, r"got shape \(\)"),
        ([[1, 2], [3]], r"cannot be read as an array"),
        ([["a", "b"]], r"X must be numeric"),
        (scipy.sparse.csr_array(X), r"Sparse data was passed for X, but dense data is required"),
        (X + 1j, r"Complex data not supported: X is complex128"),
        (pd.DataFrame({"a": [1.0], "driver": ["anna"]}), r"column 'driver' is not numeric"),
        (pl.DataFrame({"a": [1.0], "driver": ["anna"]}), r"column 'driver' is not numeric"),
        (pd.DataFrame({"when": pd.to_datetime(["2026-01-01"])}), r"column 'when' is not numeric"),
        (pd.DataFrame(X[:, :2], columns=["a", "a"]), r"'a' appears more than once"),
        (pl.DataFrame({"a": [1]}).lazy(), r"lazy frame; call \.collect\(\)"),
        (pd.Series([1.0, 2.0]), r"two dimensions"),
    ],
)
def test_unusable_input_is_refused(bad, message):
    with pytest.raises(InputError, match=message):
        to_matrix(bad)


def test_object_arrays_of_numbers_are_numbers():
    mixed = X.astype(object)
    values, _ = to_matrix(mixed)
    np.testing.assert_array_equal(values, X)
    mixed[1, 1] = {}
    with pytest.raises(NotNumericError, match=r"number, not 'dict'\); convert them") as caught:
        to_matrix(mixed)
    assert isinstance(caught.value, TypeError), "as numpy and scikit-learn raise it"


def test_first_bad_value_is_named():
    bad = X.copy()
    bad[2, 1] = np.inf
    bad[3, 0] = np.nan
    message = "X has 2 NaN or infinite values in training data, first at row 2, channel 'b'"
    with pytest.raises(InputError, match=message):
        check_finite(bad, ("a", "b", "c"), purpose="training data")


def test_large_finite_values_are_finite():
    check_finite(np.array([[1e308, 1e308], [1e308, 1.0]]), None, purpose="X")


def test_channels_are_matched_by_name():
    names = ("a", "b", "c")
    same = match_channels(X, names, expected=names, count=3)
    assert same is X
    swapped = match_channels(X, ("c", "a", "b"), expected=names, count=3)
    np.testing.assert_array_equal(swapped, X[:, [1, 2, 0]])


@pytest.mark.parametrize(
    ("names", "expected", "message"),
    [
        (("speed", "yaw_rat"), ("speed", "yaw_rate"), "'yaw_rat' not in model; did you mean 'ya"),
        (("speed",), ("speed", "yaw_rate"), "lacks channel 'yaw_rate'"),
        (("speed", "x"), ("speed",), "channel 'x' not in model; drop it"),
        (None, ("a", "b"), "has 3 features, but the model is expecting 2 features"),
        (("a", "b", "c"), None, "has 3 features, but the model is expecting 2 features"),
    ],
)  # fmt: skip
def test_foreign_channels_are_refused_by_name(names, expected, message):
    with pytest.raises(ChannelError, match=message):
        match_channels(X, names, expected=expected, count=2)


@pytest.mark.parametrize(
    ("size", "said"), [(1e160, "1e+160, too large"), (1e-200, "1e-200, too small")]
)
def test_numbers_without_squares_are_not_learned_from(size, said):
    with pytest.raises(InputError, match=rf"channel 'b' holds values up to {re.escape(said)} to"):
        check_sound(np.array([[0.0, size], [0.0, -size]]), ("a", "b"))
    check_sound(np.array([[0.0, 1e-200], [1.0, 0.0]]), None)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.zeros((3, 2)), "all 2 channels are constant in its 3 rows"),
        (np.full((9, 1), 0.1, dtype=np.float32), "the only channel is constant in its 9 rows"),
    ],
)
def test_constants_are_not_learned_from(values, said):
    with pytest.raises(InputError, match=f"nothing to learn from the training data: {said}; fit"):
        check_sound(values, None)
    with pytest.raises(InputError, match="nothing to learn from the training data: it is a single"):
        check_sound(np.array([[1.0, 2.0]]), None)
