"""Time of one window, exported file against detector, on one core and in turns.

    OMP_NUM_THREADS=1 python benchmarks/speed/export.py

Three ways to score the newest window of a stream: ``detector`` is what StreamScorer calls (scaling,
network, standardisation), ``network`` the torch modules and terms alone, ``onnx`` one run of the
exported file. The weights are barely trained: time does not depend on them.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
import torch

from axonad import AxonAD
from axonad.score.terms import TERMS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--window", type=int, default=100)
    parser.add_argument("--d-model", type=int, default=128)
    parser.add_argument("--channels", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=300)
    args = parser.parse_args()
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    shape = {"window": args.window, "d_model": args.d_model}
    detector = AxonAD(**shape, epochs=1, device="cpu", verbose=False)
    detector.fit(rng.normal(size=(2 * args.window, args.channels)))
    ways = make_ways(detector, rng.normal(size=(args.window, args.channels)))
    times = {name: np.empty(args.rounds) for name in ways}
    for way in ways.values():
        for _ in range(10):
            way()
    for i in range(args.rounds):  # in turns: what else the machine does hits all of them
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            times[name][i] = time.perf_counter() - start
    medians = {name: 1e3 * float(np.median(values)) for name, values in times.items()}
    print(f"window {args.window}, d_model {args.d_model}, {args.channels} channels, one window:")
    for name, value in medians.items():
        print(f"  {name:9} {value:7.3f} ms   {value / medians['onnx']:.2f} x onnx")


def make_ways(detector: AxonAD, X: np.ndarray) -> dict[str, Callable[[], object]]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        detector.export_onnx(path)
        session = onnxruntime.InferenceSession(path, options)
    net = detector._net
    x = torch.from_numpy(detector._scaler.apply(X))[None]

    @torch.no_grad()
    def network() -> list[torch.Tensor]:
        output = net(x, last=net.config.scored_steps)
        return [term(output, x, net.config) for term in TERMS.values()]

    return {
        "detector": lambda: detector._score_ends(X),
        "network": network,
        "onnx": lambda: session.run(["score"], {"window": X[None]}),
    }


if __name__ == "__main__":
    main()
