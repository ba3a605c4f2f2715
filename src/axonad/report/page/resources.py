"""Scripts and styles of the page, and the policy that lets the browser run nothing else."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from axonad.report.page.markup import Markup, element

SCRIPTS = ("decode.js", "charts.js", "curves.js", "tables.js", "keys.js", "start.js")
STYLES = ("page.css", "parts.css", "print.css")
LIBRARY, LIBRARY_STYLE, LICENCE = "uPlot.iife.min.js", "uPlot.min.css", "LICENSE"


@cache
def script() -> str:
    """Return the text of the page's one script: uPlot with its licence, then our own files."""
    return bundle(read_asset(name) for name in SCRIPTS)


def bundle(files: Iterable[str]) -> str:
    """Return uPlot with its licence, then the texts of script files as one script."""
    library = (
        f"/*!\n{read_asset('uplot', LICENCE).strip()}\n*/\n{read_asset('uplot', LIBRARY).strip()}"
    )
    own = "\n".join(files)
    return f"{library}\n(function () {{\n'use strict';\n{own}\n}})();\n"


@cache
def style() -> str:
    """Return the text of the page's one style sheet."""
    return "\n".join(
        [read_asset("uplot", LIBRARY_STYLE).strip(), *(read_asset(name) for name in STYLES)]
    )


def policy() -> Markup:
    """Return the tag that forbids every connection and all scripts and styles but these."""
    rules = (
        "default-src 'none'",
        f"script-src '{_hash(script())}'",
        f"style-src '{_hash(style())}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return element("meta", http_equiv="Content-Security-Policy", content="; ".join(rules))


def inlined(tag: str, text: str) -> Markup:
    """Return a script or style element with our own text in it, as it is."""
    if f"</{tag}" in text.lower():
        raise ValueError(f"the text of a {tag} element must not contain its end tag")
    return Markup(f"<{tag}>{text}</{tag}>")


def read_asset(*parts: str) -> str:
    """Return the text of one of the page's files."""
    return files("axonad.report.page").joinpath("assets", *parts).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
