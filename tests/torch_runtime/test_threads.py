from __future__ import annotations

import threading
import time

import pytest
import torch

from axonad.torch_runtime import threads as module
from axonad.torch_runtime.threads import one_thread, share_out


@pytest.fixture(params=[1, 3])
def threads(request):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


@pytest.mark.parametrize("grad", [True, False])
def test_every_item_is_worked_on_once(threads, grad):
    done, seen = [], set()

    def work(items):
        for item in items:
            assert torch.get_num_threads() == 1
            assert torch.is_grad_enabled() == grad
            seen.add(threading.get_ident())
            done.append(item)

    with torch.set_grad_enabled(grad):
        share_out(range(20), work)
    assert sorted(done) == list(range(20))
    assert len(seen) <= threads
    assert torch.get_num_threads() == threads
    assert torch.is_grad_enabled()


def test_an_error_reaches_the_caller(threads):
    def work(items):
        for item in items:
            raise ValueError(f"item {item}")

    with pytest.raises(ValueError, match="item"):
        share_out(range(5), work)
    assert torch.get_num_threads() == threads


def test_after_an_error_no_new_items_are_begun(threads):
    begun = []

    def work(items):
        for item in items:
            begun.append(item)
            if item == 0:
                raise KeyboardInterrupt
            time.sleep(0.01)  # longer than the caller takes to learn of the error

    with pytest.raises(KeyboardInterrupt):
        share_out(range(500), work)
    assert len(begun) < 400


@pytest.mark.parametrize("threads", [3], indirect=True)  # with one the caller works itself
def test_an_interrupt_is_seen_soon_and_ends_the_work(threads, monkeypatch):
    begun = []

    def work(items):
        for item in items:
            begun.append(item)
            time.sleep(0.01)

    def interrupted(running, *, timeout, return_when):
        assert timeout <= 1, "no long wait: not every system ends it at Ctrl-C"
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        share_out(range(500), work)
    assert len(begun) < 400
    assert torch.get_num_threads() == threads


def test_threads_come_back_after_one_thread(threads):
    with one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == threads
