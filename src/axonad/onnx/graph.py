"""The network as an ONNX graph, node by node, for scoring.

Reference: ``model/net.py``, with which the tests compare the scores. It is written by hand, not
traced: the graph is small, its bytes depend only on the weights, and it needs no package but
``onnx``. The graph contains only what a score needs: the queries of the last ``scored_steps``
steps, and the part of the predictor's input that they depend on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from axonad.extras import need
from axonad.model.config import NetConfig

NORM_EPS = 1e-5  # default of torch's LayerNorm

Array = NDArray[Any]


def import_onnx() -> Any:
    """Return the package onnx, imported lazily; if it is missing, say how to install it."""
    for part in ("checker", "helper", "numpy_helper"):
        need(f"onnx.{part}", what="the ONNX export needs")
    return need("onnx", what="the ONNX export needs")


class Graph:
    """Nodes and constants of a graph under construction; values are referred to by name."""

    def __init__(self) -> None:
        self.onnx = import_onnx()
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, op: str, *inputs: str | Array, name: str = "", **attributes: Any) -> str:
        """Add a node and return the name of its output; arrays become constants."""
        made = name or f"{op}_{len(self.nodes)}"
        names = [self._constant(x) if isinstance(x, np.ndarray) else x for x in inputs]
        self.nodes.append(self.onnx.helper.make_node(op, names, [made], name=made, **attributes))
        return made

    def slice(self, x: str, *, axis: int, start: int, end: int) -> str:
        """Add x[start:end] along one axis."""
        return self.add("Slice", x, _ints(start), _ints(end), _ints(axis))

    def _constant(self, value: Array) -> str:
        name = f"constant_{len(self.constants)}"
        tensor = self.onnx.numpy_helper.from_array(np.ascontiguousarray(value), name)
        self.constants.append(tensor)
        return name


class NetOutputs(NamedTuple):
    """Names of the network's outputs; queries have shape (B, k, N, d)."""

    reconstruction: str
    predicted: str
    target: str


class NetGraph:
    """Adds the network to a graph; ``weights`` are those of ``AxonNet.state_dict()``."""

    def __init__(self, graph: Graph, weights: Mapping[str, Array], config: NetConfig) -> None:
        self.graph = graph
        self.weights = weights
        self.config = config

    def forward(self, x: str) -> NetOutputs:
        """Add the whole network over scaled windows x (B, T, F)."""
        T, last = self.config.window, self.config.scored_steps
        h, H, q = self._encode("online", x, steps=T)
        seen = self.graph.slice(x, axis=1, start=T - last, end=T)
        target = self._encode("target.encoder", seen, steps=last)[2]
        return NetOutputs(self._decode(h, H, q), self._predict(H), self._by_head(target))

    def _encode(self, encoder: str, x: str, *, steps: int) -> tuple[str, str, str]:
        """Add h = x We + be + P, H = LN1(h) and q = H Wq for the last ``steps`` steps."""
        place = self.weights[f"{encoder}.position"][-steps:] + self.weights[f"{encoder}.embed.bias"]
        h = self.graph.add("Add", self._product(f"{encoder}.embed", x), place)
        H = self._norm(f"{encoder}.norm", h)
        return h, H, self._product(f"{encoder}.query", H)

    def _decode(self, h: str, H: str, q: str) -> str:
        g = self.graph
        h = g.add("Add", h, self._attend(q, H))
        wide = g.add("Relu", self._linear("widen", self._norm("norm", h)))
        h = g.add("Add", h, self._linear("narrow", wide))
        return self._linear("head", h)

    def _attend(self, q: str, H: str) -> str:
        """Add softmax(q kᵀ / √d) v, concatenate the heads and apply the output layer."""
        g, width = self.graph, self.config.d_model
        shrink = np.array((width // self.config.heads) ** -0.5, dtype=np.float32)
        q = g.add("Transpose", self._by_head(g.add("Mul", q, shrink)), perm=[0, 2, 1, 3])
        k = self._by_head(self._product("attention.key", H))
        v = self._by_head(self._product("attention.value", H))
        k = g.add("Transpose", k, perm=[0, 2, 3, 1])
        v = g.add("Transpose", v, perm=[0, 2, 1, 3])
        weight = g.add("Softmax", g.add("MatMul", q, k), axis=-1)
        context = g.add("Transpose", g.add("MatMul", weight, v), perm=[0, 2, 1, 3])
        return self._linear("attention.out", g.add("Reshape", context, _ints(0, 0, width)))

    def _predict(self, H: str) -> str:
        """Add the causal dilated convolutions over H shifted by s steps, for the last steps."""
        g, config = self.graph, self.config
        T, s, last = config.window, config.horizon, config.scored_steps
        kernel = self.weights["predictor.convolutions.0.weight"].shape[-1]
        steps = min(T, last + (kernel - 1) * sum(config.dilations))
        z = g.slice(H, axis=1, start=max(0, T - steps - s), end=T - s)
        if s > T - steps:  # zeros shifted in from before the window
            z = g.add("Pad", z, _ints(0, s - (T - steps), 0, 0, 0, 0))
        z = g.add("Transpose", z, perm=[0, 2, 1])  # (B, D, T), the layout of Conv
        for i, dilation in enumerate(config.dilations):
            past = (kernel - 1) * dilation  # padded at the start only: causal
            z = self._convolve(f"convolutions.{i}", z, dilations=[dilation], pads=[past, 0])
            z = g.add("Relu", z)
        z = self._convolve("out", g.slice(z, axis=2, start=steps - last, end=steps))
        return self._by_head(g.add("Transpose", z, perm=[0, 2, 1]))

    def _by_head(self, x: str) -> str:
        """Add the view (B, T, N, d) of (B, T, D)."""
        heads = self.config.heads
        return self.graph.add("Reshape", x, _ints(0, 0, heads, self.config.d_model // heads))

    def _convolve(self, name: str, z: str, **attributes: Any) -> str:
        weight, bias = (self.weights[f"predictor.{name}.{part}"] for part in ("weight", "bias"))
        return self.graph.add("Conv", z, weight, bias, kernel_shape=weight.shape[2:], **attributes)

    def _norm(self, name: str, x: str) -> str:
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        return self.graph.add("LayerNormalization", x, weight, bias, axis=-1, epsilon=NORM_EPS)

    def _linear(self, name: str, x: str) -> str:
        return self.graph.add("Add", self._product(name, x), self.weights[f"{name}.bias"])

    def _product(self, name: str, x: str) -> str:
        return self.graph.add("MatMul", x, self.weights[f"{name}.weight"].T)


def _ints(*values: int) -> Array:
    return np.array(values, dtype=np.int64)
