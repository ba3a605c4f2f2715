"""Donut's decoder."""

from __future__ import annotations

import torch

from axonad.baselines import donut


def test_donut_decodes_only_what_it_scores():
    layer = donut.Normal(4, 8, 12)
    z = torch.randn(5, 4)
    for all_of_it, part in zip(layer(z), layer(z, last=3), strict=True):
        torch.testing.assert_close(all_of_it[:, -3:], part)
