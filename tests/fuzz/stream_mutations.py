"""Streams of rows in every format, and random damage to their lines."""

from __future__ import annotations

import json
import random

SEPARATORS = (",", ";", "\t", "|")
CELLS = (
    "", "NA", "nan", "inf", "-inf", "1e308", "-1e308", "1e400", "9" * 400, "9" * 5000, "1,5",
    "1_000", "0x1F", "true", "None", "null", "abc", '"', '""', "\x00", "\ufeff", "\ud800", "٣",
    "2026-01-01T00:00:00Z", "1e-320", "-0", " 1 ", "++1", "NaN;1", "|", "\t", "\x1a", "\x85",
)  # fmt: skip
VALUES = (
    "NaN", "-Infinity", "1e999", "9" * 400, "9" * 5000, "null", "true", '"1"', '"\\ud800"', "[1]",
    "{}", "[[[]]]", "1e308", "-1e308", "[" * 3000, '{"a": ' * 3000, "01", "'a'", '"\\u0000"', "",
)  # fmt: skip
LINES = (
    "{", "}", "[]", "[1,2,3]", "{}", "null", '"text"', "{{", "#comment", "\x00" * 20, "\ufeff",
    "speed,yaw_rate,torque", '{"speed": 1, "speed": 2}', '{"gps": 1}', '{"speed": {"a": [1]}}',
    "[" * 20_000, '{"a":' * 20_000, "9" * 150_000, "x" * 150_000, "," * 500, "\ud800,\udfff,1",
    '"open quote,1,2', "=cmd()|1,2,3", "\x1b[31m", "1\r2\r3", "a\x0bb\x0cc", "\u2028", " , , ",
)  # fmt: skip


def make_stream(rng: random.Random, names: list[str], rows: int) -> list[str]:
    """Return the lines of a sound stream in a random format, with or without time."""
    data = [[round(rng.gauss(0, 1), 3) for _ in names] for _ in range(rows)]
    timed = rng.random() < 0.5
    times = [f"2026-01-01T00:00:{i:02d}Z" if rng.random() < 0.02 else i for i in range(rows)]
    if rng.random() < 0.4:
        return [
            json.dumps(
                ({"time": time} if timed else {}) | dict(zip(names, row, strict=True)),
                separators=rng.choice([(",", ":"), (", ", ": ")]),
            )
            for row, time in zip(data, times, strict=True)
        ]
    separator = rng.choice(SEPARATORS)
    if rng.random() < 0.3:
        return [separator.join(map(str, row)) for row in data]
    columns = (["t_s"] if timed else []) + rng.sample(names, len(names))
    lines = [separator.join(columns)]
    for row, time in zip(data, times, strict=True):
        lines.append(separator.join(map(str, ([time] if timed else []) + row)))
    return lines


def damage(rng: random.Random, lines: list[str]) -> bytes:
    """Return the stream as bytes with some of its lines damaged."""
    lines = list(lines)
    for _ in range(rng.choice([0, 1, 2, 5, 10])):
        rng.choice(DAMAGES)(rng, lines)
    ends = rng.choice([["\n"], ["\r\n"], ["\r"], ["\n", "\r\n", "\r", "\n\n", "\n \n"]])
    text = "".join(line + rng.choice(ends) for line in lines)
    data = (rng.choice(["", "", "\ufeff"]) + text).encode("utf-8", errors="surrogatepass")
    if rng.random() < 0.1:
        data = _damaged_bytes(rng, data)
    return data


def _replace_line(rng: random.Random, lines: list[str]) -> None:
    lines[rng.randrange(len(lines))] = rng.choice(LINES)


def _insert_line(rng: random.Random, lines: list[str]) -> None:
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(LINES))


def _cut_line(rng: random.Random, lines: list[str]) -> None:
    place = rng.randrange(len(lines))
    lines[place] = lines[place][: rng.randrange(len(lines[place]) + 1)]


def _replace_cell(rng: random.Random, lines: list[str]) -> None:
    place = rng.randrange(len(lines))
    line = lines[place]
    if line.startswith("{"):
        head, colon, _ = line.partition(":")
        lines[place] = head + colon + rng.choice(VALUES) + rng.choice(["}", "", ', "torque": 1}'])
        return
    separator = rng.choice(SEPARATORS)
    cells = line.split(separator)
    cells[rng.randrange(len(cells))] = rng.choice(CELLS)
    lines[place] = separator.join(cells)


def _join_lines(rng: random.Random, lines: list[str]) -> None:
    place = rng.randrange(len(lines))
    lines[place : place + 2] = ["".join(lines[place : place + 2])]


def _repeat_line(rng: random.Random, lines: list[str]) -> None:
    lines.insert(0, rng.choice(lines))


def _random_text(rng: random.Random, lines: list[str]) -> None:
    place = rng.randrange(len(lines) + 1)
    text = "".join(chr(rng.choice([rng.randrange(128), rng.randrange(0x500)])) for _ in range(20))
    lines.insert(place, text)


def _damaged_bytes(rng: random.Random, data: bytes) -> bytes:
    found = bytearray(data)
    for _ in range(rng.choice([1, 5, 50])):
        found[rng.randrange(len(found))] = rng.randrange(256)
    return bytes(found[: rng.randrange(len(found)) + 1] if rng.random() < 0.2 else found)


DAMAGES = (
    _replace_line, _insert_line, _cut_line, _replace_cell, _replace_cell, _replace_cell,
    _join_lines, _repeat_line, _random_text,
)  # fmt: skip
