"""A thread pool for independent work items, each computed by one thread.

Torch splits every matrix product among its threads and waits for the slowest. When other programs
use the cores too, that wait is most of the time; independent items do not wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import TypeVar

import torch

T = TypeVar("T")
POLL = 0.2  # seconds between two looks at the threads


@contextmanager
def one_thread() -> Iterator[None]:
    """Run torch operations of the body on the calling thread alone."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def share_out(items: Sequence[T], work: Callable[[Iterator[T]], None]) -> None:
    """Call ``work`` on as many threads as torch may use; each takes the next item when it is free.

    Inside ``work``, torch uses one thread; the gradient mode is that of the caller. After an error
    or an interrupt the threads finish the items they have begun and take no more.
    """
    threads = min(torch.get_num_threads(), len(items))
    if threads < 2:
        with one_thread():
            work(iter(items))
        return
    needs_grad = torch.is_grad_enabled()  # a thread-local setting
    pending: SimpleQueue[T | None] = SimpleQueue()
    for item in [*items, *[None] * threads]:
        pending.put(item)

    def one() -> None:
        torch.set_num_threads(1)  # also the default of later threads, so one_thread restores it
        with torch.set_grad_enabled(needs_grad):
            work(iter(pending.get, None))

    with one_thread(), ThreadPoolExecutor(threads) as pool:
        try:
            running = {pool.submit(one) for _ in range(threads)}
            while running:  # not one long wait, which not every system interrupts at Ctrl-C
                done, running = wait(running, timeout=POLL, return_when=FIRST_EXCEPTION)
                for finished in done:
                    finished.result()
        except BaseException:
            with suppress(Empty):
                while True:
                    pending.get_nowait()
            for _ in range(threads):
                pending.put(None)
            raise
