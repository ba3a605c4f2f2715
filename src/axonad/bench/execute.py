"""``execute(job) -> Row``: run one job in this process; a failure becomes a row as well."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from axonad.bench import detection, sources
from axonad.bench.evaluation import error_row, evaluate_detection
from axonad.bench.job import Job
from axonad.bench.row import Row
from axonad.bench.sources import LoadedSeries
from axonad.errors import FileError


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Where jobs run and within which limits; nothing here changes a score."""

    device: str | None = None  # for detectors with this parameter; None: the default of each
    scores: str | None = None  # folder in which scores are saved, and looked for before fitting
    time_limit: float | None = None  # seconds per job
    memory_limit: float | None = None  # MiB per job


def execute(job: Job, setting: Setting | None = None, *, series: LoadedSeries | None = None) -> Row:
    """Return the row of a job: its metrics and cost, or a failure status and the reason.

    ``series`` is the job's series if the caller has already loaded it.
    """
    setting = setting or Setting()
    try:
        series = job.divide(series or sources.load(job.series))
        found, note = _detection(job, series, setting)
        return evaluate_detection(job, series, found, note=note)
    except Exception as error:  # any exception of a detector or a file becomes a failure row
        return error_row(job, error)


def _detection(job: Job, series: LoadedSeries, setting: Setting) -> tuple[detection.Detection, str]:
    """Return saved scores of the same fit on the same data, or new ones; and a note for the row."""
    folder = None if setting.scores is None else Path(setting.scores) / job.fit_key
    saved = None if folder is None else detection.read(folder)
    if saved is not None and saved.fingerprint == series.fingerprint:
        return saved, ""
    found = detection.detect(job, series, device=setting.device)
    try:
        if folder is not None:
            detection.save(found, folder)
    except (FileError, ValueError) as error:  # the metrics are valid without the file
        return found, f"scores could not be saved: {error}"
    return found, ""
