"""A table of numbers with title, headings and notes, rendered as text, Markdown, LaTeX or CSV.

Cells hold numbers, not text; the column decides how many digits are shown, and CSV has all of them.
A missing value is a dash, in CSV an empty field.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

Style = Literal["text", "count", "number", "signed", "p", "spread", "interval"]
Value = str | float | None
DASH = "–"
_EXTRA = {"spread": (" std",), "interval": (" low", " high")}
_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "–": "--", "±": r"$\pm$", "†": r"\textdagger{}", "≥": r"$\geq$", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Column:
    """A heading and the number format of its cells.

    ``style`` is ``"spread"`` for mean ± deviation, ``"interval"`` for [low, high], ``"p"`` for
    p-values. ``best`` says whether the ``"max"``, the ``"min"`` or no value is printed bold.
    """

    heading: str
    style: Style = "number"
    digits: int = 3
    best: Literal["max", "min", ""] = ""


@dataclass(frozen=True)
class Cell:
    """A value, its deviation or interval if the column shows one, and a mark explained in a note.

    A cell that is not ``ranked`` is never the best of its column.
    """

    value: Value = None
    extra: tuple[float, ...] = ()
    mark: str = ""
    ranked: bool = True


Line = tuple[Cell | Value, ...]


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of cells under headings, with a title and notes.

    ``among`` is the heading of a column; rows with the same value in it compete for the best.

    >>> table = Table(
    ...     title="Scores",
    ...     columns=(Column(heading="name", style="text"), Column(heading="AUC-PR", best="max")),
    ...     rows=(("one", 0.25), ("two", 0.5)),
    ... )
    >>> print(table.to_text())
    Scores
    name  AUC-PR
    one    0.250
    two    0.500
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Line, ...]
    notes: tuple[str, ...] = ()
    among: str = ""

    def headings(self) -> list[str]:
        """Return the headings as they are shown."""
        return [column.heading for column in self.columns]

    def text_rows(self) -> list[list[str]]:
        """Return every row as it is shown, without bold or underline."""
        return [
            [_show(column, cell) for column, cell in zip(self.columns, row, strict=True)]
            for row in self._cells()
        ]

    def to_text(self) -> str:
        """Return the table for a terminal: title, aligned columns, notes."""
        lines = [self.headings(), *self.text_rows()]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        body = [
            "  ".join(
                text.ljust(width) if column.style == "text" else text.rjust(width)
                for text, width, column in zip(line, widths, self.columns, strict=True)
            ).rstrip()
            for line in lines
        ]
        return "\n".join([self.title, *body, *self.notes])

    def to_markdown(self) -> str:
        """Return the table in Markdown, the best value of each column bold."""
        best = [self._places(column, 0) for column in range(len(self.columns))]
        lines = [f"**{_markdown(self.title)}**", ""]
        lines.append(_bar(_markdown(heading) for heading in self.headings()))
        lines.append(_bar(":---" if c.style == "text" else "---:" for c in self.columns))
        for number, row in enumerate(self.text_rows()):
            cells = [_markdown(text) for text in row]
            lines.append(_bar(f"**{t}**" if number in best[i] else t for i, t in enumerate(cells)))
        for note in self.notes:
            lines += ["", _markdown(note)]
        return "\n".join(lines) + "\n"

    def to_latex(self) -> str:
        r"""Return the table in LaTeX, the best value bold and the second best underlined.

        It needs the package booktabs, and graphicx if it has more than seven columns.
        """
        marked = [
            [(self._places(i, 0), r"\textbf{%s}"), (self._places(i, 1), r"\underline{%s}")]
            for i in range(len(self.columns))
        ]
        align = "".join("l" if c.style == "text" else "r" for c in self.columns)
        wide = len(self.columns) > 7
        lines = [
            r"\begin{table}[htbp]", r"\centering", rf"\caption{{{escape_latex(self.title)}}}",
            *([r"\resizebox{\textwidth}{!}{%"] if wide else []),
            rf"\begin{{tabular}}{{@{{}}{align}@{{}}}}", r"\toprule",
            _ampersand(escape_latex(heading) for heading in self.headings()), r"\midrule",
        ]  # fmt: skip
        for number, row in enumerate(self.text_rows()):
            cells = [_latex(c, text) for c, text in zip(self.columns, row, strict=True)]
            for i, text in enumerate(cells):
                for places, form in marked[i]:
                    cells[i] = form % text if number in places else cells[i]
            lines.append(_ampersand(cells))
        lines += [r"\bottomrule", r"\end{tabular}" + "%\n}" * wide]
        lines += [rf"\par\smallskip{{\footnotesize {escape_latex(n)}}}" for n in self.notes]
        return "\n".join([*lines, r"\end{table}"]) + "\n"

    def to_csv(self) -> str:
        """Return CSV in full precision, with separate columns for deviations and bounds."""
        target = io.StringIO()
        writer = csv.writer(target, lineterminator="\n")
        writer.writerow(name for column in self.columns for name in _csv_names(column))
        for row in self._cells():
            line: list[str] = []
            for column, cell in zip(self.columns, row, strict=True):
                extra = [*cell.extra, *[math.nan] * 2][: len(_EXTRA.get(column.style, ()))]
                values = extra if column.style == "interval" else [cell.value, *extra]
                line += [_csv(value) for value in values]
            writer.writerow(line)
        return target.getvalue()

    def to_json(self) -> str:
        """Return the table as JSON: title, rows by heading in full precision, notes."""
        names, *lines = csv.reader(io.StringIO(self.to_csv()))
        texts = [c.style == "text" for c in self.columns for _ in _csv_names(c)]
        rows = [
            {name: _json(cell, text) for name, cell, text in zip(names, line, texts, strict=True)}
            for line in lines
        ]
        return json.dumps({"title": self.title, "rows": rows, "notes": self.notes})

    def _cells(self) -> Iterator[list[Cell]]:
        for row in self.rows:
            yield [cell if isinstance(cell, Cell) else Cell(cell) for cell in row]

    def _places(self, column: int, rank: int) -> set[int]:
        """Return the rows at a rank of a column (0 is best), compared by the digits shown."""
        how = self.columns[column]
        if not how.best:
            return set()
        group = self.headings().index(self.among) if self.among else None
        groups: dict[Value, dict[int, float]] = {}
        for i, row in enumerate(self._cells()):
            value = row[column].value
            if row[column].ranked and not isinstance(value, str | None) and not math.isnan(value):
                of = None if group is None else row[group].value
                groups.setdefault(of, {})[i] = round(value, how.digits)
        found: set[int] = set()
        for numbers in groups.values():
            ranked = sorted(set(numbers.values()), reverse=how.best == "max")
            if len(ranked) > max(1, rank):
                found |= {i for i, number in numbers.items() if number == ranked[rank]}
        return found


def _show(column: Column, cell: Cell) -> str:
    """Return a cell as it is shown."""
    if column.style == "interval":
        if not cell.extra or any(_is_missing(bound) for bound in cell.extra):
            return DASH
        return "[" + ", ".join(_fixed(b, column.digits) for b in cell.extra) + "]" + cell.mark
    if _is_missing(cell.value):
        return DASH + cell.mark
    if isinstance(cell.value, str):
        return " ".join(cell.value.split()) + cell.mark
    value = float(cell.value or 0)
    if column.style == "count":
        text = f"{value:.0f}"
    elif column.style == "p":
        text = format_p(value)
    else:
        text = _fixed(value, column.digits)
    if column.style == "signed" and value > 0:
        text = f"+{text}"
    if column.style == "spread" and cell.extra and not _is_missing(cell.extra[0]):
        text += f" ± {_fixed(cell.extra[0], column.digits)}"
    return text + cell.mark


def format_p(p: float) -> str:
    """Return a p-value with three decimals, or in scientific notation below 0.001.

    >>> format_p(0.0421), format_p(1.24e-5)
    ('0.042', '1.2e-5')
    """
    if p < 1e-300:
        return "<1e-300"  # near the smallest float
    if p >= 0.001:
        return f"{p:.3f}"
    digits, power = f"{p:.1e}".split("e")
    return f"{digits}e{int(power)}"


def escape_latex(text: str) -> str:
    r"""Return text with LaTeX's special characters escaped.

    >>> print(escape_latex("d_q at 95 %"))
    d\_q at 95 \%
    """
    return "".join(_LATEX.get(character, character) for character in text)


def _fixed(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text


def _is_missing(value: Value) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _csv_names(column: Column) -> list[str]:
    extra = [column.heading + ending for ending in _EXTRA.get(column.style, ())]
    return extra if column.style == "interval" else [column.heading, *extra]


def _csv(value: Value) -> str:
    if _is_missing(value):
        return ""
    return value if isinstance(value, str) else repr(value)


def _json(cell: str, is_text: bool) -> Value:
    if is_text or not cell:
        return cell or None
    try:
        return float(cell)
    except ValueError:  # a word among numbers
        return cell


def _bar(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _ampersand(cells: Iterable[str]) -> str:
    line = " & ".join(cells)
    # A leading bracket would be read as the optional argument of the previous \\.
    return ("{}" if line.startswith("[") else "") + line + r" \\"


def _markdown(text: str) -> str:
    return re.sub(r"([\\|*<`])", r"\\\1", text)


def _latex(column: Column, text: str) -> str:
    if column.style in ("text", "spread") or DASH in text or not re.search(r"[-+e\[]", text):
        return escape_latex(text)
    number, dagger = (text[:-1], r"\textdagger{}") if text.endswith("†") else (text, "")
    return "$" + re.sub(r"e(-?\d+)", r" \\times 10^{\1}", number) + "$" + dagger
