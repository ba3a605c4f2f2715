"""Network weights to named arrays, as model files store them, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import torch
from torch import Tensor, nn

from axonad.modelfile import Arrays
from axonad.torch_runtime.switches import learning

Net = TypeVar("Net", bound=nn.Module)

PREFIX = "net."  # of the keys of weights, which share a file with other arrays


def weights_to_arrays(net: nn.Module) -> Arrays:
    """Return every weight and saved buffer of ``net``, on the CPU, under ``net.<name>``."""
    return {f"{PREFIX}{name}": value.cpu().numpy() for name, value in net.state_dict().items()}


def restore_net(build: Callable[[], Net], arrays: Arrays) -> Net:
    """Return the network of ``build()`` with the ``net.<name>`` arrays as its weights.

    It is frozen and in evaluation mode; the caller's RNG state is left as it was. Arrays without
    the prefix are ignored. Raise ValueError unless the others are exactly the network's weights.
    """
    with learning(), torch.random.fork_rng(devices=[]):  # building draws initial weights
        net = build()
    weights = {
        key.removeprefix(PREFIX): torch.from_numpy(value)
        for key, value in arrays.items()
        if key.startswith(PREFIX)
    }
    for name, expected in net.state_dict().items():
        if expected.dim() == 0 and name in weights:
            weights[name] = weights[name].squeeze()  # model files hold scalars as 1-d arrays
    check_shapes(net, weights)
    net.load_state_dict(weights)
    return net.eval().requires_grad_(False)


def check_shapes(net: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Raise ValueError on the first weight that is missing, unexpected or of another shape."""
    for name, expected in net.state_dict().items():
        if name not in weights:
            raise ValueError(f"weight {name!r} is missing")
        if weights[name].shape != expected.shape:
            shapes = tuple(weights[name].shape), tuple(expected.shape)
            raise ValueError(
                f"weight {name!r} has shape {shapes[0]}, the parameters say {shapes[1]}"
            )
    extra = sorted(set(weights) - set(net.state_dict()))
    if extra:
        raise ValueError(f"weight {extra[0]!r} is not part of the network")
