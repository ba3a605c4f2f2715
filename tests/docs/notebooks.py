"""Runs the code cells of a notebook in order, as Jupyter would, without its packages."""

from __future__ import annotations

import io
import json
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any


def read_notebook(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def run_cells(path: Path, folder: Path) -> list[str]:
    """Run a notebook in a folder and return what each code cell prints."""
    space: dict[str, Any] = {"__name__": "__main__"}
    printed = []
    with chdir(folder):
        for number, cell in enumerate(code_cells(read_notebook(path)), start=1):
            out = io.StringIO()
            code = compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec")
            with redirect_stdout(out):
                exec(code, space)  # noqa: S102 - our own notebooks
            printed.append(out.getvalue())
    return printed


def code_cells(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in document["cells"] if cell["cell_type"] == "code"]


def shown_text(cell: dict[str, Any]) -> str:
    """Return the committed output of a cell."""
    return "".join("".join(output["text"]) for output in cell["outputs"])


def rewrite_notebook(path: Path, folder: Path) -> None:
    """Run a notebook and commit what its cells print."""
    document = read_notebook(path)
    cells = code_cells(document)
    for number, (cell, text) in enumerate(zip(cells, run_cells(path, folder), strict=True), 1):
        cell["execution_count"] = number
        cell["outputs"] = (
            [{"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)}]
            if text
            else []
        )
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
