"""The network's outputs for all windows of a series, a pass at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from axonad.data.windows import count_windows
from axonad.fast.cpu.buffers import Buffers
from axonad.fast.cpu.folding import slide
from axonad.fast.cpu.forward import ScoringNet
from axonad.fast.gpu.fused import can_fuse
from axonad.fast.gpu.scoring import CardNet
from axonad.model.net import AxonNet, Output
from axonad.torch_runtime.cuda_graph import WARM, Recorded
from axonad.torch_runtime.threads import one_thread, share_out
from axonad.torch_runtime.windows import gather_windows

FEW = 8  # windows for which making a network for scoring is not worth it
CARD_PASS = 2048  # windows at a time on a graphics card: more only takes memory
CPU_PASS = 32  # windows at a time on one core: what they need stays in its cache

Take = Callable[[int, Output, Tensor], None]


def run_passes(net: AxonNet, series: Tensor, *, batch_size: int, take: Take) -> None:
    """Call ``take(first, output, x)`` for all windows of a series (n, F), a part of them each time.

    The part begins at window ``first``. On a processor several threads call it, and what they hand
    over is valid until it returns.
    """
    windows = count_windows(len(series), net.config.window)
    if not net.config.is_standard:
        _run_plainly(net, series, range(0, windows, batch_size), take)
    elif series.device.type == "cuda":
        _run_on_card(net, series, range(0, windows, CARD_PASS), take)
    elif series.device.type != "cpu":
        _run_plainly(net, series, range(0, windows, batch_size), take)
    elif windows <= FEW:
        with one_thread():
            _run_plainly(net, series, range(0, windows, windows), take)
    else:
        share = -(-windows // torch.get_num_threads())
        _run_on_cores(net, series, range(0, windows, min(batch_size, share)), take)


def _run_plainly(net: AxonNet, series: Tensor, starts: range, take: Take) -> None:
    window, last = net.config.window, net.config.scored_steps
    begins = torch.arange(starts.stop, device=series.device)
    for first in starts:
        x = gather_windows(series, begins[first : first + starts.step], window)
        take(first, net(x, last=last), x)


def _run_on_card(net: AxonNet, series: Tensor, starts: range, take: Take) -> None:
    """Hand over large parts, recorded: starting work is what costs, and memory there is plenty."""
    fused = can_fuse(net.config, series.device, windows=starts.stop)
    scoring = CardNet(net, fused=fused)

    def work(begins: Tensor) -> tuple[Output, Tensor]:
        x = gather_windows(series, begins, net.config.window)
        return scoring(x), x

    passes = Recorded(work, size=starts.step, device=series.device, warm=1, use=len(starts) > WARM)
    begins = torch.arange(starts.stop, device=series.device)
    for first in starts:
        take(first, *passes(begins[first : first + starts.step]))


def _run_on_cores(net: AxonNet, series: Tensor, starts: range, take: Take) -> None:
    """Share batches out; of a batch's rows everything is known before its passes begin."""
    window = net.config.window
    with one_thread():
        scoring = ScoringNet(net)

    def work(batches: Iterator[int]) -> None:
        buffers = Buffers(series)
        for first in batches:
            count = min(starts.step, starts.stop - first)
            part = series[first : first + count + window - 1]
            rows = scoring.rows(part)
            for begin in range(0, count, CPU_PASS):
                size = min(CPU_PASS, count - begin)
                output = scoring.windows(rows, first=begin, count=size, buffers=buffers)
                x = slide(part, first=begin, windows=size, steps=window)
                take(first + begin, output, x)

    share_out(starts, work)
