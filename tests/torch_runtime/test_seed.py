from __future__ import annotations

import numpy as np
import torch

from axonad import AxonAD
from axonad.stream import TOLERANCE
from axonad.torch_runtime.seed import seeded
from tests.conftest import waves

CPU = torch.device("cpu")


def test_seed_leaves_the_global_state_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    with seeded(1, CPU):
        inside = torch.rand(3)
    assert torch.equal(torch.rand(3), expected)
    with seeded(1, CPU):
        assert torch.equal(torch.rand(3), inside)


def test_same_seed_same_bits_other_seed_other_scores(small):
    X, Y = waves(300), waves(100, seed=1)
    first = AxonAD(**small, seed=5).fit(X)
    again = AxonAD(**small, seed=5).fit(X)
    other = AxonAD(**small, seed=6).fit(X)
    np.testing.assert_array_equal(first.decision_function(Y), again.decision_function(Y))
    assert not np.array_equal(first.decision_function(Y), other.decision_function(Y))
    refit = first.fit(X)
    np.testing.assert_array_equal(refit.decision_function(Y), again.decision_function(Y))


def test_global_random_state_is_untouched(small):
    torch.manual_seed(11)
    np.random.seed(11)  # noqa: NPY002 - the global state is what is tested
    expected = torch.rand(2), np.random.rand(2)  # noqa: NPY002
    torch.manual_seed(11)
    np.random.seed(11)  # noqa: NPY002
    AxonAD(**small).fit(waves(100)).decision_function(waves(50))
    assert torch.equal(torch.rand(2), expected[0])
    assert np.array_equal(np.random.rand(2), expected[1])  # noqa: NPY002


def test_threads_fit_as_one_would(small):
    from concurrent.futures import ThreadPoolExecutor

    X, Y = waves(200), waves(60, seed=1)
    expected = AxonAD(**small).fit(X).decision_function(Y)
    with ThreadPoolExecutor(3) as pool:
        fits = list(pool.map(lambda _: AxonAD(**small).fit(X).decision_function(Y), range(3)))
    for scores in fits:  # they share torch's thread count, which decides how sums are split
        np.testing.assert_allclose(scores, expected, rtol=TOLERANCE, atol=TOLERANCE)
