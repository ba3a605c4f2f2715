"""Suites made small for a quick trial."""

from __future__ import annotations

from dataclasses import replace

from axonad.bench.suite import read_suite
from axonad.cli.paper.small_suite import PARAMS, SEEDS, shrink_suite


def test_networks_shrink_but_what_is_compared_stays(tmp_path):
    whole = read_suite("paper-sensitivity", data=tmp_path)
    wide = replace(whole.detectors[0], params={"d_model": 32})  # a size that is compared
    whole = replace(whole, detectors=(wide, *whole.detectors[1:]))
    small = shrink_suite(whole)
    assert small.name == "paper-sensitivity-small"
    assert small.data["source"] == "telemetry"
    assert small.seeds == SEEDS
    assert [entrant.title for entrant in small.detectors] == [e.title for e in whole.detectors]
    for before, after in zip(whole.detectors, small.detectors, strict=True):
        assert after.params == {**PARAMS, **before.params}
    assert small.detectors[0].params["d_model"] == 32


def test_only_parameters_that_a_detector_has_are_set():
    small = shrink_suite(read_suite("paper-runtime"), detectors=["IForest"])
    (forest,) = small.detectors
    assert not set(forest.params) & set(PARAMS)
