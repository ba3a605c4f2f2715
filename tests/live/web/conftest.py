"""Clients are closed after each test, however it ends."""

from __future__ import annotations

import pytest

from tests.live.web.client import OPEN


@pytest.fixture(autouse=True)
def closing():
    yield
    while OPEN:
        OPEN.pop().close()
