"""Small stacks of models; the tests of this folder run on a CPU unless they are marked ``gpu``."""

from __future__ import annotations

import pytest
import torch

from axonad.fast.gpu.feed import Member
from axonad.model.net import AxonNet
from axonad.torch_runtime.seed import generator, seeded
from axonad.torch_runtime.windows import Windows
from axonad.train.mask import mask_plan
from tests.conftest import waves
from tests.train.test_loop import CPU, NET

PLAN = mask_plan(window=16, horizon=1, mask_ratio=0.5, block_fraction=0.5)


@pytest.fixture(autouse=True)
def _seeded():
    with seeded(0, CPU):
        yield


def series(rows, seed=0):
    return torch.from_numpy(waves(rows, seed=seed)).to(torch.get_default_dtype())


def member(seed, rows=300, held_out=100, *, net=NET, device=CPU):
    with seeded(seed, device):
        fresh = AxonNet(net).to(device)
        own = generator(seed, device)
    training = Windows(series(rows, seed).to(device), net.window)
    validation = Windows(series(held_out, seed + 50).to(device), net.window) if held_out else None
    return Member(net=fresh, series=training, validation=validation, generator=own)


def weights(net):
    return torch.cat([value.flatten() for value in net.state_dict().values()])


def whole_mask(batch):
    """Return the mask over all steps of the windows (M, B, 16)."""
    models, steps, size = batch.mask.shape
    begins = torch.full((models, size), 16 - steps) if batch.begins is None else batch.begins
    whole = torch.zeros(models, size, 16)
    for step in range(steps):
        where = (begins.long() + step)[..., None]
        whole.scatter_(2, where, batch.mask[:, step, :, None].to(whole.dtype))
    return whole
