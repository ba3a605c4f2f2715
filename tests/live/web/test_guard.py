"""Who is let in: host names, keys and roles, forged requests, limits, headers of answers."""

from __future__ import annotations

import pytest

from axonad.live.config import Server
from axonad.live.web.keys import Keys, create_key, revoke_key
from tests.live.web.client import make_client
from tests.live.web.fake_engine import FakeEngine


@pytest.fixture
def engine():
    return FakeEngine(["car 1"])


@pytest.fixture
def local(engine):
    return make_client(engine)


@pytest.fixture
def guarded(engine, tmp_path):
    """A server with keys, and the tokens of a reader and a writer."""
    path = tmp_path / "keys.json"
    tokens = {role: create_key(path, name=role, role=role) for role in ("read", "write")}
    made = make_client(engine, keys=Keys(path))
    made.tokens, made.path = tokens, path
    return made


def bearer(token):
    return {"authorization": f"Bearer {token}"}


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost:1", 200), ("127.0.0.1", 200), ("[::1]:9", 200), ("192.168.0.7:80", 200),
     ("fleet.example", 200), ("evil.example", 421), ("localhost.evil.example", 421),
     ("localhost@evil", 421), ("", 421)],
)  # fmt: skip
def test_only_known_host_names_are_answered(engine, host, status):
    client = make_client(engine, server=Server(hosts=("Fleet.example",)))
    assert client.get("/health", headers={"host": host}).status_code == status


def test_the_host_of_the_public_address_is_known(engine):
    client = make_client(engine, server=Server(public_url="https://Fleet.example:8443"))
    assert client.get("/health", headers={"host": "fleet.example:8443"}).status_code == 200


def test_answers_forbid_foreign_scripts_and_frames(local):
    for path in ("/", "/api/v1/vehicles", "/nothing"):
        headers = local.page(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "origin": "http://localhost:8757"},
    ],
)
def test_other_sites_cannot_change_anything(local, engine, headers):
    event = engine.fire("car 1")
    token = local.token()
    path, form = f"/events/{event.id}/act", {"what": "shelve", "token": token}
    assert local.form(path, form, **headers).status_code == 403
    assert local.post(f"/api/v1/events/{event.id}/shelve", headers=headers).status_code == 403
    assert local.form("/login", {"key": "x"}, **headers).status_code == 403
    assert not engine.event(event.id).shelved
    assert local.form(path, form, origin="http://localhost:8757").status_code == 303
    assert engine.event(event.id).shelved


def test_a_form_needs_the_token_of_its_own_session(engine, local):
    event = engine.fire("car 1")
    other = make_client(engine)
    path = f"/events/{event.id}/act"
    for token in ("", "0" * 64, other.token()):
        answer = local.form(path, {"what": "shelve", "token": token})
        assert answer.status_code == 403
    local.token()
    assert local.form(path, {"what": "shelve", "token": other.token()}).status_code == 403
    assert not engine.event(event.id).shelved


def test_without_a_key_there_is_nothing_to_see(guarded):
    for path in ("/api/v1/vehicles", "/metrics", "/openapi.json", "/live"):
        answer = guarded.get(path)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    for token in ("", "axl_wrong", guarded.tokens["read"][:-1], "ä"):
        headers = {b"authorization": f"Bearer {token}".encode()}
        assert guarded.get("/api/v1/vehicles", headers=headers).status_code == 401
    answer = guarded.page("/vehicles/a%2Fb?search=x")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/login?next=%2Fvehicles%2Fa%252Fb%3Fsearch%3Dx"
    assert guarded.get("/health").status_code == guarded.get("/ready").status_code == 200


def test_a_reader_reads_and_a_writer_writes(guarded, engine):
    event = engine.fire("car 1")
    path = f"/api/v1/events/{event.id}/acknowledge"
    reader, writer = (bearer(guarded.tokens[role]) for role in ("read", "write"))
    assert guarded.get("/api/v1/events", headers=reader).status_code == 200
    answer = guarded.post(path, headers=reader)
    assert (answer.status_code, answer.json()) == (403, {"error": "this key may read only"})
    assert guarded.post(path, headers=writer).status_code == 200
    revoke_key(guarded.path, name="write")
    assert guarded.post(path, headers=writer).status_code == 401


def test_a_browser_logs_in_acts_and_logs_out(guarded, engine):
    event = engine.fire("car 1")
    wrong = guarded.form("/login", {"key": "axl_no", "next": "/events"})
    assert wrong.status_code == 403 and "not known" in wrong.text
    answer = guarded.form("/login", {"key": guarded.tokens["write"], "next": "//evil.example"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie
    assert guarded.tokens["write"].lower() not in cookie
    token = guarded.token()
    api = f"/api/v1/events/{event.id}/shelve"
    assert guarded.post(api).status_code == 403, "a cookie alone does not prove who sent it"
    assert guarded.post(api, headers={"x-csrf-token": token}).status_code == 200
    form = {"what": "comment", "text": "mine", "token": token}
    assert guarded.form(f"/events/{event.id}/act", form).status_code == 303
    assert engine.event(event.id).comments[0]["author"] == "write"
    assert guarded.form("/logout", {"token": token}).headers["location"] == "/login"
    assert guarded.page("/").status_code == 303


def test_a_session_survives_a_restart_and_ends_with_its_key(guarded, engine):
    guarded.form("/login", {"key": guarded.tokens["read"]})
    again = make_client(engine, keys=Keys(guarded.path))
    again._client.cookies = guarded._client.cookies
    page = again.page("/")
    assert page.status_code == 200
    assert "read only" in page.text
    assert "acknowledge event" not in again.page("/events").text
    revoke_key(guarded.path, name="read")
    assert again.page("/").status_code == 303


def test_a_forged_or_old_session_is_none(guarded):
    guarded.form("/login", {"key": guarded.tokens["read"]})
    good = guarded._client.cookies["axonad_live"]
    key, ends, *rest = good.split(".")
    for bad in (
        ".".join([key, str(int(ends) + 1), *rest]), good[:-1], "", "a.b.c.d", f"{good}.x", "..."
    ):  # fmt: skip
        guarded._client.cookies.clear()
        guarded._client.cookies.set("axonad_live", bad)
        assert guarded.page("/").status_code == 303


def test_bodies_and_rates_have_limits(engine):
    client = make_client(engine, server=Server(max_body=10, rate=0.001, burst=6))
    event = engine.fire("car 1")
    path = f"/api/v1/events/{event.id}/comment"
    answer = client.post(path, json={"text": "x" * 20})
    assert (answer.status_code, "10 bytes" in answer.json()["error"]) == (413, True)

    async def parts():
        for _ in range(5):
            yield b"12345"

    kind = {"content-type": "application/json"}
    assert client.post(path, content=parts(), headers=kind).status_code == 413
    many = {f"x-{i}": "" for i in range(200)}
    assert client.get("/health", headers=many).status_code == 431
    found = [client.get("/health").status_code for _ in range(5)]
    assert found == [200, 200, 200, 200, 429]
