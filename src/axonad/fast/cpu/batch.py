"""The forward pass over all windows of one series, split across CPU cores.

Reference: ``run_windows`` in ``model/net.py``. Consecutive windows overlap in all rows but one,
so what depends on a row alone is computed once per row and read through strided views.
"""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from axonad.data.windows import count_windows
from axonad.fast.cpu.buffers import Buffers
from axonad.fast.cpu.forward import ForwardNet, Rows, Seen
from axonad.model.net import AxonNet, Consume
from axonad.torch_runtime.threads import one_thread, share_out

PASS = 32  # windows per forward pass: their activations fit into a core's cache


def run_on_cores(
    net: AxonNet, series: Tensor, *, batch_size: int, consume: Consume, decoded: int | None = None
) -> None:
    """Call ``consume(first, output, x)`` for all windows of a series (n, F), from several threads.

    Outputs and windows handed to ``consume`` are valid until it returns. Results are bit-identical
    for any number of threads, because each batch is computed by one thread.
    """
    window = net.config.window
    windows = count_windows(len(series), window)
    starts = range(0, windows, batch_size)  # not by thread count: shapes decide how sums round
    with one_thread():
        forward = ForwardNet(net)

    def work(batches: Iterator[int]) -> None:
        buffers = Buffers(series)
        for first in batches:
            count = min(starts.step, windows - first)
            part = series[first : first + count + window - 1]
            rows = forward.rows(part)
            for begin in range(0, count, PASS):
                size = min(PASS, count - begin)
                output = forward(seen_from(forward, rows, begin, size), buffers, decoded)
                consume(first + begin, output, _slide(part, begin, size, window))

    share_out(starts, work)


def seen_from(forward: ForwardNet, rows: Rows, first: int, windows: int) -> Seen:
    """Return views of ``rows`` for the windows that begin at ``first``, ``first + 1``, ..."""
    window = forward.config.window
    by_row = (_slide(part, first, windows, window) for part in rows[:3])
    by_step = (_slide_down(table, first, windows) for table in rows[3:])
    return forward.seen(*by_row, *by_step)


def _slide(rows: Tensor, first: int, windows: int, steps: int) -> Tensor:
    """Return a view (..., B, steps, O) of rows (..., R, O): each window begins one row later."""
    *outer, down, across = rows.stride()
    return rows.as_strided(
        (*rows.shape[:-2], windows, steps, rows.shape[-1]),
        (*outer, down, down, across),
        rows.storage_offset() + first * down,
    )


def _slide_down(table: Tensor, first: int, windows: int) -> Tensor:
    """Return a view (B, T, 1) of a table (R, T): at step t of a window, column t of its row."""
    down, across = table.stride()
    return table.as_strided(
        (windows, table.shape[1], 1),
        (down, down + across, 1),
        table.storage_offset() + first * down,
    )
