from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
import torch

from axonad.fast.cpu.training import block_step
from axonad.model.config import NetConfig
from axonad.model.net import AxonNet
from axonad.model.target import MomentumTarget
from axonad.progress import Progress
from axonad.torch_runtime.seed import seeded
from axonad.train import loop
from axonad.train.loop import TrainConfig, train, validation_error
from tests.conftest import waves

CPU = torch.device("cpu")
NET = NetConfig(
    channels=3, window=16, d_model=16, heads=2, horizon=1, tail=4, ema=0.9, dropout=0.1,
    dilations=(1, 2),
)  # fmt: skip


def config(**changes) -> TrainConfig:
    settings = {
        "epochs": 3, "batch_size": 64, "epoch_windows": None, "lr": 1e-3, "weight_decay": 1e-5,
        "patience": 3, "mask_ratio": 0.5, "block_fraction": 0.5, "restore_best": False,
    }  # fmt: skip
    return TrainConfig(**{**settings, **changes})


def run(validation=True, **changes):
    series = torch.from_numpy(waves(300).astype(np.float32))
    held_out = torch.from_numpy(waves(100, seed=1).astype(np.float32)) if validation else None
    with seeded(7, CPU):
        net = AxonNet(NET)
        history = train(net, series, held_out, config(**changes), Progress("x", 1, show=False))
    return net, history, held_out


def test_training_lowers_the_validation_error():
    _, history, _ = run(epochs=8)
    assert history.validation[-1] < 0.7 * history.validation[0]


def naive_epoch(net, loss, optimiser, series, settings, *, block_seeds):
    """The paper's epoch, step by step, drawing from the random state in the same order."""
    count = len(series) - 16 + 1
    order = torch.randperm(count)
    tail, span = 7, round(7 * settings.block_fraction)
    blocks = -(-round(7 * settings.mask_ratio) // span)
    for first in range(0, count, settings.batch_size):
        starts = order[first : first + settings.batch_size].tolist()
        x = torch.stack([series[s : s + 16] for s in starts])
        where = torch.randint(16 - tail, 16 - span + 1, (len(x), blocks, 1))
        if block_seeds and blocks == 1:
            torch.randint(2**62, (-(-len(x) // 32),))  # each share's dropout has a seed
        mask = torch.zeros(len(x), 16)
        for b in range(len(x)):
            for block in range(blocks):
                start = int(where[b, block, 0])
                mask[b, start : start + span] = 1
        optimiser.zero_grad()
        output = net(x)
        cosine = torch.nn.functional.cosine_similarity(output.predicted, output.target, dim=-1)
        query = ((1 - cosine).mean(1) * mask).sum() / mask.sum()
        mse = ((output.reconstruction - x) ** 2).mean()
        a, b = loss.log_variance
        total = torch.exp(-a) * mse + a + torch.exp(-b) * query + b
        total.backward()
        weights = [p for p in (*net.parameters(), *loss.parameters()) if p.requires_grad]
        norm = torch.sqrt(sum((p.grad**2).sum() for p in weights))
        for p in weights:
            p.grad *= min(1.0, 1.0 / float(norm + 1e-6))
        optimiser.step()
        with torch.no_grad():
            for slow, fast in zip(net.target.parameters(), net.online.parameters(), strict=True):
                slow.copy_(0.9 * slow + 0.1 * fast)


@pytest.mark.parametrize("make_step", [loop.plain_step, block_step])
@pytest.mark.parametrize(("ratio", "fraction"), [(0.8, 0.3), (0.5, 0.5)])  # three blocks, one
def test_an_epoch_equals_its_naive_twin(double, ratio, fraction, make_step):
    """Order, windows, masks, loss, clipping, AdamW with decay on everything, EMA, last batch."""
    series = 3 * torch.from_numpy(waves(180))  # 165 windows: 64, 64, 37
    settings = config(lr=1e-2, weight_decay=0.1, mask_ratio=ratio, block_fraction=fraction)
    without = dataclasses.replace(NET, dropout=0.0)  # it draws for the steps that count alone
    results = []
    for twin in (False, True):
        with seeded(3, CPU):
            net, loss = AxonNet(without).train(), loop.WeightedLoss()
            weights = [*(p for p in net.parameters() if p.requires_grad), *loss.parameters()]
            if twin:
                optimiser = torch.optim.AdamW(weights, lr=1e-2, weight_decay=0.1)
                naive_epoch(
                    net, loss, optimiser, series, settings, block_seeds=make_step is block_step
                )
            else:
                step = make_step(net, loss, loop.adamw(weights, settings), series, settings)
                loop.train_epoch(net, step, series, config(), Progress("", 1, show=False))
        results.append([*net.state_dict().values(), loss.log_variance.detach()])
    for fast, slow in zip(*results, strict=True):
        torch.testing.assert_close(fast, slow, rtol=1e-7, atol=1e-9)


def test_dropout_is_on_while_training_and_off_while_scoring():
    net = AxonNet(NET)
    x = torch.randn(2, 16, 3)
    net.train()
    assert not torch.equal(net(x).predicted, net(x).predicted)
    net.eval()
    assert torch.equal(net(x).predicted, net(x).predicted)


def test_target_follows_after_each_optimiser_step(monkeypatch):
    """After every step: target = m · (target before) + (1 - m) · (weights after that step)."""
    seen = []
    original = MomentumTarget.update

    def spy(self, online):
        slow, fast = ([p.detach().clone() for p in part.parameters()] for part in (self, online))
        original(self, online)
        seen.append((slow, fast, [p.clone() for p in self.parameters()]))

    monkeypatch.setattr(MomentumTarget, "update", spy)
    run(validation=False, epochs=1)
    assert len(seen) >= 3
    for slow, fast, after in seen:
        for old, weight, new in zip(slow, fast, after, strict=True):
            torch.testing.assert_close(new, 0.9 * old + 0.1 * weight)
    for (_, before, _), (_, after, _) in itertools.pairwise(seen):
        assert not any(map(torch.equal, before, after))


def test_validation_error_is_the_mean_over_batches():
    net, _, held_out = run(epochs=1)
    windows = held_out.unfold(0, 16, 1).transpose(1, 2)
    with torch.no_grad():
        errors = [
            float((net(part).reconstruction - part).square().mean())
            for part in torch.split(windows, 32)
        ]
    assert validation_error(net, held_out, 32) == pytest.approx(np.mean(errors), rel=1e-5)


def test_an_epoch_can_visit_a_part_of_the_windows_and_judge_the_same_share():
    settings = config(epoch_windows=100)
    assert (settings.visited(285), settings.steps(285), settings.visited(60)) == (100, 2, 60)
    assert settings.judged(85, training=285) == 29
    assert config().judged(85, training=285) == 85
    net, series = AxonNet(NET), torch.from_numpy(waves(100, seed=1).astype(np.float32))
    windows = series.unfold(0, 16, 1).transpose(1, 2)
    net.eval()
    with torch.no_grad():
        errors = (net(windows).reconstruction - windows).square().mean((1, 2))
    expected = torch.stack([part.mean() for part in torch.split(errors[::5], 8)]).mean()
    found = loop.validation_error(net, series, 8, judged=17)
    assert found == pytest.approx(float(expected), rel=1e-6)
    _, history, _ = run(epoch_windows=100)
    assert history.epochs == 3
