"""Network weights to named arrays, as model files store them, and back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_parameter_registration_hook

from axonad.modelfile import Arrays
from axonad.torch_runtime.switches import learning

Net = TypeVar("Net", bound=nn.Module)

PREFIX = "net."  # of the keys of weights, which share a file with other arrays
SPARE = 64  # weights a network may make while it is built and not keep


def weights_to_arrays(net: nn.Module) -> Arrays:
    """Return every weight and saved buffer of ``net``, on the CPU, under ``net.<name>``."""
    return {f"{PREFIX}{name}": value.cpu().numpy() for name, value in net.state_dict().items()}


def restore_net(build: Callable[[], Net], arrays: Arrays) -> Net:
    """Return the network of ``build()`` with the ``net.<name>`` arrays as its weights.

    It is frozen and in evaluation mode; the caller's RNG state is left as it was. Arrays without
    the prefix are ignored. Raise ValueError unless the others are exactly the network's weights.
    """
    weights = {
        key.removeprefix(PREFIX): torch.from_numpy(value)
        for key, value in arrays.items()
        if key.startswith(PREFIX)
    }
    # Parameters that do not fit the arrays may describe a network larger than any memory: its
    # shapes are compared before it is built.
    with _at_most(2 * len(weights) + SPARE), torch.device("meta"):
        shapes = _built(build).state_dict()
    for name, expected in shapes.items():
        if expected.dim() == 0 and name in weights:
            weights[name] = weights[name].squeeze()  # model files hold scalars as 1-d arrays
    check_shapes(shapes, weights)
    for name, value in weights.items():
        if not torch.isfinite(value).all():
            raise ValueError(f"weight {name!r} has values that are not finite")
    net = _built(build)
    net.load_state_dict(weights)
    return net.eval().requires_grad_(False)


def _built(build: Callable[[], Net]) -> Net:
    with learning(), torch.random.fork_rng(devices=[]):  # building draws initial weights
        return build()


@contextmanager
def _at_most(count: int) -> Iterator[None]:
    """Raise ValueError in the body when networks get more than ``count`` weights."""
    left, thread = count, threading.get_ident()

    def count_one(module: nn.Module, name: str, weight: nn.Parameter | None) -> None:
        nonlocal left
        if threading.get_ident() == thread:
            left -= 1
            if left < 0:
                raise ValueError("the parameters describe more weights than the file has")

    hook = register_module_parameter_registration_hook(count_one)
    try:
        yield
    finally:
        hook.remove()


def check_shapes(wanted: Mapping[str, Tensor], weights: Mapping[str, Tensor]) -> None:
    """Raise ValueError on the first weight that is missing, unexpected or of another shape."""
    for name, expected in wanted.items():
        if name not in weights:
            raise ValueError(f"weight {name!r} is missing")
        if weights[name].shape != expected.shape:
            shapes = tuple(weights[name].shape), tuple(expected.shape)
            raise ValueError(
                f"weight {name!r} has shape {shapes[0]}, the parameters say {shapes[1]}"
            )
    extra = sorted(set(weights) - set(wanted))
    if extra:
        raise ValueError(f"weight {extra[0]!r} is not part of the network")
