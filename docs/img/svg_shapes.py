"""Boxes, arrows and text as pieces of an SVG file, for the figures drawn by scripts.

Text may contain ``**X**`` (matrix), ``*T*`` (scalar), ``_{on}`` (subscript), ``^{tgt}``.
"""

from __future__ import annotations

import re
from html import escape
from typing import NamedTuple

INK, PAPER = "#1a1a1a", "#ffffff"
SANS = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
SERIF = "'Times New Roman', Times, 'Liberation Serif', 'DejaVu Serif', serif"
SHAPE, TEXT, NAME = 17, 18, 22  # font sizes: tensor shapes, words, symbols on arrows
TOKEN = re.compile(r"\*\*(.+?)\*\*|\*(.+?)\*|_\{(.+?)\}|\^\{(.+?)\}|([^*_^]+)")


class Pen(NamedTuple):
    """Colour, dashes and tint of one kind of line; the dashes alone tell the kinds apart."""

    colour: str
    dash: str = ""
    tint: str = PAPER


def rich(text: str, size: float) -> str:
    """Return the text as spans, with symbols in the paper's type."""
    spans, level = [], 0.0
    for bold, italic, low, high, plain in TOKEN.findall(text):
        shift = 0.26 * size if low else -0.36 * size if high else 0.0
        style = f' dy="{shift - level:g}"' if shift != level else ""
        if not plain:
            style += f' font-family="{SERIF}"'
        if bold:
            style += ' font-weight="bold"'
        if italic or ((low or high) and not re.search("[a-zA-Z]{2}", low + high)):
            style += ' font-style="italic"'
        if low or high:
            style += f' font-size="{0.74 * size:g}"'
        spans.append(f"<tspan{style}>{escape(bold or italic or low or high or plain)}</tspan>")
        level = shift
    return "".join(spans)


def label(
    x: float, y: float, text: str, *, size: float = TEXT, colour: str = INK, anchor: str = "middle"
) -> str:
    """Return one line of text on the baseline y."""
    place = f'x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{colour}" text-anchor="{anchor}"'
    return f"<text {place}>{rich(text, size)}</text>"


def box(
    pen: Pen, x: float, y: float, wide: float, high: float, *lines: str, weight: float = 2
) -> str:
    """Return a white box around the centre (x, y) with lines of text in its middle."""
    place = f'x="{x - wide / 2:g}" y="{y - high / 2:g}" width="{wide:g}" height="{high:g}" rx="7"'
    first = y + 6 - 11.5 * (len(lines) - 1)
    text = "".join(label(x, first + 23 * i, line) for i, line in enumerate(lines))
    return f'<rect {place} fill="{PAPER}" {stroke(pen, weight)}/>{text}'


def stroke(pen: Pen, width: float) -> str:
    """Return the attributes of a line."""
    dash = f' stroke-dasharray="{pen.dash}"' if pen.dash else ""
    return f'stroke="{pen.colour}" stroke-width="{width:g}"{dash}'


def region(
    pen: Pen, x: float, y: float, wide: float, high: float, title: str, *, indent: float = 14
) -> str:
    """Return a tinted area with its title in the upper left corner."""
    place = f'x="{x:g}" y="{y:g}" width="{wide:g}" height="{high:g}" rx="12"'
    area = f'<rect {place} fill="{pen.tint}"/>'
    heading = label(x + indent, y + 25, title, colour=pen.colour, anchor="start")
    return area + heading.replace("<text ", '<text font-weight="bold" ')


def line(pen: Pen, *points: tuple[float, float]) -> str:
    """Return a line through the points."""
    path = " ".join(f"{x:g},{y:g}" for x, y in points)
    return f'<polyline points="{path}" fill="none" {stroke(pen, 2.6)}/>'


def arrow(pen: Pen, *points: tuple[float, float]) -> str:
    """Return a line through the points with a head whose tip is the last one."""
    (x0, y0), (x, y) = points[-2:]
    length = abs(x - x0) + abs(y - y0)  # every line is horizontal or vertical
    dx, dy = (x - x0) / length, (y - y0) / length
    bx, by = x - 12 * dx, y - 12 * dy
    corners = (x, y), (bx - 6 * dy, by + 6 * dx), (bx + 6 * dy, by - 6 * dx)
    head = " ".join(f"{a:g},{b:g}" for a, b in corners)
    return line(pen, *points[:-1], (bx, by)) + f'<polygon points="{head}" fill="{pen.colour}"/>'


def dot(pen: Pen, x: float, y: float, radius: float = 4.5) -> str:
    """Return a filled circle: a place where a line branches."""
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{pen.colour}"/>'


def plus(pen: Pen, x: float, y: float) -> str:
    """Return the sign of an addition."""
    circle = f'<circle cx="{x:g}" cy="{y:g}" r="13" fill="{PAPER}" {stroke(pen, 2)}/>'
    return circle + line(pen, (x - 7, y), (x + 7, y)) + line(pen, (x, y - 7), (x, y + 7))
