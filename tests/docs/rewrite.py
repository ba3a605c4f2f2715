"""Writes real output into pages, and the pictures they make: ``python -m tests.docs.rewrite PAGE…``."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path

from tests.docs.blocks import difference
from tests.docs.running import run_page


def rewrite(page: Path) -> None:
    """Run a page; replace outputs that differ, and pictures it shows by those it has made."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = text.splitlines()
        for output in reversed(run_page(page, folder)):
            if output.shown is not None and difference(output.shown, output.real):
                lines[output.first : output.last] = output.real.splitlines()
                sys.stderr.write(f"{output.what}: changed\n")
        page.write_text("\n".join(lines) + "\n", encoding="utf-8")
        for link in re.findall(r"!\[[^\]]*\]\(([^)]+\.png)\)", text):
            if (folder / Path(link).name).exists():
                shutil.copyfile(folder / Path(link).name, page.parent / link)
                sys.stderr.write(f"{link}: drawn\n")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        rewrite(Path(argument).resolve())
