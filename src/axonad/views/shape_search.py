"""The nearest of many reference points, for many points at once: on the CPU or on a GPU.

Both compute in double precision. The CPU needs NumPy only; torch is imported if another device is
asked for. :mod:`axonad.views.shape_lookup` searches for one point at a time, as live rows need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from axonad.extras import is_installed, need

if TYPE_CHECKING:
    import torch

Values = NDArray[np.float64]
Indices = NDArray[np.int64]

QUERIES = 512  # points whose nearest reference is searched at a time
CELLS = 524_288  # distances between these and references; they fit into a cache
GPU_CELLS = 2**27  # the same on a GPU: 1 GiB


def half_squares(points: Values) -> Values:
    """Return half the squared length of each point."""
    return np.asarray(0.5 * np.einsum("nd,nd->n", points, points))


def nearest(
    points: Values, references: Values, halves: Values, *, device: str = "cpu"
) -> tuple[Values, Indices]:
    """Return each point's distance to the nearest reference point, and the index of that one.

    ``halves`` are the ``half_squares`` of the references b: |a - b|² is smallest where
    a·b - |b|² / 2 is largest. That is searched block by block; the distance is computed anew.
    A ``device`` other than a CUDA one means NumPy on the CPU.
    """
    found = _cuda(device)
    if found is None:
        best = _nearest_numpy(points, references, halves)
    else:
        best = nearest_torch(points, references, halves, device=found)
    return np.sqrt(np.square(points - references[best]).sum(axis=1)), best


def _cuda(device: str) -> torch.device | None:
    """Return the CUDA device of that name; None if NumPy is to search."""
    if device == "cpu" or (device == "auto" and not is_installed("torch")):
        return None
    module = need("axonad.torch_runtime.device", what=f"the device {device!r} needs")
    found: torch.device = module.resolve_device(device)
    return found if found.type == "cuda" else None


def _nearest_numpy(points: Values, references: Values, halves: Values) -> Indices:
    """Return the index of each point's nearest reference."""
    best, high = np.zeros(len(points), dtype=np.int64), np.full(len(points), -np.inf)
    queries = np.column_stack([points, np.full(len(points), -1.0)])  # -1 takes halves
    width = CELLS // max(1, min(len(points), QUERIES))
    for j in range(0, len(references), width):
        some = np.vstack([references[j : j + width].T, halves[j : j + width]])
        for i in range(0, len(points), QUERIES):
            values = queries[i : i + QUERIES] @ some
            found = values.argmax(axis=1)
            value = values[np.arange(len(values)), found]
            closer = np.flatnonzero(value > high[i : i + QUERIES])
            best[i + closer] = j + found[closer]
            high[i + closer] = value[closer]
    return best


def nearest_torch(
    points: Values, references: Values, halves: Values, *, device: torch.device
) -> Indices:
    """Return the index of each point's nearest reference, found by torch on a device."""
    import torch

    with torch.inference_mode():
        known = torch.from_numpy(np.ascontiguousarray(references)).to(device)
        taken = torch.from_numpy(np.ascontiguousarray(halves)).to(device)
        best = torch.empty(len(points), dtype=torch.int64, device=device)
        size = max(1, GPU_CELLS // len(references))
        for i in range(0, len(points), size):
            some = torch.from_numpy(np.ascontiguousarray(points[i : i + size])).to(device)
            best[i : i + size] = torch.addmm(taken, some, known.T, beta=-1).argmax(dim=1)
        return np.asarray(best.cpu().numpy())
