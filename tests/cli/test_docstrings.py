"""Docstrings as prose: no markup, and every parameter explained by its class or a base."""

from __future__ import annotations

import dataclasses

import pytest

from axonad.cli.docstrings import Explained, explain_parameters, paragraphs, plain
from axonad.registry import detector_class, list_detectors


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("``a`` or\n    ``b``", "A or b"),
        ("the :meth:`~x.y.run` of :class:`x.Y`", "The run() of Y"),
        ("a sample, see :mod:`x._y`.", "A sample."),
        ("``'a'``; see this module.", "'a'."),
        ("See :mod:`x._y`; uses ``a=1``.", "Uses a=1."),
        ("See :mod:`x._y`.", ""),
    ],
)
def test_markup_and_pointers_to_modules_are_left_out(text, expected):
    assert plain(text) == expected


def test_paragraphs_end_at_the_first_section_and_differences_stand_alone():
    doc = "One.\n\nTwo (x). Differs from y.\nAnd z.\n\nNotes\n-----\nno"
    assert paragraphs(doc) == ["One.", "Two (x).", "Differs from y. And z."]


@dataclasses.dataclass
class Base:
    """A base.

    Parameters
    ----------
    a
        Of the base.
    b
        Also
        of the base.
    """

    a: int = 1
    b: int = 2


@dataclasses.dataclass
class Derived(Base):
    """Derived.

    Parameters
    ----------
    c, d
        Own.
    a
        Own too.
    b
        See :mod:`x._y`; ``b=3`` is better.

    Examples
    --------
    e
        Not a parameter.
    """

    c: int = 3
    d: int = 4
    undocumented: int = 5


def test_the_nearest_class_that_explains_a_parameter_is_used():
    assert explain_parameters(Derived) == [
        Explained(("c", "d"), "Own."),
        Explained(("a",), "Own too."),
        Explained(("b",), "Also of the base. B=3 is better."),
        Explained(("undocumented",), ""),
    ]


@pytest.mark.parametrize("entry", list_detectors(), ids=lambda entry: entry.name)
def test_every_parameter_of_every_detector_is_explained(entry):
    cls = detector_class(entry.name)
    found = explain_parameters(cls)
    names = [name for group in found for name in group.names]
    assert sorted(names) == sorted(field.name for field in dataclasses.fields(cls))
    assert all(group.meaning for group in found)
