"""Training in a stack: every model learns what it would learn alone."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from axonad.fast.gpu import optimiser as update
from axonad.fast.gpu import stack as stacked
from axonad.fast.gpu import training as fleet
from axonad.fast.gpu.feed import Feed, HeldOut, Member
from axonad.fast.gpu.layout import Layout
from axonad.fast.gpu.stack import Batch
from axonad.fast.gpu.training import (
    Run,
    Stack,
    Step,
    models_at_once,
    train_fleet,
    validation_errors,
)
from axonad.model import predictor
from axonad.model.loss import WeightedLoss
from axonad.model.net import AxonNet
from axonad.progress import Progress
from axonad.torch_runtime.cuda_graph import WARM
from axonad.torch_runtime.seed import generator, seeded
from axonad.torch_runtime.windows import gather_windows
from axonad.train import loop
from axonad.train.mask import mask_plan, sample_mask
from tests.conftest import waves
from tests.train.test_loop import CPU, NET, config

QUIET = Progress("", 1, show=False)
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
    validation = series(held_out, seed + 50).to(device) if held_out else None
    return Member(
        net=fresh, series=series(rows, seed).to(device), validation=validation, generator=own
    )


def run(members, **changes):
    return dict(train_fleet(members, config(**changes), QUIET))


def weights(net):
    return torch.cat([value.flatten() for value in net.state_dict().values()])


def assert_same(some, others):
    for net, twin in zip(some, others, strict=True):
        torch.testing.assert_close(weights(net), weights(twin), rtol=1e-7, atol=1e-9)


def whole_mask(batch):
    """Return the mask over all steps of the windows (M, B, 16)."""
    models, steps, size = batch.mask.shape
    begins = torch.full((models, size), 16 - steps) if batch.begins is None else batch.begins
    whole = torch.zeros(models, size, 16)
    for step in range(steps):
        where = (begins.long() + step)[..., None]
        whole.scatter_(2, where, batch.mask[:, step, :, None].to(whole.dtype))
    return whole


# -- the stacked network against the plain one -------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"horizon": 0},
        {"horizon": 5, "dilations": (1, 2, 4)},
        {"dilations": (9,)},  # its first tap looks further back than a window is long
        {"channels": 5, "d_model": 12, "heads": 3},
    ],
)
@pytest.mark.parametrize("last", [7, 10, 16, None])
def test_losses_and_gradients_equal_the_plain_network(double, changes, last):
    net = dataclasses.replace(NET, dropout=0.0, **changes)
    nets = [AxonNet(net) for _ in range(3)]
    layout = Layout(nets[0])
    rows, target = layout.pack(nets)
    target += 0.1 * torch.randn_like(target)
    for i, one in enumerate(nets):
        layout.unpack(rows[i], target[i], one)
    rows.requires_grad_()
    x = torch.randn(3, 7, 16, net.channels)
    share = torch.full((3, 7), 1 / 7)
    if last is not None:
        mask = sample_mask(21, window=16, plan=PLAN, device=CPU).view(3, 7, 16)
        batch = Batch(x, None, mask[..., -last:].transpose(1, 2), share)
    elif stacked.judged_steps(net, PLAN) == (4, True):
        batch = Batch(x, torch.randint(9, 13, (3, 7)), torch.ones(3, 4, 7), share)
        mask = whole_mask(batch)
        assert (mask.sum(2) == 4).all()
    else:  # the predictor sees further back than a window reaches before a block
        assert stacked.judged_steps(net, PLAN) == (7, False)
        return
    found = stacked.losses(batch, rows, target, layout)
    found.sum().backward()
    gradients = layout.weights(rows.grad)
    errors = stacked.window_errors(x, layout.weights(rows), net)
    for i, one in enumerate(nets):
        loss = WeightedLoss()
        expected = loss(one(x[i]), x[i], mask[i])
        expected.backward()
        torch.testing.assert_close(found[i], expected, rtol=1e-9, atol=1e-11)
        for name, parameter in one.named_parameters():
            if parameter.requires_grad:
                torch.testing.assert_close(
                    gradients[name][i], parameter.grad, rtol=1e-9, atol=1e-11
                )
        torch.testing.assert_close(gradients["log_variance"][i], loss.log_variance.grad)
        plain = (one.reconstruct(x[i]) - x[i]).square().mean((1, 2))
        torch.testing.assert_close(errors[i], plain)


def test_dropout_equals_the_plain_network_that_drops_the_same(monkeypatch, double):
    nets = [AxonNet(NET).train() for _ in range(2)]
    layout = Layout(nets[0])
    rows, target = layout.pack(nets)
    rows.requires_grad_()
    x, mask = torch.randn(2, 5, 16, 3), torch.ones(2, 5, 16)
    keep = [(torch.rand(2, 16, 5, 16) > 0.4) / (1 - NET.dropout) for _ in NET.dilations]
    batch = Batch(x, None, mask.transpose(1, 2), torch.full((2, 5), 0.2))
    found = stacked.losses(batch, rows, target, layout, keep)
    found.sum().backward()
    gradients = layout.weights(rows.grad)
    for i, net in enumerate(nets):
        layers = iter([one[i].permute(1, 2, 0) for one in keep])  # (B, D, T)
        monkeypatch.setattr(predictor, "dropout", lambda z, p, on, layers=layers: z * next(layers))
        expected = WeightedLoss()(net(x[i]), x[i], mask[i])
        expected.backward()
        torch.testing.assert_close(found[i], expected, rtol=1e-9, atol=1e-11)
        for name, parameter in net.predictor.named_parameters():
            torch.testing.assert_close(
                gradients[f"predictor.{name}"][i], parameter.grad, rtol=1e-9, atol=1e-11
            )


def test_pack_and_unpack_are_inverse():
    nets = [AxonNet(NET) for _ in range(2)]
    copies = [AxonNet(NET) for _ in range(2)]
    layout = Layout(nets[0])
    rows, target = layout.pack(nets)
    for i, copy in enumerate(copies):
        layout.unpack(rows[i], target[i], copy)
        assert torch.equal(weights(copy), weights(nets[i]))


# -- steps against the plain loop's ------------------------------------------------------------


def plain_steps(net, data, batches, settings):
    """The plain loop's step, given the windows and masks of each batch."""
    loss = WeightedLoss()
    optimiser = loop.make_optimiser(net, loss, settings)
    trained = [p for group in optimiser.param_groups for p in group["params"]]
    norms = []
    for starts, mask in batches:
        x = gather_windows(data, starts, 16)
        optimiser.zero_grad(set_to_none=True)
        loss(net(x), x, mask).backward()
        norms.append(float(torch.nn.utils.clip_grad_norm_(trained, loop.CLIP)))
        optimiser.step()
        net.target.update(net.online)
    return loss.log_variance.detach(), norms


