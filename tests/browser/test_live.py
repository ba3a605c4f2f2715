"""The pages of ``axonad live`` in a real browser: they follow the fleet, and survive a restart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.browser.live_server import LiveServer
from tests.live.web.fake_engine import HOSTILE, FakeEngine

pytestmark = pytest.mark.browser

WIDTH_IN_USE = "document.documentElement.scrollWidth"


@pytest.fixture
def serving():
    """Start a server of an engine; all are stopped at the end."""
    started = []

    def start(engine, **options):
        started.append(LiveServer(engine, **options))
        started[-1].start()
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def visit(browser):
    """Open a page that must neither ask other servers for anything nor complain."""
    opened = []

    def open_it(server, path="", *, width=1100, live=True, **options):
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        page = context.new_page()
        page.asked, page.complaints = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("console", lambda message: page.complaints.append(message.text))
        page.goto(server.address + path)
        if live:
            page.locator(".connection.live").wait_for()
        opened.append((page, server, context))
        return page

    yield open_it
    for page, server, context in opened:
        away = [url for url in page.asked if not url.startswith((server.address, "data:"))]
        assert away == []
        assert [text for text in page.complaints if "ERR_" not in text] == []
        context.close()


def until(page, claim):
    """Wait until something is so; the policy of the page forbids Playwright's own way."""
    for _ in range(600):
        if claim():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it did not become so")


def test_the_overview_follows_the_fleet(serving, visit):
    engine = FakeEngine(["car a", "car b", "car c"])
    page = visit(serving(engine))
    engine.change("car c", score=2.5)
    page.locator('tr[data-vehicle="car c"] .score', has_text="2.5").wait_for()
    engine.change("car c", state="alarm", firing=("x",))
    page.locator('tbody tr:first-child[data-vehicle="car c"] .state.alarm').wait_for()
    page.locator('[data-count="alarm"]', has_text="1").wait_for()
    engine.add("car d", state="no data")
    page.locator('tr[data-vehicle="car d"] .state.no-data').wait_for()
    engine.current = replace(engine.current, trouble="the database is gone since 14:05")
    page.locator(".trouble", has_text="since 14:05").wait_for()
    engine.current = replace(engine.current, trouble="")
    page.locator(".trouble").wait_for(state="hidden")


def test_a_vehicle_is_drawn_and_moves_on(serving, visit):
    engine = FakeEngine(["car"])
    page = visit(serving(engine), "vehicles/car")
    page.locator("#live figure canvas").nth(4).wait_for()
    plot = page.locator('#live figure[data-curve="0"]')
    before = float(plot.get_attribute("data-to"))
    reading = plot.locator(".reading").inner_text()
    assert ", expected " in reading
    engine.drive("car", 50, alarm=True)
    until(page, lambda: float(plot.get_attribute("data-to")) > before)
    assert plot.locator(".reading").inner_text() != reading
    page.locator("#live").focus()
    page.keyboard.press("+")
    zoomed = plot.get_attribute("data-to")
    newest = page.locator("#live").get_attribute("data-newest")
    engine.drive("car", 50)
    until(page, lambda: page.locator("#live").get_attribute("data-newest") != newest)
    assert plot.get_attribute("data-to") == zoomed, "a zoomed plot stays where it is"
    page.keyboard.press("0")
    engine.drive("car", 50)
    until(page, lambda: float(plot.get_attribute("data-to")) > before + 14)


def test_an_event_is_acknowledged_and_commented_by_keyboard(serving, visit):
    engine = FakeEngine(["car"])
    server = serving(engine)
    page, other = visit(server, "events"), visit(server, "events")
    first, second = engine.fire("car", 1), engine.fire("car", 2)
    page.locator(f"#event-{second.id}").wait_for()
    for key in ("j", "j", "a"):
        page.keyboard.press(key)
    page.locator(f"#event-{first.id}.done").wait_for()
    assert engine.event(first.id).acknowledged and not engine.event(second.id).acknowledged
    other.locator(f"#event-{first.id}.done").wait_for()
    page.locator(f"#event-{second.id} summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("seen by <b>me</b>")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator(f"#event-{second.id} summary", has_text="1 comment").wait_for()
    assert engine.event(second.id).comments[0]["text"] == "seen by <b>me</b>"
    assert page.url == f"{server.address}events", "nobody was sent to another page"


def test_a_restart_of_the_server_is_survived(serving, visit):
    engine = FakeEngine(["car"])
    server = serving(engine)
    page = visit(server)
    server.stop()
    page.locator(".connection.lost", has_text="connection lost, trying again").wait_for()
    event = engine.fire("car")
    engine.change("car", state="alarm")
    server.start()
    page.locator('tr[data-vehicle="car"] .state.alarm').wait_for()
    page.locator(".connection.live").wait_for()
    page.goto(f"{server.address}events/{event.id}")
    page.get_by_role("button", name="acknowledge event").click()
    page.get_by_role("button", name="unacknowledge event").wait_for()


def test_a_thousand_vehicles_stay_quick(serving, visit):
    engine = FakeEngine([f"car {i:04d}" for i in range(1000)])
    page = visit(serving(engine))
    page.locator("tbody tr").nth(249).wait_for()
    names = [f"car {i:04d}" for i in range(1000)]
    for step in range(5):
        for name in names:
            engine.change(name, score=1.0 + step / 10)
        page.locator('tr[data-vehicle="car 0003"] .score', has_text=f"{1 + step / 10:g}").wait_for()
    loaded = [url for url in page.asked if url == page.url]
    assert len(loaded) <= 2, "numbers change in place; the page is not asked for again"
    page.get_by_placeholder("search vehicles").fill("0999")
    page.keyboard.press("Enter")
    page.locator("tbody tr").first.wait_for()
    assert page.locator("tbody tr").count() == 1


@pytest.mark.parametrize("path", ["", "vehicles/{}", "events", "events/{}"])
def test_a_telephone_needs_no_sideways_scrolling(serving, visit, path):
    engine = FakeEngine([*HOSTILE, "car"])
    for name in HOSTILE:
        engine.change(name, state="no data")
        event = engine.fire(name, reason="frozen " * 30, channels=("x" * 100,))
    server = serving(engine)
    page = visit(server, path.format("a" * 128 if path.startswith("v") else event.id), width=360)
    assert page.evaluate(WIDTH_IN_USE) == 360
    assert page.evaluate("window.broken") is None


def test_without_javascript_everything_is_there(serving, visit):
    engine = FakeEngine(["car"])
    event = engine.fire("car")
    server = serving(engine)
    page = visit(server, "vehicles/car", live=False, java_script_enabled=False)
    assert page.locator("svg.static").count() == 4
    page.goto(f"{server.address}events")
    page.get_by_role("button", name="acknowledge event").click()
    page.get_by_role("button", name="unacknowledge event").wait_for()
    assert engine.event(event.id).acknowledged


def test_dark_mode_and_the_plots_of_an_event(serving, visit):
    from tests.report.page import pages

    engine = FakeEngine(["car"])
    event = engine.fire("car")
    told = pages.usual().recordings[0].events[0]
    server = serving(engine, explain=lambda course, event: told)
    page = visit(server, f"events/{event.id}", color_scheme="dark")
    page.locator("#e1 .canvas.live canvas").first.wait_for()
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert sum(int(part) for part in colour.strip("rgb()").split(",")[:3]) < 200
    assert page.locator("#e1 .telling").inner_text()
