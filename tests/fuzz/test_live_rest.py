"""The REST of ``axonad live`` under requests made from its own description: never a 5xx.

Answers must also be as described: their status, their type and their content.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, Phase, settings

from axonad.live.config import LiveConfig, Server
from axonad.live.web.app import create_app
from tests.live.web.client import OPEN, make_client
from tests.live.web.fake_engine import HOSTILE, FakeEngine

schemathesis = pytest.importorskip("schemathesis")

EXAMPLES = max(10, int(os.environ.get("AXONAD_FUZZ", "0")) // 50)  # of each operation
CHECKS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.status_code_conformance,
    schemathesis.checks.content_type_conformance,
    schemathesis.checks.response_schema_conformance,
]


def make_engine():
    """Return an engine with vehicles and events."""
    engine = FakeEngine(["car", *HOSTILE])
    for number, name in enumerate(HOSTILE):
        engine.fire(name, number)
    return engine


@pytest.fixture(scope="module")
def client():
    yield make_client(make_engine(), server=Server(rate=0))
    OPEN.pop().close()


OPERATIONS = schemathesis.openapi.from_dict(create_app(make_engine(), LiveConfig(), None).openapi())


@OPERATIONS.parametrize()
@settings(
    max_examples=EXAMPLES, deadline=None, derandomize=True, database=None,
    suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Skipped test cases with unsupported payload")
def test_no_request_breaks_the_server(client, case):
    wanted = case.as_transport_kwargs(base_url="http://localhost:8757")
    wanted.pop("cookies", None)
    if "data" in wanted:
        wanted["content"] = wanted.pop("data")
    answer = client.request(wanted.pop("method"), wanted.pop("url"), **wanted)
    case.validate_response(schemathesis.Response.from_httpx(answer, verify=False), checks=CHECKS)
