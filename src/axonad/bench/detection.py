"""A detection: the scores a detector gave and what they cost, before anybody judges them.

Kept on disk (``--keep-scores``), it lets metrics be computed again without another fit.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axonad import __version__, modelfile
from axonad.bench.job import Job
from axonad.bench.machine import (
    PeakMemory,
    commit,
    describe_device,
    device_memory,
    packages,
    reset_device_memory,
)
from axonad.bench.sources import Subject
from axonad.data.frames import Matrix
from axonad.detector import Detector
from axonad.errors import ConfigError, FileError

KIND = "axonad-detection"
FORMAT = 1
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


def detect(job: Job, subject: Subject, *, device: str | None = None) -> Detection:
    """Fit the job's detector and score its series."""
    detector = make(job, device=device)
    place = _place(detector)
    reset_device_memory(place)
    with PeakMemory() as memory:
        started = time.perf_counter()
        detector.fit(training_part(job, subject))
        seconds = time.perf_counter() - started
        found = score(job, subject, detector, fit_seconds=seconds)
    return replace(found, memory_mb=memory.mb, device_memory_mb=device_memory(place))


def make(job: Job, *, device: str | None) -> Detector:
    """Return the job's detector, unfitted; refuse one that its protocol does not allow."""
    detector = job.make(device=device)
    if job.protocol.name == "causal" and not detector.is_causal:
        raise ConfigError(f"{detector!r} is not causal; run it under protocol parity")
    return detector


def training_part(job: Job, subject: Subject) -> Matrix:
    """Return what the job's detector learns from."""
    if job.trained_on == "series":
        return subject.values[subject.scored_from :]
    return subject.values[: subject.train_steps]


def score(job: Job, subject: Subject, detector: Detector, *, fit_seconds: float) -> Detection:
    """Score the job's series with its fitted detector."""
    started = time.perf_counter()
    found = detector.explain(subject.values[subject.scored_from :], blame=False)
    seconds = time.perf_counter() - started
    return Detection(
        scores=found.scores,
        parts=found.components if len(found.components) > 1 else {},
        threshold=found.threshold,
        window=detector.history,
        scaling=str(getattr(detector, "scaling", "")),
        align=str(getattr(detector, "align", "")),
        fit_seconds=round(fit_seconds, 4),
        score_seconds=round(seconds, 4),
        memory_mb=None,
        device_memory_mb=None,
        device=describe_device(_place(detector)),
        threads=_threads(detector),
        packages=packages(),
        fingerprint=subject.fingerprint,
        version=__version__,
        commit=commit(),
    )


def save(detection: Detection, folder: Path) -> None:
    """Write a detection into a folder of its own."""
    values: dict[str, Any] = {
        name: getattr(detection, name)
        for name in Detection.__dataclass_fields__
        if name not in ("scores", "parts")
    }
    arrays = {"scores": detection.scores}
    arrays |= {f"part.{name}": part for name, part in detection.parts.items()}
    modelfile.write(
        folder,
        names=_files(),
        document={"kind": KIND, "format": FORMAT, "detection": values},
        arrays=arrays,
        overwrite=True,
    )


def read(folder: Path) -> Detection | None:
    """Return the detection kept in a folder, or None where there is no whole one."""
    try:
        document, arrays = modelfile.read(folder, names=_files(), kind=KIND, newest=FORMAT)
        parts = {k.removeprefix("part."): v for k, v in arrays.items() if k.startswith("part.")}
        return Detection(scores=arrays["scores"], parts=parts, **document["detection"])
    except (FileError, KeyError, TypeError):  # none, a damaged one, or one of another version
        return None


def _files() -> tuple[str, str]:
    return "detection.json", "scores.safetensors"


def _place(detector: Detector) -> str:
    """Return the device a detector will run on."""
    wanted = getattr(detector, "device", None)
    if wanted is None:
        return "cpu"
    from axonad.torch_runtime.device import resolve_device

    return str(resolve_device(wanted))


def _threads(detector: Detector) -> int | None:
    if not hasattr(detector, "device"):
        return None
    import torch

    return int(torch.get_num_threads())
