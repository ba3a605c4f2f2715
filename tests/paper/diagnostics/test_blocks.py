from __future__ import annotations

import numpy as np
import pytest

from axonad.paper.diagnostics.blocks import (
    MIN_BLOCKS,
    block_correlation,
    block_length,
    block_share,
)


def naive_bounds(statistic, columns, block, seed, resamples):
    """Draw blocks, put them one behind the other, compute the statistic of what came out."""
    count = max(1, len(columns[0]) // block)
    cuts = [slice(i * block, (i + 1) * block if i < count - 1 else None) for i in range(count)]
    weights = np.random.default_rng(seed).multinomial(count, [1 / count] * count, size=resamples)
    found = []
    for weight in weights:
        drawn = np.repeat(np.arange(count), weight)
        found.append(statistic(*(np.concatenate([c[cuts[i]] for i in drawn]) for c in columns)))
    return np.nanquantile(found, [0.025, 0.975])


@pytest.mark.parametrize("size", [300, 317])
def test_block_bootstrap_equals_its_naive_twin(size):
    rng = np.random.default_rng(2)
    x = np.cumsum(rng.normal(size=size))
    y = x + 5 * rng.normal(size=size)
    found = block_correlation(x, y, block=30, seed=3, resamples=200)
    low, high = naive_bounds(lambda a, b: np.corrcoef(a, b)[0, 1], (x, y), 30, 3, 200)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)
    assert found.low < found.value < found.high
    part, among = x > 1, y > 0
    share = block_share(part, among, block=30, seed=3, resamples=200)

    def ratio(a, b):
        return (a & b).sum() / b.sum() if b.any() else np.nan

    assert share.value == ratio(part, among)
    assert share[1:] == pytest.approx(tuple(naive_bounds(ratio, (part, among), 30, 3, 200)))


def test_blocks_make_intervals_wider_where_neighbours_are_alike():
    rng = np.random.default_rng(4)
    x, y = np.repeat(rng.normal(size=(2, 100)), 50, axis=1)
    alone = block_correlation(x, y, block=1)
    blocks = block_correlation(x, y, block=100)
    assert blocks.high - blocks.low > 3 * (alone.high - alone.low)


def test_no_interval_from_too_few_blocks():
    x = np.arange(50.0)
    few = block_correlation(x, x**2, block=-(-50 // (MIN_BLOCKS - 1)))
    assert few.value > 0.9
    assert np.isnan([few.low, few.high]).all()
    none = block_share(x > 3, x > 99, block=5)
    assert np.isnan(none).all()


def test_length_of_blocks():
    assert block_length(1_000, 100) == 200
    assert block_length(600_001, 100) == 6_001
