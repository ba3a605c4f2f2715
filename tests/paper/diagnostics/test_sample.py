from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from axonad.errors import InputError
from axonad.paper.diagnostics.finding import read_findings
from axonad.paper.diagnostics.sample import FILE as SAMPLES
from axonad.paper.diagnostics.sample import Samples, samples_of


def test_samples_hold_what_figures_need(saved):
    found = read_findings(saved)
    keys = [finding.key for finding in found]
    samples = samples_of(saved, found)
    assert list(samples) == keys
    one = samples[keys[0]]
    assert set(one["anomalous"]["kind"]) == {"level_shift", "correlation_break"}
    assert len(one["normal"]["d_rec"]) == 500
    event = one["event"]
    steps = len(event["d_q"])
    assert np.shape(event["predicted"]) == np.shape(event["target"]) == (steps, 2)
    assert event["first"] < event["start"] < event["stop"]
    before = (saved / SAMPLES).read_bytes()
    Samples(saved).append("other", {**one, "seed": 9})
    assert (saved / SAMPLES).read_bytes() == before, "a series is saved once"


def test_another_seed_finds_the_sample_of_its_series(saved):
    first, second = read_findings(saved)
    other = replace(first, row=replace(first.row, key="another", seed=9))
    assert list(samples_of(saved, [other, second])) == ["another", second.key]
    assert list(samples_of(saved, [first, other])) == [first.key], "a series is drawn once"


@pytest.mark.parametrize(
    "text", ["garbage\n", "3\n", '{"a": 1}\n', "[1]\n", "\xff\xfe\n", "my notes"]
)
def test_samples_of_another_kind_are_refused_and_left_alone(tmp_path, text):
    (tmp_path / SAMPLES).write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=r"samples.jsonl was not written by .* move or delete it"):
        samples_of(tmp_path, [])
    assert (tmp_path / SAMPLES).read_bytes() == text.encode("latin-1")


def test_an_incomplete_last_sample_is_ignored_and_removed_by_the_next(saved, tmp_path):
    whole = (saved / SAMPLES).read_bytes()
    (tmp_path / SAMPLES).write_bytes(whole[:-30])
    found = read_findings(saved)
    assert len(samples_of(tmp_path, found)) == 1
    assert (tmp_path / SAMPLES).read_bytes() == whole[:-30], "reading writes nothing"
    last = samples_of(saved, found)[found[1].key]
    Samples(tmp_path).append(last["key"], {k: v for k, v in last.items() if k != "key"})
    assert (tmp_path / SAMPLES).read_bytes() == whole
