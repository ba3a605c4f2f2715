"""Parameters that make a registered detector quick enough for the shared checks."""

from __future__ import annotations

import getpass
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from tests.conftest import SMALL


def write_gpt2(folder: Path, *, width: int = 8, heads: int = 2, layers: int = 2) -> Path:
    """Write a GPT-2 of random weights, in the layout of Hugging Face, and return its folder."""
    rng = np.random.default_rng(0)
    sizes = {"wpe.weight": (64, width), "ln_f.weight": (width,), "ln_f.bias": (width,)}
    for block in range(layers):
        for norm in ("ln_1", "ln_2"):
            sizes |= {f"h.{block}.{norm}.{part}": (width,) for part in ("weight", "bias")}
        for name, inner, outer in (
            ("attn.c_attn", width, 3 * width), ("attn.c_proj", width, width),
            ("mlp.c_fc", width, 4 * width), ("mlp.c_proj", 4 * width, width),
        ):  # fmt: skip
            sizes |= {
                f"h.{block}.{name}.weight": (inner, outer),
                f"h.{block}.{name}.bias": (outer,),
            }
    weights = {k: rng.normal(size=v).astype(np.float32) / 4 for k, v in sizes.items()}
    save_file(weights, folder / "model.safetensors")
    config = {"n_embd": width, "n_head": heads, "n_layer": layers, "n_positions": 64}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def tiny_gpt2() -> str:
    """Return a folder with a tiny GPT-2, the same for every process that runs tests."""
    folder = Path(tempfile.gettempdir()) / f"axonad-gpt2-{getpass.getuser()}"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as fresh:
        for path in write_gpt2(Path(fresh)).iterdir():
            path.replace(folder / path.name)
    return str(folder)


NEURAL: dict[str, Any] = {
    "window": 12, "epochs": 2, "batch_size": 64, "device": "cpu", "verbose": False,
}  # fmt: skip
MULTIVIEW = ("window", "d_model", "heads", "epochs", "device", "verbose")
QUICK: dict[str, dict[str, Any]] = {
    "AxonAD": SMALL,
    "AxonADVariant": SMALL | {"predicts": "keys", "scores": ("d_rec", "d_pred")},
    "MultiView": {key: SMALL[key] for key in MULTIVIEW},
    "Network": {key: SMALL[key] for key in MULTIVIEW},
    "CNN": NEURAL | {"widths": (4,)},
    "AutoEncoder": NEURAL | {"window": 1, "hidden": (8, 2)},
    "LSTMAD": NEURAL | {"width": 4, "layers": 1},
    "USAD": NEURAL,
    "TranAD": NEURAL,
    "OmniAnomaly": NEURAL | {"width": 8},
    "Donut": NEURAL | {"width": 16, "samples": 8},
    "FITS": NEURAL | {"window": 24, "cutoff": 3},
    "M2N2": NEURAL | {"latent": 8},
    "KMeansAD": {"window": 12, "clusters": 4},
    "IForest": {"trees": 10},
    "RobustPCA": {"rounds": 50},
    "EIF": {"trees": 10, "samples": 64},
    "WindowStatistics": {"lengths": (8, 20)},
    "ShapeMemory": {"lengths": (12, 32)},
    "TimesNet": NEURAL | {"width": 4, "hidden": 4, "top": 2, "kernels": 2, "lr": 1e-3},
    "AnomalyTransformer": NEURAL | {"width": 8, "heads": 2, "hidden": 8, "layers": 1},
    "OFA": NEURAL | {"weights": tiny_gpt2(), "layers": 1, "segment": 6, "lr": 1e-2},
    "GDN": NEURAL | {"width": 4, "hidden": 4, "top": 1},
    "TFTResidual": NEURAL | {"width": 4, "hidden": 4, "heads": 2, "horizon": 2},
    "VASP": NEURAL | {"width": 8, "rows": 8, "latent": 2},
    "WVAE": NEURAL | {"width": 8, "latent": 2, "noise": 0.1},
    "SISVAE": NEURAL | {"width": 8, "latent": 2},
    "MAVAE": NEURAL | {"width": 8, "latent": 4, "heads": 2, "attention": 4},
    "VSVAE": NEURAL | {"width": 8, "latent": 2, "attention": 2},
}
