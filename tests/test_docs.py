"""Documentation a person reads: line lengths, links, words, and paths that exist."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

PAGES = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*/README.md")],
    key=str,
)
LONGEST = 120


def prose(text: str) -> list[tuple[int, str]]:
    """Numbered lines outside of code blocks and tables."""
    lines, in_code = [], False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code and not line.lstrip().startswith("|"):
            lines.append((number, line))
    return lines


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_of_prose_are_short_and_links_resolve(page):
    text = page.read_text(encoding="utf-8")
    assert [number for number, line in prose(text) if len(line) > LONGEST] == []
    links = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text)
    missing = [
        link for link in links if "://" not in link and not (page.parent / link).resolve().exists()
    ]
    assert missing == []


def test_gpu_and_cpu_are_called_so():
    """The field's own terms, in code and documentation alike."""
    files = [*PAGES, *(ROOT / "src").rglob("*.py")]
    pattern = re.compile(r"\b(?:graphics card|(?:a|the|on|one) card|the processor|a processor)\b")
    found = [
        f"{path.relative_to(ROOT)}: {match.group(0)}"
        for path in files
        for match in pattern.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_modules_named_in_documentation_exist():
    source = ROOT / "src"
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for path in re.findall(r"`src/(axonad/[a-z_0-9/]+(?:\.py)?)`", text):
            assert (source / path).exists(), f"{page.name}: {path}"
