"""``execute(job) -> Row``: runs anywhere, never raises for what a job did wrong."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from axonad.bench import detection
from axonad.bench.job import Job
from axonad.bench.judge import failure, judge
from axonad.bench.row import Row
from axonad.bench.sources import Subject, load
from axonad.errors import FileError, is_out_of_memory


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Where and within what limits jobs run; none of it changes a score.

    Parameters
    ----------
    device
        For detectors that have the choice; None leaves each its own.
    scores
        Folder in which scores are kept, and looked for before fitting; None keeps none.
    time_limit, memory_limit
        Seconds and MiB a job may take; None for no limit.
    """

    device: str | None = None
    scores: str | None = None
    time_limit: float | None = None
    memory_limit: float | None = None


def execute(job: Job, setting: Setting | None = None, *, subject: Subject | None = None) -> Row:
    """Return the row of a job: metrics and cost, or a status and the reason why there are none."""
    setting = setting or Setting()
    try:
        subject = subject or load(job.series)
        found, note = _detection(job, subject, setting)
        return judge(job, subject, found, note=note)
    except Exception as error:  # any failure of a job is a result, with its reason
        status = "memory" if is_out_of_memory(error) else "failed"
        return failure(job, status=status, reason=f"{type(error).__name__}: {error}")


def _detection(job: Job, subject: Subject, setting: Setting) -> tuple[detection.Detection, str]:
    """Return kept scores of the same fit on the same content, or new ones; and what went wrong."""
    folder = None if setting.scores is None else Path(setting.scores) / job.fit_key
    kept = None if folder is None else detection.read(folder)
    if kept is not None and kept.fingerprint == subject.fingerprint:
        return kept, ""
    found = detection.detect(job, subject, device=setting.device)
    if folder is None:
        return found, ""
    try:
        detection.save(found, folder)
    except (FileError, ValueError) as error:  # the result stands without its file
        return found, f"scores could not be kept: {error}"
    return found, ""
