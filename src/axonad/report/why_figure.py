"""The figure of one explained event: what channels were over what they should have been."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from axonad.explain import BrokenRelation, Course, Why
from axonad.report import drawing
from axonad.report.drawing import new_figure, save_figure, trim_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_COURSES = 4
LINE = 110  # characters of a line of the title


def draw_why(path: Path, why: Why, *, title: str = "") -> None:
    """Draw the courses of an event beside its first broken relation, to PNG, SVG or PDF.

    The band is what held-out training rows seldom leave; the rows of the fault are shaded. The
    scatter plot shows predicted and actual values in training and now. Names are drawn as they are.
    """
    courses = why.courses[:MOST_COURSES]
    count = max(len(courses), 2)
    figure, grid = new_figure(
        path, count, 2, figsize=(11, 1.5 * count + 0.8), width_ratios=[2.2, 1], squeeze=False
    )
    for axis, course in zip(grid[:, 0], courses, strict=False):
        _draw_course(axis, course, why)
    for axis in grid[len(courses) :, 0]:
        axis.remove()
    if courses:
        grid[0, 0].legend(
            fontsize=7, loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False
        )
        grid[len(courses) - 1, 0].set_xlabel("row", fontsize=8)
    for axis in grid[:, 1]:
        axis.remove()
    if why.relations:
        _draw_relation(figure.add_subplot(grid[0, 0].get_gridspec()[:, 1]), why.relations[0])
    figure.suptitle(_plain(textwrap.fill(title or why.sentence, LINE)), fontsize=9)
    save_figure(figure, path)


def _draw_course(axis: Axes, course: Course, why: Why) -> None:
    rows = course.start + np.arange(len(course.actual))
    axis.axvspan(why.rows[0] - 0.5, why.rows[1] - 0.5, color=drawing.LABELLED, alpha=0.2, lw=0)
    axis.fill_between(rows, course.low, course.high, color=drawing.BLUE, alpha=0.2, lw=0)
    axis.plot(rows, course.expected, color=drawing.BLUE, lw=1, label="expected, with band")
    axis.plot(rows, course.actual, color=drawing.SCORE, lw=1, label="actual")
    axis.set_ylabel(_plain(textwrap.shorten(course.channel, 30)), fontsize=7)
    trim_axis(axis, labelsize=7)


def _draw_relation(axis: Axes, relation: BrokenRelation) -> None:
    dot: dict[str, Any] = {"s": 7, "lw": 0}
    axis.scatter(
        relation.then_predicted, relation.then_actual, color=drawing.GRAY, label="training", **dot
    )
    axis.scatter(
        relation.now_predicted, relation.now_actual, color=drawing.ALARM, label="event", **dot
    )
    axis.set_title(_plain(textwrap.fill(relation.words, 40)), fontsize=8)
    axis.set_xlabel("predicted", fontsize=8)
    axis.set_ylabel("actual", fontsize=8)
    axis.legend(fontsize=7, frameon=False)
    trim_axis(axis, labelsize=7)


def _plain(text: str) -> str:
    """Return text that matplotlib does not take for mathematics."""
    return text.replace("$", r"\$")