def recorded(feed, data, counts):
    """Batches of a feed, and per model the windows and masks that count in them."""
    batches, alone = [], [[] for _ in counts]
    for step in range(3):
        batch = feed.batch()
        batches.append(batch)
        for i, count in enumerate(counts):
            inside = min(64, count - step * 64)
            windows = data[i].unfold(0, 16, 1).transpose(1, 2)
            starts = [int((windows == x).all((1, 2)).nonzero()[0, 0]) for x in batch.x[i, :inside]]
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
    members[1].series *= 50  # its gradient is clipped, whatever the others' are
    members[2].series *= 0.1
    data, counts = [m.series for m in members], [m.windows for m in members]
    assert counts == [165, 135, 192]  # the last batches: 37, 7, 64
    feed = Feed(members, plan=PLAN, batch_size=64)
    for i in range(3):
        feed.shuffle(i)
    feed.point([0, 1, 2], [0, 0, 0])
    batches, alone = recorded(feed, data, counts)
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


def test_windows_that_fill_a_batch_up_count_for_nothing():
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


def test_a_step_asks_the_device_for_nothing():
    """No value of a tensor decides what the host does next: it never has to wait."""
    asked = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func.name() in ("aten::_local_scalar_dense", "aten::nonzero", "aten::is_nonzero"):
                asked.append(func.name())
            return func(*args, **(kwargs or {}))

    members = [member(1), member(2)]
    feed = Feed(members, plan=PLAN, batch_size=64)
    stack = Stack([m.net for m in members], config())
    for i in range(2):
        feed.shuffle(i)
    feed.point([0, 1], [0, 0])
    with Watch():
        Step(stack, feed, members).make()
        assert asked == []
        bool(torch.ones(1))
    assert asked, "the watch would have seen it"


