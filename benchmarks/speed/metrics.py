"""Time axonad.metrics against TSB-AD 1.5, one thread each, in one run.

    OMP_NUM_THREADS=1 python benchmarks/speed/metrics.py \
        --reference reference-env/bin/python --write benchmarks/speed/metrics.md

tests/metrics/make_golden.py describes how to create the reference environment. For each size and
number of events, both implementations get the same scores and labels. Where TSB-AD would need more
than ``--limit`` seconds for one metric, a part of its work is timed and scaled up, and the table
says so:

- VUS: two runs with few thresholds instead of 250, through TSB-AD's own ``thre`` argument. The time
  is a fixed part plus a part per threshold, so a line through both points gives the total.
- Metrics with the best of 100 thresholds: some of the 100 thresholds, evenly spread.

Times are CPU times of the one thread, so other load on the machine has little effect. A TSB-AD call
that does not finish a single threshold within the limit is stopped and counted with the time it
had, so the ratio is a lower bound, marked with ≥.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

SIZES, EVENTS, WINDOW, REPEATS = (10_000, 100_000, 500_000), (5, 50, 1000), 100, 5
NAMES = ("VUS", "AUC-ROC", "AUC-PR", "PointF1", "PointF1PA", "EventF1PA", "RF1", "Affiliation")


def make_case(size: int, events: int) -> tuple[np.ndarray, np.ndarray]:
    """Return smooth, skewed scores that rise on most events; 5 % of the steps are anomalous."""
    rng = np.random.RandomState(size + events)
    length = max(1, size // (20 * events))
    slot = size // events
    labels = np.zeros(size, dtype=np.int64)
    for event in range(events):
        start = event * slot + rng.randint(0, slot - length)
        labels[start : start + length] = 1
    noise = rng.exponential(size=size + 9)
    scores = np.convolve(noise, np.full(10, 0.1), mode="valid")
    return scores + labels * rng.exponential(size=size), labels


# ---------------------------------------------------------------- TSB-AD


def work(path: str, limit: float) -> None:
    """Time TSB-AD on one case and print one JSON line; runs in the reference environment."""
    import warnings

    from TSB_AD.evaluation.basic_metrics import basic_metricor, generate_curve

    warnings.simplefilter("ignore")
    case = np.load(path)
    scores, labels = case["scores"], case["labels"]
    grader = basic_metricor()
    rows = {"VUS": time_vus(generate_curve, scores, labels, limit)}
    for name in NAMES[1:4]:
        method = getattr(
            grader, {"AUC-ROC": "metric_ROC", "AUC-PR": "metric_PR"}.get(name, f"metric_{name}")
        )
        seconds, value = timed(lambda: method(labels, scores))  # noqa: B023
        rows[name] = {"seconds": seconds, "value": value, "piece": "", "bound": ""}
    for name in NAMES[4:]:
        rows[name] = time_thresholds(getattr(grader, f"metric_{name}"), scores, labels, limit)
    print(json.dumps(rows))


def timed(function):
    begin = time.process_time()
    value = function()
    return time.process_time() - begin, value


def time_vus(generate_curve, scores, labels, limit: float) -> dict:
    def run(thresholds):
        return generate_curve(labels, scores, WINDOW, "opt", thresholds)[-2:]

    few, more = 2, 12
    short, long = timed(lambda: run(few))[0], timed(lambda: run(more))[0]
    each = (long - short) / (more - few)
    whole = short + each * (250 - few)
    if whole <= limit:
        seconds, (roc, pr) = timed(lambda: run(250))
        return {"seconds": seconds, "value": [pr, roc], "piece": "", "bound": ""}
    return {
        "seconds": whole,
        "value": None,
        "piece": f"VUS: {few} and {more} of 250 thresholds",
        "bound": "",
    }


def time_thresholds(method, scores, labels, limit: float) -> dict:
    """Time the whole metric, or as many of its 100 thresholds as fit into limit / 4."""
    limits = np.linspace(scores.min(), scores.max(), 100)
    taken, cut = [], False
    for place in halving_order(100):
        preds = (scores > limits[place]).astype(int)
        seconds, done = timed_with_limit(lambda: method(labels, scores, preds=preds), limit)  # noqa: B023
        taken.append(seconds)
        cut = cut or not done
        projected = sum(taken) / len(taken) * 100
        if len(taken) == 8 and projected <= limit:
            seconds, value = timed(lambda: method(labels, scores))
            return {"seconds": seconds, "value": value, "piece": "", "bound": ""}
        if (len(taken) >= 8 and sum(taken) > limit / 4) or sum(taken) > limit:
            break
    name = method.__name__.removeprefix("metric_")
    return {
        "seconds": sum(taken) / len(taken) * 100,
        "value": None,
        "piece": f"{name}: {len(taken)} of 100 thresholds",
        "bound": "≥ " if cut else "",
    }


def halving_order(count: int) -> list[int]:
    """Return 0 ... count - 1 in van der Corput order, so that every prefix is evenly spread."""
    bits = (count - 1).bit_length()
    order = [int(f"{k:0{bits}b}"[::-1], 2) for k in range(1 << bits)]
    return [k for k in order[1:] + order[:1] if k < count]


def timed_with_limit(function, limit: float):
    def stop(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit)
    begin, done = time.process_time(), True
    try:
        function()
    except TimeoutError:
        done = False
    signal.setitimer(signal.ITIMER_REAL, 0)
    return time.process_time() - begin, done


# ---------------------------------------------------------------- axonad


def time_ours(scores, labels, metrics):
    from axonad.metrics import evaluate

    runs = [
        timed(lambda: evaluate(scores, labels, window=WINDOW, metrics=metrics))
        for _ in range(REPEATS)
    ]
    return statistics.median(seconds for seconds, _ in runs), runs[0][1]


def largest_difference(reference: dict, ours: dict) -> float:
    pairs = [("AUC-ROC", "AUC-ROC"), ("AUC-PR", "AUC-PR"), ("PointF1", "Standard-F1")]
    pairs += [("PointF1PA", "PA-F1"), ("EventF1PA", "Event-F1"), ("RF1", "Range-F1")]
    pairs += [("Affiliation", "Affiliation-F1")]
    gaps = [
        abs(reference[theirs]["value"] - ours[name])
        for theirs, name in pairs
        if reference[theirs]["value"] is not None
    ]
    if reference["VUS"]["value"]:
        pr, roc = reference["VUS"]["value"]
        gaps += [abs(pr - ours["VUS-PR"]), abs(roc - ours["VUS-ROC"])]
    return max(gaps)


def compare(size: int, events: int, reference: str, limit: float, folder: Path) -> dict:
    scores, labels = make_case(size, events)
    path = folder / "case.npz"
    np.savez(path, scores=scores, labels=labels)
    command = [reference, __file__, "--work", str(path), "--limit", str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    theirs = json.loads(done.stdout.splitlines()[-1])
    volume, _ = time_ours(scores, labels, ("VUS-PR", "VUS-ROC"))
    everything, values = time_ours(scores, labels, None)
    return {
        "size": size,
        "events": events,
        "theirs": theirs,
        "volume": volume,
        "everything": everything,
        "difference": largest_difference(theirs, values),
    }


def row_text(row: dict) -> str:
    theirs = row["theirs"]
    total = sum(part["seconds"] for part in theirs.values())
    pieces = [part["piece"] for part in theirs.values() if part["piece"]]
    bound = "≥ " if any(part["bound"] for part in theirs.values()) else ""
    rough = "~" if theirs["VUS"]["piece"] else ""
    rough_total = bound or ("~" if pieces else "")
    vus = theirs["VUS"]["seconds"]
    cells = [
        f"{row['size']:,}",
        f"{row['events']:,}",
        f"{rough}{vus:,.1f} s",
        f"{row['volume'] * 1e3:,.1f} ms",
        f"**{rough}{vus / row['volume']:,.0f}×**",
        f"{rough_total}{total:,.1f} s",
        f"{row['everything'] * 1e3:,.1f} ms",
        f"**{rough_total}{total / row['everything']:,.0f}×**",
        f"{row['difference']:.0e}",
        "; ".join(pieces) or "all measured in full",
    ]
    return "| " + " | ".join(cells) + " |"


COLUMNS = (
    "points",
    "events",
    "VUS: TSB-AD",
    "VUS: axonad",
    "ratio",
    "all nine: TSB-AD",
    "all nine: axonad",
    "ratio",
    "largest difference",
    "reference work timed",
)
HEAD = f"| {' | '.join(COLUMNS)} |\n|{'---:|' * (len(COLUMNS) - 1)}---|"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reference", default=os.environ.get("TSB_AD_PYTHON"))
    parser.add_argument("--limit", type=float, default=170.0, help="seconds per metric")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--events", type=int, nargs="+", default=EVENTS)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work, options.limit)
        return
    if not options.reference:
        parser.error("give the Python of the reference environment: --reference or TSB_AD_PYTHON")
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
    print(HEAD)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for size in options.sizes:
            for events in options.events:
                row = compare(size, events, options.reference, options.limit, Path(folder))
                rows.append(row_text(row))
                print(rows[-1], flush=True)
    if options.write:
        options.write.write_text(page(rows, options.limit))


def page(rows: list[str], limit: float) -> str:
    from importlib.metadata import version

    machine = f"{platform.machine()}, Python {platform.python_version()}, numpy {version('numpy')}"
    return f"""# Speed of the metrics

Command:

    OMP_NUM_THREADS=1 python benchmarks/speed/metrics.py \\
        --reference <python of the reference environment> --limit {limit:g} \\
        --write benchmarks/speed/metrics.md

Each implementation runs in one thread of one process, with VUS windows 0 ... {WINDOW}; the script's
docstring describes each measurement. axonad: median of {REPEATS} calls of `evaluate`, including
input checks and alarm statistics; it is pure numpy, so nothing is compiled. TSB-AD 1.5: one call.
Times are CPU seconds. ~ marks a time scaled up from the part of the work named in the last column,
≥ a lower bound. The largest difference is between the values of both implementations, over the
metrics that TSB-AD computed in full. Machine (axonad): {machine}.

{HEAD}
{chr(10).join(rows)}
"""


if __name__ == "__main__":
    main()
