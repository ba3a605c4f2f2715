"""Look into figures: a fixture that keeps what is drawn instead of writing it to a file."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure


@pytest.fixture
def drawn(monkeypatch) -> list[Figure]:
    """The figures saved so far, not written to disk."""
    figures: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: figures.append(figure))
    return figures


def names_on_y(axis) -> list[str]:
    return [label.get_text() for label in axis.get_yticklabels()]


def texts(axis) -> list[str]:
    return [text.get_text().strip() for text in axis.texts]


def lines(axis, label) -> list[tuple[list[float], list[float]]]:
    """Return x and y of every line with a label."""
    found = [line for line in axis.lines if line.get_label() == label]
    return [(list(line.get_xdata()), list(line.get_ydata())) for line in found]


def legend(figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]
