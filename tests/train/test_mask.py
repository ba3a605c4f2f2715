from __future__ import annotations

import pytest
import torch

from axonad.train.mask import MaskPlan, draw_blocks, mask_blocks, mask_plan

CPU = torch.device("cpu")


def draw(batch, window, plan, seed=0):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        plan = MaskPlan(*plan)
        starts = draw_blocks(batch, window=window, plan=plan, device=CPU)
        return mask_blocks(starts, window, plan.span)


def test_paper_plan():
    """T=100, s=1: one block of 24 steps (24.5 rounds to even) in the last 49."""
    assert mask_plan(window=100, horizon=1, mask_ratio=0.5, block_fraction=0.5) == (49, 24, 1)


@pytest.mark.parametrize(
    ("ratio", "fraction", "expected"),
    [(0.8, 0.5, (49, 24, 2)), (0.5, 0.1, (49, 5, 5)), (1.0, 1.0, (49, 49, 1))],
)
def test_other_plans(ratio, fraction, expected):
    plan = mask_plan(window=100, horizon=1, mask_ratio=ratio, block_fraction=fraction)
    assert plan == expected


def test_mask_is_one_block_inside_the_tail():
    mask = draw(4000, 100, (49, 24, 1))
    assert set(mask.unique().tolist()) == {0.0, 1.0}
    assert (mask.sum(1) == 24).all()
    assert not mask[:, : 100 - 49].any()
    changes = (mask[:, 1:] != mask[:, :-1]).sum(1)
    assert (changes <= 2).all(), "a block has at most two edges"


def test_every_place_is_about_equally_likely():
    mask = draw(20_000, 100, (49, 24, 1))
    starts = mask.argmax(1)
    counts = torch.bincount(starts, minlength=100)
    assert counts[:51].sum() == 0
    assert counts[77:].sum() == 0
    used = counts[51:77].float()
    assert len(used) == 26
    assert (used / used.mean() - 1).abs().max() < 0.25


def test_tiny_windows_still_mask_something():
    for window in range(2, 8):
        plan = mask_plan(window=window, horizon=1, mask_ratio=0.1, block_fraction=0.1)
        mask = draw(50, window, plan)
        assert (mask.sum(1) >= 1).all()
        assert not mask[:, :1].any(), "the first step has no history to predict from"
