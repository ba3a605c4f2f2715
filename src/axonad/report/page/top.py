"""The top of the page: verdicts, timeline, and the sortable tables of recordings and events."""

from __future__ import annotations

from axonad.alarms.event import SEVERITIES
from axonad.report.amounts import format_duration
from axonad.report.page.content import STEP, EventView, Page, RecordingView
from axonad.report.page.markup import Child, Markup, element, join, name, names, sentence
from axonad.report.page.pictures import timeline
from axonad.report.page.words import amount, count, drift_words, heading, telling, verdict

RANK = {severity: i + 1 for i, severity in enumerate(SEVERITIES)} | {"": 0}


def render_verdicts(page: Page) -> Markup:
    """Return one sentence per recording, and those that could not be scored."""
    lines = [
        element(
            "li",
            element("a", name(recording.source.name), href=f"#{recording.key}", class_="file"),
            " ",
            element("span", sentence(verdict(recording, page.card))),
            class_="good" if not (recording.events or recording.problems) else "found",
        )
        for recording in page.recordings
    ]
    lines += [
        element(
            "li",
            element("span", name(failure.name), class_="file"),
            " ",
            element("span", "could not be scored: ", sentence(failure.reason)),
            class_="failed",
        )
        for failure in page.failures
    ]
    cautions = [element("p", sentence(text), class_="caution") for text in page.card.cautions]
    return element("section", element("ul", lines, class_="verdicts"), cautions, id="verdict")


def render_timeline(page: Page) -> Markup:
    """Return a lane for each recording, all on one scale of time since its start."""
    if not page.recordings:
        return Markup("")
    by_time = [one for one in page.recordings if one.axis != STEP]
    by_row = [one for one in page.recordings if one.axis == STEP]
    lanes: list[Child] = []
    for group, unit in ((by_time, "time"), (by_row, "rows")):
        if not group:
            continue
        longest = max(one.last - one.first for one in group)
        end = format_duration(longest) if unit == "time" else f"{longest:,.0f} rows"
        lanes += [_lane(recording, longest) for recording in group]
        scale = (element("span", "start"), element("span", end))
        lanes.append(element("div", scale, class_="scale"))
    return element(
        "section", element("h2", "Timeline"), _legend(page), lanes, id="timeline",
        class_="timelines",
    )  # fmt: skip


def render_fleet(page: Page) -> Markup:
    """Return the table of recordings, if there are several."""
    if len(page.recordings) < 2:
        return Markup("")
    head = ("recording", "length", "events", "worst", "highest score", "events per hour",
            "data problems", "drift")  # fmt: skip
    return element(
        "section",
        element("h2", "Recordings"),
        table(head, [_fleet_row(recording) for recording in page.recordings], sortable=True),
        id="recordings",
    )


def render_event_table(page: Page) -> Markup:
    """Return the table of all events, each with a link to its section."""
    if not page.events:
        return element(
            "section", element("h2", "Events"), element("p", "No events."), id="events"
        )  # fmt: skip
    several = len(page.recordings) > 1
    head = ("event", *(["recording"] if several else []), "begins", "duration", "severity",
            "score", "kind", "channels")  # fmt: skip
    rows = [_event_row(recording, event, several=several) for recording, event in page.events]
    return element("section", element("h2", "Events"), table(head, rows, sortable=True),
                   id="events")  # fmt: skip


def table(head: tuple[str, ...], rows: list[Markup], *, sortable: bool = False) -> Markup:
    """Return a table that scrolls sideways by itself if it is wider than the page."""
    titles = [element("th", text, scope="col") for text in head]
    made = element(
        "table",
        element("thead", element("tr", titles)),
        element("tbody", rows),
        class_="sortable" if sortable else None,
    )
    return element("div", made, class_="wide", tabindex="0", role="region",
                   aria_label="table")  # fmt: skip


def cell(*children: Child, value: float | None = None, id: str | None = None) -> Markup:
    """Return a cell; ``value`` is what it is sorted by, if that is not its text."""
    by = None if value is None else f"{value:.15g}"
    kind = None if value is None else "number"
    return element("td", *children, data_value=by, class_=kind, id=id)


def badge(severity: str) -> Markup:
    """Return a severity as a coloured word."""
    if not severity:
        return Markup("")
    return element("span", severity, class_=f"badge {severity}")


def _lane(recording: RecordingView, longest: float) -> Markup:
    label = element("a", name(recording.source.name), href=f"#{recording.key}")
    return element(
        "div",
        element("div", label, " ", element("small", amount(recording)), class_="label"),
        timeline(recording, longest=longest),
        class_="row",
    )


def _legend(page: Page) -> Markup:
    used = [name for name in SEVERITIES if any(e.severity == name for _, e in page.events)]
    parts: list[Child] = [element("span", word, class_=f"key {word}") for word in used]
    if page.events and not used:
        parts.append(element("span", "event", class_="key alarm"))
    if any(recording.problems for recording in page.recordings):
        parts.append(element("span", "bad data", class_="key bad"))
    return element("p", join(parts), class_="legend") if parts else Markup("")


def _fleet_row(recording: RecordingView) -> Markup:
    events, hours = recording.events, recording.hours
    worst = max(events, key=lambda event: RANK[event.severity], default=None)
    strongest = max(events, key=lambda event: event.score, default=None)
    per_hour = None if not hours else len(events) / hours
    length = recording.rows if hours is None else hours
    return element(
        "tr",
        cell(element("a", name(recording.source.name), href=f"#{recording.key}")),
        cell(amount(recording), value=length),
        cell(_event_links(recording), value=len(events)),
        cell(badge(worst.severity) if worst else "–", value=RANK[worst.severity] if worst else -1),
        cell(f"{strongest.score:.3g}" if strongest else "–",
             value=strongest.score if strongest else -1),
        cell("–" if per_hour is None else f"{per_hour:.2g}", value=per_hour or 0),
        cell(f"{len(recording.problems)}", value=len(recording.problems)),
        element("td", sentence(drift_words(recording, short=True)), class_="names"),
    )  # fmt: skip


def _event_links(recording: RecordingView) -> Child:
    most = 6
    links: list[Child] = [f"{len(recording.events)}"]
    for event in recording.events[:most]:
        links += [" ", element("a", f"#{event.number}", href=f"#{event.key}")]
    if len(recording.events) > most:
        links.append(" …")
    return links


def _event_row(recording: RecordingView, event: EventView, *, several: bool) -> Markup:
    where = [cell(element("a", name(recording.source.name), href=f"#{recording.key}"))]
    link = element("a", f"#{event.number}", href=f"#{event.key}", title=telling(event)[:300])
    return element(
        "tr",
        cell(link, value=event.number, id=event.key if event.is_listed_only else None),
        where if several else None,
        cell(event.begins, value=event.first),
        cell(event.duration, value=event.length),
        cell(badge(event.severity) or "–", value=RANK[event.severity]),
        cell(f"{event.score:.3g}", value=event.score),
        element("td", heading(event), class_="short"),
        element("td", names(event.channels), class_="names"),
    )


def summary(page: Page) -> str:
    """Return the whole page in a few words, for its title and its first line."""
    events = count(len(page.events), "event")
    return f"{events} in {count(len(page.recordings), 'recording')}"
