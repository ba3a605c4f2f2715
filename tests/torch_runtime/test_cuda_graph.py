from __future__ import annotations

import gc

import pytest
import torch

from axonad.torch_runtime.cuda_graph import Recorded, Replay

CPU = torch.device("cpu")


def test_without_a_gpu_it_is_the_plain_step():
    seen = []

    def step(starts):
        seen.append(starts)
        return starts.sum()

    recorded = Recorded(step, size=4, device=CPU)
    for size in (4, 3, 4):
        assert recorded(torch.ones(size)) == size
    recorded.renew()
    assert [len(starts) for starts in seen] == [4, 3, 4]


def training(device, *, use, steps=12):
    """A network with dropout, clipping and AdamW; a short batch in between; a new rate."""
    torch.manual_seed(3)
    rows = torch.randn(50, 6).to(device)
    net = torch.nn.Sequential(
        torch.nn.Linear(6, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 6)
    ).to(device)
    optimiser = torch.optim.AdamW(net.parameters(), lr=0.1, fused=True, capturable=True)

    def step(starts):
        optimiser.zero_grad(set_to_none=True)
        loss = (net(rows[starts]) - rows[starts]).square().mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        return loss.detach()

    recorded, losses = Recorded(step, size=4, device=device, use=use), []
    for i in range(steps):
        if i == 8:
            optimiser.param_groups[0]["lr"] = 0.01
            recorded.renew()
        size = 3 if i == 6 else 4
        losses.append(recorded(torch.arange(i, i + size, device=device)).item())
    return losses, torch.cat([p.detach().flatten() for p in net.parameters()])


@pytest.mark.gpu
def test_replaying_gives_what_the_plain_steps_give():
    cuda = torch.device("cuda")
    plain, recorded = (training(cuda, use=use) for use in (False, True))
    assert recorded[0] == pytest.approx(plain[0], rel=1e-5)
    torch.testing.assert_close(recorded[1], plain[1], rtol=1e-5, atol=1e-6)


@pytest.mark.gpu
def test_what_the_collector_frees_does_not_spoil_a_recording():
    cuda = torch.device("cuda")

    def step():
        kept = [[] for _ in range(100_000)]  # enough for the collector to wake up
        return torch.ones(3, device=cuda) + len(kept[0]) + 1

    for _ in range(4):  # each leaves a recording that only the collector can free
        replay = Replay(step, device=cuda, warm=1)
        replay.myself = replay
        assert [float(replay().sum()) for _ in range(3)] == [6.0] * 3
    assert gc.isenabled()
