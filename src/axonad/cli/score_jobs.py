"""What ``axonad score`` is asked to do: which files, where their results go, how they are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from axonad.cli.event_files import EVENT_ENDINGS
from axonad.cli.output_files import TABLE_ENDINGS, check_output
from axonad.cli.recording_files import RECORDING_ENDINGS
from axonad.cli.several_files import outputs
from axonad.data.frames import Names
from axonad.data.holding import SeriesFiller
from axonad.report.drawing import check_format


@dataclass(frozen=True)
class ScoreJob:
    """A file to score and the files its results go to."""

    data: Path
    target: Path
    figure: Path | None
    events: Path | None

    @property
    def outputs(self) -> list[Path]:
        """The files that are written."""
        return [path for path in (self.target, self.figure, self.events) if path is not None]

    @property
    def is_recording(self) -> bool:
        """Whether the channels are written beside the scores, as a recording."""
        return self.target.suffix.lower() in RECORDING_ENDINGS

    def check(self, *, force: bool) -> None:
        """Raise if a result cannot be written."""
        endings = (*TABLE_ENDINGS, *RECORDING_ENDINGS)
        check_output(self.target, force=force, inputs=[self.data], endings=endings)
        if self.events is not None:
            inputs = [self.data, self.target]
            check_output(self.events, force=force, inputs=inputs, endings=EVENT_ENDINGS)
        if self.figure is not None:
            check_format(self.figure)
            check_output(self.figure, force=force, inputs=[self.data])


class Reading(NamedTuple):
    """How files are read."""

    columns: dict[str, Any]
    known: Names  # channels to keep, None for all
    explain: bool  # whether events are explained
    filler: Callable[[], SeriesFiller | None]
    keep_all: bool = False  # whether all events are kept, not the strongest only


def plan_jobs(
    paths: list[Path], target: Path, figure: Path | None, events: Path | None
) -> list[ScoreJob]:
    """Return what to score and where to write it; the results of several files go to folders."""
    if len(paths) == 1:
        return [ScoreJob(paths[0], target, figure, events)]
    none = [None] * len(paths)
    figures = none if figure is None else outputs(figure, paths, ending=".png")
    listed = none if events is None else outputs(events, paths, ending=".json")
    tables = outputs(target, paths)
    return [ScoreJob(*job) for job in zip(paths, tables, figures, listed, strict=True)]
