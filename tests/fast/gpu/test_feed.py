"""Batches of a stack: every model's windows, masks and random numbers are its own."""

from __future__ import annotations

import pytest
import torch

from axonad.fast.gpu.feed import TrainingWindows
from axonad.model.net import AxonNet
from axonad.torch_runtime.seed import seeded
from axonad.train.mask import mask_plan
from tests.fast.gpu.conftest import PLAN, member, whole_mask
from tests.train.test_loop import CPU, NET, config


@pytest.mark.parametrize("ratio", [0.5, 1.0])  # one block per window, or two
def test_an_epoch_visits_every_window_once_and_masks_the_tail(ratio):
    members = [member(1, 180), member(2, 150)]
    plan = mask_plan(window=16, horizon=1, mask_ratio=ratio, block_fraction=0.5)
    windows = TrainingWindows(members, plan=plan, config=config())
    assert windows.steps == (4 if ratio == 0.5 else 7)
    for i in range(2):
        windows.shuffle(i)
    windows.select([1, 0], [0, 0])
    batches = [windows.next_batch() for _ in range(3)]
    for row, m in enumerate([members[1], members[0]]):
        inside = torch.cat([b.share[row] > 0 for b in batches])
        assert inside.sum() == m.windows
        x = torch.cat([b.x[row] for b in batches])[inside]
        expected = m.series.rows.unfold(0, 16, 1).transpose(1, 2)
        assert not torch.equal(x, expected)
        assert torch.equal(x[x[:, 0, 0].argsort()], expected[expected[:, 0, 0].argsort()])
        mask = torch.cat([whole_mask(b)[row] for b in batches])
        covered = mask[inside].sum(1)
        assert (covered == 4).all() if ratio == 0.5 else (covered >= 4).all()
        assert mask[:, : 16 - PLAN[0]].sum() == mask[~inside].sum() == 0
        for b in batches:
            assert float(b.share[row].sum()) == pytest.approx(1)


def test_a_shuffle_changes_the_order_of_one_model():
    members = [member(1, 180), member(2, 150)]
    windows = TrainingWindows(members, plan=PLAN, config=config())
    for i in range(2):
        windows.shuffle(i)
    windows.select([0, 1], [0, 0])
    first = windows.next_batch()
    windows.shuffle(0)
    windows.select([0, 1], [0, 0])
    second = windows.next_batch()
    assert not torch.equal(first.x[0], second.x[0])
    assert torch.equal(first.x[1], second.x[1])


def test_the_first_order_is_the_plain_loops():
    alone, own = member(5), member(5)
    with seeded(5, CPU):
        AxonNet(NET)
        expected = torch.randperm(alone.windows)
    assert torch.equal(torch.randperm(own.windows, generator=own.generator), expected)


def test_an_epoch_can_visit_a_part_of_the_windows_drawn_anew_each_time():
    members = [member(1, 180), member(2, 60)]
    windows = TrainingWindows(members, plan=PLAN, config=config(epoch_windows=50))
    epochs = []
    for _ in range(2):
        for i in range(2):
            windows.shuffle(i)
        windows.select([0, 1], [0, 0])
        batch = windows.next_batch()
        assert [int((share > 0).sum()) for share in batch.share] == [50, 45], "all where fewer"
        every = members[0].series.rows.unfold(0, 16, 1).transpose(1, 2)
        visited = (batch.x[0][:50, None] == every[None]).all((2, 3)).nonzero()[:, 1]
        assert len(set(visited.tolist())) == 50
        epochs.append(set(visited.tolist()))
    assert epochs[0] != epochs[1]
