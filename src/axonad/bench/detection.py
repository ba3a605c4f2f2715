"""A detection: a detector's scores on one series and their cost, before any metric is computed.

Saved to disk (``--keep-scores``), it lets metrics be computed again without another fit.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad import __version__, modelfile
from axonad.bench import machine
from axonad.bench.event_alarms import training_policy
from axonad.bench.job import Job
from axonad.bench.sources import LoadedSeries
from axonad.data.frames import Matrix
from axonad.detector import Detector
from axonad.errors import FileError
from axonad.extras import is_installed

KIND = "axonad-detection"
FORMAT = modelfile.FORMAT
FILES = ("detection.json", "scores.safetensors")
Scores = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Detection:
    """Scores of the steps from ``scored_from`` on, their parts, the threshold, and the cost."""

    scores: Scores
    parts: dict[str, Scores]
    threshold: float
    window: int
    scaling: str
    align: str
    fit_seconds: float
    score_seconds: float
    memory_mb: float | None
    device_memory_mb: float | None
    device: str
    threads: int | None
    packages: str
    fingerprint: str
    version: str
    commit: str
    end_is_shift: bool = True  # see axonad.detector
    policy: Mapping[str, Any] | None = None  # of its events, see axonad.bench.event_alarms


def detect(job: Job, series: LoadedSeries, *, device: str | None = None) -> Detection:
    """Fit the job's detector and score its series."""
    detector = job.make_detector(device=device)
    used = _device(detector)
    machine.reset_device_memory(used)
    with machine.PeakMemory() as memory:
        started = time.perf_counter()
        detector.fit(training_rows(job, series))
        seconds = time.perf_counter() - started
        detection = score(series, detector, fit_seconds=seconds)
    device_memory = machine.device_memory(used)
    return replace(detection, memory_mb=memory.mb, device_memory_mb=device_memory)


def training_rows(job: Job, series: LoadedSeries) -> Matrix:
    """Return the rows the job's detector is fitted on."""
    if job.trained_on == "series":
        return series.values[series.scored_from :]
    return series.values[: series.train_steps]


def score(series: LoadedSeries, detector: Detector, *, fit_seconds: float) -> Detection:
    """Score a series with a fitted detector; memory is not measured."""
    started = time.perf_counter()
    found = detector.explain(series.values[series.scored_from :], blame=False)
    times = fit_seconds, time.perf_counter() - started
    return record(series, detector, found.scores, found.components, times=times)


def record(
    series: LoadedSeries,
    detector: Detector,
    scores: Scores,
    parts: dict[str, Scores],
    *,
    times: tuple[float, float],
) -> Detection:
    """Return the detection of given scores; ``times`` are the seconds to fit and to score."""
    return Detection(
        scores=scores,
        parts=parts if len(parts) > 1 else {},
        threshold=detector.threshold_,
        window=detector.history,
        scaling=str(getattr(detector, "scaling", "")),
        align=str(getattr(detector, "align", "")),
        fit_seconds=round(times[0], 4),
        score_seconds=round(times[1], 4),
        memory_mb=None,
        device_memory_mb=None,
        device=machine.describe_device(_device(detector)),
        threads=_threads(detector),
        packages=machine.packages(),
        fingerprint=series.fingerprint,
        version=__version__,
        commit=machine.commit(),
        end_is_shift=detector.end_is_shift,
        policy=training_policy(detector),
    )


def save(detection: Detection, folder: Path) -> None:
    """Write a detection to ``folder``, replacing an earlier one."""
    fields = dict(vars(detection))
    arrays = {"scores": fields.pop("scores")}
    arrays |= {f"part.{name}": part for name, part in fields.pop("parts").items()}
    document = {"kind": KIND, "format": FORMAT, "detection": fields}
    modelfile.write(folder, names=FILES, document=document, arrays=arrays, overwrite=True)


def read(folder: Path) -> Detection | None:
    """Return the detection saved in a folder; None if missing, damaged or of another version."""
    try:
        document, arrays = modelfile.read(folder, names=FILES, kind=KIND, newest=FORMAT)
        parts = {k.removeprefix("part."): v for k, v in arrays.items() if k.startswith("part.")}
        return Detection(scores=arrays["scores"], parts=parts, **document["detection"])
    except (FileError, KeyError, TypeError):
        return None


def _device(detector: Detector) -> str:
    """Return the device a detector runs on; those without a ``device`` parameter use the CPU."""
    wanted = getattr(detector, "device", None)
    if wanted is None or not is_installed("torch"):
        return "cpu"
    from axonad.torch_runtime.device import resolve_device

    return str(resolve_device(wanted))


def _threads(detector: Detector) -> int | None:
    if not hasattr(detector, "device") or not is_installed("torch"):
        return None
    import torch

    return int(torch.get_num_threads())
