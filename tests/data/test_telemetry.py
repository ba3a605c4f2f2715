"""The generated suites have the published shape; coordination breaks show only across channels."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from axonad.data.faults import GAP, MATERIAL_SHARE, material_share
from axonad.data.telemetry import (
    CHANNELS,
    KINDS,
    UNITS,
    PlantedEvent,
    Telemetry,
    generate_coordination,
    generate_telemetry,
)
from axonad.data.vehicle import SENSORS, simulate_drive
from axonad.errors import ConfigError

SEEDS = (2024, 2025, 2026, 2027)
SUITES = {"telemetry": generate_telemetry, "coordination": generate_coordination}
both_suites = pytest.mark.parametrize("suite", SUITES)
four_seeds = pytest.mark.parametrize("seed", SEEDS)


@cache
def stream_of(suite: str, seed: int) -> Telemetry:
    return SUITES[suite](seed=seed)


@cache
def clean_of(seed: int) -> np.ndarray:
    """The drive as it was before anything was planted."""
    drive_rng, _ = np.random.default_rng(seed).spawn(2)
    return simulate_drive(100_000, drive_rng)[:80_000]


def columns_of(event: PlantedEvent) -> np.ndarray:
    return np.array([CHANNELS.index(name) for name in event.channels])


# ── shape ─────────────────────────────────────────────────────────────────────────────────────────
@four_seeds
@both_suites
def test_published_shape(suite, seed):
    stream = stream_of(suite, seed)
    lengths = [event.end - event.start for event in stream.events]
    widths = [len(event.channels) for event in stream.events]
    assert stream.values.shape == (80_000, 19)
    assert stream.values.dtype == np.float64
    assert np.isfinite(stream.values).all()
    assert stream.train_end == 40_000
    assert len(stream.events) == 30
    assert min(lengths) >= 1
    assert max(lengths) <= 292
    assert 90 <= np.median(lengths) <= 126
    assert set(widths) == {1, 2, 3, 4}
    assert np.median(widths) == 2
    assert 0.08 <= stream.test_labels.mean() <= 0.10
    assert stream.events[0].start >= 43_410


@four_seeds
def test_first_fault_and_all_six_kinds(seed):
    events = stream_of("telemetry", seed).events
    assert events[0].start == 43_410
    assert {event.kind for event in events} == set(KINDS)
    assert len(KINDS) == 6
    assert all(event.end - event.start <= 8 for event in events if event.kind == "spike")
    assert min(event.end - event.start for event in events) == 1


@four_seeds
@both_suites
def test_labels_are_the_events_and_events_stay_apart(suite, seed):
    stream = stream_of(suite, seed)
    labels = np.zeros(len(stream.values), dtype=int)
    for event in stream.events:
        labels[event.start : event.end] += 1
    np.testing.assert_array_equal(stream.labels, labels)
    ends = [event.end for event in stream.events]
    starts = [event.start for event in stream.events]
    assert min(np.subtract(starts[1:], ends[:-1])) >= GAP
    assert ends[-1] <= len(stream.values)


@four_seeds
@both_suites
def test_nothing_but_the_struck_channels_of_the_events_is_changed(suite, seed):
    stream, clean = stream_of(suite, seed), clean_of(seed)
    restored = stream.values.copy()
    for event in stream.events:
        where = slice(event.start, event.end), columns_of(event)
        restored[where] = clean[where]
    np.testing.assert_array_equal(restored, clean)


@four_seeds
@both_suites
def test_every_event_really_changes_every_channel_it_strikes(suite, seed):
    stream, clean = stream_of(suite, seed), clean_of(seed)
    # exchanges are chosen before their ends are joined, which costs them a few steps
    least = MATERIAL_SHARE if suite == "telemetry" else 0.8 * MATERIAL_SHARE
    for event in stream.events:
        columns = columns_of(event)
        old, new = (x[event.start : event.end, columns] for x in (clean, stream.values))
        assert material_share(old, new, columns) >= least, event


@four_seeds
@both_suites
def test_correlation_breaks_stay_in_the_training_range_and_join_without_a_jump(suite, seed):
    stream = stream_of(suite, seed)
    resolution = np.array([sensor.resolution for sensor in SENSORS])
    low, high = stream.train.min(axis=0) - 1e-9, stream.train.max(axis=0) + 1e-9
    largest_step = np.abs(np.diff(stream.train, axis=0)).max(axis=0) + resolution
    for event in stream.events:
        if event.kind == "correlation_break":
            columns = columns_of(event)
            inside = stream.values[event.start : event.end, columns]
            assert (inside >= low[columns]).all()
            assert (inside <= high[columns]).all()
            for seam in (event.start, event.end):
                step = np.abs(stream.values[seam, columns] - stream.values[seam - 1, columns])
                assert (step <= largest_step[columns]).all()


@both_suites
def test_same_seed_same_stream_other_seed_other_stream(suite):
    first, again, other = (SUITES[suite](steps=6_000, seed=seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.values, again.values)
    np.testing.assert_array_equal(first.labels, again.labels)
    assert first.events == again.events
    assert first.seed == 5
    assert not np.array_equal(first.values, other.values)


@both_suites
@pytest.mark.parametrize("seed", SEEDS)
def test_a_shorter_stream_scales(suite, seed):
    stream = SUITES[suite](steps=20_000, seed=seed)
    assert stream.values.shape == (20_000, 19)
    assert stream.train_end == 10_000
    assert len(stream.events) == 8
    assert 0.08 <= stream.test_labels.mean() <= 0.10
    assert stream.labels[:10_852].sum() == 0
    if suite == "telemetry":
        assert stream.events[0].start == 10_852
        assert {event.kind for event in stream.events} == set(KINDS)


@pytest.mark.parametrize("steps", [2_000, 2_001, 3_333, 5_000])
def test_the_shortest_streams_hold_at_least_one_event(steps):
    stream = generate_telemetry(steps=steps, seed=1)
    assert len(stream.values) == len(stream.labels) == steps
    assert len(stream.train) + len(stream.test) == steps
    assert stream.events
    assert stream.labels[: stream.train_end].sum() == 0


@both_suites
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("steps", 1_999, "steps must be at least 2000, got 1999"),
        ("steps", 2e4, "steps must be an integer, got 20000.0"),
        ("steps", True, "steps must be an integer, got True"),
        ("seed", -1, "seed must be at least 0, got -1"),
        ("seed", None, "seed must be an integer, got None"),
    ],
)
def test_bad_parameters_are_refused_by_name(suite, name, value, message):
    with pytest.raises(ConfigError) as caught:
        SUITES[suite](**{name: value})
    assert str(caught.value) == message


def test_every_channel_has_a_unit():
    assert tuple(UNITS) == CHANNELS


# ── the two halves are the same kind of driving ───────────────────────────────────────────────────
@four_seeds
def test_training_covers_the_clean_test_half(seed):
    train, test = np.split(clean_of(seed), 2)
    low, high = np.quantile(train, (0.001, 0.999), axis=0)
    assert ((test >= low) & (test <= high)).mean() > 0.99
    ratio = test.std(axis=0) / train.std(axis=0)
    assert ((ratio > 0.7) & (ratio < 1.4)).all()


# ── coordination: seen across channels, not within one ────────────────────────────────────────────
def roc_area(score: np.ndarray, labels: np.ndarray) -> float:
    _, rank, count = np.unique(score, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - (count - 1) / 2)[rank]
    positive = int((labels == 1).sum())
    above = ranks[labels == 1].sum() - positive * (positive + 1) / 2
    return float(above / (positive * (len(labels) - positive)))


def smooth(score: np.ndarray, width: int) -> np.ndarray:
    window = np.full(width, 1 / width)
    return np.column_stack([np.convolve(column, window, "same") for column in score.T])


def scores_within_channels(train: np.ndarray, test: np.ndarray) -> dict[str, np.ndarray]:
    """Three detectors that look at one channel at a time; ``(steps, channels)`` each."""
    centre, spread = train.mean(axis=0), train.std(axis=0)
    train, test = (train - centre) / spread, (test - centre) / spread
    residual = np.zeros_like(test)
    for column in range(test.shape[1]):
        past = np.column_stack((train[1:-1, column], train[:-2, column]))
        weights, *_ = np.linalg.lstsq(past, train[2:, column], rcond=None)
        scale = (train[2:, column] - past @ weights).std()
        past = np.column_stack((test[1:-1, column], test[:-2, column]))
        residual[2:, column] = (test[2:, column] - past @ weights) / scale
    variance = smooth(test**2, 51) - smooth(test, 51) ** 2
    return {
        "value": test**2,
        "autoregression": residual**2,
        "deviation in a window": np.sqrt(np.maximum(variance, 0.0)),
    }


def score_across_channels(train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Ridge regression of each channel on the others, now and a little earlier."""
    centre, spread = train.mean(axis=0), train.std(axis=0)

    def lagged(values: np.ndarray) -> np.ndarray:
        values = (values - centre) / spread
        return np.hstack(
            [np.vstack((values[:1].repeat(k, 0), values))[: len(values)] for k in LAGS]
        )

    past, now = lagged(train), lagged(test)
    gram = past.T @ past / len(past)
    errors = []
    for channel in range(len(CHANNELS)):
        others = np.flatnonzero(np.arange(gram.shape[0]) % len(CHANNELS) != channel)
        system = gram[np.ix_(others, others)] + 1e-3 * np.eye(len(others))
        weights = np.linalg.solve(system, gram[others, channel])
        scale = (past[:, channel] - past[:, others] @ weights).std()
        errors.append((now[:, channel] - now[:, others] @ weights) / scale)
    return smooth(np.square(errors).T, 31).max(axis=1)


