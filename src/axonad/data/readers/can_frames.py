"""CAN frames as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from axonad.data.raster import Micros

EXTENDED = 1 << 31  # set in the number of a frame with a 29-bit identifier
IDENTIFIER = 0x1FFFFFFF


@dataclass(frozen=True)
class Frames:
    """Frames in the order of their recording.

    Parameters
    ----------
    times
        Microseconds.
    ids
        Identifiers; those of 29 bits with ``EXTENDED`` added.
    buses
        Number of the bus of each frame.
    data
        Bytes (frames, longest), zero after the end of a frame.
    sizes
        Number of bytes of each frame.
    """

    times: Micros
    ids: NDArray[np.uint32]
    buses: NDArray[np.int64]
    data: NDArray[np.uint8]
    sizes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.times)

    def select(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> Frames:
        """Return some of the frames."""
        return Frames(
            self.times[rows], self.ids[rows], self.buses[rows], self.data[rows], self.sizes[rows]
        )


def join(parts: Sequence[Frames]) -> Frames:
    """Return the frames of several groups, in their order."""
    if len(parts) == 1:
        return parts[0]
    width = max((part.data.shape[1] for part in parts), default=8)
    padded = [np.pad(part.data, ((0, 0), (0, width - part.data.shape[1]))) for part in parts]
    return Frames(
        np.concatenate([np.empty(0, np.int64), *(part.times for part in parts)]),
        np.concatenate([np.empty(0, np.uint32), *(part.ids for part in parts)]),
        np.concatenate([np.empty(0, np.int64), *(part.buses for part in parts)]),
        np.concatenate([np.empty((0, width), np.uint8), *padded]),
        np.concatenate([np.empty(0, np.int64), *(part.sizes for part in parts)]),
    )
