"""The page in a real browser: plots, zoom, sorting, keyboard, and life without JavaScript."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

WIDTH_IN_USE = "document.documentElement.scrollWidth"


def test_every_plot_is_drawn_when_it_comes_into_view(open_page):
    opened = open_page()
    for number in range(1, 7):
        opened.show(f"#e{number}")
    opened.show("#r1")
    assert opened.page.locator("#e1 canvas").count() == 4
    assert opened.page.locator("#r1 canvas").count() == 2
    drawn = opened.page.evaluate(
        """() => [...document.querySelectorAll("#e1 canvas, #r1 canvas")].map(canvas => {
            const pixels = canvas.getContext("2d")
                .getImageData(0, 0, canvas.width, canvas.height).data;
            return new Set(new Uint32Array(pixels.buffer)).size; })"""
    )
    assert min(drawn) > 10, "curves, a band and axes have many colours; an empty canvas has one"


def test_zoom_is_shared_by_the_plots_of_an_event_and_by_no_other(open_page):
    opened = open_page()
    opened.show("#e2")
    opened.show("#e1")
    whole, other = opened.range("#e1"), opened.range("#e2")
    over = opened.page.locator("#e1 .u-over").first.bounding_box()
    opened.page.mouse.move(over["x"] + over["width"] * 0.25, over["y"] + 20)
    opened.page.mouse.down()
    opened.page.mouse.move(over["x"] + over["width"] * 0.5, over["y"] + 20, steps=4)
    opened.page.mouse.up()
    first = opened.range("#e1")
    length = whole[1] - whole[0]
    assert first[0] == pytest.approx(whole[0] + 0.25 * length, abs=0.01 * length)
    assert first[1] == pytest.approx(whole[0] + 0.5 * length, abs=0.01 * length)
    assert [opened.range("#e1", place) for place in (1, 2, 3)] == [first] * 3
    assert opened.range("#e2") == other
    opened.page.mouse.dblclick(over["x"] + 50, over["y"] + 20)
    assert opened.range("#e1", 3) == whole


def test_keyboard_and_buttons_zoom_and_move(open_page):
    opened = open_page()
    opened.show("#e1")
    whole = opened.range("#e1")
    opened.page.locator("#e1 .plots").focus()
    opened.page.keyboard.press("+")
    half = opened.range("#e1")
    assert half[1] - half[0] == pytest.approx((whole[1] - whole[0]) / 2)
    opened.page.keyboard.press("ArrowLeft")
    assert opened.range("#e1", 1)[0] < half[0]
    opened.page.keyboard.press("0")
    assert opened.range("#e1") == whole
    opened.page.get_by_role("button", name="zoom in").first.click()
    assert opened.range("#e1", 2) == half


def test_j_and_k_go_through_the_events(open_page):
    opened = open_page()
    seen = []
    for key in ("j", "j", "k", "j", "j"):
        opened.page.keyboard.press(key)
        seen.append(opened.page.evaluate("document.activeElement.id"))
    assert seen == ["e1", "e2", "e1", "e2", "e3"]


def test_the_cursor_reads_the_values_of_all_plots(open_page):
    opened = open_page()
    opened.show("#e1")
    before = opened.page.locator("#e1 .reading").nth(1).inner_text()
    opened.page.locator("#e1 .u-over").first.hover()
    reading = opened.page.locator("#e1 .reading").nth(1)
    assert before.startswith("was ")
    assert ", expected " in reading.inner_text()
    assert reading.inner_text() != before


def test_tables_are_sorted_by_a_click(open_page):
    opened = open_page()
    scores = opened.page.locator("#events tbody tr td:nth-child(6)")
    opened.page.get_by_role("button", name="score", exact=True).click()
    found = [float(text) for text in scores.all_inner_texts()]
    assert found == sorted(found, reverse=True)
    opened.page.get_by_role("button", name="score", exact=True).click()
    assert [float(text) for text in scores.all_inner_texts()] == sorted(found)
    heading = opened.page.locator("#events th", has_text="score")
    assert heading.get_attribute("aria-sort") == "ascending"
    opened.page.get_by_role("button", name="kind").click()
    kinds = opened.page.locator("#events tbody tr td:nth-child(7)").all_inner_texts()
    assert kinds == sorted(kinds)


def test_links_lead_to_the_events(open_page):
    opened = open_page()
    opened.page.locator("#events a", has_text="#3").click()
    assert opened.page.url.endswith("#e3")
    assert opened.page.locator("#e3").is_visible()
    assert opened.page.evaluate("document.getElementById('e3').getBoundingClientRect().top") < 200


def test_another_channel_of_the_whole_recording(open_page):
    opened = open_page()
    opened.show("#r1")
    canvas = opened.page.locator("#r1 canvas").nth(1)
    before = canvas.screenshot()
    opened.page.locator("#r1 select").select_option(label="channel_03")
    assert canvas.screenshot() != before


def test_nothing_hostile_runs(open_page):
    opened = open_page("hostile")
    opened.show("#e1")
    opened.show("#r1")
    assert opened.page.evaluate("window.broken") is None
    assert opened.page.locator("img").count() == 0
    assert "<script>window.broken=1</script>" in opened.page.locator("h1").inner_text()


@pytest.mark.parametrize("name", ["usual", "hostile", "largest"])
def test_a_telephone_needs_no_sideways_scrolling(open_page, name):
    opened = open_page(name, width=360)
    opened.show("#e1")
    assert opened.page.evaluate(WIDTH_IN_USE) == 360


def test_the_largest_page_opens_and_draws(open_page):
    opened = open_page("largest")
    opened.show("#e30")
    assert opened.page.locator("#e30 canvas").count() == 6
    assert opened.page.locator("#e15 canvas").count() == 0, "plots out of view are not drawn"


def brightness(opened):
    colour = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(int(part) for part in colour.strip("rgb()").split(",")[:3])


def test_dark_mode_follows_the_system_while_the_page_is_open(open_page):
    opened = open_page(color_scheme="dark")
    opened.show("#e1")
    dark, picture = brightness(opened), opened.page.locator("#e1 canvas").first.screenshot()
    opened.page.emulate_media(color_scheme="light")
    assert dark < 200
    assert brightness(opened) > 700
    assert opened.page.locator("#e1 canvas").first.screenshot() != picture


def test_on_paper_the_static_pictures_are_shown_in_light_colours(open_page):
    opened = open_page(color_scheme="dark")
    opened.show("#e1")
    assert not opened.page.locator("#e1 svg.static").first.is_visible()
    opened.page.emulate_media(media="print")
    assert opened.page.locator("#e1 svg.static").first.is_visible()
    assert not opened.page.locator("#e1 canvas").first.is_visible()
    assert brightness(opened) == 3 * 255
    assert opened.page.pdf(format="A4").startswith(b"%PDF")


def test_without_javascript_text_tables_and_pictures_are_there(open_page):
    opened = open_page(java_script_enabled=False)
    page = opened.page
    assert page.locator("#events tbody tr").count() == 6
    assert "no longer follows" in page.locator("#e1 .telling").inner_text()
    assert page.locator("#e1 svg.static").first.is_visible()
    assert page.locator("#e1 svg.scatter").is_visible()
    assert page.locator("svg.timeline").first.is_visible()
    assert not page.locator("#whole").is_visible(), "it would be empty"
    assert page.locator("noscript").first.is_visible()
