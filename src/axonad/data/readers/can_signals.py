"""Frames → the samples of their signals."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from axonad.data.readers import can_bits
from axonad.data.readers.asked import Asked
from axonad.data.readers.can_database import CanDatabase, Message, Signal, parameter_group
from axonad.data.readers.can_frames import EXTENDED, IDENTIFIER, Frames, join
from axonad.data.readers.can_transport import join_packets, long_groups
from axonad.data.readers.samples import Choice, Samples
from axonad.errors import InputError

Values = NDArray[np.float64]
Rows = tuple[Frames, NDArray[np.int64]]  # some of the frames
Found = tuple[Message, str, Frames]  # a message, what is added to the names of its signals, frames


def decode_frames(
    frames: Frames, database: CanDatabase, asked: Asked, *, name: str
) -> list[Samples]:
    """Return the samples of all signals whose messages are among the frames.

    Where a message comes from several buses, or from several senders of a J1939 network, the names
    of its signals end with the bus or the sender.
    """
    found = list(_by_message(frames, database))
    if not found:
        raise InputError(
            f"{name} holds {len(frames)} CAN frames, but none of the messages in the DBC files; "
            "pass the DBC file of this bus (--dbc)"
        )
    places = [(message, signal, end, part) for message, end, part in found
              for signal in message.signals]  # fmt: skip
    names = asked.renamed([signal.channel + end for _, signal, end, _ in places], name=name)
    kinds = {one: signal.kind for one, (_, signal, _, _) in zip(names, places, strict=True)}
    choice = Choice(asked, kinds, name=name)
    samples = []
    for one, (message, signal, _, part) in zip(names, places, strict=True):
        if why := choice.why_not(one):
            times = part.times if signal.selector is None else np.empty(0, np.int64)
            samples.append(Samples(one, signal.unit, times, why=why))
            continue
        rows, values = decode(signal, part, is_j1939=message.is_j1939)
        samples.append(Samples(one, signal.unit, part.times[rows], values))
    return samples


def decode(signal: Signal, frames: Frames, *, is_j1939: bool) -> tuple[NDArray[np.int64], Values]:
    """Return the frames of a message that have a signal, and its values in them.

    In J1939, the values for "error" and "not available" are no values; a signed signal has none.
    """
    has = _has(signal, frames)
    raw = _raw(signal, frames.data)
    if is_j1939 and not signal.is_float and not signal.is_signed and signal.length >= 8:
        highest = (1 << signal.length) - 1
        limit = 0xFE << (signal.length - 8) if signal.length % 8 == 0 else highest
        has &= raw < np.uint64(limit)
    rows = np.flatnonzero(has)
    return rows, _value(signal, raw[rows])


def _has(signal: Signal, frames: Frames) -> NDArray[np.bool_]:
    """Return which frames are long enough for a signal and selected by its multiplexer."""
    has: NDArray[np.bool_] = frames.sizes > signal.last_byte
    if signal.selector is not None:
        chosen = _raw(signal.selector, frames.data)
        has &= np.isin(chosen, np.array(signal.selected, np.uint64))
        has &= _has(signal.selector, frames)
    return has


def _raw(signal: Signal, data: NDArray[np.uint8]) -> NDArray[np.uint64]:
    if signal.last_byte >= data.shape[1]:  # no frame is long enough
        return np.zeros(len(data), np.uint64)
    return can_bits.extract(
        data, start=signal.start, length=signal.length, is_little=signal.is_little
    )


def _value(signal: Signal, raw: NDArray[np.uint64]) -> Values:
    if signal.is_float:
        number = can_bits.to_float(raw, signal.length)
    elif signal.is_signed:
        number = can_bits.to_signed(raw, signal.length).astype(np.float64)
    else:
        number = raw.astype(np.float64)
    return number * signal.scale + signal.offset


def _by_message(frames: Frames, database: CanDatabase) -> Iterator[Found]:
    """Yield the messages that occur, from each bus and sender, with their frames.

    Of J1939, frames of one sender are the same message whatever their priority and receiver, and
    whether they came whole or in packets.
    """
    groups: dict[tuple[bool, int], dict[tuple[int, int], list[Rows]]] = {}
    for part in (frames, join_packets(frames, long_groups(database))):
        for bus, number, rows in _by_sender(part):
            keys = [(False, number, number)]
            if number & EXTENDED:
                group = parameter_group(number & IDENTIFIER)
                keys.append((True, group, number & 0xFF))
            for is_j1939, key, sender in keys:
                senders = groups.setdefault((is_j1939, key), {})
                senders.setdefault((bus, sender), []).append((part, rows))
    for message in database.messages:
        parts = groups.get((message.is_j1939, message.key), {})
        buses, addresses = {bus for bus, _ in parts}, {sender for _, sender in parts}
        for (bus, sender), same in sorted(parts.items(), key=lambda item: item[0]):
            end = f"@CAN{bus}" if len(buses) > 1 else ""
            end += f"@0x{sender:02X}" if message.is_j1939 and len(addresses) > 1 else ""
            yield message, end, _in_order(join([one.select(rows) for one, rows in same]))


def _by_sender(frames: Frames) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
    """Yield bus and identifier with the numbers of their frames."""
    if not len(frames):
        return
    senders = np.stack([frames.buses, frames.ids.astype(np.int64)], axis=1)
    order = np.lexsort((senders[:, 1], senders[:, 0]))
    new = np.flatnonzero(np.any(np.diff(senders[order], axis=0) != 0, axis=1)) + 1
    for part in np.split(order, new):
        yield int(frames.buses[part[0]]), int(frames.ids[part[0]]), part


def _in_order(frames: Frames) -> Frames:
    """Return the frames in the order of their times, which is that of most files already."""
    if (np.diff(frames.times) >= 0).all():
        return frames
    return frames.select(np.argsort(frames.times, kind="stable"))
