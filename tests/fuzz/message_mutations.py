"""Messages of vehicles in every form, and random damage to them."""

from __future__ import annotations

import json
import random

VALUES = (
    "NaN", "-Infinity", "1e999", "9" * 400, "9" * 5000, "null", "true", '"1"', '"\\ud800"', "[1]",
    "{}", "[[[]]]", "1e308", "-0", "[" * 3000, '{"a": ' * 3000, "01", "'a'", '"\\u0000"', "", "1,",
    "1784505600500", "1784505600500000000", '"2026-07-20T00:00:00Z"', '"2026-02-30"',
    '"0001-01-01"',
    '"9999-12-31T23:59:59-23:59"', '"' + "9" * 300 + '"', "1e-400", "\ufeff", '"\\uD83D\\uDE00"',
)  # fmt: skip
KEYS = ("vehicle", "time", "times", "values", "value", "speed", "", "\\u0000", "x" * 200, "é", "\t")
WHOLE = (
    b"", b"\n", b"\n\n\n", b"{", b"[]", b"{}", b"null", b"12.5", b'"text"', b"\xff\xfe{\x00}\x00",
    b"\x00" * 50, b"[" * 50_000, b'{"a":' * 50_000, b"[NaN" + b",[" * 20_000, b"NaN",
    b"\xef\xbb\xbf{}",
    b"[" + b"0," * 2000 + b"0]", b'{"vehicle":"a"}\n' * 200, b"Infinity\n{}\n", b"\x1f\x8b\x08",
)  # fmt: skip


def make(rng: random.Random) -> str:
    """Return a sound message of a random form."""
    channels = {name: round(rng.gauss(0, 9), 3) for name in ("speed", "torque", "yaw")}
    time = rng.choice([1784505600.5, 1784505600, "2026-07-20T00:00:00.5+02:00", None])
    head = {"vehicle": rng.choice(["car", "car", "Wagen é"])}
    columns = {name: [value] * 3 for name, value in channels.items()}
    flat = json.dumps(head | {"time": time} | channels)
    return rng.choice(
        [
            flat,
            json.dumps(head | {"time": time, "values": channels}),
            json.dumps([head | channels] * rng.randrange(1, 5)),
            json.dumps(head | {"times": [1, 2.5, 4], "values": columns}),
            "\n".join([flat] * rng.randrange(1, 5)),
            json.dumps({"value": 12.5, "time": time}),
            repr(rng.gauss(0, 100)),
        ]
    )


def mutated(rng: random.Random) -> bytes:
    """Return a message with some damage, or none."""
    if rng.random() < 0.03:
        return rng.choice(WHOLE)
    text = make(rng)
    for _ in range(rng.choice([0, 0, 1, 1, 2, 4])):
        text = rng.choice(DAMAGES)(rng, text)
    data = text.encode("utf-8", errors="surrogatepass")
    return _damaged_bytes(rng, data) if data and rng.random() < 0.2 else data


def _replace_value(rng: random.Random, text: str) -> str:
    places = [i for i, char in enumerate(text) if char == ":"]
    if not places:
        return rng.choice(VALUES)
    place = rng.choice(places) + 1
    ends = [end for end in (text.find(char, place) for char in ",}]") if end >= 0]
    return text[:place] + rng.choice(VALUES) + text[min(ends, default=len(text)) :]


def _replace_key(rng: random.Random, text: str) -> str:
    parts = text.split('"')
    places = range(1, len(parts), 2)
    if not places:
        return text
    parts[rng.choice(places)] = rng.choice(KEYS)
    return '"'.join(parts)


def _cut(rng: random.Random, text: str) -> str:
    place = rng.randrange(len(text) + 1)
    return text[:place] if rng.random() < 0.5 else text[place:]


def _repeat(rng: random.Random, text: str) -> str:
    return rng.choice(["", "\n", ",", "\r\n\r\n"]).join([text] * rng.randrange(2, 5))


def _wrap(rng: random.Random, text: str) -> str:
    before, after = rng.choice(
        [("[", "]"), ('{"values":', "}"), ('{"vehicle":"a","x":', "}"), (" ", "")]
    )
    return before + text + after


def _swap(rng: random.Random, text: str) -> str:
    marks = '{}[]",:\n\\ -.eE0'
    places = [i for i, char in enumerate(text) if char in marks]
    if not places:
        return text
    place = rng.choice(places)
    return text[:place] + rng.choice(marks) + text[place + 1 :]


def _damaged_bytes(rng: random.Random, data: bytes) -> bytes:
    found = bytearray(data)
    for _ in range(rng.choice([1, 3, 10])):
        found[rng.randrange(len(found))] = rng.randrange(256)
    return bytes(found)


DAMAGES = (_replace_value, _replace_value, _replace_key, _cut, _repeat, _wrap, _swap, _swap)
