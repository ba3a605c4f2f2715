"""Code on the pages: every block runs, in order, and what is shown is what comes out."""

from __future__ import annotations

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
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
LONGER = [ROOT / "docs" / "gallery.md", ROOT / "docs" / "howto" / "tour.md"]
LARGEST = 100_000  # bytes of a picture
SUITES = ("tsb-ad-m", "server-metrics", "telemetry", "coordination")  # columns of the README


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


def test_the_results_of_the_readme_are_those_of_the_rows():
    lines = [line for line in README.read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
    shown = {}
    for line in lines[2:]:
        name, protocol, *values = (cell.strip() for cell in line.strip("|").split("|"))
        if "published" not in name:
            shown |= {(name, protocol, suite): v for suite, v in zip(SUITES, values, strict=True)}
    assert len(shown) > 30
    for suite in SUITES:
        rows = [
            row
            for row in read_rows(ROOT / "benchmarks" / suite / "rows.csv")
            if suite != "tsb-ad-m" or row.split == "eval"
        ]
        for protocol in ("causal", "parity"):
            ours = [row for row in rows if row.protocol == protocol]
            found = summarise(ours, metric="VUS-PR") if ours else []
            means = {summary.name: f"{summary.mean:.3f}" for summary in found}
            for (name, run, of), value in shown.items():
                if (run, of) == (protocol, suite):
                    assert value == means.get(name, "–"), f"{name}, {protocol}, {suite}"


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
