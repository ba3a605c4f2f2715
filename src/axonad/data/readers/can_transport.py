"""J1939 messages longer than a frame, put together from their packets (SAE J1939-21).

A sender announces a message of up to 1,785 bytes, to all (BAM) or to one receiver that answers
(RTS and CTS), and sends it in packets of seven bytes. A message counts at the time of the packet
that completes it. One that is never completed, is aborted, or pauses for longer than the standard
allows is no message.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from axonad.data.raster import SECOND
from axonad.data.readers.can_database import CanDatabase, parameter_group
from axonad.data.readers.can_frames import EXTENDED, IDENTIFIER, Frames

CONNECTION, TRANSFER = 0xEC00, 0xEB00  # parameter groups of announcements and of packets
RTS, BAM, ABORT = 16, 32, 255  # first byte of an announcement
PACKET = 7  # bytes of a message in a packet
LONGEST = 255 * PACKET  # bytes of a message
PAUSE = 5 * SECOND // 4  # microseconds between two packets at most
PRIORITY = 6 << 26  # of the identifier that a whole message gets

Key = tuple[int, int, int]  # bus, sender, receiver


@dataclass
class _Session:
    """A message of which some packets are missing."""

    group: int
    size: int
    packets: int
    last: int  # time of the last frame
    data: bytearray
    seen: set[int] = field(default_factory=set)


def long_groups(database: CanDatabase) -> set[int]:
    """Return the J1939 parameter groups of a database that do not fit into one frame."""
    return {one.key for one in database.messages if one.is_j1939 and one.size > 8}


def is_transport(identifier: int) -> bool:
    """Return whether a frame with this 29-bit identifier announces or holds a part of a message.

    >>> is_transport(0x1CECFF21), is_transport(0x18FEF121)
    (True, False)
    """
    return parameter_group(identifier) in (CONNECTION, TRANSFER)


def join_packets(frames: Frames, groups: Collection[int]) -> Frames:
    """Return the messages of some parameter groups that came in packets, as long frames."""
    numbers = (frames.ids & np.uint32(IDENTIFIER)) >> np.uint32(16) & np.uint32(0xFF)
    extended = (frames.ids & np.uint32(EXTENDED)) > 0
    wanted = extended & np.isin(numbers, (CONNECTION >> 8, TRANSFER >> 8)) & (frames.sizes >= 8)
    part = frames.select(np.flatnonzero(wanted)) if groups else frames.select(wanted & False)
    order = np.argsort(part.times, kind="stable")
    part = part.select(order)
    found: list[tuple[int, int, int, bytes]] = []  # time, bus, identifier, bytes
    sessions: dict[Key, _Session] = {}
    rows = zip(part.times.tolist(), part.ids.tolist(), part.buses.tolist(), strict=True)
    for (time, number, bus), data in zip(rows, part.data[:, :8], strict=True):
        sender, receiver = number & 0xFF, (number >> 8) & 0xFF
        key = (bus, sender, receiver)
        if (number >> 16) & 0xFF == CONNECTION >> 8:
            _announce(sessions, key, time, data.tobytes(), groups)
            continue
        session = sessions.get(key)
        if session is None or not _add(session, time, data.tobytes()):
            continue
        del sessions[key]
        identifier = PRIORITY | session.group << 8 | sender
        found.append((time, bus, identifier, bytes(session.data[: session.size])))
    return _to_frames(found)


def _announce(
    sessions: dict[Key, _Session], key: Key, time: int, data: bytes, groups: Collection[int]
) -> None:
    """Begin or end a session, as the eight bytes of an announcement say."""
    bus, sender, receiver = key
    if data[0] == ABORT:  # by either side
        sessions.pop(key, None)
        sessions.pop((bus, receiver, sender), None)
    if data[0] not in (BAM, RTS):
        return
    sessions.pop(key, None)
    size, packets = int.from_bytes(data[1:3], "little"), data[3]
    group = int.from_bytes(data[5:8], "little") & 0x3FFFF
    if group in groups and (packets - 1) * PACKET < size <= min(packets * PACKET, LONGEST):
        sessions[key] = _Session(group, size, packets, time, bytearray(packets * PACKET))


def _add(session: _Session, time: int, data: bytes) -> bool:
    """Add a packet; return whether the message is complete."""
    number = data[0]
    if not 1 <= number <= session.packets or time - session.last > PAUSE:
        return False
    session.last = time
    session.data[(number - 1) * PACKET : number * PACKET] = data[1:]
    session.seen.add(number)  # a receiver may ask for a packet again
    return len(session.seen) == session.packets


def _to_frames(found: list[tuple[int, int, int, bytes]]) -> Frames:
    width = max((len(data) for *_, data in found), default=8)
    joined = b"".join(data.ljust(width, b"\0") for *_, data in found)
    return Frames(
        np.array([time for time, *_ in found], np.int64),
        np.array([number | EXTENDED for _, _, number, _ in found], np.uint32),
        np.array([bus for _, bus, _, _ in found], np.int64),
        np.frombuffer(joined, np.uint8).reshape(len(found), width),
        np.array([len(data) for *_, data in found], np.int64),
    )
