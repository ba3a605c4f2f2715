"""Joint training: every model learns what it would learn on its own."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from axonad.fast.gpu import optimiser as update
from axonad.fast.gpu import training
from axonad.fast.gpu.feed import TrainingWindows, ValidationWindows
from axonad.fast.gpu.stack import Batch
from axonad.fast.gpu.training import (
    ModelProgress,
    Stack,
    Step,
    models_at_once,
    train_stack,
    validation_errors,
)
from axonad.model.loss import WeightedLoss
from axonad.model.net import AxonNet
from axonad.progress import Progress
from axonad.torch_runtime.cuda_graph import WARM
from axonad.torch_runtime.seed import seeded
from axonad.torch_runtime.windows import gather_windows
from axonad.train import loop
from tests.fast.gpu.conftest import PLAN, member, weights, whole_mask
from tests.train.test_loop import CPU, NET, config

QUIET = Progress("", 1, show=False)
CASES = [(1, 300, 100), (2, 250, 80), (3, 420, 0), (4, 300, 100)]


def run(members, **changes):
    return dict(train_stack(members, config(**changes), QUIET))


def assert_same(some, others):
    for net, twin in zip(some, others, strict=True):
        torch.testing.assert_close(weights(net), weights(twin), rtol=1e-7, atol=1e-9)


def plain_steps(net, data, batches, settings):
    """Make the plain loop's steps with given windows and masks; return log variances and norms."""
    loss = WeightedLoss()
    trained = [*(p for p in net.parameters() if p.requires_grad), *loss.parameters()]
    optimiser = loop.adamw(trained, settings)
    norms = []
    for starts, mask in batches:
        x = gather_windows(data, starts, 16)
        optimiser.zero_grad(set_to_none=True)
        loss(net(x), x, mask).backward()
        norms.append(float(torch.nn.utils.get_total_norm([p.grad for p in trained])))
        loop.update(net, optimiser)
    return loss.log_variance.detach(), norms


def recorded(windows, data, counts):
    """Return three batches, and for each model the starts and masks of its windows in them."""
    batches, alone = [], [[] for _ in counts]
    for step in range(3):
        batch = windows.next_batch()
        batches.append(batch)
        for i, count in enumerate(counts):
            inside = min(64, count - step * 64)
            own = data[i].unfold(0, 16, 1).transpose(1, 2)
            starts = [int((own == x).all((1, 2)).nonzero()[0, 0]) for x in batch.x[i, :inside]]
            alone[i].append((torch.tensor(starts), whole_mask(batch)[i, :inside]))
    return batches, alone


@pytest.mark.parametrize("clip", [loop.CLIP, 30.0])  # at 30 only one of the models is clipped
def test_steps_equal_plain_steps(monkeypatch, double, clip):
    """Same windows, same masks: same weights, with clipping, decay, EMA and partial batches."""
    monkeypatch.setattr(loop, "CLIP", clip)
    monkeypatch.setattr(update, "CLIP", clip)
    net = dataclasses.replace(NET, dropout=0.0)
    settings = config(lr=1e-2, weight_decay=0.1)
    members = [member(1, 180, net=net), member(2, 150, net=net), member(3, 207, net=net)]
    members[1].series.rows *= 50  # its gradient is clipped, whatever the others' are
    members[2].series.rows *= 0.1
    data, counts = [m.series.rows for m in members], [m.windows for m in members]
    assert counts == [165, 135, 192]  # the last batches: 37, 7, 64
    windows = TrainingWindows(members, plan=PLAN, config=config())
    for i in range(3):
        windows.shuffle(i)
    windows.select([0, 1, 2], [0, 0, 0])
    batches, alone = recorded(windows, data, counts)
    stack = Stack([m.net for m in members], settings)
    for batch in batches:
        stack.step(batch)
    found = stack.layout.weights(stack.rows.detach())
    clipped = []
    for i in range(3):
        log_variance, norms = plain_steps(members[i].net, data[i], alone[i], settings)
        clipped.append([norm > loop.CLIP for norm in norms])
        torch.testing.assert_close(found["log_variance"][i], log_variance, rtol=1e-9, atol=1e-11)
        twin = AxonNet(net)
        stack.layout.unpack(*stack.copy(i), twin)
        torch.testing.assert_close(weights(twin), weights(members[i].net), rtol=1e-9, atol=1e-11)
    assert all(clipped[1])
    assert any(clipped[0]) == any(clipped[2]) == (clip == 1.0)


