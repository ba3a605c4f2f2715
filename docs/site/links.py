"""Links of the repository as links of the site."""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
HOME = {"README.md": "index.md"}  # what the start page of the site is in the repository
FENCE = "```"


def rewrite(markdown: str, *, page: str, uri: str, known: set[str], root: Path) -> str:
    """Return Markdown in which links to files of the repository lead to pages of the site.

    ``page`` is the page's path in the repository, ``uri`` the one on the site. A link to a file
    that is not on the site, such as a script, becomes its text.
    """

    def replace(found: re.Match[str]) -> str:
        mark, text, target = found.groups()
        path, hash_sign, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:") or not path:
            return found[0]
        place = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        if (root / place).is_dir() and (root / place / "README.md").exists():
            place += "/README.md"
        there = HOME.get(place, place.removeprefix("docs/"))
        if there not in known:
            if not (root / place).exists():
                return found[0]  # MkDocs reports it
            return text
        relative = os.path.relpath(there, posixpath.dirname(uri) or ".").replace(os.sep, "/")
        return f"{mark}[{text}]({relative}{hash_sign}{anchor})"

    pieces = re.split(rf"(^{FENCE}.*?^{FENCE}`*\s*$)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(
        piece if piece.startswith(FENCE) else LINK.sub(replace, piece) for piece in pieces
    )
