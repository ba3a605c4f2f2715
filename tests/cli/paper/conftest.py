"""Fixtures of the tests of ``axonad paper``."""

from __future__ import annotations

import pytest

from tests.bench.in_process import in_process

__all__ = ["in_process"]


@pytest.fixture
def tables_only(monkeypatch):
    """Draw no figures, which take most of the time and are not compared."""
    from axonad.cli.paper import results

    write = results.write_report
    monkeypatch.setattr(
        results,
        "write_report",
        lambda *words, **options: write(*words, **options | {"figures": {}}),
    )
