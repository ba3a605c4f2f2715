"""HTML by construction: text is escaped, names are cut, nothing else becomes markup."""

from __future__ import annotations

import pytest

from axonad.report.page.markup import LONGEST, Markup, element, join, names, shorten
from tests.report.page.pages import HOSTILE


@pytest.mark.parametrize("text", HOSTILE)
def test_text_and_attributes_are_escaped(text):
    made = element("p", text, title=text)
    inside = made.removeprefix("<p title=").removesuffix("</p>")
    assert inside.count("<") == 0
    assert inside.count('"') == 2, "only the quotes around the attribute"
    assert "'" not in inside
    made.encode("utf-8")  # no lone surrogates


def test_only_elements_are_taken_as_they_are():
    assert element("b", element("i", "<")) == "<b><i>&lt;</i></b>"
    assert join([None, "a", ["<", element("br")]]) == "a&lt;<br>"
    assert isinstance(join("x"), Markup)
    assert element("td", hidden=True, id=None, data_value="1") == '<td hidden data-value="1"></td>'


@pytest.mark.parametrize("name", ["a b", "x><", "", "onload=1"])
def test_odd_tags_and_attributes_are_refused(name):
    with pytest.raises(ValueError, match="is no"):
        element(name)
    with pytest.raises(ValueError, match="is no attribute"):
        element("p", **{name: "1"})


def test_control_characters_become_a_mark():
    assert element("p", "a\x00b\x1b\ud800") == "<p>a\ufffdb\ufffd\ufffd</p>"


def test_long_names_are_cut_wherever_they_are_long():
    assert len(shorten("x" * 10_000)) == LONGEST
    assert shorten(" a\n b ") == "a b"
    assert shorten(" " * 1000 + "name") == "…", "what is cut off is marked"
    assert names(["a", "<"]) == "<bdi>a</bdi>, <bdi>&lt;</bdi>"
