"""Table of the events that a person would have been told of, after training, by detector."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from axonad.alarms.budget import Rate
from axonad.bench.event_alarms import BUDGET
from axonad.bench.row import Row
from axonad.errors import InputError
from axonad.report.quality import DETECTOR, SERIES, best_first
from axonad.report.results_grid import check_rows, collect_with, describe, line_names
from axonad.report.statistics import Summary, summarise_grid
from axonad.report.table import Cell, Column, Line, Table

PERIOD = 10_000  # steps
COLUMNS = (
    DETECTOR,
    Column(heading="faults found"),
    Column(heading="found by threshold"),
    Column(heading="false events per 10,000", digits=2),
    Column(heading="95 % interval", style="interval", digits=2),
    Column(heading="normal steps in alarm"),
    Column(heading="normal steps above threshold"),
    Column(heading="median delay", digits=1),
    SERIES,
)


def has_events(row: Row) -> bool:
    """Whether a row knows the events of an alarm policy."""
    return "event_found" in row.alarms


def event_table(rows: Iterable[Row]) -> Table:
    """Return means over series of what events find and cost, and the plain threshold beside."""
    kept = [row for row in check_rows(rows) if has_events(row)]
    if not kept:
        raise InputError("no row has events; rows of earlier versions do not, run them again")

    def summaries_of(value: Callable[[Row], float | None]) -> list[Summary]:
        return summarise_grid(collect_with(kept, value=value))

    found = summaries_of(lambda row: _share(row, "event_found"))
    by_rule = summaries_of(lambda row: _share(row, "rule_found"))
    normal, above, delay = (
        summaries_of(lambda row, name=name: row.alarms.get(name))  # type: ignore[misc]
        for name in ("event_normal_share", "rule_normal_share", "event_delay")
    )
    rates = _false_rates(kept)
    lines: list[Line] = [
        (
            found[i].name, found[i].mean, by_rule[i].mean, rates[found[i].name].value,
            Cell(None, rates[found[i].name].interval), normal[i].mean, above[i].mean,
            delay[i].mean, found[i].series,
        )
        for i in best_first([summary.mean for summary in found])
    ]  # fmt: skip
    return Table(
        title="Events of the alarm policy on the rows after training: means over series",
        columns=COLUMNS,
        rows=tuple(lines),
        notes=(
            describe(kept),
            f"The policy is calibrated on training scores alone, with a budget of {BUDGET}. A "
            "false event touches no fault; its rate is that of all series together, with the exact "
            "Poisson interval. By threshold: the same for scores above the detector's own "
            "threshold, without a policy. Delay: steps from a fault's start to its first alarm.",
        ),
    )


def _share(row: Row, name: str) -> float | None:
    faults = row.alarms["faults"]
    return row.alarms[name] / faults if faults else None


def _false_rates(rows: Iterable[Row]) -> dict[str, Rate]:
    """Return the rate of false events of each line over all its series."""
    kept = list(rows)
    naming = line_names(kept)
    events: dict[str, float] = defaultdict(float)
    steps: dict[str, float] = defaultdict(float)
    for row in kept:
        name = naming[row.label, row.protocol]
        events[name] += row.alarms["event_false"]
        steps[name] += row.alarms["normal_steps"]
    return {
        name: Rate.of(int(events[name]), steps=int(steps[name]), period=PERIOD) for name in events
    }
