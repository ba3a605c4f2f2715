"""The combined score against its two parts, series by series.

Some lines are over the series on which one part is better. Only labels tell which these are, so
the lines describe results; they are not a rule for choosing a part.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from axonad.bench.row import Row
from axonad.errors import InputError
from axonad.report.quality import DETECTOR, SERIES
from axonad.report.results_grid import FloatArray, check_rows, collect
from axonad.report.statistics import bootstrap_interval, wilcoxon_p
from axonad.report.table import Cell, Column, Line, Table

PARTS = ("d_rec", "d_q")
CLEAR = 0.01  # VUS-PR; smaller differences count as level


def combination_table(rows: Iterable[Row]) -> Table:
    """Return VUS-PR of the score and of both parts, and how often the score beats them.

    The lines are over all series, those on which d_rec or d_q is ahead, and each data set.
    """
    kept = [row for row in check_rows(rows) if not row.is_ok or set(PARTS) <= set(row.parts)]
    if not any(row.is_ok for row in kept):
        raise InputError(f"no row has the parts {' and '.join(PARTS)}; AxonAD's rows have them")
    score = collect(kept, metric="VUS-PR")
    rec, query = (collect(kept, metric=f"VUS-PR {part}") for part in PARTS)
    lines: list[Line] = []
    for i, name in enumerate(score.names):
        values = np.stack([score.values[i], rec.values[i], query.values[i]])
        present = ~np.isnan(values).any(axis=0)
        of = np.array(score.datasets)[present]
        lines += [(name, *_line(*group)) for group in _groups(values[:, present], of)]
    return Table(
        title="VUS-PR of the score against its parts, series by series",
        columns=(
            DETECTOR, Column(heading="series of", style="text"), SERIES,
            *(Column(heading=heading) for heading in ("score", *PARTS, "better part")),
            Column(heading="score − d_rec", style="signed"),
            Column(heading="95 % interval", style="interval"),
            Column(heading="Wilcoxon p", style="p"),
            *(
                Column(heading=heading, style="count")
                for heading in ("above both", "level with d_rec", "below d_rec")
            ),
        ),
        rows=tuple(lines),
        notes=(
            score.setting,
            "Means over series. Better part: whichever is better on each series, which only labels "
            f"tell. Above, below: by more than {CLEAR}; level: within it. Interval: bootstrap of "
            "the mean difference.",
        ),
    )  # fmt: skip


def _groups(values: FloatArray, datasets: NDArray[np.str_]) -> Iterator[tuple[str, FloatArray]]:
    """Yield the name of each line and the values of its series."""
    _, rec, query = values
    yield "all", values
    for name, ahead in (("d_rec ahead", rec >= query), ("d_q ahead", query > rec)):
        if ahead.any():
            yield name, values[:, ahead]
    names = np.unique(datasets)
    for name in names if names.size > 1 else ():
        yield str(name), values[:, datasets == name]


def _line(name: str, values: FloatArray) -> Line:
    score, rec, query = values
    better = np.maximum(rec, query)
    gain = score - rec
    several = gain.size > 1
    return (
        name, gain.size, *(float(side.mean()) for side in (*values, better)), float(gain.mean()),
        Cell(None, bootstrap_interval(gain) if several else (math.nan, math.nan)),
        wilcoxon_p(gain) if several else math.nan,
        *(int(mask.sum()) for mask in (score > better + CLEAR, abs(gain) <= CLEAR, gain < -CLEAR)),
    )  # fmt: skip
