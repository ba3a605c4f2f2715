"""The transfer check as a table and as a picture of all distances."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from axonad.errors import InputError
from axonad.paper.published import paper_transfer
from axonad.paper.transfer.check import Transfer
from axonad.report.figures import check_format, load_pyplot, save_figure
from axonad.report.table import Column, Line, Table

UNUSUAL = 3  # features named per target


FOUND = (
    Column(heading="Mahalanobis percentile", digits=1),
    Column(heading="neighbour percentile", digits=1),
    Column(heading="nearest", style="text"),
    Column(heading="most unusual (z)", style="text"),
)


def transfer_table(found: Sequence[Transfer], *, among: str, by: str) -> Table:
    """Return how ordinary every target is among the others, and what is unusual about it."""
    if not found:
        raise InputError("there is no target to compare")
    lines = []
    for one in found:
        odd = list(one.z.items())[:UNUSUAL]
        unusual = ", ".join(f"{name} {value:+.1f}" for name, value in odd)
        lines.append(
            (one.target, one.mahalanobis_percentile, one.neighbour_percentile, one.nearest, unusual)
        )
    others = len(found[0].ranking) - 1
    return Table(
        title=f"Transfer: training segments against {others} of {among} (by {by})",
        columns=(Column(heading="target", style="text"), *FOUND),
        rows=tuple(lines),
        notes=(
            "Percentile: share of the others at a smaller distance; 0 is the most ordinary, 100 "
            "the strangest. Leave-one-out Mahalanobis distance and distance to the nearest "
            "neighbour in z-scored summary features (scale, shape, autocorrelation, spectrum).",
        ),
    )


def paper_transfer_table(found: Sequence[tuple[str, Transfer]]) -> Table:
    """Return where the paper's stream lies, and where ours do among what we have of TSB-AD."""
    published = paper_transfer()
    lines: list[Line] = [
        ("paper's stream", "TSB-AD", None, published["mahalanobis"], published["neighbour"], "", "")
    ]
    for among, one in found:
        odd = ", ".join(f"{name} {value:+.1f}" for name, value in list(one.z.items())[:UNUSUAL])
        lines.append(
            (
                one.target, among, len(one.ranking) - 1, one.mahalanobis_percentile,
                one.neighbour_percentile, one.nearest, odd,
            )
        )  # fmt: skip
    return Table(
        title="Transfer check: training segments compared without labels, the paper's and ours",
        columns=(
            Column(heading="target", style="text"), Column(heading="among", style="text"),
            Column(heading="others", style="count"), *FOUND,
        ),
        rows=tuple(lines),
        notes=(
            "Percentile: share of the others at a smaller distance; 0 is the most ordinary, 100 "
            "the strangest. The paper lists neither its features nor the segments it compares "
            "with; 45 and 55 are whole numbers of 20, as many as it has tuning series.",
        ),
    )  # fmt: skip


def draw_transfer(path: Path, *, found: Transfer, among: str) -> None:
    """Draw both distances of every data set, sorted, with the target marked."""
    check_format(path)
    plt = load_pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    measures = (
        ("Mahalanobis distance, leave one out", "mahalanobis", found.mahalanobis_percentile),
        ("distance to the nearest neighbour", "neighbour_distance", found.neighbour_percentile),
    )
    for axis, (text, name, percentile) in zip(axes, measures, strict=True):
        places = sorted(found.ranking, key=lambda place: float(getattr(place, name)))
        values = np.array([getattr(place, name) for place in places])
        target = [place.name for place in places].index(found.target)
        axis.plot(values, np.arange(len(values)), "o", color="#999999", markersize=4)
        axis.plot(values[target], target, "D", color="#D55E00", markersize=8)
        axis.annotate(
            f"{found.target}\npercentile {percentile:.0f}", (values[target], target),
            xytext=(8, -4), textcoords="offset points", fontsize=8, va="top",
        )  # fmt: skip
        axis.set_xlim(0, 1.35 * float(values.max()))
        axis.set_xlabel(text, fontsize=9)
        axis.set_ylabel("place, ordinary to strange", fontsize=9)
    figure.suptitle(f"{found.target} among {len(found.ranking) - 1} of {among}", fontsize=10)
    save_figure(figure, path)
