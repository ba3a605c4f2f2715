"""What every figure has in common: formats, equal bytes, and clear errors."""

from __future__ import annotations

import pytest

from axonad.errors import InputError, UnknownNameError
from axonad.report.comparison_figures import draw_pairwise, draw_runtime, draw_scatter
from axonad.report.critical_difference import draw_critical_difference
from axonad.report.drawing import new_figure, save_figure
from tests.report.rows import random_rows

DRAWINGS = {
    "ranks": draw_critical_difference,
    "pairwise": lambda path, rows: draw_pairwise(path, rows=rows, reference="AxonAD"),
    "runtime": draw_runtime,
    "scatter": lambda path, rows: draw_scatter(
        path,
        rows=[row for row in rows if row.label == "AxonAD"],
        published={"s001": 0.5, "s002": 0.4},
    ),
}


@pytest.mark.parametrize(
    ("name", "ending"),
    [("ranks", "svg"), ("pairwise", "png"), ("runtime", "svg"), ("scatter", "svg")],
)
def test_the_same_rows_give_the_same_bytes(tmp_path, name, ending):
    rows = random_rows(4)
    one, two = tmp_path / f"new/one.{ending}", tmp_path / f"two.{ending}"
    DRAWINGS[name](one, rows=rows)
    DRAWINGS[name](two, rows=rows[::-1])
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize(
    ("ending", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".PDF", b"%PDF")]
)
def test_the_extension_decides_the_format(tmp_path, ending, start):
    path = tmp_path / f"new folder/figure{ending}"
    figure, _ = new_figure(path, figsize=(1, 1))
    save_figure(figure, path)
    assert path.read_bytes().startswith(start)


@pytest.mark.parametrize("name", DRAWINGS)
def test_figures_that_cannot_be_drawn_say_why(tmp_path, name):
    with pytest.raises(InputError, match="there are no rows"):
        DRAWINGS[name](tmp_path / "x.png", rows=[])
    with pytest.raises(UnknownNameError, match=r"cannot draw 'x\.gif'.*one of \.png, \.svg, \.pdf"):
        DRAWINGS[name](tmp_path / "x.gif", rows=random_rows(2))
