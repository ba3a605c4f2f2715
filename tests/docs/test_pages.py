"""Code on the pages: every block runs, in order, and what is shown is what comes out."""

from __future__ import annotations

import functools
import re
import struct
from pathlib import Path

import pytest

from axonad.bench.results import read_rows
from axonad.report.statistics import summarise
from tests.conftest import ROOT
from tests.docs.blocks import difference, find_blocks
from tests.docs.running import run_page

README = ROOT / "README.md"
LONGER = [
    ROOT / "docs" / name for name in ("gallery.md", "howto/tour.md", "tutorials/benchmark.md")
]
TUTORIALS = sorted({*(ROOT / "docs" / "tutorials").glob("*.md")} - {*LONGER})
LARGEST = 100_000  # bytes of a picture
SUITES = {"tsb-ad-m": "eval", "server-metrics": "", "telemetry": "", "coordination": ""}
"""Columns of the tables of results: suite and split."""


def check(page: Path, folder: Path) -> None:
    """Run a page and compare its outputs; ``python -m tests.docs.rewrite PAGE`` renews them."""
    outputs = run_page(page, folder)
    wrong = [
        f"{output.what}\n{found}"
        for output in outputs
        if output.shown is not None and (found := difference(output.shown, output.real))
    ]
    assert not wrong, "\n\n".join(wrong)
    assert any(output.shown for output in outputs) or page.name == "gallery.md"


@pytest.mark.parametrize("page", [README, *TUTORIALS], ids=lambda page: page.stem)
def test_code_of_a_page_does_what_it_shows(page, tmp_path):
    check(page, tmp_path)


@pytest.mark.site
@pytest.mark.parametrize("page", LONGER, ids=lambda page: page.stem)
def test_code_of_a_longer_page_does_what_it_shows(page, tmp_path):
    check(page, tmp_path)
    text = page.read_text(encoding="utf-8")
    for link in re.findall(r"!\[[^\]]*\]\((img/gallery/[^)]+)\)", text):
        committed, drawn = page.parent / link, tmp_path / Path(link).name
        assert png_size(drawn) == png_size(committed), f"{link} is old: run `make gallery`"
        assert committed.stat().st_size < LARGEST


def png_size(path: Path) -> tuple[int, int]:
    width, height = struct.unpack(">II", path.read_bytes()[16:24])
    return width, height


@functools.cache
def mean_quality(suite: str, split: str, protocol: str) -> dict[str, str]:
    """Return the mean VUS-PR of every detector in committed rows, as tables print it."""
    rows = [
        row
        for row in read_rows(ROOT / "benchmarks" / suite / "rows.csv")
        if row.split == split and row.protocol == protocol
    ]
    found = summarise(rows, metric="VUS-PR") if rows else []
    return {summary.name: f"{summary.mean:.3f}" for summary in found}


def table(page: Path) -> list[list[str]]:
    """Return the cells of the first table of results on a page, without its heading."""
    lines = page.read_text(encoding="utf-8").splitlines()
    first = next(i for i, line in enumerate(lines) if line[:1] == "|" and "TSB-AD-M" in line)
    cells = []
    for line in lines[first + 2 :]:
        if line[:1] != "|":
            break
        cells.append([cell.strip(" *") for cell in line.strip("|").split("|")])
    return cells


def test_the_results_of_the_readme_are_those_of_the_rows():
    compared = 0
    for name, protocol, *values in table(README):
        if "published" in name:
            continue
        for (suite, split), value in zip(SUITES.items(), values, strict=True):
            means = mean_quality(suite, split, protocol)
            assert value == means.get(name, "–"), f"{name}, {protocol}, {suite}"
            compared += 1
    assert compared > 30


def test_the_views_on_the_page_of_results_are_those_of_the_rows():
    for name, eval_set, _, *others in table(ROOT / "docs" / "results.md")[:6]:
        label = re.split("[:,]", name)[0]
        for (suite, split), value in zip(SUITES.items(), (eval_set, *others), strict=True):
            assert value == mean_quality(suite, split, "causal")[label], f"{label}, {suite}"


def test_the_quickstart_is_that_of_the_tour():
    tour = find_blocks((ROOT / "docs" / "howto" / "tour.md").read_text(encoding="utf-8"))
    assert tour[0].text in (ROOT / "examples" / "quickstart.py").read_text(encoding="utf-8")


def test_shown_numbers_may_differ_in_their_last_digit_only():
    assert not difference("2 events, score 4.3\nwrote x.csv", "2 events,  score 4.4\nwrote x.csv\n")
    assert not difference("done ... in all", "done 1 of 2 in all")
    assert "4.3 is now 4.5" in difference("score 4.3", "score 4.5")
    assert "real" in difference("2 events", "2 alarms")


def test_blocks_that_do_not_run_say_why():
    for page in (README, *TUTORIALS, *LONGER):
        for block in find_blocks(page.read_text(encoding="utf-8")):
            is_run = block.language in ("python", "console", "text") or block.title
            assert is_run or block.not_run, f"{page.name}, line {block.first}: {block.language!r}"
