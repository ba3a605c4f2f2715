"""Docstrings as plain prose: without markup, and the parameters of a class with their meanings."""

from __future__ import annotations

import dataclasses
import inspect
import re

POINTER = r"(?::\w+:`[^`]+`|this module)"
# A pointer to a module says nothing to a reader of the command line: "x; see :mod:`y`." -> "x."
ASIDE = re.compile(rf"(?:[,;] see {POINTER}| \(see {POINTER}\)|^See {POINTER}[.;]? ?)")
CALL = re.compile(r":(?:meth|func):`~?(?:[\w.]*\.)?(\w+)`")
ROLE = re.compile(r":\w+:`~?(?:[\w.]*\.)?([^`]+)`")
QUOTED = re.compile(r"``?([^`]+)``?")
DIFFERENCES = re.compile(r"(?<=[.)]) (?=Where we differ:|Differs from)")


@dataclasses.dataclass(frozen=True)
class Explained:
    """Parameters that a docstring explains together."""

    names: tuple[str, ...]
    meaning: str


def plain(text: str) -> str:
    """Return a docstring's paragraph as one line without markup.

    >>> plain("Is ``x`` of :class:`a.B`; see :mod:`a._c`.")
    'Is x of B.'
    """
    text = ASIDE.sub("", " ".join(text.split()))
    text = ROLE.sub(r"\1", CALL.sub(r"\1()", text))
    text = QUOTED.sub(r"\1", text).strip()
    return text[:1].upper() + text[1:]


def paragraphs(doc: str | None) -> list[str]:
    r"""Return the plain paragraphs before the first section; differences to the paper alone.

    >>> paragraphs("A. B\nc. Where we differ: d.\n\nParameters\n----------\nx\n    Y.")
    ['A. B c.', 'Where we differ: d.']
    """
    text = re.split(r"\n\n\w+\n-+\n", inspect.cleandoc(doc or ""))[0]
    found = (plain(part) for part in text.split("\n\n"))
    return [part for one in found for part in DIFFERENCES.split(one, maxsplit=1) if part]


def explain_parameters(cls: type) -> list[Explained]:
    """Return what the docstrings of a dataclass and of its bases say about its fields.

    A class that only points to another module leaves the explanation to its base.
    """
    left = {field.name: "" for field in dataclasses.fields(cls)}
    found: list[Explained] = []
    for one in cls.__mro__:
        for names, text in _parameters(one.__dict__.get("__doc__")):
            meaning = plain(text)
            mine = tuple(name for name in names if name in left)
            if mine and re.match(rf"See {POINTER}", text):
                about = next((name for name in mine if f"{name}=" in meaning), mine[0])
                left[about] = meaning
            elif mine:
                remarks = [left.pop(name) for name in mine]
                found.append(Explained(mine, " ".join(filter(None, [meaning, *remarks]))))
    return found + [Explained((name,), meaning) for name, meaning in left.items()]


def _parameters(doc: str | None) -> list[tuple[list[str], str]]:
    """Return names and text of each entry in the section ``Parameters``."""
    sections = re.split(r"(?:^|\n)Parameters\n-+\n", inspect.cleandoc(doc or ""))
    if len(sections) < 2:
        return []
    body = re.split(r"\n\n\w+\n-+\n", sections[1])[0]
    entries = re.findall(r"^(\S.*)\n((?:    .*\n?|\n)*)", body, flags=re.MULTILINE)
    return [([name.strip() for name in names.split(",")], text.strip()) for names, text in entries]
