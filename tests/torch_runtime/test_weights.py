"""Weights to arrays and back."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from axonad.torch_runtime.weights import restore_net, weights_to_arrays
from tests.fuzz.limits import limited


def build() -> nn.Module:
    return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))


def test_restored_weights_are_equal_frozen_and_cost_no_random_numbers():
    net = build()
    arrays = {**weights_to_arrays(net), "scaler.center": weights_to_arrays(net)["net.0.bias"]}
    arrays["net.1.num_batches_tracked"] = arrays["net.1.num_batches_tracked"].reshape(1)
    before = torch.get_rng_state()
    twin = restore_net(build, arrays)
    assert torch.equal(torch.get_rng_state(), before)
    assert not twin.training
    assert not any(weight.requires_grad for weight in twin.parameters())
    for name, value in net.state_dict().items():
        assert torch.equal(twin.state_dict()[name], value), name


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a.pop("net.0.bias"), "weight '0.bias' is missing"),
        (lambda a: a.update({"net.x": a["net.0.bias"]}), "weight 'x' is not part of the network"),
        (
            lambda a: a.update({"net.0.bias": np.full(3, np.nan, dtype=np.float32)}),
            "weight '0.bias' has values that are not finite",
        ),
        (
            lambda a: a.update({"net.0.bias": a["net.0.weight"]}),
            r"weight '0.bias' has shape \(3, 2\), the parameters say \(3,\)",
        ),
    ],
)
def test_other_weights_are_refused(change, message):
    arrays = weights_to_arrays(build())
    change(arrays)
    with pytest.raises(ValueError, match=message):
        restore_net(build, arrays)


def test_a_network_larger_than_the_arrays_is_not_built():
    arrays = weights_to_arrays(build())
    with pytest.raises(ValueError, match=r"'0\.weight' has shape"):
        restore_net(lambda: nn.Sequential(nn.Linear(10**7, 10**7)), arrays)

    def endless() -> nn.Module:
        return nn.Sequential(*(nn.Linear(2, 3) for _ in range(10**9)))

    with limited(10), pytest.raises(ValueError, match="more weights than the file has"):
        restore_net(endless, arrays)
    assert isinstance(restore_net(build, arrays), nn.Sequential)  # nothing stays behind