def test_padding_of_a_batch_does_not_count():
    stack = Stack([AxonNet(NET)], config())
    twin = Stack([AxonNet(NET)], config())
    twin.rows.data.copy_(stack.rows.data)
    twin.target.copy_(stack.target)
    x, mask = torch.randn(1, 6, 16, 3), torch.zeros(1, 6, 16)
    mask[:, :4, 10:14] = 1
    share = torch.tensor([[0.25] * 4 + [0.0] * 2])
    stack.step(Batch(x, None, mask.transpose(1, 2), share))
    x = torch.cat([x[:, :4], 100 * torch.randn(1, 2, 16, 3)], dim=1)
    twin.step(Batch(x, None, mask.transpose(1, 2), share))
    assert torch.equal(stack.rows, twin.rows)


def test_a_step_does_not_synchronise():
    """No operation of a step reads a tensor's value on the host."""
    asked = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func.name() in ("aten::_local_scalar_dense", "aten::nonzero", "aten::is_nonzero"):
                asked.append(func.name())
            return func(*args, **(kwargs or {}))

    members = [member(1), member(2)]
    windows = TrainingWindows(members, plan=PLAN, config=config())
    stack = Stack([m.net for m in members], config())
    for i in range(2):
        windows.shuffle(i)
    windows.select([0, 1], [0, 0])
    with Watch():
        Step(stack, windows, members).make()
        assert asked == []
        bool(torch.ones(1))
    assert asked, "the watch would have seen it"


def test_validation_errors_equal_the_plain_ones():
    members = [member(1, held_out=100), member(2, held_out=0), member(3, held_out=57)]
    members.append(member(4, held_out=300))
    stack = Stack([m.net for m in members], config(batch_size=32))
    models = [ModelProgress(i, m, stack.config) for i, m in enumerate(members)]
    validation = ValidationWindows(members, config=config(batch_size=32))
    for rows in ([0, 1, 2, 3], [3], [1], [2, 0]):
        found = validation_errors(models, rows, stack, validation)
        assert list(found) == [row for row in rows if row != 1]
        for row, error in found.items():
            m = members[row]
            expected = loop.validation_error(m.net, m.validation, 32)
            assert error == pytest.approx(expected, rel=1e-5)


def test_as_good_as_separate_training():
    members = [member(*case) for case in CASES]
    found = run(members, epochs=8)
    for index, case in enumerate(CASES):
        with seeded(case[0], CPU):
            alone = member(*case)
            torch.set_rng_state(alone.generator.get_state())
            history = loop.train(alone.net, alone.series, alone.validation, config(epochs=8), QUIET)
        assert found[index].epochs == history.epochs == 8
        np.testing.assert_allclose(
            found[index].validation, history.validation, rtol=0.15
        )  # other draws


def test_bfloat16_trains_as_well():
    """Autocast reaches attention and queries; weights and validation stay in float32."""
    exact = run([member(*case) for case in CASES], epochs=8)
    members = [member(*case) for case in CASES]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = run(members, epochs=8)
    assert weights(members[0].net).dtype == torch.float32
    for index in range(len(CASES)):
        assert found[index].validation != exact[index].validation or CASES[index][2] == 0
        np.testing.assert_allclose(found[index].validation, exact[index].validation, rtol=0.1)


def test_a_model_does_not_depend_on_the_others(double):
    alone = [member(*CASES[0])]
    first = run(alone, epochs=4)
    together = [member(*case) for case in CASES[:3]]
    found = run(together, epochs=4)
    turned = [member(*case) for case in CASES[2::-1]]
    run(turned, epochs=4)
    assert_same([alone[0].net], [together[0].net])
    assert_same([m.net for m in together], [m.net for m in turned[::-1]])
    np.testing.assert_allclose(found[0].validation, first[0].validation, rtol=1e-7)


