"""Runs pages and writes what comes out into them: ``python -m tests.docs.rewrite PAGE …``."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from tests.docs.blocks import difference
from tests.docs.notebooks import rewrite_notebook
from tests.docs.running import run_page

COLOURS = 128


def rewrite(page: Path) -> None:
    """Run a page; replace outputs that differ, and pictures it shows by those it has made."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = text.splitlines()
        for output in reversed(run_page(page, folder)):
            if output.shown is not None and difference(output.shown, output.real):
                lines[output.first : output.last] = _as_long(output.shown, output.real)
                sys.stderr.write(f"{output.what}: changed\n")
        page.write_text("\n".join(lines) + "\n", encoding="utf-8")
        for link in re.findall(r"!\[[^\]]*\]\(([^)]+\.png)\)", text):
            if (folder / Path(link).name).exists():
                _shrink(folder / Path(link).name, page.parent / link)
                sys.stderr.write(f"{link}: drawn\n")


def _as_long(shown: str, real: str) -> list[str]:
    """Return the lines of real output that a page shows: ``...`` at either end stands for more."""
    old, new = shown.splitlines(), real.splitlines()
    if old[0] == "...":
        return ["...", *new[len(new) - len(old) + 1 :]]
    return [*new[: len(old) - 1], "..."] if old[-1] == "..." else new


def _shrink(source: Path, target: Path) -> None:
    """Copy a picture with at most 128 colours, which drawings do not miss."""
    from PIL import Image

    with Image.open(source) as picture:
        picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(
            target, optimize=True
        )


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        path = Path(argument).resolve()
        if path.suffix == ".ipynb":
            with tempfile.TemporaryDirectory() as place:
                rewrite_notebook(path, Path(place))
        else:
            rewrite(path)
