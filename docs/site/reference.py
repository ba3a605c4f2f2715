"""Reference pages made from the code: commands, configuration, detectors, metrics."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

import typer

from axonad.cli.app import app
from axonad.live import config as live_config
from axonad.metrics.registry import METRICS
from axonad.registry import list_detectors

COMMENT = re.compile(r"^\s+(\w+): .*?  # (.+)$")


def commands() -> str:
    """Return every command with its arguments and options, as ``--help`` has them."""
    lines: list[str] = []
    for words, command in _commands(typer.main.get_command(app), "axonad"):
        lines += [f"## {words}", "", _paragraphs(command.help or ""), ""]
        context = typer.Context(command, info_name=words)
        usage = " ".join(command.collect_usage_pieces(context))
        lines += ["```text", f"{words} {usage}".rstrip(), "```", ""]
        records = [param.get_help_record(context) for param in command.params]
        shown = [_row(f"`{record[0].strip()}`", record[1]) for record in records if record]
        if shown:
            lines += ["| | |", "|---|---|", *shown, ""]
    return "\n".join(lines)


def _commands(command: Any, words: str) -> Iterator[tuple[str, Any]]:
    children = getattr(command, "commands", None)
    if not children:
        yield words, command
        return
    for name, child in children.items():
        yield from _commands(child, f"{words} {name}")


def configuration() -> str:
    """Return every key of the configuration of ``axonad live`` with default and meaning."""
    lines: list[str] = []
    for table in dataclasses.fields(live_config.LiveConfig):
        cls = type(getattr(live_config.LiveConfig(), table.name))
        lines += [f"## [{table.name}]", "", _paragraphs(cls.__doc__ or ""), ""]
        lines += ["| key | default | |", "|---|---|---|"]
        comments = _comments(cls)
        for field in dataclasses.fields(cls):
            default = getattr(cls(), field.name)
            lines.append(_row(f"`{field.name}`", _toml(default), comments.get(field.name, "")))
        lines.append("")
    return "\n".join(lines)


def _comments(cls: type) -> dict[str, str]:
    """Return what the source says behind each field."""
    found = map(COMMENT.match, inspect.getsource(cls).splitlines())
    return {match[1]: match[2] for match in found if match}


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, str):
        return f'`"{value}"`'
    if isinstance(value, tuple):
        inside = ", ".join(f'"{item}"' for item in value)
        return f"`[{inside}]`"
    if isinstance(value, Mapping):
        return "`{}`"
    return f"`{value}`"


def detectors() -> str:
    """Return all detectors with what they look at."""
    lines = ["| detector | learns from | what it looks at |", "|---|---|---|"]
    lines += [_row(f"`{e.name}`", e.learns_from, e.summary) for e in list_detectors()]
    return "\n".join(lines) + "\n"


def metrics() -> str:
    """Return all metrics: of scores, of alarms, and their names in TSB-AD."""
    lines = ["| metric | of scores | of alarms | in TSB-AD |", "|---|---|---|---|"]
    for name, metric in METRICS.items():
        marks = ("yes" if part else "–" for part in (metric.of_scores, metric.of_alarms))
        lines.append(_row(f"`{name}`", *marks, metric.tsb_ad_name))
    return "\n".join(lines) + "\n"


def _row(*cells: str) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def _paragraphs(text: str) -> str:
    """Return help text as Markdown: no layout marks of the terminal, code in single backquotes."""
    text = inspect.cleandoc(text.replace("\b", "").replace("\f", ""))
    return re.sub(r"``([^`]+)``", r"`\1`", text)


PARTS = {
    "commands": commands,
    "configuration": configuration,
    "detectors": detectors,
    "metrics": metrics,
}
"""What ``<!-- generated: NAME -->`` on a page stands for."""


def fill(markdown: str) -> str:
    """Return a page with its generated parts."""
    return re.sub(r"<!-- generated: (\w+) -->", lambda found: PARTS[found[1]](), markdown)
