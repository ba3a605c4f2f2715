"""Compare tables a command has made with those under ``benchmarks/``."""

from __future__ import annotations


def assert_same_tables(committed, made):
    """Compare every Markdown table; where rows were added, run the command with --show again."""
    tables = sorted(committed.glob("*.md"))
    assert tables
    for path in tables:
        assert path.read_text() == (made / path.name).read_text(), path.name
