"""Evaluation cases both sides rebuild bit for bit: random ones from a seed, real ones from files.

Only numpy is needed, so the reference environment can import this file. Scores use nothing but
`RandomState.random_sample`, `randint`, and single IEEE operations per element, which every numpy
version computes alike.
"""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

RANDOM_CASES = 350
ARCHIVE = "TSB-AD-M-dev.zip"

# name, rows to use (None = the whole series), kind of score
REAL_CASES = [
    ("002_MSL_id_1_Sensor_tr_500_1st_900", None, "change"),
    ("004_MSL_id_3_Sensor_tr_530_1st_630", None, "distance"),
    ("006_MSL_id_5_Sensor_tr_1150_1st_1250", None, "change"),
    ("008_MSL_id_7_Sensor_tr_656_1st_1630", None, "change"),
    ("010_MSL_id_9_Sensor_tr_554_1st_1172", None, "distance"),
    ("012_MSL_id_11_Sensor_tr_539_1st_940", None, "change"),
    ("016_MSL_id_15_Sensor_tr_500_1st_780", None, "distance"),
    ("018_Daphnet_id_1_HumanActivity_tr_9693_1st_20732", None, "change"),
    ("144_SMAP_id_1_Sensor_tr_2052_1st_5300", None, "distance"),
    ("148_SMAP_id_5_Sensor_tr_2011_1st_5060", None, "change"),
    ("156_SMAP_id_13_Sensor_tr_1173_1st_2750", None, "distance"),
    ("166_SMAP_id_23_Sensor_tr_1113_1st_1890", None, "change"),
    ("088_SVDB_id_5_Medical_tr_500_1st_168", 15_000, "change"),
    ("098_SVDB_id_15_Medical_tr_500_1st_303", 15_000, "distance"),
]


class EvaluationCase(NamedTuple):
    scores: np.ndarray
    labels: np.ndarray
    alarms: np.ndarray
    window: int

    def fingerprint(self) -> int:
        parts = (self.scores.astype("<f8"), self.labels.astype("i1"), self.alarms.astype("i1"))
        return zlib.crc32(b"".join(part.tobytes() for part in parts))


def random_case(seed: int) -> EvaluationCase:
    rng = np.random.RandomState(seed)
    labels = _many_events(rng, seed) if seed < 10 else _labels(rng)
    scores = _scores(rng, labels)
    if seed < 10 and labels.size > 1000:  # few alarms, or the reference takes hours
        scores = np.where(rng.randint(0, labels.size, labels.size) < 60, scores, scores.min())
    return EvaluationCase(scores, labels, _alarms(rng, scores, labels), _window(rng, seed))


def _many_events(rng: np.random.RandomState, seed: int) -> np.ndarray:
    count = (2000, 1000, 500, 200, 1500, 700, 300, 100, 2000, 60)[seed]
    gaps, lengths = rng.randint(1, 4, count), rng.randint(1, 3, count)
    values = np.tile([0, 1], count)
    return np.repeat(values, np.stack([gaps, lengths], axis=1).ravel())


def _window(rng: np.random.RandomState, seed: int) -> int:
    if seed < 10:
        return (2, 5, 12, 40, 0, 9, 20, 60, 1, 100)[seed]
    if seed == 17:
        return 300
    if seed % 17 == 0:
        return int(rng.randint(150, 301))
    if seed % 7 == 0:
        return int(rng.randint(0, 4))
    return int(rng.randint(0, 61))


