"""The number in some bits of many frames at once.

Bits are counted as in DBC files: bit 0 is the lowest of the first byte. An Intel (little-endian)
signal is named by its lowest bit, a Motorola (big-endian) one by its highest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


def last_byte(*, start: int, length: int, is_little: bool) -> int:
    """Return the number of the last byte with a bit of a signal.

    >>> last_byte(start=4, length=8, is_little=True), last_byte(start=7, length=9, is_little=False)
    (1, 1)
    """
    if is_little:
        return (start + length - 1) // 8
    return (8 * (start // 8) + 7 - start % 8 + length - 1) // 8


def extract(data: Bytes, *, start: int, length: int, is_little: bool) -> NDArray[np.uint64]:
    """Return the bits of a signal of up to 64 bits in each frame (frames, bytes).

    >>> frames = np.array([[0x34, 0x12]], np.uint8)
    >>> hex(extract(frames, start=0, length=12, is_little=True)[0])
    '0x234'
    """
    last = last_byte(start=start, length=length, is_little=is_little)
    raw = np.zeros(len(data), np.uint64)
    done = 0  # bits found, from the lowest
    if is_little:
        steps, low = range(start // 8, last + 1), start % 8
    else:
        lowest = (7 - start % 8 + length - 1) % 8  # place of the lowest bit, from the left
        steps, low = range(last, start // 8 - 1, -1), 7 - lowest
    for byte in steps:
        bits = min(8 - low, length - done)
        part = (data[:, byte] >> np.uint8(low)) & np.uint8((1 << bits) - 1)
        raw |= part.astype(np.uint64) << np.uint64(done)
        done, low = done + bits, 0
    return raw


def to_signed(raw: NDArray[np.uint64], length: int) -> NDArray[np.int64]:
    """Return the two's complement of ``length`` bits.

    >>> to_signed(np.array([0xF, 0x7], np.uint64), 4).tolist()
    [-1, 7]
    """
    shift = np.int64(64 - length)
    return (raw << np.uint64(shift)).view(np.int64) >> shift


def to_float(raw: NDArray[np.uint64], length: int) -> NDArray[np.float64]:
    """Return IEEE 754 numbers of 16, 32 or 64 bits."""
    kinds = {16: (np.uint16, np.float16), 32: (np.uint32, np.float32), 64: (np.uint64, np.float64)}
    unsigned, kind = kinds[length]
    return raw.astype(unsigned).view(kind).astype(np.float64)
