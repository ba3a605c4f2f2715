"""Below the events: recordings, self-test, data quality, model card, how to reproduce."""

from __future__ import annotations

from axonad.report.page.content import Page, Problem, RecordingView
from axonad.report.page.markup import Child, Markup, element, name, names, sentence, shorten
from axonad.report.page.top import cell, table
from axonad.report.page.words import amount
from axonad.report.selftest_table import describe_cell
from axonad.selftest.result import NEEDED, SelfTest

MOST_PROBLEMS = 200  # listed for each recording


def render_recording(recording: RecordingView) -> Markup:
    """Return the section of a whole recording: its score and, one at a time, its channels."""
    return element(
        "article",
        element("h3", name(recording.source.name), " ", element("small", amount(recording))),
        element(
            "div",
            element(
                "figure",
                element("figcaption", element("strong", "score"), " ",
                        element("span", class_="reading")),
                element("div", class_="canvas"),
                class_="plot", data_curve="score",
            ),
            element(
                "figure",
                element("figcaption", element("span", class_="chooser"), " ",
                        element("span", class_="reading")),
                element("div", class_="canvas"),
                class_="plot", data_curve="channel",
            ),
            class_="plots", data_group=recording.key, tabindex="0", role="group",
            aria_label="score and channels of the recording",
        ),
        id=recording.key,
        class_="recording",
        tabindex="-1",
    )  # fmt: skip


def render_selftest(page: Page) -> Markup:
    """Return what the model would miss; without a self-test, how to make one."""
    title = element("h2", "What the model would miss")
    if page.selftest is None:
        hint = f"axonad selftest {page.card.model} NORMAL.csv --out selftest"
        return element(
            "section", title,
            element("p", "No self-test was given. It plants faults into normal data and shows "
                    "which of them the model finds:"),
            element("pre", element("code", shorten(hint, 400))),
            element("p", "Then add ", element("code", "--selftest selftest/selftest.json"),
                    " to the command below."),
            id="selftest",
        )  # fmt: skip
    result = page.selftest
    lines = [element("p", line[:1].upper() + line[1:] + ".") for line in str(result).splitlines()]
    return element(
        "section", title, lines, _selftest_table(result),
        element("p", f"Each cell: the smallest size found in at least {100 * NEEDED:.0f} % of "
                "plantings, in units of the channel (median delay, or share found); for kinds "
                "without sizes, the share found. Marked cells are blind.", class_="note"),
        id="selftest",
    )  # fmt: skip


def render_data(page: Page) -> Markup:
    """Return the table of data quality and the list of data problems."""
    head = ("recording", "rows", "scored", "channels", "interval", "breaks", "missing values",
            "data problems", "SHA-256")  # fmt: skip
    rows = [_data_row(recording) for recording in page.recordings]
    notes = [
        element("li", sentence(_attributed(note, recording.source.name)))
        for recording in page.recordings
        for note in recording.notes
    ]
    return element(
        "section",
        element("h2", "Data quality"),
        table(head, rows, sortable=True) if rows else None,
        element("ul", notes) if notes else None,
        [_problem_list(recording) for recording in page.recordings if recording.problems],
        id="data",
    )


def render_card(page: Page) -> Markup:
    """Return what the model rests on."""
    rows = [
        element(
            "tr",
            element("th", shorten(what), scope="row"),
            element("td", shorten(value, 4000)),
        )
        for what, value in page.card.rows
    ]
    return element(
        "section", element("h2", "Model"),
        element("div", element("table", element("tbody", rows), class_="card"), class_="wide"),
        id="model",
    )  # fmt: skip


def render_commands(page: Page) -> Markup:
    """Return how to make the page again."""
    lines = element("pre", element("code", "\n".join(page.commands)))
    return element(
        "section", element("h2", "How to reproduce"),
        element("p", "With the model and the recordings of the tables above, ",
                f"axonad {page.version} writes this file again, byte for byte:"),
        lines,
        id="reproduce",
    )  # fmt: skip


def _attributed(note: str, name: str) -> str:
    """Return a note that says which recording it is about."""
    return note if note.startswith(name) else f"{name}: {note}"


def _selftest_table(result: SelfTest) -> Markup:
    rows = []
    for channel in result.channels:
        cells: list[Child] = []
        for kind in result.kinds:
            one = result.cell(channel, kind)
            says, note = describe_cell(one, result)
            text = f"{says} ({note})" if note else says
            blind = bool(one.plantings) and not one.is_found
            cells.append(element("td", text, class_="blind" if blind else None))
        rows.append(element("tr", element("th", name(channel), scope="row"), cells))
    return table(("channel", *result.kinds), rows)


def _data_row(recording: RecordingView) -> Markup:
    interval = "–" if recording.interval is None else f"{recording.interval:.6g} s"
    return element(
        "tr",
        cell(element("a", name(recording.source.name), href=f"#{recording.key}")),
        cell(f"{recording.rows:,}", value=recording.rows),
        cell(f"{recording.scored:,}", value=recording.scored),
        cell(f"{recording.channels}", value=recording.channels),
        cell(interval, value=recording.interval or 0),
        cell(f"{recording.breaks}", value=recording.breaks),
        cell(f"{recording.missing:,}", value=recording.missing),
        cell(f"{len(recording.problems)}", value=len(recording.problems)),
        cell(element("code", recording.source.sha256[:16] or "–")),
    )


def _problem_list(recording: RecordingView) -> Markup:
    shown = recording.problems[:MOST_PROBLEMS]
    more = len(recording.problems) - len(shown)
    return element(
        "div",
        element("h3", "Data problems in ", name(recording.source.name)),
        table(("begins", "duration", "what", "channels"), [_problem(one) for one in shown],
              sortable=True),
        element("p", f"and {more:,} more") if more else None,
    )  # fmt: skip


def _problem(problem: Problem) -> Markup:
    return element(
        "tr",
        cell(problem.begins, value=problem.first),
        cell(problem.duration, value=problem.length),
        cell(problem.reason),
        cell(names(problem.channels)),
    )
