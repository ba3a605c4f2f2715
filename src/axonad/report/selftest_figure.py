"""The figure of a self-test: channel × kind, the smallest size found and the delay in each cell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from axonad.report import drawing
from axonad.report.drawing import new_figure, save_figure
from axonad.report.selftest_table import describe_cell
from axonad.selftest.kinds import SIZELESS
from axonad.selftest.result import NEEDED, Cell, SelfTest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DARKEST, LIGHTEST = 0.85, 0.15  # part of the colour map in use
LEAST_WIDTH = 8.5  # inches; the legend needs them
GAP = 0.35  # between kinds with sizes and kinds without, in cells


def draw_self_test(path: Path, result: SelfTest, *, title: str = "") -> None:
    """Draw what would be caught to PNG, SVG or PDF.

    Colours show the smallest size found in at least 90 % of plantings, the darker the smaller.
    Hatched cells are blind: not found in 90 % of plantings of any size.
    """
    kinds = sorted(result.kinds, key=lambda kind: kind in SIZELESS)
    sized = sum(kind not in SIZELESS for kind in kinds)
    gap = GAP if 0 < sized < len(kinds) else 0.0
    places = {kind: i + (gap if kind in SIZELESS else 0.0) for i, kind in enumerate(kinds)}
    width = max(LEAST_WIDTH, 2.2 + 0.85 * (len(kinds) + gap))
    figure, axis = new_figure(path, figsize=(width, 1.7 + 0.38 * len(result.channels)))
    colours = _size_colours(result.sizes)
    for y, channel in enumerate(result.channels):
        for kind, x in places.items():
            _draw_cell(axis, x, y, result.cell(channel, kind), result, colours)
    axis.set_xlim(-0.5, max(places.values()) + 0.5)
    axis.set_ylim(len(result.channels) - 0.5, -0.5)
    axis.set_xticks(list(places.values()), [kind.replace("_", "\n") for kind in kinds], fontsize=9)
    axis.set_yticks(range(len(result.channels)), result.channels, fontsize=9)
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    _add_legend(figure, result, colours)
    heading = title or f"What {result.detector} would catch"
    figure.suptitle(f"{heading}\n{result.describe_false_alarms()}", fontsize=10)
    save_figure(figure, path)


def _size_colours(sizes: tuple[float, ...]) -> dict[float, Any]:
    """Return a colour for each size, the darkest for the smallest."""
    from matplotlib import colormaps

    step = (DARKEST - LIGHTEST) / max(1, len(sizes) - 1)
    return {size: colormaps["Blues"](DARKEST - i * step) for i, size in enumerate(sizes)}


def _draw_cell(
    axis: Axes, x: float, y: float, cell: Cell, result: SelfTest, colours: dict[float, Any]
) -> None:
    from matplotlib.patches import Rectangle

    style: dict[str, Any] = {"facecolor": "white", "edgecolor": "#dddddd"}
    colour = "#333333"
    if cell.is_found and cell.smallest is not None:
        style = {"facecolor": colours[cell.smallest], "edgecolor": "white"}
        colour = "white" if sum(style["facecolor"][:3]) < 1.6 else "#222222"
    elif cell.is_found:
        style, colour = {"facecolor": drawing.GREEN, "edgecolor": "white"}, "white"
    elif cell.plantings:
        style = {"facecolor": "white", "edgecolor": drawing.GRAY, "hatch": "//"}
    axis.add_patch(Rectangle((x - 0.48, y - 0.47), 0.96, 0.94, linewidth=0.5, **style))
    says, remark = describe_cell(cell, result)
    pad = {"facecolor": "white", "edgecolor": "none", "pad": 0.8} if "hatch" in style else None
    common: dict[str, Any] = {"ha": "center", "va": "center", "color": colour, "bbox": pad}
    axis.text(x, y - (0.17 if remark else 0.0), says, fontsize=8.5, **common)
    if remark:
        axis.text(x, y + 0.24, remark, fontsize=6.5, **common)


def _add_legend(figure: Any, result: SelfTest, colours: dict[float, Any]) -> None:
    from matplotlib.patches import Patch

    handles = []
    if set(result.kinds) - SIZELESS:
        handles = [Patch(color=colour, label=f"{size:g}") for size, colour in colours.items()]
    if set(result.kinds) & SIZELESS:
        handles.append(Patch(color=drawing.GREEN, label="found (no sizes)"))
    handles.append(Patch(facecolor="white", edgecolor=drawing.GRAY, hatch="//", label="blind"))
    needed = f"{100 * NEEDED:.0f} %"
    figure.legend(
        handles=handles, loc="outside lower center", ncols=len(handles), fontsize=8, frameon=False,
        columnspacing=1.0, handlelength=1.4, handletextpad=0.4, title_fontsize=8,
        title=f"smallest size found in at least {needed} of plantings, in units of the channel "
        "(below it: median delay, or share found if blind)",
    )  # fmt: skip
