"""What all figures share: matplotlib loaded on first use, file formats, colours, axis style."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from axonad import atomic
from axonad.errors import UnknownNameError
from axonad.extras import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
# The colour-blind safe palette of Okabe and Ito.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#999999", "#000000")
BLUE, ORANGE, GREEN, RED, GRAY = *PALETTE[:4], "#bdbdbd"
# The same thing has the same colour in every figure.
CHANNEL, SCORE, COMPONENT = "#7f7f7f", "#000000", BLUE
THRESHOLD = ALARM = RED
SEVERITY = {"warning": "#F2B8A0", "alarm": RED, "critical": "#7A1F00"}
FOUND, MISSED, LABELLED = GREEN, PALETTE[4], ORANGE
UNUSABLE, UNSCORED = "#c9c9c9", "#e9e9e9"
MARKERS = ("o", "s", "^", "D")


def load_pyplot() -> Any:
    """Return ``matplotlib.pyplot`` with a backend that needs no display."""
    need("matplotlib", what="figures need").use("Agg")
    return need("matplotlib.pyplot", what="figures need")


def check_format(path: Path) -> None:
    """Raise if a figure cannot be written: unknown file extension, or matplotlib is missing."""
    if path.suffix.lower() not in FORMATS:
        raise UnknownNameError(
            f"cannot draw {path.name!r}: the file extension must be one of {', '.join(FORMATS)}"
        )
    load_pyplot()


def new_figure(path: Path, *shape: int, **options: Any) -> Any:
    """Return figure and axes, as ``pyplot.subplots``; raise if they cannot be saved to ``path``."""
    check_format(path)
    return load_pyplot().subplots(*shape, layout="constrained", **options)


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure and close it; drawing the same data again gives the same bytes."""
    plt = load_pyplot()
    undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    ending, drawn = path.suffix.lower(), BytesIO()
    with plt.rc_context({"svg.hashsalt": "axonad"}):
        figure.savefig(drawn, format=ending[1:], dpi=130, metadata=undated.get(ending))
    plt.close(figure)
    atomic.write_bytes(path, drawn.getvalue(), overwrite=True)


def trim_axis(axis: Axes, *, labelsize: int = 8) -> None:
    """Remove the top and right frame lines and set the size of the tick labels."""
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=labelsize)
