"""How large the page of ``axonad report`` gets, and how long Chromium takes to open it.

    python benchmarks/speed/report_page.py

The largest page that is promised: ten hours at 10 Hz, 50 channels, 30 events with six plots each.
Needs Chromium and Playwright. ``opened`` is the browser's own clock from the start of the
navigation to the end of the load event; ``painted`` also includes the first plots and a frame.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from playwright.sync_api import Browser, sync_playwright
from tests.browser.conftest import INSTALL, find_chromium
from tests.report.page import pages

from axonad.report.page.document import render

OPENED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
PAINTED = """() => new Promise(done => {
  const drawn = () => document.querySelector("canvas")
    ? requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))
    : setTimeout(drawn, 5);
  document.getElementById("e1").scrollIntoView();
  drawn();
})"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    path = find_chromium()
    if path is None:
        raise SystemExit(f"no Chromium: {INSTALL}")
    made = pages.largest()
    begin = time.process_time()
    content = render(made)
    seconds = time.process_time() - begin
    print(f"page of {len(content) / 1e6:.2f} MB, written in {seconds:.2f} s of CPU time")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        file = Path(folder) / "report.html"
        file.write_bytes(content)
        options = ["--no-sandbox"] if os.getuid() == 0 else []
        browser = driver.chromium.launch(executable_path=path, args=options)
        found = [measure(browser, file) for _ in range(args.rounds)]
        browser.close()
    for name, values in zip(("opened", "painted"), zip(*found, strict=True), strict=True):
        print(f"{name}: median {statistics.median(values):.0f} ms, largest {max(values):.0f} ms")


def measure(browser: Browser, file: Path) -> tuple[float, float]:
    """Return the milliseconds until a fresh page is loaded and until its plots are painted."""
    context = browser.new_context(viewport={"width": 1100, "height": 900})
    page = context.new_page()
    page.goto(file.as_uri())
    painted, opened = page.evaluate(PAINTED), page.evaluate(OPENED)
    context.close()
    return opened, painted


if __name__ == "__main__":
    main()