LAGS = (0, 1, 2, 4, 8)


@four_seeds
def test_coordination_keeps_every_marginal_distribution(seed):
    stream, clean = stream_of("coordination", seed), clean_of(seed)
    for channel in range(len(CHANNELS)):
        before, after = np.sort(clean[40_000:, channel]), np.sort(stream.test[:, channel])
        at = np.unique(np.concatenate((before, after)))
        steps = [np.searchsorted(x, at, side="right") / len(x) for x in (before, after)]
        assert np.abs(steps[0] - steps[1]).max() < 0.002  # Kolmogorov-Smirnov distance
    assert {event.kind for event in stream.events} == {"correlation_break"}


@four_seeds
def test_coordination_is_a_set_of_exchanges(seed):
    stream, clean = stream_of("coordination", seed), clean_of(seed)
    unmatched = list(stream.events)
    while unmatched:
        event = unmatched.pop(0)
        columns, length = columns_of(event), event.end - event.start
        middle = slice(20, length - 20) if length > 80 else slice(length // 4, -(length // 4))
        here = stream.values[event.start : event.end, columns][middle]
        partners = [
            other
            for other in unmatched
            if other.channels == event.channels
            and other.end - other.start == length
            and np.allclose(clean[other.start : other.end, columns][middle], here)
        ]
        assert len(partners) == 1
        unmatched.remove(partners[0])


@four_seeds
def test_coordination_shows_across_channels_but_not_within_one(seed):
    stream = stream_of("coordination", seed)
    train, test, labels = stream.train, stream.test, stream.test_labels
    assert roc_area(score_across_channels(train, test), labels) > 0.9
    for name, score in scores_within_channels(train, test).items():
        area = roc_area(score.mean(axis=1), labels)
        assert 0.38 < area < 0.62, name
        assert 0.38 < area_where_struck(score, stream) < 0.62, name


def test_what_is_seen_across_channels_is_the_exchange_and_not_the_moment():
    stream = stream_of("coordination", 2024)
    unplanted = score_across_channels(stream.train, clean_of(2024)[40_000:])
    assert 0.38 < roc_area(unplanted, stream.test_labels) < 0.62


def area_where_struck(score: np.ndarray, stream: Telemetry) -> float:
    """ROC area for a detector that is told which channel to watch, averaged over channels."""
    areas, weights = [], []
    for channel, name in enumerate(CHANNELS):
        labels = np.zeros(len(score), dtype=int)
        for event in stream.events:
            if name in event.channels:
                labels[event.start - stream.train_end : event.end - stream.train_end] = 1
        if labels.any():
            areas.append(roc_area(score[:, channel], labels))
            weights.append(labels.sum())
    return float(np.average(areas, weights=weights))


@four_seeds
def test_the_seams_of_an_exchange_are_no_rarer_than_ordinary_steps(seed):
    stream = stream_of("coordination", seed)
    surprise = scores_within_channels(stream.train, stream.test)["autoregression"]
    ranks = surprise.argsort(axis=0).argsort(axis=0) / len(surprise)
    seams = [
        ranks[at - stream.train_end, columns_of(event)].mean()
        for event in stream.events
        for at in (event.start, event.end)
    ]
    assert np.mean(seams) < 0.6  # 0.5 for an ordinary step
