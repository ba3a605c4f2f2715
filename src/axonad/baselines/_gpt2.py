"""GPT-2's first blocks, and its weights from a folder.

Radford, Wu, Child, Luan, Amodei, Sutskever: Language models are unsupervised multitask learners.
OpenAI, 2019. Weights are read in the layout of Hugging Face: ``config.json`` and
``model.safetensors``, with matrices as (inner, outer).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

from axonad.baselines._transformer import split_heads
from axonad.errors import ConfigError

FILES = ("config.json", "model.safetensors")
TRAINED = ("ln_1", "ln_2", "ln_f", "positions")  # by OFA; all other weights are frozen


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Sizes of a GPT-2 that is cut to its first blocks and positions."""

    width: int
    heads: int
    layers: int
    rows: int
    epsilon: float


class Linear(nn.Module):
    """A linear layer whose matrix is (inner, outer), as in GPT-2's files."""

    def __init__(self, inner: int, outer: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(inner, outer))
        self.bias = nn.Parameter(torch.zeros(outer))

    def forward(self, x: Tensor) -> Tensor:
        """Return (..., outer)."""
        return x @ self.weight + self.bias


class Attention(nn.Module):
    """Causal self-attention: each row attends to itself and the rows before it."""

    def __init__(self, shape: Shape, dropout: float) -> None:
        super().__init__()
        self._heads, self._dropout = shape.heads, dropout
        self.c_attn = Linear(shape.width, 3 * shape.width)
        self.c_proj = Linear(shape.width, shape.width)

    def forward(self, x: Tensor) -> Tensor:
        """Return (B, T, D)."""
        q, k, v = (split_heads(part, self._heads) for part in self.c_attn(x).chunk(3, dim=-1))
        dropout = self._dropout if self.training else 0.0
        mixed = scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=dropout)
        out: Tensor = self.c_proj(mixed.transpose(1, 2).flatten(2))
        return out


class FeedForward(nn.Module):
    """Two linear layers, four times as wide in between."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.c_fc, self.c_proj = Linear(width, 4 * width), Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Return (B, T, D)."""
        out: Tensor = self.c_proj(gelu(self.c_fc(x), approximate="tanh"))
        return out


class Block(nn.Module):
    """Attention and a feed-forward part, each with layer normalisation and a shortcut."""

    def __init__(self, shape: Shape, dropout: float) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(shape.width, eps=shape.epsilon)
        self.attn = Attention(shape, dropout)
        self.ln_2 = nn.LayerNorm(shape.width, eps=shape.epsilon)
        self.mlp = FeedForward(shape.width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Return (B, T, D)."""
        x = x + self.dropout(self.attn(self.ln_1(x)))
        out: Tensor = x + self.dropout(self.mlp(self.ln_2(x)))
        return out


class GPT2(nn.Module):
    """Rows (B, T, D) → states (B, T, D); only layer norms and positions are trained."""

    def __init__(self, shape: Shape, *, dropout: float) -> None:
        super().__init__()
        self.positions = nn.Parameter(torch.zeros(shape.rows, shape.width))
        self.dropout = nn.Dropout(dropout)
        self.h = nn.ModuleList(Block(shape, dropout) for _ in range(shape.layers))
        self.ln_f = nn.LayerNorm(shape.width, eps=shape.epsilon)
        for name, parameter in self.named_parameters():
            parameter.requires_grad_(any(part in TRAINED for part in name.split(".")))

    def forward(self, x: Tensor) -> Tensor:
        """Return the states after the last layer norm."""
        x = self.dropout(x + self.positions)
        for block in self.h:
            x = block(x)
        states: Tensor = self.ln_f(x)
        return states


def read_shape(folder: Path, *, layers: int, rows: int) -> Shape:
    """Return the sizes in ``config.json``, cut to ``layers`` blocks and ``rows`` positions."""
    path = folder / FILES[0]
    try:
        config = json.loads(path.read_text())
        shape = Shape(
            width=int(config["n_embd"]),
            heads=int(config["n_head"]),
            layers=layers,
            rows=rows,
            epsilon=float(config.get("layer_norm_epsilon", 1e-5)),
        )
        depth, length = int(config["n_layer"]), int(config.get("n_positions", 1024))
    except OSError as error:
        raise ConfigError(f"weights: {path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        reason = f"entry {error} is missing" if isinstance(error, KeyError) else str(error)
        raise ConfigError(f"weights: {path} is not a GPT-2 configuration: {reason}") from None
    if shape.width % shape.heads:
        raise ConfigError(
            f"weights: {path} is not a GPT-2 configuration: "
            f"n_head ({shape.heads}) must divide n_embd ({shape.width})"
        )
    if layers > depth:
        raise ConfigError(f"layers must be at most {depth}, the n_layer of {path}, got {layers}")
    if rows > length:
        raise ConfigError(f"window must be at most {length}, the n_positions of {path}, got {rows}")
    return shape


def load_weights(net: GPT2, folder: Path) -> None:
    """Load the weights in ``model.safetensors`` into ``net``."""
    path = folder / FILES[1]
    try:
        weights = load_file(path)
    except OSError as error:
        reason = error.strerror or "it does not exist"
        raise ConfigError(f"weights: {path} cannot be read: {reason}") from None
    except SafetensorError as error:
        raise ConfigError(f"weights: {path} is damaged: {error}") from None
    weights = {name.removeprefix("transformer."): value for name, value in weights.items()}
    for name, parameter in net.named_parameters():
        key = "wpe.weight" if name == "positions" else name
        if key not in weights:
            raise ConfigError(f"weights: {path} has no {key!r}; is it a GPT-2?")
        value = weights[key][: len(parameter)] if name == "positions" else weights[key]
        if value.shape != parameter.shape:
            raise ConfigError(
                f"weights: {key!r} in {path} has shape {tuple(value.shape)}, "
                f"{FILES[0]} says {tuple(parameter.shape)}"
            )
        with torch.no_grad():
            parameter.copy_(value)
