"""Draw docs/img/explain.png: a frozen yaw rate in a simulated drive, for docs/explain.md.

Run in the repository: ``python docs/img/explain.py``
"""

from __future__ import annotations

import sys
from pathlib import Path

from axonad import make_detector
from axonad.data.series import Series
from axonad.data.telemetry import generate_telemetry
from axonad.report.why_figure import draw_why


def main() -> None:
    """Fit, find, explain, draw the event of the flatline."""
    drive = generate_telemetry(steps=20_000, seed=3007)
    normal, faulty = (
        Series(values=part, channels=drive.channels) for part in (drive.train, drive.test)
    )
    detector = make_detector("Relation", align="end").fit(normal)
    events = detector.events(faulty, gap=20, why=True)
    fault = next(event for event in drive.events if event.kind == "flatline")
    for event in events:
        blamed = ", ".join(event.channels)
        sys.stdout.write(f"{event.start} to {event.end}, blamed: {blamed}\n{event.why.sentence}\n")
        if event.start < fault.end - drive.train_end and event.end > fault.start - drive.train_end:
            draw_why(Path(__file__).with_name("explain.png"), event.why)


if __name__ == "__main__":
    main()
