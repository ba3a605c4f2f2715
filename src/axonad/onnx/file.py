"""Export of a fitted detector to one ONNX file: windows in, score and components out.

The graph has the precision of scoring. The input is float64 in the channels' own units, because
float32 would round a position or an odometer before its offset is subtracted. It is scaled in
float64, passes the network in float32, and the terms are computed in float64, because cosines near
1 and divisions by a small IQR magnify rounding errors. Channel names, threshold and the like are
metadata of the file; ``docs/onnx.md`` lists them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from axonad import __version__, atomic
from axonad.data.context import Context
from axonad.data.scaling import KNEE, LIMIT, SQUARABLE, Scaler
from axonad.detector import Detector
from axonad.errors import ConfigError
from axonad.model.config import NetConfig
from axonad.modelfile import Arrays
from axonad.onnx.graph import Graph, NetGraph, NetOutputs
from axonad.score.blame import MOVED
from axonad.score.standardise import EPS

FORMAT = 1  # version of the metadata, inputs and outputs
KIND = "axonad-onnx"
OPSET = 17  # the first with LayerNormalization; every runtime since 2022 reads it
IR_VERSION = 8  # the one of opset 17
FAR = 1e150  # larger values are clipped, since their squares overflow; 3·asinh(FAR / 3) is 1036
MAX_BYTES = 2**31 - 2**20  # of weights that fit into one protobuf message
NORM_FLOOR = 1e-12  # lower bound of a norm, as in torch's normalize


def export_onnx(
    detector: Detector, path: str | Path, *, state: Arrays, config: NetConfig, overwrite: bool
) -> None:
    """Write a fitted detector with this state to one file."""
    atomic.check_free(path, overwrite=overwrite)
    if not detector.is_causal:
        raise ConfigError(
            "scaling='array' needs the whole series and cannot be exported; fit with scaling='soft'"
        )
    metadata = describe(detector, state)
    data = build_onnx(
        state, config, scaling=metadata["scaling"], metadata=metadata, context=detector.context_
    )
    atomic.write_bytes(path, data, overwrite=overwrite)


def describe(detector: Detector, state: Arrays) -> dict[str, str]:
    """Return the metadata: all values are text; lists and mappings are JSON."""
    params = {k: v for k, v in detector.get_params().items() if k not in detector.changeable}
    return {
        "axonad": __version__,
        "detector": type(detector).__name__,
        "channels": json.dumps(detector.channel_names, ensure_ascii=False),
        "channel_count": str(detector.n_features_in_),
        "window": str(detector.history),
        "threshold": repr(float(detector.threshold_)),
        "scaling": str(params["scaling"]),
        "center": json.dumps(state["scaler.center"].tolist()),
        "unit": json.dumps(state["scaler.unit"].tolist()),
        "params": json.dumps(params),
        "fingerprint": detector.fingerprint,
    }


def build_onnx(
    arrays: Arrays,
    config: NetConfig,
    *,
    scaling: str,
    metadata: Mapping[str, str],
    context: Context | None = None,
) -> bytes:
    """Return the bytes of a checked ONNX model that scores windows as the detector does.

    ``arrays`` is the detector's saved state: weights with the prefix ``net.``, centre and unit of
    the scaler, median and spread of each term and of the channels. ``context`` is clipped inside
    the graph.
    """
    size = sum(array.nbytes for array in arrays.values())
    if size > MAX_BYTES:
        raise ConfigError(
            f"the network has {size} bytes, too many for one ONNX file (at most {MAX_BYTES}); "
            "fit one with a smaller d_model"
        )
    graph = Graph()
    _score(graph, arrays, config, scaling, context)
    onnx, helper = graph.onnx, graph.onnx.helper
    double, batch = onnx.TensorProto.DOUBLE, "batch"
    F = config.channels
    shapes = {"score": [batch], **{name: [batch] for name in ONNX_TERMS}, "channels": [batch, F]}
    made = helper.make_graph(
        graph.nodes,
        "axonad",
        [helper.make_tensor_value_info("window", double, [batch, config.window, F])],
        [helper.make_tensor_value_info(name, double, shape) for name, shape in shapes.items()],
        graph.constants,
    )
    opset = helper.make_opsetid("", OPSET)
    model = helper.make_model(made, opset_imports=[opset], ir_version=IR_VERSION)
    model.producer_name, model.producer_version = "axonad", metadata["axonad"]
    helper.set_model_props(model, {"kind": KIND, "format": str(FORMAT), **metadata})
    onnx.checker.check_model(model, full_check=True)
    data: bytes = model.SerializeToString(deterministic=True)
    return data


# -- the graph around the network ------------------------------------------------------------


def _score(
    g: Graph, arrays: Arrays, config: NetConfig, scaling: str, context: Context | None
) -> None:
    """Add everything from the raw window to the outputs."""
    weights = {k.removeprefix("net."): v for k, v in arrays.items() if k.startswith("net.")}
    judged = np.ones(config.channels, dtype=bool)
    window = "window"
    if context is not None:
        judged[list(context.columns)] = False
        window = _clip(g, context, config.channels)
    x = _scale(g, _scaler(arrays, scaling), window)
    found = NetGraph(g, weights, config).forward(x)
    error = g.add("Sub", found.reconstruction, x)
    error = g.add("Mul", error, error)
    if not judged.all():
        error = g.add("Mul", error, judged.astype(np.float32))
    terms = {name: term(g, found, error) for name, term in ONNX_TERMS.items()}
    for name, term in terms.items():
        _standardise(g, term, arrays, name, name=name)
    g.add("Sum", *terms, name="score")  # Eq. 6
    _blame(g, g.add("ReduceMean", error, axes=[1], keepdims=0), arrays, scaling, judged)


def _clip(g: Graph, context: Context, channels: int) -> str:
    """Add the window with the context clipped to its training range."""
    low, high = np.full(channels, -np.inf), np.full(channels, np.inf)
    low[list(context.columns)], high[list(context.columns)] = context.low, context.high
    return g.add("Min", g.add("Max", "window", low), high)


def _scaler(arrays: Arrays, scaling: str) -> Scaler:
    return Scaler(scaling, arrays["scaler.center"], arrays["scaler.unit"])


def _scale(g: Graph, scaler: Scaler, window: str) -> str:
    """Add the scaler in float64: centre, unit, and with the soft rule 3·asinh(z / 3)."""
    z = g.add("Sub", window, scaler.center)
    z = g.add("Div", z, scaler.unit)
    if scaler.rule == "soft" and scaler.still.any():  # z·|z| in still channels
        near = g.add("Clip", z, _double(-SQUARABLE), _double(SQUARABLE))
        z = g.add("Where", scaler.still, g.add("Mul", near, g.add("Abs", near)), z)
    if scaler.rule == "soft":  # asinh written out: runtimes implement it for float32 only
        z = g.add("Clip", g.add("Div", z, _double(KNEE)), _double(-FAR), _double(FAR))
        root = g.add("Sqrt", g.add("Add", g.add("Mul", z, z), _double(1)))
        size = g.add("Log", g.add("Add", g.add("Abs", z), root))
        z = g.add("Mul", g.add("Mul", g.add("Sign", z), size), _double(KNEE))
    z = g.add("Clip", z, _double(-LIMIT), _double(LIMIT))
    return g.add("Cast", z, to=g.onnx.TensorProto.FLOAT)


def _standardise(g: Graph, values: str, arrays: Arrays, term: str, *, name: str) -> str:
    """Add rz(u) = (u - median) / (IQR + ε) of a term as ``name``."""  # Eq. 5
    values = g.add("Cast", values, to=g.onnx.TensorProto.DOUBLE)
    values = g.add("Sub", values, np.asarray(arrays[f"{term}.median"]))
    return g.add("Div", values, np.asarray(arrays[f"{term}.spread"] + EPS), name=name)


def _blame(g: Graph, errors: str, arrays: Arrays, scaling: str, judged: NDArray[np.bool_]) -> None:
    """Add the output ``channels``; see :mod:`axonad.score.blame`."""
    scaler = _scaler(arrays, scaling)
    if judged.all() and not scaler.still.any():
        _standardise(g, errors, arrays, "channels", name="channels")
        return
    blame = _standardise(g, errors, arrays, "channels", name="blame")
    limit = np.where(scaler.still, MOVED * scaler.unit, -1.0)  # others have always moved
    distance = g.add("Abs", g.add("Sub", "window", scaler.center))
    limit = np.where(judged, limit, np.inf)
    moved = g.add("Greater", g.add("ReduceMax", distance, axes=[1], keepdims=0), limit)
    g.add("Where", moved, blame, _double(-np.inf), name="channels")


def _reconstruction_error(g: Graph, found: NetOutputs, error: str) -> str:
    """Add d_rec (B,): squared error summed over channels, averaged over steps."""  # Eq. 1
    total = g.add("ReduceSum", error, np.array([2], dtype=np.int64), keepdims=0)
    return g.add("ReduceMean", total, axes=[1], keepdims=0)


def _query_mismatch(g: Graph, found: NetOutputs, error: str) -> str:
    """Add d_q (B,): 1 - cos(q̂, q*) averaged over heads and the last k steps."""  # Eq. 4
    product = g.add("Mul", _unit(g, found.predicted), _unit(g, found.target))
    cosine = g.add("ReduceSum", product, np.array([3], dtype=np.int64), keepdims=0)
    distance = g.add("Sub", _double(1), cosine)
    return g.add("ReduceMean", distance, axes=[1, 2], keepdims=0)


def _unit(g: Graph, q: str) -> str:
    q = g.add("Cast", q, to=g.onnx.TensorProto.DOUBLE)
    length = g.add("ReduceL2", q, axes=[-1], keepdims=1)
    return g.add("Div", q, g.add("Max", length, _double(NORM_FLOOR)))


def _double(value: float) -> NDArray[np.float64]:
    return np.array(value, dtype=np.float64)


ONNX_TERMS: dict[str, Callable[[Graph, NetOutputs, str], str]] = {
    "d_rec": _reconstruction_error,
    "d_q": _query_mismatch,
}
"""The terms of ``score/terms.py`` as nodes; a test compares the names of both tables."""
