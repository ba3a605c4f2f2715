"""The words of a self-test's cells, as its table and its figure show them."""

from __future__ import annotations

from axonad.selftest.kinds import SIZELESS
from axonad.selftest.result import Cell, SelfTest

NOTHING = "–"  # no place where this kind would have been a fault


def describe_cell(cell: Cell, result: SelfTest) -> tuple[str, str]:
    """Return what a cell says, and a remark: the median delay, or the share found if it is blind.

    What it says is the smallest size found in at least 90 % of plantings, or that no size was; for
    kinds without a size, the share found.
    """
    if not cell.plantings or cell.share is None:
        return NOTHING, ""
    share = f"{100 * cell.share:.0f} %"
    if cell.is_found:
        rows = f"{cell.median_delay:.0f} row{'s' if cell.median_delay != 1 else ''}"
        return (share if cell.kind in SIZELESS else f"{cell.smallest:g}"), rows
    if cell.kind in SIZELESS:
        return share, ""
    return f"> {result.sizes[-1]:g}", share