def _labels(rng: np.random.RandomState) -> np.ndarray:
    size = int(rng.randint(12, 60) if rng.randint(3) == 0 else rng.randint(60, 400))
    labels = np.zeros(size, dtype=np.int64)
    longest = (1, 2, 8, 40)[rng.randint(4)]
    for _ in range(rng.randint(1, 12)):
        start = rng.randint(0, size)
        stop = start + rng.randint(1, longest + 1)
        labels[start:stop] = 1
        if rng.randint(3) == 0:  # a neighbour, one normal step away
            labels[stop + 1 : stop + 1 + rng.randint(1, longest + 1)] = 1
            labels[stop : stop + 1] = 0
    if rng.randint(4) == 0:
        labels[: rng.randint(1, 4)] = 1
    if rng.randint(4) == 0:
        labels[-rng.randint(1, 4) :] = 1
    middle = size // 2
    labels[middle], labels[middle + 1] = 1, 0
    return labels


def _scores(rng: np.random.RandomState, labels: np.ndarray) -> np.ndarray:  # noqa: PLR0911
    noise = rng.random_sample(labels.size)
    kind = rng.randint(10)
    if kind == 0:
        return noise
    if kind == 1:
        return np.full(labels.size, noise[0])
    if kind == 2:
        return np.floor(noise * rng.randint(2, 6))
    if kind == 3:
        return labels.astype(np.float64)
    if kind == 4:
        return np.floor((noise + labels * 0.5) * rng.randint(3, 30)) * -0.125
    if kind == 5:
        return (noise + labels) * 1e6 - 7e5
    if kind == 6:  # near misses: the score runs ahead of or behind the event
        return noise * 0.5 + np.roll(labels, rng.randint(-6, 7))
    if kind == 7:
        return noise * noise * noise * noise * (1 + labels * rng.randint(1, 5))
    if kind == 8:
        return np.where(noise < 0.1, 1.0, 0.0)
    return noise + labels * rng.random_sample()


def _alarms(  # noqa: PLR0911
    rng: np.random.RandomState, scores: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    noise = rng.random_sample(labels.size)
    kind = rng.randint(12)
    if kind == 0:
        return np.zeros(labels.size, dtype=np.int64)
    if kind == 1:
        return np.ones(labels.size, dtype=np.int64)
    if kind == 2:
        return labels.copy()
    if kind == 3:
        return np.roll(labels, rng.randint(-5, 6))
    if kind == 4:
        return 1 - labels
    if kind < 8:
        return (noise < rng.random_sample()).astype(np.int64)
    middle = np.sort(scores)[int(scores.size * (0.5 + 0.5 * rng.random_sample()))]
    return (scores > middle).astype(np.int64)


def data_archive() -> Path:
    """Where the series are: AXONAD_DATA, or shared/data beside the repository."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    return Path(os.environ.get("AXONAD_DATA", beside)) / ARCHIVE


def read_series(name: str, rows: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return values and labels of a series, rows with gaps dropped."""
    with zipfile.ZipFile(data_archive()) as archive:
        text = archive.read(f"TSB-AD-M/{name}.csv").decode()
    table = np.loadtxt(io.StringIO(text), delimiter=",", skiprows=1, max_rows=rows, ndmin=2)
    table = table[~np.isnan(table).any(axis=1)]
    return table[:, :-1], table[:, -1].astype(np.int64)


def real_case(values: np.ndarray, labels: np.ndarray, kind: str, window: int) -> EvaluationCase:
    """Score by the sum over channels of the change per step, or of the distance from the start."""
    scores = np.zeros(labels.size)
    for channel in values.T:
        if kind == "change":
            scores[1:] += np.abs(channel[1:] - channel[:-1])
        else:
            scores += np.abs(channel - channel[0])
    threshold = np.sort(scores)[int(0.97 * scores.size)]
    return EvaluationCase(scores, labels, (scores > threshold).astype(np.int64), window)


def random_channel(seed: int) -> np.ndarray:
    """A channel for the window rules: a saw tooth of some period, with noise."""
    rng = np.random.RandomState(seed)
    size = int(rng.randint(30, 3000))
    period = int(rng.randint(2, 380))
    wave = (np.arange(size) % period) / period
    channel = wave + rng.random_sample(size) * (0.02, 0.2, 1.0)[rng.randint(3)]
    return channel if seed % 10 else np.full(size, 0.25)
