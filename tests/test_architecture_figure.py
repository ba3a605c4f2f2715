"""The drawing of the network: its committed file is current, and its numbers are parameters."""

from __future__ import annotations

import importlib
from xml.etree import ElementTree

import pytest

from axonad import AxonAD
from tests.conftest import ROOT

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def figure(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "img"))
    return importlib.import_module("architecture")


def texts(drawing: str) -> str:
    """All text of a drawing, one label per line; raises if the XML is not well-formed."""
    root = ElementTree.fromstring(drawing)  # noqa: S314, our own file
    assert root.findtext(f"{SVG}title")
    assert root.findtext(f"{SVG}desc")
    return "\n".join("".join(text.itertext()) for text in root.iter(f"{SVG}text"))


def test_committed_drawing_is_what_the_script_draws(figure):
    committed = (ROOT / "docs" / "img" / "architecture.svg").read_text(encoding="utf-8")
    assert committed == figure.draw(AxonAD()), "run `python docs/img/architecture.py`"


def test_defaults_are_the_paper_s_numbers(figure):
    found = texts(figure.draw(AxonAD()))
    for text in (
        "T = 100", "D = 128", "Nh = 8", "dh = 16", "dh = D / Nh = 16", "s = 1", "last k = 10 steps",
        "momentum m = 0.9", "kernel 3, dilations 1, 2, 4, 8: receptive field 31", "24 of last 49",
    ):  # fmt: skip
        assert text in found


def test_numbers_follow_the_parameters(figure):
    detector = AxonAD(
        window=60, d_model=96, heads=4, horizon=2, tail=7, ema=0.75, dilations=(1, 3)
    )  # fmt: skip
    found = texts(figure.draw(detector))
    for text in (
        "T = 60", "D = 96", "Nh = 4 heads", "of width dh = 24", "dh = D / Nh = 24", "s = 2",
        "last k = 7 steps", "tail k = 7", "with m = 0.75", "momentum m = 0.75",
        "dilations 1, 3: receptive field 9", "14 of last 29",
    ):  # fmt: skip
        assert text in found
