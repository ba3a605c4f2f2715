"""Work on a processor's cores: one thread each for whole pieces, not all of them for every product.

Torch splits each product among its threads and waits for the slowest. Where other programs want
the cores too, that wait is most of the time; pieces of work that need no one else are not held up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TypeVar

import torch

T = TypeVar("T")


@contextmanager
def one_thread() -> Iterator[None]:
    """Run the body's products on the calling thread alone."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def share_out(items: Sequence[T], work: Callable[[Iterator[T]], None]) -> None:
    """Call ``work`` on as many threads as torch may use; each takes the next item when it is free.

    Torch has one thread for the products of each; gradients are kept where the caller keeps them.
    """
    threads = min(torch.get_num_threads(), len(items))
    if threads < 2:
        with one_thread():
            work(iter(items))
        return
    kept = torch.is_grad_enabled()  # a thread's own affair
    pending: SimpleQueue[T | None] = SimpleQueue()
    for item in [*items, *[None] * threads]:
        pending.put(item)

    def one() -> None:
        torch.set_num_threads(1)  # of this thread; also what later ones begin with, hence below
        with torch.set_grad_enabled(kept):
            work(iter(pending.get, None))

    with one_thread(), ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(one) for _ in range(threads)]:
            done.result()
