"""HTML that is escaped by construction: text becomes markup only through :func:`element`.

Names of channels and files come from data that anybody may have written. A plain ``str`` is always
text here and is escaped; only what :func:`element` returned is taken as it is.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import TypeAlias

LONGEST = 120  # characters of a name; a longer one is cut
WORDIEST = 1000  # characters of a sentence
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
VOID = frozenset({"meta", "link", "br", "hr"})
TAG = re.compile(r"[a-z][a-z0-9]*")
ATTRIBUTE = re.compile(r"[A-Za-z][A-Za-z0-9-]*")


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Child: TypeAlias = "str | int | Iterable[Child] | None"


def element(tag: str, *children: Child, **attributes: str | int | bool | None) -> Markup:
    """Return an element; strings in it are escaped, None is left out, lists are joined.

    Attributes are written with ``-`` for ``_``; ``class_`` is ``class``. One that is None or False
    is left out.

    >>> element("a", "<b> & ", element("b", "x"), href='"', class_="big")
    '<a href="&quot;" class="big">&lt;b&gt; &amp; <b>x</b></a>'
    """
    if not TAG.fullmatch(tag):
        raise ValueError(f"{tag!r} is no tag")
    words = [tag, *(_attribute(name, value) for name, value in attributes.items())]
    opened = f"<{' '.join(word for word in words if word)}>"
    if tag in VOID:
        return Markup(opened)
    return Markup(f"{opened}{join(children)}</{tag}>")


def join(children: Child) -> Markup:
    """Return text, markup and lists of them as markup."""
    if children is None:
        return Markup("")
    if isinstance(children, Markup):
        return children
    if isinstance(children, str | int):
        return Markup(html.escape(clean(str(children))))
    return Markup("".join(join(child) for child in children))


def clean(text: str) -> str:
    """Return text with a mark for each character that no HTML file may contain."""
    return UNPRINTABLE.sub("\ufffd", text)


def shorten(text: str, most: int = LONGEST) -> str:
    """Return a text of at most ``most`` characters, without line breaks.

    >>> shorten("abcdef", 4)
    'abc…'
    """
    flat = " ".join(clean(text[: 4 * most]).split())
    return flat if len(flat) <= most and len(text) <= 4 * most else flat[: most - 1] + "…"


def name(text: str) -> Markup:
    """Return the name of a channel or file; its writing direction does not leak into the page."""
    return element("bdi", shorten(text))


def names(texts: Iterable[str]) -> Markup:
    """Return names separated by commas."""
    parts: list[Child] = []
    for text in texts:
        parts += [", ", name(text)] if parts else [name(text)]
    return join(parts)


def sentence(text: str) -> Markup:
    """Return a sentence that may contain names from the data."""
    return element("bdi", shorten(text, WORDIEST))


def _attribute(key: str, value: str | int | bool | None) -> str:
    key = key.rstrip("_").replace("_", "-")
    if not ATTRIBUTE.fullmatch(key):
        raise ValueError(f"{key!r} is no attribute")
    if value is None or value is False:
        return ""
    if value is True:
        return key
    return f'{key}="{html.escape(clean(str(value)))}"'
