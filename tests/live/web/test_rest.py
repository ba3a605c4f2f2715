"""REST as a program uses it: pages of lists, hostile names, actions, problems in a sentence."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from axonad.errors import InputError
from axonad.live.config import Server
from axonad.live.inbox import OverloadError
from axonad.live.sample import Receipt
from tests.live.web.client import make_client
from tests.live.web.fake_engine import HOSTILE, START, FakeEngine


@pytest.fixture
def engine():
    return FakeEngine(["car 1", "car 2", *HOSTILE])


@pytest.fixture
def client(engine):
    return make_client(engine)


def collect(client, path, what):
    """Return all entries of a list, page by page."""
    found, after = [], ""
    while True:
        answer = client.get(f"{path}&after={quote(after)}").json()
        found += answer[what]
        if answer["next"] is None:
            return found
        after = answer["next"]


def test_vehicles_come_in_pages_by_name(client, engine):
    found = collect(client, "/api/v1/vehicles?limit=3", "vehicles")
    names = [one["vehicle"] for one in found]
    assert names == sorted(["car 1", "car 2", *HOSTILE])
    engine.change("car 2", state="alarm", score=float("nan"))
    only = client.get("/api/v1/vehicles?state=alarm&search=CAR").json()["vehicles"]
    assert [(one["vehicle"], one["score"]) for one in only] == [("car 2", None)]


@pytest.mark.parametrize("name", HOSTILE)
def test_every_name_can_be_asked_for(client, engine, name):
    path = f"/api/v1/vehicles/{quote(name, safe='')}"
    event = engine.fire(name)
    assert client.get(path).json()["vehicle"] == name
    assert client.get(f"{path}/scores?limit=1").json()["vehicle"] == name
    assert len(client.get(f"{path}/recent?rows=5").json()["times"]) == 5
    listed = client.get(f"/api/v1/events?vehicle={quote(name, safe='')}").json()["events"]
    assert [one["id"] for one in listed] == [event.id]
    page = client.page(f"/vehicles/{quote(name, safe='')}")
    assert page.status_code == 200
    assert "<img" not in page.text


def test_scores_come_in_pages_between_two_times(client):
    path = "/api/v1/vehicles/car%201/scores?start=2026-01-01T00:00:01Z&end=2026-01-01T00:00:03Z"
    times = collect(client, f"{path}&limit=7", "times")
    assert times == [START / 1e6 + 1 + i / 10 for i in range(20)]
    answer = client.get(path).json()
    assert len(answer["values"]) == len(answer["channels"]) == 4
    assert client.get("/api/v1/vehicles/car%201/scores?start=9&end=2").status_code == 422


def test_events_are_filtered_and_come_in_pages(client, engine):
    fired = [engine.fire("car 1", n, severity="critical" if n % 2 else "alarm") for n in range(9)]
    found = collect(client, "/api/v1/events?limit=2&severity=critical", "events")
    assert [one["number"] for one in found] == [7, 5, 3, 1]
    client.post(f"/api/v1/events/{fired[7].id}/acknowledge")
    left = collect(client, "/api/v1/events?limit=5&severity=critical&acknowledged=false", "events")
    assert [one["number"] for one in left] == [5, 3, 1]


def test_people_act_on_events(client, engine):
    id = engine.fire("car 1").id
    for what, field, value in (
        ("acknowledge", "acknowledged", True), ("unacknowledge", "acknowledged", False),
        ("shelve", "shelved", True), ("unshelve", "shelved", False),
    ):  # fmt: skip
        assert client.post(f"/api/v1/events/{id}/{what}").json()[field] is value
    answer = client.post(f"/api/v1/events/{id}/comment", json={"text": "seen"}).json()
    assert [(one["author"], one["text"]) for one in answer["comments"]] == [("local", "seen")]
    assert client.get(f"/api/v1/events/{id}").json() == answer


def test_events_link_to_their_page_if_its_address_is_known(engine, client):
    id = engine.fire("car 1").id
    assert "link" not in client.get(f"/api/v1/events/{id}").json()
    public = make_client(engine, server=Server(public_url="https://fleet.example.org"))
    event = public.get(f"/api/v1/events/{id}").json()
    assert event["link"] == f"https://fleet.example.org/events/{id}"
    assert public.get("/api/v1/events").json()["events"] == [event]
    assert public.post(f"/api/v1/events/{id}/shelve").json()["link"] == event["link"]


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/api/v1/vehicles/nobody", 404, "no vehicle 'nobody'"),
        ("/api/v1/vehicles/nobody/scores", 404, "no vehicle"),
        ("/api/v1/events/xyz", 404, "no event"),
        ("/api/v1/vehicles?limit=0", 422, "limit: "),
        ("/api/v1/vehicles?after=xx", 422, "after must be"),
        ("/api/v1/events?after=WzEsMl0", 422, "after must be"),
        ("/api/v1/nothing", 404, "Not Found"),
        ("/api/v1/vehicles/a%00b", 422, "NUL"),
        ("/api/v1/events?vehicle=%00", 422, "NUL"),
    ],
)
def test_problems_are_one_sentence(client, path, status, words):
    answer = client.get(path)
    assert answer.status_code == status
    assert words in answer.json()["error"]


def test_a_fault_of_ours_is_told_without_details(engine, client, monkeypatch):
    def broken():
        raise RuntimeError("secret")

    monkeypatch.setattr(engine, "vehicles", broken)
    client.raises(False)
    answer = client.get("/api/v1/vehicles")
    assert answer.status_code == 500
    assert answer.json() == {"error": "the server made a mistake; its log says which"}
    assert "content-security-policy" in answer.headers


def test_a_store_that_is_gone_is_said_so(client, engine):
    engine.is_gone = True
    answer = client.get("/api/v1/events")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json() == {"error": "the database is gone"}
    assert client.page("/").status_code == 200, "the overview is in memory"
    assert "cannot be read at the moment" in client.page("/vehicles/car%201").text


def test_samples_are_answered_by_what_became_of_them(engine):
    taken = []

    async def deliver(engine, body, content_type, arrival):
        taken.append((body, content_type))
        if body == b"full":
            raise OverloadError("5 samples are waiting; try again later")
        if body == b"bad":
            raise InputError("line 1 is no JSON")
        return Receipt(3, {"late": 1}, error="the store is full" if body == b"lost" else "")

    client = make_client(engine, deliver=deliver)
    kind = {"content-type": "application/json; charset=utf-8"}

    def send(body, headers=kind):
        answer = client.post("/api/v1/samples", content=body, headers=headers)
        return answer.status_code, answer.json()

    assert send(b"[]") == (200, {"accepted": 3, "refused": {"late": 1}})
    assert taken == [(b"[]", "application/json")]
    assert send(b"bad") == (422, {"error": "line 1 is no JSON"})
    assert send(b"full") == (503, {"error": "5 samples are waiting; try again later"})
    assert send(b"lost") == (503, {"error": "the store is full"})
    assert send(b"x", {"content-type": "text/plain"})[0] == 422


def test_the_document_describes_every_operation(client):
    document = client.get("/openapi.json").json()
    ids = {
        operation["operationId"]
        for path in document["paths"].values()
        for operation in path.values()
    }
    assert ids == {
        "list_vehicles", "get_vehicle", "get_scores", "get_recent", "list_events", "get_event",
        "acknowledge_event", "unacknowledge_event", "shelve_event", "unshelve_event",
        "comment_event", "post_samples", "get_health", "get_ready", "get_metrics",
    }  # fmt: skip
