"""Score a CSV file row by row with an exported detector, using only numpy and onnxruntime.

    axonad export model --out model.onnx
    python examples/onnx_scorer.py model.onnx drive.csv

Prints one JSON line per row once a window is full, as `axonad stream` does. A missing value is
replaced by the last value of its channel; after ``--max-hold`` consecutive rows the window is
emptied and fills again. Columns that the model does not know are refused unless ``--ignore-extra``
is given; time and label columns are skipped.
"""

import argparse
import csv
import json
import math
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NoReturn

import numpy as np
import onnxruntime

NOT_CHANNELS = ("time", "timestamp", "t_s", "label")
MISSING = ("", "NA", "N/A", "null", "None")


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


def fail(message: str) -> NoReturn:
    """Say what is wrong and end with exit code 2, as `axonad` does."""
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


def find_columns(
    header: list[str], names: list[str] | None, count: int, *, ignore_extra: bool
) -> list[int]:
    """Return the columns of the model's channels, by name, or by position without names."""
    others = [name for name in header if name.lower() not in NOT_CHANNELS or name in (names or ())]
    if names is None:
        if len(others) != count:
            fail(f"expected {count} channels, got {len(others)}: {', '.join(others)}")
        names = others
    missing = [name for name in names if name not in others]
    extra = [name for name in others if name not in names]
    if missing:
        fail(f"the file lacks channels of the model: {', '.join(missing)}")
    if extra and not ignore_extra:
        fail(f"channels not in model: {', '.join(extra)}; drop them with --ignore-extra")
    return [header.index(name) for name in names]


def read_rows(
    path: str, names: list[str] | None, count: int, *, ignore_extra: bool
) -> Iterator[np.ndarray]:
    """Yield the channels of the model from every row; a line that cannot be read is all NaN."""
    with Path(path).open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
        header = [name.strip() for name in next(reader, [])]
        columns = find_columns(header, names, count, ignore_extra=ignore_extra)
        for cells in filter(None, reader):
            try:
                if len(cells) != len(header):
                    raise ValueError("expected as many values as in the header")
                texts = [cells[i].strip() for i in columns]
                row = np.array([math.nan if text in MISSING else float(text) for text in texts])
            except ValueError:
                row = np.full(count, math.nan)
            yield np.where(np.isfinite(row), row, math.nan)


def fill_windows(
    rows: Iterable[np.ndarray], *, window: int, max_hold: int
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield step and window (1, T, F) for each row with a full window; hold missing values."""
    ring = last = silent = None
    for step, row in enumerate(rows):
        if ring is None:
            ring, last = Ring(window, len(row)), np.full(len(row), np.nan)
            silent = np.zeros(len(row), dtype=int)
        gone = np.isnan(row)
        last, silent = np.where(gone, last, row), np.where(gone, silent + 1, 0)
        if np.isnan(last).any() or silent.max() > max_hold:
            ring = None  # start an empty window: none may span a gap
        elif (full := ring.push(last)) is not None:
            yield step, full[None]


def main() -> None:
    """Read the model and the file, and print one line per scored row."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("data")
    parser.add_argument("--max-hold", type=int, default=10)
    parser.add_argument("--hold-limit", type=int, dest="max_hold", help=argparse.SUPPRESS)
    parser.add_argument("--ignore-extra", action="store_true")
    args = parser.parse_args()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # one window is too small for several threads
    session = onnxruntime.InferenceSession(args.model, options, providers=["CPUExecutionProvider"])
    facts = session.get_modelmeta().custom_metadata_map
    if facts.get("kind") != "axonad-onnx" or facts["format"] != "1":
        fail(f"{args.model} is not an axonad model of format 1")
    threshold = float(facts["threshold"])
    names, count = json.loads(facts["channels"]), int(facts["channel_count"])
    rows = read_rows(args.data, names, count, ignore_extra=args.ignore_extra)
    windows = fill_windows(rows, window=int(facts["window"]), max_hold=args.max_hold)
    for step, window in windows:
        found = session.run(["score", "d_rec", "d_q"], {"window": window})
        score, d_rec, d_q = (float(values[0]) for values in found)
        line = {"step": step, "score": score, "alarm": score > threshold}
        print(json.dumps({**line, "d_rec": d_rec, "d_q": d_q}), flush=True)


if __name__ == "__main__":
    main()
