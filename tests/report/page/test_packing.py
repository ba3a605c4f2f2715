"""Arrays in few bytes, read back as ``decode.js`` reads them."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from axonad.report.page.packing import has_even_band, pack, pack_band, pack_positions


def unpack(packed):
    """The naive twin of ``valuesOf`` in decode.js."""
    if "n" in packed:
        return np.full(packed["n"], np.nan if packed["all"] is None else packed["all"])
    kind = "i16" if "i16" in packed else "i8"
    levels = np.frombuffer(base64.b64decode(packed[kind]), "<i2" if kind == "i16" else "<i1")
    missing = np.iinfo(levels.dtype).min
    values = packed["low"] + packed["step"] * (levels.astype(float) - missing - 1)
    return np.where(levels == missing, np.nan, values)


@pytest.mark.parametrize(("kind", "levels"), [("i16", 65534), ("i8", 254)])
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_values_come_back_within_half_a_level(kind, levels, scale):
    values = scale * np.random.default_rng(0).normal(size=500)
    values[[3, 77]] = np.nan
    found = unpack(pack(values, kind))
    assert np.isnan(found).tolist() == np.isnan(values).tolist()
    width = np.nanmax(values) - np.nanmin(values)
    assert np.nanmax(np.abs(found - values)) < 0.51 * width / levels


def test_constant_and_missing_arrays_are_one_value():
    assert pack(np.full(5, 2.5)) == {"n": 5, "all": 2.5}
    assert pack(np.full(5, np.nan)) == {"n": 5, "all": None}
    assert np.isnan(unpack(pack(np.array([1.0, np.nan])))).tolist() == [False, True]


def test_a_band_of_constant_width_costs_nothing():
    expected = np.random.default_rng(1).normal(size=100)
    below, above = pack_band(expected, expected - 0.5, expected + 1.25)
    assert below == {"n": 100, "all": 0.5}
    assert above == {"n": 100, "all": 1.25}
    assert has_even_band(expected, expected - 0.5, expected + 1.25)
    assert not has_even_band(expected, expected - 0.5, expected + np.arange(100))


def test_positions_of_dates_keep_milliseconds():
    x = 1_767_225_600.0 + np.arange(1000) / 100
    packed = pack_positions(x)
    offsets = np.frombuffer(base64.b64decode(packed["f32"]), "<f4").astype(float)
    assert np.abs(packed["first"] + offsets - x).max() < 1e-3
