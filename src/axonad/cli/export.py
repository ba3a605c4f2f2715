"""``axonad export``: a saved detector as one ONNX file, held against the detector at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from axonad.cli.options import Force, ModelFolder
from axonad.cli.terminal import check_target, out
from axonad.errors import ConfigError, FileError
from axonad.registry import load

if TYPE_CHECKING:
    from axonad.axon import AxonAD

PROMISE = 1e-4  # of a score, or absolute where the score is below 1
TRIALS = 64  # windows the file and the detector both score


def export(
    model: ModelFolder,
    target: Annotated[Path, typer.Option("--out", "-o", help="ONNX file to write.")],
    force: Force = False,
) -> None:
    """Write a saved detector as an ONNX file that scores without torch."""
    check_target(target, force=force, reads=model.glob("*"))
    detector: Any = load(model)
    if not hasattr(detector, "export_onnx"):
        raise ConfigError(f"{type(detector).__name__} cannot be exported to ONNX; AxonAD can")
    detector.export_onnx(target, overwrite=force)
    difference = _verify(detector, target)
    console = out()
    console.print(f"wrote {target}, {target.stat().st_size / 1024:.0f} KiB", markup=False)
    for kind, values in _interface(target).items():
        console.print(f"  {kind}: {', '.join(values)}", markup=False)
    console.print(f"  threshold {detector.threshold_:.6g}")
    if difference is None:
        console.print("  not verified: pip install onnxruntime, then run it again with --force")
    else:
        console.print(f"  verified: {TRIALS} random windows differ by at most {difference:.1e}")


def _interface(path: Path) -> dict[str, list[str]]:
    """Return inputs and outputs in words, read from the file that was written."""
    from onnx.helper import tensor_dtype_to_np_dtype

    import onnx

    graph = onnx.load(path).graph
    words: dict[str, list[str]] = {}
    for kind, values in (("inputs", graph.input), ("outputs", graph.output)):
        words[kind] = []
        for value in values:
            tensor = value.type.tensor_type
            shape = ", ".join(dim.dim_param or str(dim.dim_value) for dim in tensor.shape.dim)
            words[kind].append(
                f"{value.name} ({shape}) {tensor_dtype_to_np_dtype(tensor.elem_type)}"
            )
    return words


def _verify(detector: AxonAD, path: Path) -> float | None:
    """Return how far the file's scores lie from the detector's; None without onnxruntime.

    A file that breaks the promise is removed.
    """
    try:
        import onnxruntime
    except ImportError:
        return None
    series = _noise(detector)
    views = np.lib.stride_tricks.sliding_window_view(series, detector.window, axis=0)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    found = session.run(["score"], {"window": np.ascontiguousarray(views.swapaxes(1, 2))})[0]
    expected = detector._score_ends(series)[0]
    difference = float((np.abs(found - expected) / np.maximum(1, np.abs(expected))).max())
    if not difference <= PROMISE:
        path.unlink()
        raise FileError(
            f"the exported scores differ by {difference:.1e} from the detector's, "
            f"more than {PROMISE:g}; {path} was removed"
        )
    return difference


def _noise(detector: AxonAD) -> NDArray[np.float64]:
    """Return a random series that begins at the training mean and ends three units wide."""
    rng = np.random.default_rng(0)
    rows = detector.window + TRIALS - 1
    scaler = detector._scaler
    swing = np.linspace(0, 3, rows)[:, None] * rng.normal(size=(rows, detector.n_features_in_))
    series: NDArray[np.float64] = scaler.center + scaler.unit * swing
    return series
