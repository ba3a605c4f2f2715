"""Pages as a browser without JavaScript sees them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.live.web.client import make_client
from tests.live.web.fake_engine import HOSTILE, FakeEngine, band

ROW = re.compile(r'<tr data-vehicle="([^"]*)"')


@pytest.fixture
def engine():
    made = FakeEngine([f"car {i:03d}" for i in range(300)])
    made.change("car 200", state="alarm", score=9.0, firing=("x",))
    made.change("car 100", state="no data", score=None)
    return made


@pytest.fixture
def client(engine):
    return make_client(engine, expect=band)


def rows(page):
    return ROW.findall(page.text)


def test_the_overview_shows_the_worst_first_and_can_be_searched(client):
    first = client.page("/")
    assert rows(first)[:3] == ["car 200", "car 100", "car 000"]
    assert len(rows(first)) == 250 and len(rows(client.page("/?page=2"))) == 50
    assert rows(client.page("/?search=CAR+00&sort=name")) == [f"car {i:03d}" for i in range(10)]
    assert rows(client.page("/?state=alarm")) == ["car 200"]
    assert "None match" in client.page("/?state=drift").text
    assert rows(client.page("/?page=999999999&sort=nonsense&page=-5")) != []


def test_trouble_of_the_server_stands_on_every_page(client, engine):
    assert 'role="alert" hidden' in client.page("/").text
    said = "the database is gone since 14:05: samples wait <b>"
    engine.current = replace(engine.current, is_ready=False, trouble=said)
    for path in ("/", "/events", "/vehicles/car%20001"):
        text = client.page(path).text
        assert said.replace("<b>", "&lt;b&gt;") in text and 'role="alert" hidden' not in text
    assert client.get("/ready").status_code == 503
    assert client.get("/ready").json() == {"error": said}


def test_a_vehicle_shows_channels_with_what_was_expected(client):
    page = client.page("/vehicles/car%20001").text
    assert page.count('<path class="actual"') == 4
    assert page.count('<path class="band" d="M') == 4
    assert "brake &lt;b&gt;pressure&lt;/b&gt;" in page
    assert client.page("/vehicles/car%20001?search=YAW").text.count('<path class="actual"') == 1
    assert client.page("/vehicles/nobody").status_code == 404


def test_events_are_filtered_acknowledged_and_commented_by_forms(client, engine):
    for number in range(60):
        engine.fire("car 001", number, severity="critical" if number % 2 else "warning")
    first = client.page("/events?severity=critical")
    assert first.text.count('<li class="critical') == 30
    older = re.search(r'rel="next" href="([^"]+)"', client.page("/events").text)[1]
    assert client.page(older.replace("&amp;", "&")).text.count("<li class=") == 10
    event = engine.fire("car 001", 99)
    fields = {"token": client.token(), "next": "/events?care=open"}
    for what in ("acknowledge", "comment"):
        form = fields | {"what": what, "text": "<script>alert(1)</script>"}
        answer = client.form(f"/events/{event.id}/act", form)
        assert (answer.status_code, answer.headers["location"]) == (303, "/events?care=open")
    assert f"event-{event.id}" not in client.page("/events?care=open").text
    text = client.page(f"/events/{event.id}").text
    assert "unacknowledge" in text and "&lt;script&gt;alert(1)" in text
    assert "<script>alert" not in text


@pytest.mark.parametrize(
    ("fields", "status"),
    [({"what": "delete"}, 422), ({"what": "comment", "text": "  "}, 422),
     ({"what": "comment", "text": "x" * 4001}, 422), ({"what": "shelve", "next": "//x"}, 303)],
)  # fmt: skip
def test_forms_are_checked(client, engine, fields, status):
    event = engine.fire("car 001")
    answer = client.form(f"/events/{event.id}/act", {"token": client.token(), **fields})
    assert answer.status_code == status
    assert answer.headers.get("location", "/") == "/"


def test_no_name_becomes_markup():
    engine = FakeEngine(HOSTILE, channels=("<i>c</i>", "b"))
    events = [engine.fire(name, reason="<u>r</u>", kind="data") for name in HOSTILE]
    client = make_client(engine)
    for path in ("/", "/events", *(f"/events/{event.id}" for event in events)):
        text = client.page(path).text
        assert not re.search(r"<(img|i|u)\b", text)
        assert "onerror=window" not in re.sub(r"&lt;img[^<]*", "", text).replace('="&lt;', "")


def test_files_never_change_under_their_name_and_load_nothing_else(client):
    page = client.page("/").text
    names = re.findall(r'"(/assets/[^"]+)"', page)
    assert len(names) == 2
    for name in names:
        answer = client.get(name)
        assert "immutable" in answer.headers["cache-control"]
        own = answer.text.replace("http://www.w3.org/", "").replace("https://github.com/", "")
        assert "http://" not in own and "https://" not in own
    assert not re.search(r"<(script|style)(?![^>]*src=)[^>]*>", page)
    assert " style=" not in page and "onclick" not in page
