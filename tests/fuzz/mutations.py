"""Damage to bytes and to JSON, drawn from a ``random.Random``, for all fuzzers.

>>> import random
>>> mutate(b"time,speed", random.Random(1)) != b"time,speed"
True
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

EDGES = (
    0, 1, -1, 2, 255, 256, 2**31 - 1, 2**31, -(2**31), 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64,
    10**18, 10**30, 10**300, 0.0, -0.0, 0.5, 1e-308, 5e-324, 1e-150, 1e15, 1e150, 1e308, -1e308,
)  # fmt: skip
WORDS = ("", " ", "\n", "a\nb", "\x00", "é", "\ud800", "NaN", "cuda", "../x", "x" * 10_000)
CONSTANTS = ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 5_000, "1.0.0", "0x1")
TOKENS = (
    b"\x00", b"\xff", b"\xef\xbb\xbf", b"\r\n", b"\n\n", b'"', b"\\", b",", b";", b"{", b"}", b"[",
    b"]", b"NaN", b"inf", b"-", b"e", b"9" * 400, b"\xed\xa0\x80", b"None", b"null",
)  # fmt: skip

Place = tuple[Any, Any]
"""A container of a JSON value and the key or index in it."""


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Return ``data`` with one to three changes; never equal to ``data`` unless it is empty."""
    for _ in range(100):
        found = data
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            found = rng.choice(BYTE_MUTATIONS)(found, rng)
        if found != data:
            return found
    return data + b"\x00"


def flip_bit(data: bytes, bit: int) -> bytes:
    """Return ``data`` with one bit flipped."""
    found = bytearray(data)
    found[bit // 8] ^= 1 << bit % 8
    return bytes(found)


def _flip(data: bytes, rng: random.Random) -> bytes:
    return flip_bit(data, rng.randrange(8 * len(data))) if data else data


def _change(data: bytes, rng: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if found:
            found[rng.randrange(len(found))] = rng.randrange(256)
    return bytes(found)


def _truncate(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _behead(data: bytes, rng: random.Random) -> bytes:
    return data[rng.randrange(len(data) + 1) :]


def _block(data: bytes, rng: random.Random) -> tuple[int, int]:
    """Return start and end of a block, most often a short one."""
    start = rng.randrange(len(data) + 1)
    longest = rng.choice((1, 4, 16, 256, len(data)))
    return start, min(len(data), start + rng.randint(0, longest))


def _delete(data: bytes, rng: random.Random) -> bytes:
    start, end = _block(data, rng)
    return data[:start] + data[end:]


def _duplicate(data: bytes, rng: random.Random) -> bytes:
    start, end = _block(data, rng)
    return data[:end] + data[start:end] * rng.choice((1, 1, 2, 20)) + data[end:]


def _insert(data: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(data) + 1)
    piece = rng.choice((*TOKENS, rng.randbytes(rng.randint(1, 32))))
    return data[:place] + piece + data[place:]


def _swap(data: bytes, rng: random.Random) -> bytes:
    a, b, c, d = sorted(rng.randrange(len(data) + 1) for _ in range(4))
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def _zero(data: bytes, rng: random.Random) -> bytes:
    start, end = _block(data, rng)
    return data[:start] + bytes(end - start) + data[end:]


BYTE_MUTATIONS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _flip, _change, _truncate, _behead, _delete, _duplicate, _insert, _swap, _zero,
)  # fmt: skip


def mutate_json(document: Any, rng: random.Random) -> Any:
    """Return a deep copy of a JSON value with one to three changes of its content."""
    found = json.loads(json.dumps(document))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        places = list(_places(found))
        if not places:
            return rng.choice((*EDGES, *WORDS, None, [], {}))
        container, key = rng.choice(places)
        rng.choice(JSON_MUTATIONS)(container, key, rng)
    return found


def mutate_json_text(text: str, rng: random.Random) -> str:
    """Return JSON text with one change that a parsed value cannot express.

    A repeated key, a constant such as NaN, a number of thousands of digits, deep nesting.
    """
    document = json.loads(text)
    places = [place for place in _places(document) if isinstance(place[0], dict)]
    container, key = rng.choice(places or [({"": document}, "")])
    written = json.dumps(container[key])
    mark = "a mark that is in no document"
    kind = rng.randrange(3)
    if kind == 0:
        other = json.dumps(rng.choice((*EDGES, *WORDS, None, container[key])))
        new = f"{written}, {json.dumps(key)}: {other}"
    elif kind == 1:
        new = rng.choice(CONSTANTS)
    else:
        depth = rng.choice((100, 900, 5_000, 100_000))
        start, end = rng.choice((("[", "]"), ('{"a":', "}")))
        new = start * depth + written + end * depth
    container[key] = mark
    return json.dumps(document).replace(json.dumps(mark), new)


def _places(value: Any) -> Iterator[Place]:
    """Yield every place inside a JSON value."""
    todo = [value]
    while todo:
        at = todo.pop()
        pairs = at.items() if isinstance(at, dict) else enumerate(at)
        for key, child in pairs:
            yield at, key
            if isinstance(child, dict | list):
                todo.append(child)


def _set_number(container: Any, key: Any, rng: random.Random) -> None:
    before = container[key]
    if isinstance(before, int | float) and not isinstance(before, bool) and rng.random() < 0.5:
        container[key] = rng.choice((-before, before + 1, before - 1, before * 2, before / 3))
    else:
        container[key] = rng.choice(EDGES)


def _set_word(container: Any, key: Any, rng: random.Random) -> None:
    before = container[key]
    if isinstance(before, str) and before and rng.random() < 0.5:
        place = rng.randrange(len(before))
        container[key] = before[:place] + chr(rng.randrange(32, 127)) + before[place + 1 :]
    else:
        container[key] = rng.choice(WORDS)


def _set_other(container: Any, key: Any, rng: random.Random) -> None:
    container[key] = rng.choice((None, True, False, [], {}, [container[key]], {"a": 1}, [[]]))


def _drop(container: Any, key: Any, rng: random.Random) -> None:
    del container[key]


def _double(container: Any, key: Any, rng: random.Random) -> None:
    if isinstance(container, list):
        container[key:key] = [container[key]] * rng.choice((1, 2, 100))
    else:
        container[f"{key}{rng.choice((' ', '2', '_'))}"] = container[key]


def _rename(container: Any, key: Any, rng: random.Random) -> None:
    if isinstance(container, dict):
        container[rng.choice((*WORDS, key.upper(), f"{key}_"))] = container.pop(key)
    else:
        rng.shuffle(container)


def _wrap(container: Any, key: Any, rng: random.Random) -> None:
    for _ in range(rng.choice((1, 2, 50))):
        container[key] = [container[key]] if rng.random() < 0.5 else {"a": container[key]}


JSON_MUTATIONS: tuple[Callable[[Any, Any, random.Random], None], ...] = (
    _set_number, _set_number, _set_word, _set_other, _drop, _double, _rename, _wrap,
)  # fmt: skip
