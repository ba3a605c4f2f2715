"""Tables of the transfer check: how ordinary a stream is among other training segments."""

from __future__ import annotations

from collections.abc import Sequence

from axonad.errors import InputError
from axonad.paper.published import paper_transfer
from axonad.paper.transfer.check import Transfer
from axonad.report.table import Column, Line, Table

UNUSUAL = 3  # features named per target
TARGET = Column(heading="target", style="text")
FOUND = (
    Column(heading="Mahalanobis percentile", digits=1),
    Column(heading="neighbour percentile", digits=1),
    Column(heading="nearest", style="text"),
    Column(heading="most unusual (z)", style="text"),
)


def transfer_table(found: Sequence[Transfer], *, among: str, by: str) -> Table:
    """Return how ordinary every target is among the others, and its most unusual features."""
    if not found:
        raise InputError("there is no target to compare")
    others = len(found[0].ranking) - 1
    return Table(
        title=f"Transfer: training segments against {others} of {among} (by {by})",
        columns=(TARGET, *FOUND),
        rows=tuple((one.target, *_cells(one)) for one in found),
        notes=(
            "Percentile: share of the others at a smaller distance; 0 is the most ordinary, 100 "
            "the strangest. Leave-one-out Mahalanobis distance and distance to the nearest "
            "neighbour in z-scored summary features (scale, shape, autocorrelation, spectrum).",
        ),
    )


def paper_transfer_table(found: Sequence[tuple[str, Transfer]]) -> Table:
    """Return where the paper's stream and ours lie among TSB-AD's training segments."""
    published = paper_transfer()
    paper = ("TSB-AD", None, published["mahalanobis"], published["neighbour"], "", "")
    return Table(
        title="Transfer check: training segments compared without labels, the paper's and ours",
        columns=(
            TARGET, Column(heading="among", style="text"),
            Column(heading="others", style="count"), *FOUND,
        ),
        rows=(
            ("paper's stream", *paper),
            *((one.target, among, len(one.ranking) - 1, *_cells(one)) for among, one in found),
        ),
        notes=(
            "Percentile: share of the others at a smaller distance; 0 is the most ordinary, 100 "
            "the strangest. The paper lists neither its features nor the segments it compares "
            "with; 45 and 55 are whole numbers of 20, as many as it has tuning series.",
        ),
    )  # fmt: skip


def _cells(one: Transfer) -> Line:
    """Return the cells of ``FOUND``."""
    unusual = ", ".join(f"{name} {value:+.1f}" for name, value in list(one.z.items())[:UNUSUAL])
    return one.mahalanobis_percentile, one.neighbour_percentile, one.nearest, unusual
