"""Score a CSV file row by row with an exported detector, using only numpy and onnxruntime.

    axonad export model --out model.onnx
    python examples/onnx_scorer.py model.onnx drive.csv

Prints one JSON line per row once a window is full, as `axonad stream` does. A missing value is
replaced by the last value of its channel; after ``--hold-limit`` consecutive rows the window is
emptied and fills again.
"""

import argparse
import csv
import json
import math
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import onnxruntime


class Ring:
    """Ring buffer of the last T rows; each row is stored twice, T apart, so a window is a slice."""

    def __init__(self, size: int, channels: int) -> None:
        self.size, self.count = size, 0
        self.rows = np.zeros((2 * size, channels))

    def push(self, row: np.ndarray) -> np.ndarray | None:
        """Append a row; return the window (T, F) that ends with it, or None until it is full."""
        place = self.count % self.size
        self.rows[place] = self.rows[place + self.size] = row
        self.count += 1
        full = self.count >= self.size
        return self.rows[place + 1 : place + 1 + self.size] if full else None


def number(text: str | None) -> float:
    """Return the number in a cell, or NaN if it is missing or not finite."""
    try:
        value = float(text or "nan")
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def read_rows(path: str, names: list[str] | None, count: int) -> Iterator[np.ndarray]:
    """Yield the channels of the model from every row, by name, or by position without names."""
    with Path(path).open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        header = list(reader.fieldnames or ())
        names = names or header[:count]
        missing = [name for name in names if name not in header]
        if missing or len(names) < count:
            sys.exit(f"{path} lacks channels of the model: {', '.join(missing) or 'too few'}")
        for cells in reader:
            yield np.array([number(cells[name]) for name in names])


def fill_windows(
    rows: Iterable[np.ndarray], *, window: int, hold_limit: int
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield step and window (1, T, F) for each row with a full window; hold missing values."""
    ring = last = silent = None
    for step, row in enumerate(rows):
        if ring is None:
            ring, last = Ring(window, len(row)), np.full(len(row), np.nan)
            silent = np.zeros(len(row), dtype=int)
        gone = np.isnan(row)
        last, silent = np.where(gone, last, row), np.where(gone, silent + 1, 0)
        if np.isnan(last).any() or silent.max() > hold_limit:
            ring = None  # start an empty window: none may span a gap
        elif (full := ring.push(last)) is not None:
            yield step, full[None]


def main() -> None:
    """Read the model and the file, and print one line per scored row."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("data")
    parser.add_argument("--hold-limit", type=int, default=10)
    args = parser.parse_args()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # one window is too small for several threads
    session = onnxruntime.InferenceSession(args.model, options, providers=["CPUExecutionProvider"])
    facts = session.get_modelmeta().custom_metadata_map
    if facts.get("kind") != "axonad-onnx" or facts["format"] != "1":
        sys.exit(f"{args.model} is not an axonad model of format 1")
    threshold = float(facts["threshold"])
    rows = read_rows(args.data, json.loads(facts["channels"]), int(facts["channel_count"]))
    windows = fill_windows(rows, window=int(facts["window"]), hold_limit=args.hold_limit)
    for step, window in windows:
        found = session.run(["score", "d_rec", "d_q"], {"window": window})
        score, d_rec, d_q = (float(values[0]) for values in found)
        line = {"step": step, "score": score, "alarm": score > threshold}
        print(json.dumps({**line, "d_rec": d_rec, "d_q": d_q}), flush=True)


if __name__ == "__main__":
    main()
