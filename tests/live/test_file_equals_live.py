"""A recording sent live gives the rows, scores and events that it gives as a file."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import axonad
from axonad import make_detector
from axonad.data.readers.asked import Asked
from axonad.data.readers.reading import mark_missing
from axonad.data.readers.recording import to_table
from axonad.data.readers.samples import Samples
from axonad.errors import DataWarning
from axonad.live.config import Input
from axonad.live.record import EventQuery
from axonad.live.sample import Delivery, Sample
from axonad.live.store.memory import MemoryStore
from axonad.live.watch import Watch

BEGIN = 1_772_431_200_000_000
TRAINED = {"speed": 100_000, "steering": 200_000, "coolant": 2_000_000}  # µs between samples


def course(name, times, seed):
    """Values of a channel at times in microseconds; steering follows speed."""
    seconds = (times - BEGIN) / 1e6
    rng = np.random.default_rng([seed, list(TRAINED).index(name)])
    wave = {"speed": 20 + 3 * np.sin(seconds), "steering": np.sin(seconds), "coolant": seconds / 99}
    return np.round(wave[name] + 0.02 * rng.normal(size=len(times)), 4)


def recording(intervals, *, rows=400, phases=(0, 0, 0), jitter=0.0, silent=(), seed=1):
    """Return times and values by channel; ``silent`` are (channel or None, from row, to row)."""
    rng = np.random.default_rng(seed)
    found = {}
    for (name, step), phase in zip(intervals.items(), phases, strict=True):
        times = BEGIN + np.arange(phase, rows * 100_000, step)
        times = times + rng.integers(0, 1 + int(jitter * step), len(times))
        for channel, first, last in silent:
            if channel in (None, name):
                low, high = BEGIN + first * 100_000, BEGIN + last * 100_000
                times = times[(times < low) | (times >= high)]
        found[name] = times, course(name, times, seed)
    return found


def as_file(samples, asked):
    """Return the series that a file with the samples gives."""
    found = [Samples(name, "", times, values) for name, (times, values) in samples.items()]
    table = to_table(found, asked, shown="drive", name="drive", is_absolute=True)
    (series,) = table.frames
    return mark_missing(series)


@pytest.fixture(scope="module")
def model():
    """A detector that has learned from recordings of channels with different rates."""
    asked = Asked.of(rate="10Hz")
    drives = []
    for seed in (1, 2):
        samples = recording(TRAINED, rows=1500, seed=seed)
        series = as_file(samples, asked)
        hold = tuple(10 * TRAINED[name] for name in series.channels)
        drives.append(axonad.Series(**vars(series) | {"hold": hold}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return make_detector("CrossChannelRidge", alarm_budget="2 per 1000 steps").fit(drives)


def sent(samples, *, lateness, seed):
    """Return the samples in an order in which none is later than allowed."""
    rng = np.random.default_rng(seed)
    listed = [
        (int(time), name, float(value))
        for name, (times, values) in samples.items()
        for time, value in zip(times, values, strict=True)
    ]
    delays = rng.integers(0, max(1, lateness), len(listed))
    order = np.argsort([time + delay for (time, _, _), delay in zip(listed, delays, strict=True)],
                       kind="stable")  # fmt: skip
    if not lateness:
        return [Sample("a", time, {name: value}) for time, name, value in sorted(listed)]
    return [Sample("a", listed[i][0], {listed[i][1]: listed[i][2]}) for i in order]


def play(model, samples, *, lateness, size):
    """Send samples and the end of the stream in deliveries of some size; return what is stored."""
    options = Input(commit_every="0s", max_ahead="1d", lateness=f"{lateness // 1000}ms")
    store, watch = MemoryStore(), Watch(model, options, snapshot_rows=100)
    newest = max(sample.time for sample in samples)
    samples = [*samples, Sample("a", newest + max(lateness, 1), {})]
    number = store.start(model="m")
    for first in range(0, len(samples), size):
        work = watch.take([Delivery(samples[first : first + size], "test")])
        number += 1
        store.commit(watch.commit(work, number=number))
    assert not watch.counts["late"] and not watch.counts["duplicate"]
    return watch.vehicles["a"].recent.course(600), store.events(EventQuery(limit=1000))[::-1]


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(
    steps=st.tuples(*[st.sampled_from([50_000, 100_000, 270_000, 1_000_000, 2_000_000])] * 3),
    phases=st.tuples(*[st.integers(0, 250_000)] * 3),
    jitter=st.sampled_from([0.0, 0.3, 0.8]),
    silent=st.lists(
        st.tuples(st.sampled_from([None, *TRAINED]), st.integers(20, 300), st.integers(1, 120)),
        max_size=3,
    ),
    lateness=st.sampled_from([0, 30_000, 450_000, 3_000_000]),
    size=st.integers(1, 400),
    seed=st.integers(0, 99),
)
def test_a_recording_gives_live_what_it_gives_as_a_file(
    model, steps, phases, jitter, silent, lateness, size, seed
):
    samples = recording(
        dict(zip(TRAINED, steps, strict=True)), phases=phases, jitter=jitter,
        silent=[(name, first, first + rows) for name, first, rows in silent], seed=seed,
    )  # fmt: skip
    low = BEGIN + 33_000_000
    for name in ("speed", "steering"):
        times, values = samples[name]
        fault = (times > low) & (times < low + 3_000_000) & (name == "steering")
        samples[name] = times, values + 8.0 * fault
    asked = Asked.of(rate="100000us", max_age=model.hold_)
    series = as_file(samples, asked)
    order = [series.channels.index(name) for name in model.channel_names]

    found, events = play(model, sent(samples, lateness=lateness, seed=seed), lateness=lateness,
                         size=size)  # fmt: skip

    np.testing.assert_array_equal(found.times, series.times.astype(np.int64))
    np.testing.assert_allclose(found.values, series.values[:, order], rtol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        usable = series.unusable is None or not series.unusable.all()
        scores = model.decision_function(series) if usable else np.full(len(series), np.nan)
        expected = model.events(series) if usable else []
    np.testing.assert_allclose(found.scores, scores, rtol=1e-4, atol=1e-4)
    anomalies = [event for event in events if event.kind == "anomaly"]
    assert [(e.begins, e.channels) for e in anomalies] == [
        (int(series.times[e.start].astype(np.int64)), e.channels) for e in expected
    ]


def test_a_slow_channel_is_held_live_for_as_long_as_in_training(model):
    """At 10 Hz, with one channel at 0.5 Hz: every row has a value, in the file and live."""
    assert model.hold_ == {"speed": 1_000_000, "steering": 2_000_000, "coolant": 20_000_000}
    samples = recording(TRAINED)
    found, _ = play(model, sent(samples, lateness=0, seed=1), lateness=0, size=7)
    series = as_file(samples, Asked.of(rate="10Hz", max_age=model.hold_))
    assert np.isfinite(found.values).all() and len(found.values) == len(series) >= 395
    assert np.isfinite(found.scores).sum() == len(series) - model.history + 1


def test_what_a_file_holds_does_not_depend_on_its_later_samples(model):
    """A channel that becomes rare is not held longer because the file is known to its end."""
    samples = recording(TRAINED, rows=400)
    times, values = samples["speed"]
    rare = (times < BEGIN + 5_000_000) | (times % 4_000_000 == 0)
    samples["speed"] = times[rare], values[rare]
    asked = Asked.of(rate="10Hz", max_age=model.hold_)
    whole = as_file(samples, asked)
    half = {
        k: (t[t < BEGIN + 10_000_000], v[t < BEGIN + 10_000_000]) for k, (t, v) in samples.items()
    }
    part = as_file(half, asked)
    np.testing.assert_array_equal(whole.values[: len(part)], part.values)
    assert np.isnan(whole.values).any()


def test_a_table_on_the_raster_gives_live_what_it_gives_as_a_file(live_detector, drives):
    rows = drives.rows["b"]
    store, watch = MemoryStore(), Watch(live_detector, Input(commit_every="0s", max_ahead="1d"))
    store.start(model="m")
    watch.take([Delivery(list(drives.samples("b")), "test")])
    found = watch.vehicles["b"].recent.course(600)
    np.testing.assert_allclose(found.values, rows, rtol=1e-6)
    scores = live_detector.decision_function(rows)
    known = np.isfinite(found.scores)
    assert known.sum() == len(rows) - live_detector.history + 1
    np.testing.assert_allclose(found.scores[known], scores[known], rtol=1e-3, atol=1e-3)
