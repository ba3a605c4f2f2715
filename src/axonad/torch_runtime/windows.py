"""Batches of windows, gathered from a series when they are needed."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from axonad.data.frames import Matrix
from axonad.data.recordings import Recordings


def gather_windows(series: Tensor, starts: Tensor, window: int) -> Tensor:
    """Return the windows (B, T, F) of a series (n, F) that begin at ``starts`` (B,)."""
    steps = torch.arange(window, device=series.device)
    return series[starts[:, None] + steps]


class Windows:
    """The windows of some rows (n, F): all that lie within one of their recordings.

    Attributes
    ----------
    rows, starts
        The rows, and the row at which each window begins (W,), every ``stride`` rows.
    """

    def __init__(
        self, rows: Tensor, window: int, recordings: Recordings | None = None, *, stride: int = 1
    ) -> None:
        self.rows = rows
        self.recordings = Recordings.one(len(rows)) if recordings is None else recordings
        starts = self.recordings.starts(window, stride)
        self.starts = torch.from_numpy(starts).to(rows.device)

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def device(self) -> torch.device:
        """The device the rows are on."""
        return self.rows.device


def as_windows(series: Tensor | Windows, window: int) -> Windows:
    """Return the windows of a series (n, F); of rows that are divided already, as they are."""
    return series if isinstance(series, Windows) else Windows(series, window)


def split_windows(
    X: Matrix,
    recordings: Recordings,
    rows: int,
    *,
    window: int,
    scale: Callable[[Matrix], Matrix],
    device: torch.device,
    stride: int = 1,
) -> tuple[Windows, Windows | None]:
    """Return the windows of the first ``rows`` rows, for training, and of the others, scaled.

    There are none for validation if no stretch of the other rows is as long as a window.
    """

    def windows(part: Matrix, divided: Recordings) -> Windows:
        scaled = torch.from_numpy(divided.each(scale, part)).to(device)
        return Windows(scaled, window, divided, stride=stride)

    rest = recordings.after(rows)
    can_validate = max(rest.lengths, default=0) >= window
    held_out = windows(X[rows:], rest) if can_validate else None
    return windows(X[:rows], recordings.before(rows)), held_out