# -- windows and validation --------------------------------------------------------------------


@pytest.mark.parametrize(
    "ratio", [0.5, 1.0]
)  # one block, of which nothing else is computed, or two
def test_an_epoch_visits_every_window_once_and_masks_the_tail(ratio):
    members = [member(1, 180), member(2, 150)]
    plan = mask_plan(window=16, horizon=1, mask_ratio=ratio, block_fraction=0.5)
    feed = Feed(members, plan=plan, batch_size=64)
    assert feed.steps == (4 if ratio == 0.5 else 7)
    for i in range(2):
        feed.shuffle(i)
    feed.point([1, 0], [0, 0])
    batches = [feed.batch() for _ in range(3)]
    for row, m in enumerate([members[1], members[0]]):
        inside = torch.cat([b.share[row] > 0 for b in batches])
        assert inside.sum() == m.windows
        x = torch.cat([b.x[row] for b in batches])[inside]
        windows = m.series.unfold(0, 16, 1).transpose(1, 2)
        assert not torch.equal(x, windows)
        assert torch.equal(x[x[:, 0, 0].argsort()], windows[windows[:, 0, 0].argsort()])
        mask = torch.cat([whole_mask(b)[row] for b in batches])
        covered = mask[inside].sum(1)
        assert (covered == 4).all() if ratio == 0.5 else (covered >= 4).all()
        assert mask[:, : 16 - PLAN[0]].sum() == mask[~inside].sum() == 0
        for b in batches:
            assert float(b.share[row].sum()) == pytest.approx(1)


def test_every_epoch_has_its_own_order_and_one_model_s_leaves_the_others_alone():
    members = [member(1, 180), member(2, 150)]
    feed = Feed(members, plan=PLAN, batch_size=64)
    for i in range(2):
        feed.shuffle(i)
    feed.point([0, 1], [0, 0])
    first = feed.batch()
    feed.shuffle(0)
    feed.point([0, 1], [0, 0])
    second = feed.batch()
    assert not torch.equal(first.x[0], second.x[0])
    assert torch.equal(first.x[1], second.x[1])


def test_the_first_order_is_the_plain_loops():
    alone, own = member(5), member(5)
    with seeded(5, CPU):
        AxonNet(NET)
        expected = torch.randperm(alone.windows)
    assert torch.equal(torch.randperm(own.windows, generator=own.generator), expected)


def test_validation_errors_equal_the_plain_ones():
    members = [member(1, held_out=100), member(2, held_out=0), member(3, held_out=57)]
    members.append(member(4, held_out=300))
    stack = Stack([m.net for m in members], config(batch_size=32))
    runs = [Run(i, m, stack.config) for i, m in enumerate(members)]
    held_out = HeldOut(members, batch_size=32)
    for rows in ([0, 1, 2, 3], [3], [1], [2, 0]):
        found = validation_errors(runs, rows, stack, held_out)
        assert list(found) == [row for row in rows if row != 1]
        for row, error in found.items():
            m = members[row]
            expected = loop.validation_error(m.net, m.validation, 32)
            assert error == pytest.approx(expected, rel=1e-5)


# -- whole trainings ---------------------------------------------------------------------------

CASES = [(1, 300, 100), (2, 250, 80), (3, 420, 0), (4, 300, 100)]


def test_as_good_as_separate_training():
    members = [member(*case) for case in CASES]
    found = run(members, epochs=8)
    for place, case in enumerate(CASES):
        with seeded(case[0], CPU):
            alone = member(*case)
            torch.set_rng_state(alone.generator.get_state())
            history = loop.train(alone.net, alone.series, alone.validation, config(epochs=8), QUIET)
        assert found[place].epochs == history.epochs == 8
        np.testing.assert_allclose(found[place].validation, history.validation, rtol=0.15)  # luck


def test_short_numbers_train_as_well():
    """Attention and queries alone: weights, loss and validation stay exact."""
    exact = run([member(*case) for case in CASES], epochs=8)
    members = [member(*case) for case in CASES]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = run(members, epochs=8)
    assert weights(members[0].net).dtype == torch.float32
    for place in range(len(CASES)):
        assert found[place].validation != exact[place].validation or CASES[place][2] == 0
        np.testing.assert_allclose(found[place].validation, exact[place].validation, rtol=0.1)


