"""``axonad export``: write a saved detector as an ONNX file and compare it with the detector."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from axonad.cli.options import AsJson, Force, ModelFolder
from axonad.cli.output_files import check_output
from axonad.cli.terminal import print_json, print_line
from axonad.errors import ConfigError, FileError
from axonad.extras import command
from axonad.registry import load
from axonad.report.amounts import format_size

if TYPE_CHECKING:
    from axonad.axon import AxonAD

TOLERANCE = 1e-4  # relative to the score, or absolute where the score is below 1
WINDOWS = 64  # scored both by the ONNX file and by the detector


def export(
    model: ModelFolder,
    target: Annotated[Path, typer.Option("--out", "-o", help="ONNX file to write.")],
    as_json: AsJson = False,
    force: Force = False,
) -> None:
    """Write a saved detector as an ONNX file that scores without torch."""
    check_output(target, force=force, inputs=model.glob("*"))
    detector: Any = load(model)
    if not hasattr(detector, "export_onnx"):
        raise ConfigError(f"{type(detector).__name__} cannot be exported to ONNX; AxonAD can")
    detector.export_onnx(target, overwrite=force)
    difference = _verify(detector, target)
    size, interface = target.stat().st_size, _interface(target)
    if as_json:
        verified = {"threshold": detector.threshold_, "largest_difference": difference}
        print_json({"written": target, "bytes": size, **interface, **verified})
        return
    print_line(f"wrote {target}, {format_size(size)}")
    for kind, tensors in interface.items():
        print_line(f"  {kind}: {', '.join(tensors)}")
    print_line(f"  threshold {detector.threshold_:.6g}")
    if difference is None:
        print_line(f"  not verified: {command('onnxruntime')}, then export again with --force")
    else:
        print_line(f"  verified: {WINDOWS} random windows differ by at most {difference:.1e}")


def _interface(path: Path) -> dict[str, list[str]]:
    """Return name, shape and dtype of the inputs and outputs of an ONNX file."""
    from onnx.helper import tensor_dtype_to_np_dtype

    import onnx

    def describe(value: onnx.ValueInfoProto) -> str:
        tensor = value.type.tensor_type
        shape = ", ".join(dim.dim_param or str(dim.dim_value) for dim in tensor.shape.dim)
        return f"{value.name} ({shape}) {tensor_dtype_to_np_dtype(tensor.elem_type)}"

    graph = onnx.load(path).graph
    return {
        "inputs": [describe(value) for value in graph.input],
        "outputs": [describe(value) for value in graph.output],
    }


def _verify(detector: AxonAD, path: Path) -> float | None:
    """Return the largest difference between the scores of file and detector on random windows.

    Without onnxruntime it is None. A file that differs by more than the tolerance is deleted.
    """
    try:
        import onnxruntime
    except ImportError:
        return None
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    metadata = session.get_modelmeta().custom_metadata_map
    center, unit = (np.array(json.loads(metadata[name])) for name in ("center", "unit"))
    rows = detector.window + WINDOWS - 1
    noise = np.random.default_rng(0).normal(size=(rows, detector.n_features_in_))
    # Noise that grows from 0 to three units around the training mean: normal to extreme windows.
    series = center + unit * (np.linspace(0, 3, rows)[:, None] * noise)
    views = np.lib.stride_tricks.sliding_window_view(series, detector.window, axis=0)
    found = session.run(["score"], {"window": np.ascontiguousarray(views.swapaxes(1, 2))})[0]
    detector.set_params(align="end")
    expected = detector.decision_function(series)[detector.window - 1 :]
    difference = float((np.abs(found - expected) / np.maximum(1, np.abs(expected))).max())
    if not difference <= TOLERANCE:
        path.unlink()
        raise FileError(
            f"the exported scores differ by {difference:.1e} from the detector's, "
            f"more than {TOLERANCE:g}; {path} was removed"
        )
    return difference
