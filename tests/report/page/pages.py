"""Pages made of invented numbers: a usual one, an empty one, the largest one, a hostile one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from axonad.report.page.content import (
    DATE,
    SECONDS,
    Card,
    Curve,
    EventView,
    Failure,
    Overview,
    Page,
    Problem,
    RecordingView,
    Scatter,
    Source,
)

KINDS = ("frozen", "shifted", "drifting", "noisy", "spiking", "wrong relation", "out of range")
SEVERITIES = ("warning", "alarm", "critical")
START = 1_767_225_600.0  # 2026-01-01 00:00:00 UTC


def curve(name: str, x, *, seed: int, fault: slice) -> Curve:
    rng = np.random.default_rng(seed)
    expected = np.sin(x / 9 + seed) * 4 + seed
    actual = expected + rng.normal(0, 0.3, len(x))
    actual[fault] = actual[fault.start]
    band = 0.9 + 0.2 * np.abs(np.sin(x / 30))
    return Curve(name, x, actual, expected, expected - band, expected + band)


def scatter(*, seed: int) -> Scatter:
    rng = np.random.default_rng(seed)
    then = rng.normal(0, 3, 300)
    now = rng.normal(0, 3, 120)
    noise = rng.normal(0, 0.3, 300)
    words = "yaw_rate given steering_angle, vehicle_speed"
    return Scatter(words, 7.4, then, then + noise, now, np.zeros(120))


def event(
    number: int, *, first: float, rows: int, rate: float, channels: tuple[str, ...], context: int
) -> EventView:
    x = first + (np.arange(rows + 2 * context) - context) / rate
    curves = tuple(
        curve(name, x, seed=number + i, fault=slice(context, context + rows))
        for i, name in enumerate(channels)
    )
    return EventView(
        key=f"e{number}",
        number=number,
        begins=f"{first:.1f} s",
        ends=f"{first + rows / rate:.1f} s",
        first=first,
        last=first + rows / rate,
        duration=f"{rows / rate:.3g} s",
        length=rows / rate,
        severity=SEVERITIES[number % 3],
        score=2.5 + (number * 7919) % 13,
        threshold=2.2,
        channels=channels[:2],
        kind=KINDS[number % len(KINDS)],
        sentence=f"{channels[0]} no longer follows {' and '.join(channels[1:3])}.",
        counterfactual=f"If {channels[0]} had been as expected, there would be no event.",
        parts=(("shape", 0.4), ("forecast", 1.7), ("relation", 2.9), ("network", 0.8)),
        curves=curves,
        relations=(scatter(seed=number),),
    )


def recording(
    name: str,
    *,
    key: str = "r1",
    hours: float = 0.5,
    rate: float = 10.0,
    channels: int = 6,
    events: int = 3,
    first_number: int = 1,
    rows: int = 120,
    context: int = 100,
    shown: int = 4,
    points: int = 600,
    axis: str = SECONDS,
) -> RecordingView:
    start = START if axis == DATE else 0.0
    length = hours * 3600
    names = tuple(f"channel_{i:02d}" for i in range(channels))
    x = start + np.linspace(0, length, points)
    waves = tuple((n, np.sin((x - start) / 60 + i)) for i, n in enumerate(names))
    score = 1 + 0.3 * np.sin((x - start) / 50)
    score[points // 3] = 6.0
    found = tuple(
        event(
            first_number + i,
            first=start + length * (i + 0.5) / max(1, events),
            rows=rows,
            rate=rate,
            channels=tuple(names[(i + k) % channels] for k in range(shown)),
            context=context,
        )
        for i in range(events)
    )
    problem = Problem("60 s", "80 s", start + 60, start + 80, "20 s", 20.0, "frozen", names[:1])
    return RecordingView(
        key=key,
        source=Source(name, 1000, "ab" * 32),
        axis=axis,
        first=start,
        last=start + length,
        rows=int(length * rate),
        scored=int(length * rate),
        channels=channels,
        hours=hours,
        interval=1 / rate,
        breaks=1,
        missing=7,
        threshold=2.2,
        events=found,
        problems=(problem,) if events else (),
        overview=Overview(x, score, waves),
        drift=None,
        notes=("7 missing values held",),
        expected_events=0.5,
    )


def card() -> Card:
    rows = (("model", "model"), ("detector", "MultiView"), ("fingerprint", "0123abcd"))
    return Card("model", rows, "1 per hour", ())


def page(*recordings: RecordingView, **changes) -> Page:
    made = Page(
        title="drive.csv",
        card=card(),
        recordings=recordings,
        commands=("axonad report model drive.csv --out report.html",),
        version="0.0",
    )
    return replace(made, **changes)


def usual() -> Page:
    first = recording("drive.csv", key="r1", events=4)
    second = recording("other.csv", key="r2", hours=0.2, events=2, first_number=5, axis=DATE)
    quiet = recording("quiet.csv", key="r3", hours=0.3, events=0)
    return page(first, second, quiet, failures=(Failure("bad.csv", "bad.csv is empty"),))


def largest() -> Page:
    """Ten hours at 10 Hz, 50 channels, 30 events of a minute each with two minutes around it."""
    return page(
        recording(
            "ten_hours.parquet", hours=10, channels=50, events=30, rows=600, context=600, shown=6,
            points=1000,
        )
    )  # fmt: skip


HOSTILE = (
    "<script>window.broken=1</script>",
    '"><img src=x onerror=window.broken=1>',
    "</script><script>window.broken=1</script>",
    "<!--<script>",
    "' onmouseover='window.broken=1",
    "\u202ereversed \x00 \ud800 &amp; ]]>",
    "x" * 10_000,
)


def hostile() -> Page:
    """Every text that comes from data is an attack."""
    made = recording(HOSTILE[0], channels=len(HOSTILE))
    views = tuple(
        (name, values) for name, (_, values) in zip(HOSTILE, made.overview.channels, strict=True)
    )
    events = tuple(
        replace(
            one,
            channels=HOSTILE,
            sentence=" ".join(HOSTILE),
            counterfactual=" ".join(HOSTILE),
            kind=HOSTILE[1],
            begins=HOSTILE[2],
            curves=tuple(
                replace(curve, name=name) for curve, name in zip(one.curves, HOSTILE, strict=False)
            ),
            relations=tuple(replace(one, words=HOSTILE[1]) for one in one.relations),
            parts=((HOSTILE[0], 1.0),),
        )
        for one in made.events
    )
    problems = tuple(replace(one, channels=HOSTILE, reason=HOSTILE[2]) for one in made.problems)
    made = replace(
        made,
        source=Source(HOSTILE[2], 1, HOSTILE[1]),
        events=events,
        problems=problems,
        notes=HOSTILE,
        drift=HOSTILE,
        overview=replace(made.overview, channels=views),
    )
    facts = tuple((text, text) for text in HOSTILE)
    return page(
        made,
        title=HOSTILE[0],
        card=Card(HOSTILE[2], facts, HOSTILE[1], HOSTILE),
        failures=(Failure(HOSTILE[1], HOSTILE[2]),),
        commands=HOSTILE[:-1],
    )
