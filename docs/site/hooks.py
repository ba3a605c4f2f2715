"""What MkDocs does not do by itself: generated reference pages, and pages from outside ``docs/``.

Loaded by ``mkdocs.yml``. The benchmark pages, the changelog and the guide for contributors become
pages of the site under their own paths, with the pictures beside them; links between all of them
are written as in the repository and rewritten here.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))

import links
import reference

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = (
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "benchmarks/*/*.md",
)
PICTURES = ("benchmarks/**/*.png", "benchmarks/**/*.svg")


def on_config(config: Any) -> Any:
    """List benchmark pages that ``nav`` does not name at the end of their section."""
    section = next(part["Benchmarks"] for part in config.nav if "Benchmarks" in part)
    named = {uri for entry in section for uri in entry.values()}
    found = [path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("benchmarks/*/*.md"))]
    section += [uri for uri in found if uri not in named]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages from outside ``docs/`` and their pictures."""
    for pattern in (*OUTSIDE, *PICTURES):
        for path in sorted(ROOT.glob(pattern)):
            uri = path.relative_to(ROOT).as_posix()
            files.append(File.generated(config, uri, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: Any, files: Files) -> str:
    """Return a page with its generated parts, and links to files as links of the site."""
    markdown = reference.fill(markdown)
    known = {file.src_uri for file in files}
    is_outside = any((ROOT / page.file.src_uri) == path for path in _outside())
    place = page.file.src_uri if is_outside else f"docs/{page.file.src_uri}"
    return links.rewrite(markdown, page=place, uri=page.file.src_uri, known=known, root=ROOT)


def on_page_content(html: str, page: Page, config: Any, files: Files) -> str:
    """Return a page without the marks of Sphinx that docstrings have, such as :class:."""
    html = re.sub(r":(?:mod|class|func|meth|attr|data|exc):(?=<code)", "", html)
    return re.sub(r"<code>~(?:\w+\.)*(\w+)</code>", r"<code>\1</code>", html)


def _outside() -> list[Path]:
    return [path for pattern in OUTSIDE for path in ROOT.glob(pattern)]
