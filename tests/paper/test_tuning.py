"""The choice of a setting from a grid, on made-up rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from axonad.axon import AxonAD
from axonad.bench.suite import read_suite
from axonad.errors import InputError
from axonad.paper.tuning import (
    PUBLISHED,
    TUNED,
    effects,
    explained,
    leave_one_out,
    name_setting,
    ranks,
    read_tuning,
)
from tests.conftest import ROOT
from tests.paper.tuned import tuned_row, tuned_rows

A, B, C = PUBLISHED, (50, *PUBLISHED[1:]), (100, 64, *PUBLISHED[2:])


def rows_of(table):
    return [
        tuned_row(setting, f"s{i}", value)
        for setting, values in table.items()
        for i, value in enumerate(values)
    ]


def test_settings_are_ranked_by_their_mean():
    tuning = read_tuning(rows_of({A: [0.2, 0.4], B: [0.5, 0.5], C: [0.3, 0.1]}))
    assert tuning.settings == (B, A, C)
    assert tuning.published == 1
    assert tuning.means().tolist() == pytest.approx([0.5, 0.3, 0.2])
    assert [int(ranks(tuning.means()[:, None], i)[0]) for i in range(3)] == [1, 2, 3]
    drawn = tuning.resampled()
    assert (drawn[0] == pytest.approx(0.5)) and set(np.round(drawn[1], 6)) == {0.2, 0.3, 0.4}


def test_a_setting_without_all_series_is_left_out():
    rows = rows_of({A: [0.2, 0.4], B: [0.5, None], C: [0.3, 0.1]})
    tuning = read_tuning(rows)
    assert (tuning.settings, tuning.left_out) == ((A, C), 1)
    failed_everywhere = read_tuning(rows_of({A: [0.2, None], B: [0.5, None]}))
    assert failed_everywhere.series == ("s0",)
    with pytest.raises(InputError, match="fewer than two settings have all series"):
        read_tuning(rows_of({A: [0.2, 0.4], B: [None, 0.5]}))


def test_rows_that_cannot_be_compared_are_refused():
    rows = rows_of({A: [0.2], B: [0.5]})
    with pytest.raises(InputError, match="several protocols"):
        read_tuning([*rows, replace(rows[0], key="other", protocol="causal")])
    with pytest.raises(InputError, match="have no parameter horizon"):
        read_tuning([replace(rows[0], params=dict.fromkeys(list(TUNED)[:-1], 1)), rows[1]])


def test_the_choice_without_a_series_is_judged_on_that_series():
    tuning = read_tuning(rows_of({A: [0.3, 0.3], B: [0.9, 0.0]}))
    first, second = leave_one_out(tuning)
    assert (tuning.settings[first.chosen], first.on_series) == (A, 0.3)
    assert (tuning.settings[second.chosen], second.on_series) == (B, 0.0)
    assert (first.published, first.average) == pytest.approx((0.3, 0.6))
    with pytest.raises(InputError, match="needs two or more, got 1"):
        leave_one_out(read_tuning(rows_of({A: [0.2], B: [0.5]})))


def test_the_effect_of_a_parameter_is_found():
    tuning = read_tuning(tuned_rows())
    found = effects(tuning)
    assert list(found) == ["window", "lr", "tail"], "the parameters that vary"
    short, long = found["window"]
    assert (short.value, short.settings, long.value) == (50, 4, 100)
    assert short.to_published == pytest.approx(-0.1, abs=0.02)
    assert short.low < short.to_published < short.high < 0
    assert np.isnan(long.to_published)
    assert (short.best, long.best) == (0, 1)
    shares = {name: explained(tuning, name) for name in found}
    assert shares["window"] > shares["tail"] > shares["lr"]
    assert sum(shares.values()) <= 1 + 1e-9


def test_the_suite_is_the_grid_of_the_authors_and_its_labels_are_ours():
    suite = read_suite(ROOT / "benchmarks/paper/tuning", data=ROOT)
    assert len(suite.detectors) == 192
    for detector in suite.detectors:
        assert detector.title == name_setting(tuple(detector.params[name] for name in TUNED))
    assert name_setting(PUBLISHED) in {detector.title for detector in suite.detectors}
    assert tuple(getattr(AxonAD.paper(), name) for name in TUNED) == PUBLISHED
