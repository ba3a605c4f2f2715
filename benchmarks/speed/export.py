"""Compare an exported ONNX file with its detector: CPU time of one window, and scores.

    OMP_NUM_THREADS=1 python benchmarks/speed/export.py

Three ways to score the newest window of a stream, on one core and alternating: ``detector`` is its
``decision_function`` (scaling, network, standardisation), ``network`` the torch modules and score
terms alone, ``onnx`` one run of the exported file. The detector is trained for one epoch on a
simulated drive, because the time does not depend on the weights.
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
from axonad.data.telemetry import generate_telemetry
from axonad.score.terms import TERMS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--window", type=int, default=100)
    parser.add_argument("--d-model", type=int, default=128)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=300)
    args = parser.parse_args()
    torch.set_num_threads(1)
    drive = generate_telemetry(steps=2 * args.rows)
    shape = {"window": args.window, "d_model": args.d_model}
    detector = AxonAD(**shape, epochs=1, device="cpu", verbose=False).fit(drive.train)
    session = export(detector)
    ways = make_ways(detector, session, drive.test[: args.window])
    times = {name: np.empty(args.rounds) for name in ways}
    for way in ways.values():
        for _ in range(10):
            way()
    for i in range(args.rounds):  # alternating, in CPU time: other load must not matter
        for name, way in ways.items():
            start = time.process_time()
            way()
            times[name][i] = time.process_time() - start
    medians = {name: 1e3 * float(np.median(values)) for name, values in times.items()}
    print(f"window {args.window}, d_model {args.d_model}, {detector.n_features_in_} channels:")
    for name, value in medians.items():
        print(f"  {name:9} {value:7.3f} ms   {value / medians['onnx']:.2f} x onnx")
    print(f"  scores of a drive differ by at most {difference(detector, session, drive.test):.1e}")


def export(detector: AxonAD) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        detector.export_onnx(path)
        return onnxruntime.InferenceSession(path, options)


def difference(detector: AxonAD, session: onnxruntime.InferenceSession, X: np.ndarray) -> float:
    """Return the largest difference, relative to the score, or absolute where it is below 1."""
    views = np.lib.stride_tricks.sliding_window_view(X, detector.window, axis=0).swapaxes(1, 2)
    expected = detector.score_ends(X)[0]
    found = [session.run(["score"], {"window": view[None]})[0][0] for view in views]
    return float((np.abs(found - expected) / np.maximum(1, np.abs(expected))).max())


def make_ways(
    detector: AxonAD, session: onnxruntime.InferenceSession, X: np.ndarray
) -> dict[str, Callable[[], object]]:
    net = detector.net_
    x = detector.scaled(X, torch.device("cpu"))[None]

    @torch.no_grad()
    def network() -> list[torch.Tensor]:
        output = net(x, last=net.config.scored_steps)
        return [term(output, x, net.config) for term in TERMS.values()]

    return {
        "detector": lambda: detector.score_ends(X),
        "network": network,
        "onnx": lambda: session.run(["score"], {"window": X[None]}),
    }


if __name__ == "__main__":
    main()