def test_same_seeds_same_bits_other_seeds_other_weights():
    first, again = ([member(*case) for case in CASES[:2]] for _ in range(2))
    run(first)
    run(again)
    other = [member(9, 300), member(8, 250)]
    run(other)
    for one, two, three in zip(first, again, other, strict=True):
        assert torch.equal(weights(one.net), weights(two.net))
        assert not torch.equal(weights(one.net), weights(three.net))


def test_models_stop_one_by_one_and_stay_as_they_were(double):
    """A model whose validation never improves stops and keeps its weights; the other continues."""
    stopping, going = member(1), member(2)
    stopping.validation.rows.fill_(float("nan"))
    kept, frozen = {}, {}
    for index, history in train_stack([stopping, going], config(epochs=9, patience=2), QUIET):
        kept[index] = history
        frozen[index] = weights([stopping, going][index].net).clone()
    assert list(kept) == [0, 1]
    assert [kept[0].epochs, kept[1].epochs] == [2, 9]
    assert torch.equal(frozen[0], weights(stopping.net))
    alone = member(2)
    run([alone], epochs=9, patience=2)
    assert_same([going.net], [alone.net])


def test_a_model_that_diverges_leaves_the_others_alone(double):
    broken, fine = member(1), member(2)
    broken.series.rows.fill_(float("inf"))
    run([broken, fine])
    assert not weights(broken.net).isfinite().all()
    alone = member(2)
    run([alone])
    assert_same([fine.net], [alone.net])


@pytest.mark.parametrize("restore", [True, False])
def test_best_weights_are_restored_or_last_kept(restore):
    """On a validation series unlike training, early epochs are best; restore_best keeps them."""
    members = [member(seed) for seed in range(4)]
    for m in members:
        m.validation.rows.zero_()
    found = run(members, epochs=8, patience=8, restore_best=restore)
    best = [int(np.argmin(found[index].validation)) + 1 for index in range(4)]
    assert min(best) < 8
    for index, m in enumerate(members):
        kept = best[index] if restore else 8
        assert found[index].kept_epoch == kept
        error = loop.validation_error(m.net, m.validation, 64)
        assert error == pytest.approx(found[index].validation[kept - 1], rel=1e-4)


def test_without_validation_all_epochs_run():
    found = run([member(1, held_out=0), member(2, 200, held_out=0)], epochs=4)
    assert [found[i].epochs for i in range(2)] == [4, 4]
    assert found[0].validation == found[1].validation == []


def test_progress_counts_the_steps_that_early_stopping_saves(monkeypatch):
    counted = []
    progress = Progress("", 1, show=False)
    monkeypatch.setattr(progress, "advance", counted.append)
    members = [member(1), member(2, 200)]
    members[0].validation.rows.fill_(float("nan"))
    list(train_stack(members, config(epochs=6, patience=2), progress))
    assert sum(counted) == 6 * (5 + 3)


def test_models_at_once_fit_the_device(monkeypatch):
    assert models_at_once(NET, 64, CPU) == 64  # 64 windows of 16 steps, 16 wide: cache-sized
    large = dataclasses.replace(NET, window=100, d_model=128)
    assert models_at_once(large, 128, CPU) == 1
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (140e9, 140e9))
    on_gpu = models_at_once(large, 128, torch.device("cuda"))
    assert 64 <= on_gpu <= training.MAX_WINDOWS // 128
    assert models_at_once(NET, 64, torch.device("cuda")) == training.MAX_WINDOWS // 64


@pytest.mark.gpu
def test_on_a_gpu_as_on_a_cpu_without_synchronising():
    cuda = torch.device("cuda")
    members = [member(seed, device=cuda) for seed in (1, 2)]
    windows = TrainingWindows(members, plan=PLAN, config=config())
    stack = Stack([m.net for m in members], config())
    for i in range(2):
        windows.shuffle(i)
    windows.select([0, 1], [0, 0])
    step = Step(stack, windows, members)
    for _ in range(WARM + 1):  # plain steps, then the recording
        step.make()
    torch.cuda.set_sync_debug_mode("error")
    try:
        step.make()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    there = run([member(seed, device=cuda) for seed in (1, 2)], epochs=8)
    here = run([member(seed) for seed in (1, 2)], epochs=8)
    for index in range(2):
        np.testing.assert_allclose(there[index].validation, here[index].validation, rtol=0.15)
