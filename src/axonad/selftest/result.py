"""The result of a self-test: which faults would be caught, how soon, and the false alarms."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from axonad.errors import InputError

if TYPE_CHECKING:
    import polars as pl

NEEDED = 0.9  # share of plantings that must be found


@dataclass(frozen=True, kw_only=True)
class Row:
    """Faults of one kind and size in one channel."""

    channel: str
    kind: str
    size: float | None  # in units of the channel; None for kinds without a size
    plantings: int
    found: int  # at this size and at every larger one
    median_delay: float | None  # of those found, in rows; None if none was

    @property
    def is_found(self) -> bool:
        """Whether at least 90 % of the plantings were found."""
        return self.plantings > 0 and self.found >= NEEDED * self.plantings


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Faults of one kind in one channel, over all sizes."""

    channel: str
    kind: str
    plantings: int  # of each size; 0 where no place was found
    is_found: bool  # at least 90 % of the plantings of some size
    smallest: float | None  # the smallest such size; None for kinds without a size
    share: float | None  # share found, of the largest size
    median_delay: float | None  # in rows, at the smallest size found, else at the largest


@dataclass(frozen=True, kw_only=True)
class SelfTest:
    """What a detector would have caught of the faults planted into a normal recording.

    ``str()`` gives a few plain lines. ``rows`` has a row for each channel, kind and size.
    """

    detector: str
    threshold: float
    history: int
    channels: tuple[str, ...]
    kinds: tuple[str, ...]
    sizes: tuple[float, ...]
    units: Mapping[str, float]  # what one unit is, by channel
    durations: tuple[int, int]  # rows of the shortest and longest fault
    repeats: int
    seed: int
    rows: tuple[Row, ...]
    recording_rows: int
    scored_rows: int
    alarm_rows: int  # of the scored rows, those in alarm before anything is planted
    false_alarms: int  # runs of such rows; short dips below the threshold do not end one
    interval: float | None  # seconds between rows; None without times

    @property
    def false_alarms_per_10000(self) -> float:
        """False alarms per 10,000 rows."""
        return 10_000 * self.false_alarms / self.scored_rows

    @property
    def false_alarms_per_hour(self) -> float | None:
        """False alarms per hour; None if the recording has no times."""
        if self.interval is None:
            return None
        return 3600 * self.false_alarms / (self.scored_rows * self.interval)

    @cached_property
    def cells(self) -> dict[tuple[str, str], Cell]:
        """The summary by channel and kind."""
        found: dict[tuple[str, str], list[Row]] = {}
        for row in self.rows:
            found.setdefault((row.channel, row.kind), []).append(row)
        return {key: _summarise(rows) for key, rows in found.items()}

    def cell(self, channel: str, kind: str) -> Cell:
        """Return the summary of one channel and kind."""
        if (channel, kind) not in self.cells:
            raise InputError(
                f"no faults of kind {kind!r} were planted in channel {channel!r}; channels: "
                f"{', '.join(self.channels)}; kinds: {', '.join(self.kinds)}"
            )
        return self.cells[channel, kind]

    def smallest(self, channel: str, kind: str) -> float | None:
        """Return the smallest size found in at least 90 % of plantings, as in all larger sizes.

        None if no size was, and for kinds without a size: see :meth:`cell`.
        """
        return self.cell(channel, kind).smallest

    def share(self, kind: str) -> float | None:
        """Return the share of plantings of a kind that were found, over all channels and sizes."""
        rows = [row for row in self.rows if row.kind == kind]
        planted = sum(row.plantings for row in rows)
        return sum(row.found for row in rows) / planted if planted else None

    @property
    def blind(self) -> tuple[Cell, ...]:
        """Channels and kinds of which less than 90 % are found, whatever the size."""
        return tuple(c for c in self.cells.values() if c.plantings and not c.is_found)

    def as_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON."""
        plain = {
            field.name: getattr(self, field.name) for field in fields(self) if field.name != "rows"
        }
        return plain | {
            "units": dict(self.units),
            "false_alarms_per_10000": self.false_alarms_per_10000,
            "false_alarms_per_hour": self.false_alarms_per_hour,
            "needed_share": NEEDED,
            "summary": [asdict(cell) for cell in self.cells.values()],
            "rows": [asdict(row) for row in self.rows],
        }

    def to_json(self) -> str:
        """Return everything as JSON text."""
        return json.dumps(self.as_dict(), indent=1) + "\n"

    def to_csv(self) -> str:
        """Return the rows as CSV text."""
        target = io.StringIO()
        writer = csv.DictWriter(target, [f.name for f in fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in self.rows)
        return target.getvalue()

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the result that :meth:`to_json` wrote; raise InputError for anything else."""
        try:
            document = json.loads(text)
            known = {field.name: document[field.name] for field in fields(cls)}
            for name in ("channels", "kinds", "sizes", "durations"):
                known[name] = tuple(known[name])
            known["rows"] = tuple(Row(**row) for row in known["rows"])
            made = cls(**known)
            str(made), made.blind  # fails if numbers are missing or of another type
            for channel, kind in ((c, k) for c in made.channels for k in made.kinds):
                made.cell(channel, kind)
        except (KeyError, TypeError, ValueError, IndexError, RecursionError) as error:
            raise InputError(
                f"this is not the JSON of a self-test ({type(error).__name__}: {error!s:.80}); "
                "expected the selftest.json that axonad selftest --out writes"
            ) from None
        return made

    def to_frame(self) -> pl.DataFrame:
        """Return the rows as a polars frame."""
        import polars as pl

        types = {"size": pl.Float64, "median_delay": pl.Float64}
        return pl.DataFrame([asdict(row) for row in self.rows], schema_overrides=types)

    def __str__(self) -> str:
        planted = [cell for cell in self.cells.values() if cell.plantings]
        count = sum(row.plantings for row in self.rows)
        lines = [
            f"{count} faults of {self.durations[0]} to {self.durations[1]} rows planted in "
            f"{self.recording_rows} rows, {self.repeats} of each kind and size in each channel",
            f"{len(planted) - len(self.blind)} of {len(planted)} combinations of channel and kind "
            f"found in at least {100 * NEEDED:.0f} % of plantings, up to {self.sizes[-1]:g} units",
            self.describe_false_alarms(),
        ]
        return "\n".join(lines)

    def describe_false_alarms(self) -> str:
        """Return the false alarms of the clean recording as one sentence."""
        many = "" if self.false_alarms == 1 else "s"
        hourly = self.false_alarms_per_hour
        return (
            f"{self.false_alarms} false alarm{many} in {self.scored_rows} clean rows "
            f"({self.false_alarms_per_10000:.1f} per 10,000 rows"
            + ("" if hourly is None else f", {hourly:.1f} per hour")
            + f"; {self.alarm_rows} rows in alarm)"
        )


def _summarise(rows: list[Row]) -> Cell:
    """Return the summary of the rows of one channel and kind, in ascending order of size."""
    best = rows[-1] if rows[-1].is_found else None
    for row in reversed(rows):
        if not row.is_found:
            break
        best = row
    top, shown = rows[-1], best or rows[-1]
    return Cell(
        channel=top.channel,
        kind=top.kind,
        plantings=top.plantings,
        is_found=best is not None,
        smallest=None if best is None else best.size,
        share=top.found / top.plantings if top.plantings else None,
        median_delay=shown.median_delay,
    )
