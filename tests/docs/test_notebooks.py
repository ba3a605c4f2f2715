"""Notebooks of ``examples/``: they run from the first cell to the last and show what comes out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docs.blocks import difference
from tests.docs.notebooks import code_cells, read_notebook, run_cells, shown_text

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
LARGEST = 50_000  # bytes


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_comes_out(path, tmp_path):
    document = read_notebook(path)
    for number, (cell, real) in enumerate(
        zip(code_cells(document), run_cells(path, tmp_path), strict=True), start=1
    ):
        wrong = difference(shown_text(cell), real)
        assert not wrong, f"cell {number}: {wrong}"
    texts = ["".join(cell["source"]) for cell in document["cells"]]
    for picture in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", "\n".join(texts)):
        assert (tmp_path / picture).exists(), f"{picture} is shown but not drawn"
    assert path.stat().st_size < LARGEST


def test_there_are_two_notebooks():
    assert [Path(path).stem for path in NOTEBOOKS] == ["benchmark_a_method", "recorded_drive"]
