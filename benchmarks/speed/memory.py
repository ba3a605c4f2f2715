"""Peak memory of fitting and scoring a long series, above the series itself.

    python benchmarks/speed/memory.py --rows 400000 --channels 50

One epoch over a small share of the rows: memory does not depend on how long training goes on, and
validation and scoring pass over all windows.
"""

from __future__ import annotations

import argparse
import resource

import numpy as np

from axonad import AxonAD


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--channels", type=int, default=50)
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args()
    X = np.random.default_rng(0).normal(size=(args.rows, args.channels))
    before = peak()
    detector = AxonAD(epochs=1, validation=0.97, device=args.device)
    detector.fit(X)
    fitted = peak()
    detector.decision_function(X[:20_000])
    print(f"series {X.nbytes / 2**20:.0f} MiB; above it: fit {fitted - before:.0f} MiB, ", end="")
    print(f"then scoring {peak() - before:.0f} MiB")


if __name__ == "__main__":
    main()
