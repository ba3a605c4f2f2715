"""Write tests/metrics/golden/*.json: what TSB-AD 1.5 says about the cases of cases.py.

Run in an environment of its own (the reference needs numpy < 2), from the repository root:

    python3.11 -m venv reference-env
    reference-env/bin/pip install --no-deps TSB-AD==1.5
    reference-env/bin/pip install "numpy<2" pandas scikit-learn scipy statsmodels
    OMP_NUM_THREADS=1 reference-env/bin/python tests/metrics/make_golden.py random real window

The random cases take about ten minutes, the real series about as long.
"""

from __future__ import annotations

import json
import platform
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy.signal import argrelextrema
from statsmodels.tsa.stattools import acf
from TSB_AD.evaluation.metrics import get_metrics, get_metrics_pred
from TSB_AD.utils.slidingWindows import find_length_rank

sys.path.insert(0, str(Path(__file__).parent))
import cases

GOLDEN = Path(__file__).parent / "golden"


def main(parts: list[str]) -> None:
    warnings.simplefilter("ignore")
    makers = {"random": make_random, "real": make_real, "window": make_window}
    for part in parts or makers:
        packages = ("TSB_AD", "numpy", "scikit-learn", "scipy", "statsmodels")
        lines = [
            json.dumps(
                {
                    "made_by": f"python tests/metrics/make_golden.py {part}",
                    "python": platform.python_version(),
                    **{package: version(package) for package in packages},
                }
            )
        ]
        lines += [json.dumps(row) for row in makers[part]()]
        GOLDEN.mkdir(exist_ok=True)
        (GOLDEN / f"{part}.jsonl").write_text("\n".join(lines) + "\n")


def reference(case: cases.EvaluationCase) -> dict:
    scored = get_metrics(case.scores, case.labels, slidingWindow=case.window)
    alarmed = get_metrics_pred(case.scores, case.labels, case.alarms, slidingWindow=case.window)
    return {
        "fingerprint": case.fingerprint(),
        "window": case.window,
        "scored": {name: float(value) for name, value in scored.items()},
        "alarmed": {name: float(value) for name, value in alarmed.items()},
    }


def make_random():
    for seed in range(cases.RANDOM_CASES):
        yield {"seed": seed, **reference(cases.random_case(seed))}
        print(seed, end=" ", flush=True)  # noqa: T201


def make_real():
    for name, rows, kind in cases.REAL_CASES:
        values, labels = cases.read_series(name, rows)
        window = int(find_length_rank(values[:, :1], rank=1))
        case = cases.real_case(values, labels, kind, window)
        yield {"name": name, "rows": rows, "kind": kind, **reference(case)}
        print(name, len(labels), window, flush=True)  # noqa: T201


def make_window():
    for seed in range(200):
        yield {"seed": seed, **both_rules(cases.random_channel(seed))}
    for name, rows, _ in cases.REAL_CASES:
        values, _ = cases.read_series(name, rows)
        yield {"name": name, "rows": rows, **both_rules(values[:, 0])}


def both_rules(channel: np.ndarray) -> dict:
    """The 1.5 rule as released; the 2026 rule from the same scipy and statsmodels calls."""
    correlation = acf(channel[:20_000], nlags=400, fft=True)[3:]
    peaks = argrelextrema(correlation, np.greater)[0]
    place = int(peaks[np.argmax(correlation[peaks])]) if peaks.size else 301
    newer = 125 if place > 300 else place + 3
    return {"tsb-ad-1.5": int(find_length_rank(channel, rank=1)), "tsb-ad-2026": newer}


if __name__ == "__main__":
    main(sys.argv[1:])
