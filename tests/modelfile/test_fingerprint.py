from __future__ import annotations

import numpy as np

from axonad.modelfile import fingerprint

ARRAYS = {"a": np.arange(6.0).reshape(2, 3), "b": np.array(3, dtype=np.int8)}


def test_the_fingerprint_depends_on_values_and_arrays_only():
    first = fingerprint({"a": 1, "b": 2}, ARRAYS)
    assert first == fingerprint({"b": 2, "a": 1}, dict(reversed(ARRAYS.items())))
    assert first != fingerprint({"a": 1, "b": 3}, ARRAYS)
    assert first != fingerprint({"a": 1, "b": 2}, {**ARRAYS, "b": np.array(4)})
