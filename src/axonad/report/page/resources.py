"""Scripts and styles of the page, and the policy that lets the browser run nothing else."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

from axonad.report.page.markup import Markup, element

SCRIPTS = ("decode.js", "charts.js", "curves.js", "tables.js", "keys.js", "start.js")
STYLES = ("page.css", "parts.css", "print.css")
LIBRARY, LIBRARY_STYLE, LICENCE = "uPlot.iife.min.js", "uPlot.min.css", "LICENSE"


@cache
def script() -> str:
    """Return the text of the page's one script: uPlot with its licence, then our own files."""
    library = f"/*!\n{_read('uplot', LICENCE).strip()}\n*/\n{_read('uplot', LIBRARY).strip()}"
    own = "\n".join(_read(name) for name in SCRIPTS)
    return f"{library}\n(function () {{\n'use strict';\n{own}\n}})();\n"


@cache
def style() -> str:
    """Return the text of the page's one style sheet."""
    return "\n".join([_read("uplot", LIBRARY_STYLE).strip(), *(_read(name) for name in STYLES)])


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


def _read(*parts: str) -> str:
    return files("axonad.report.page").joinpath("assets", *parts).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
