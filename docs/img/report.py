"""Draw the picture of a report: the top of the page, as Chromium shows it.

    axonad demo --data --out demo
    axonad fit demo/normal.csv --out model --set views=shape,forecast,relation
    axonad recalibrate model demo/other.csv --budget "1 per hour" --out calibrated
    axonad report calibrated demo/drive.csv --out report.html
    python docs/img/report.py report.html

Needs Chromium, Playwright and Pillow.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.browser.conftest import INSTALL, find_chromium

TARGET = Path(__file__).with_name("report.png")
SIZE = {"width": 1000, "height": 1500}
COLOURS = 128


def main() -> None:
    """Write ``report.png`` beside this file."""
    page = Path(sys.argv[1]).resolve().as_uri()
    path = find_chromium()
    if path is None:
        raise SystemExit(f"no Chromium: {INSTALL}")
    with sync_playwright() as driver:
        options = ["--no-sandbox"] if os.getuid() == 0 else []
        browser = driver.chromium.launch(executable_path=path, args=options)
        opened = browser.new_page(viewport=SIZE)
        opened.goto(page)
        opened.locator("canvas").first.wait_for()
        opened.evaluate("new Promise(requestAnimationFrame)")
        shown = opened.screenshot()
        browser.close()
    picture = Image.open(io.BytesIO(shown)).convert("RGB").quantize(COLOURS)
    picture.save(TARGET, optimize=True)


if __name__ == "__main__":
    main()