def test_a_model_does_not_depend_on_its_company(double):
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
    """A model whose validation never improves stops; it freezes, and the other does not notice."""
    stopping, going = member(1), member(2)
    stopping.validation = torch.full_like(stopping.validation, float("nan"))
    kept, frozen = {}, {}
    for place, history in train_fleet([stopping, going], config(epochs=9, patience=2), QUIET):
        kept[place] = history
        frozen[place] = weights([stopping, going][place].net).clone()
    assert list(kept) == [0, 1]
    assert [kept[0].epochs, kept[1].epochs] == [2, 9]
    assert torch.equal(frozen[0], weights(stopping.net))
    alone = member(2)
    run([alone], epochs=9, patience=2)
    assert_same([going.net], [alone.net])


def test_a_model_that_diverges_spoils_nobody(double):
    broken, fine = member(1), member(2)
    broken.series = torch.full_like(broken.series, float("inf"))
    run([broken, fine])
    assert not weights(broken.net).isfinite().all()
    alone = member(2)
    run([alone])
    assert_same([fine.net], [alone.net])


@pytest.mark.parametrize("restore", [True, False])
def test_best_weights_are_restored_or_last_kept(restore):
    """Validated on what training does not show, early epochs win; only restore_best goes back."""
    members = [member(seed) for seed in range(4)]
    for m in members:
        m.validation = torch.zeros_like(m.validation)
    found = run(members, epochs=8, patience=8, restore_best=restore)
    best = [int(np.argmin(found[place].validation)) + 1 for place in range(4)]
    assert min(best) < 8
    for place, m in enumerate(members):
        kept = best[place] if restore else 8
        assert found[place].kept_epoch == kept
        error = loop.validation_error(m.net, m.validation, 64)
        assert error == pytest.approx(found[place].validation[kept - 1], rel=1e-4)


def test_without_validation_all_epochs_run():
    found = run([member(1, held_out=0), member(2, 200, held_out=0)], epochs=4)
    assert [found[i].epochs for i in range(2)] == [4, 4]
    assert found[0].validation == found[1].validation == []


def test_progress_ends_full(monkeypatch):
    """Steps an early end saves are counted as done: the bar knows how much is left."""
    counted = []
    progress = Progress("", 1, show=False)
    monkeypatch.setattr(progress, "advance", counted.append)
    members = [member(1), member(2, 200)]
    members[0].validation = torch.full_like(members[0].validation, float("nan"))
    list(train_fleet(members, config(epochs=6, patience=2), progress))
    assert sum(counted) == 6 * (5 + 3)


def test_stacks_fit_the_device(monkeypatch):
    assert models_at_once(NET, 64, CPU) == 64  # 64 windows of 16 steps, 16 wide: cache-sized
    large = dataclasses.replace(NET, window=100, d_model=128)
    assert models_at_once(large, 128, CPU) == 1
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (140e9, 140e9))
    on_gpu = models_at_once(large, 128, torch.device("cuda"))
    assert 64 <= on_gpu <= fleet.LAUNCH // 128
    assert models_at_once(NET, 64, torch.device("cuda")) == fleet.LAUNCH // 64


@pytest.mark.gpu
def test_on_a_gpu_as_on_the_cpu_and_without_waiting():
    cuda = torch.device("cuda")
    members = [member(seed, device=cuda) for seed in (1, 2)]
    feed = Feed(members, plan=PLAN, batch_size=64)
    stack = Stack([m.net for m in members], config())
    for i in range(2):
        feed.shuffle(i)
    feed.point([0, 1], [0, 0])
    step = Step(stack, feed, members)
    for _ in range(WARM + 1):  # libraries load, the step is recorded
        step.make()
    torch.cuda.set_sync_debug_mode("error")
    try:
        step.make()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    there = run([member(seed, device=cuda) for seed in (1, 2)], epochs=8)
    here = run([member(seed) for seed in (1, 2)], epochs=8)
    for place in range(2):
        np.testing.assert_allclose(there[place].validation, here[place].validation, rtol=0.15)
