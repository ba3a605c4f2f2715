"""AxonAD on TSB-AD series, beside the authors' published VUS-PR.

    python benchmarks/tsb-ad-m/parity.py run --data TSB-AD-M.zip --out rows.csv
    python benchmarks/tsb-ad-m/parity.py compare rows.csv --published published.csv

``--data`` is the benchmark's folder or zip, or an .npz made by ``pack`` (for machines without
polars). Rows are appended as they finish; a run that was stopped goes on where it stopped.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import os
import sys
import time
from pathlib import Path

import numpy as np

from axonad import AxonAD, __version__, evaluate
from axonad.data.tsb_ad import list_series, parse_name, read_series

PARTS = ("d_rec", "d_q")
MODES = {"paper": AxonAD.paper, "causal": AxonAD}


def load(source: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    if source.suffix == ".npz":
        arrays = np.load(source)
        files = sorted(key for key in arrays.files if not key.endswith("|labels"))
        return {f: (arrays[f].astype(np.float64), arrays[f + "|labels"]) for f in files}
    names = list_series(source)
    series = read_series(source, names)
    return {n.file: (s.values, s.labels) for n, s in zip(names, series, strict=True)}


def pack(source: Path, target: Path) -> None:
    arrays = {}
    for file, (values, labels) in load(source).items():
        arrays[file], arrays[file + "|labels"] = values.astype(np.float32), labels
    np.savez_compressed(target, **arrays)


def run_one(job: tuple[str, str, int, str, np.ndarray, np.ndarray]) -> dict[str, object]:
    file, mode, seed, device, values, labels = job
    name = parse_name(file)
    started = time.perf_counter()
    detector = MODES[mode](seed=seed, device=device, verbose=False)
    detector.fit(values[: name.train_rows])
    fitted = time.perf_counter()
    parts = detector.components(values)
    scored = time.perf_counter()
    score = sum(parts.values())
    result = evaluate(score, labels, window="tsb-ad-2026", channel=values[:, 0])
    live = np.concatenate([np.repeat(score[:1], 49), score[:-49]])  # the window's end: 49 later
    row: dict[str, object] = {
        "series": file, "dataset": name.dataset, "tuning": int(name.is_tuning), "mode": mode,
        "seed": seed, "window": result.window, **{k: round(v, 6) for k, v in result.items()},
    }  # fmt: skip
    for part in PARTS:
        only = evaluate(parts[part], labels, window=result.window, metrics=["VUS-PR"])
        row[f"VUS-PR {part}"] = round(only["VUS-PR"], 6)
    end = evaluate(live, labels, window=result.window, metrics=["VUS-PR"])
    return row | {
        "VUS-PR end": round(end["VUS-PR"], 6),
        "epochs": detector.training_.epochs,
        "fit_seconds": round(fitted - started, 2),
        "score_seconds": round(scored - fitted, 2),
        "version": __version__,
    }


def run(args: argparse.Namespace) -> None:
    done = set()
    if args.out.exists():
        with args.out.open() as file:
            done = {(r["series"], r["mode"], int(r["seed"])) for r in csv.DictReader(file)}
    series = load(args.data)
    order = sorted(series, key=lambda f: -parse_name(f).train_rows)
    jobs = [
        (f, mode, seed, args.device, *series[f])
        for f in order
        for mode in args.modes
        for seed in args.seeds
        if (f, mode, seed) not in done and (not args.series or any(s in f for s in args.series))
    ]
    os.environ["OMP_NUM_THREADS"] = str(args.threads)
    context = multiprocessing.get_context("spawn")
    with context.Pool(args.workers) as pool, args.out.open("a", newline="") as file:
        for count, row in enumerate(pool.imap_unordered(run_one, jobs), 1):
            writer = csv.DictWriter(file, row)
            if file.tell() == 0:
                writer.writeheader()
            writer.writerow(row)
            file.flush()
            print(f"{count}/{len(jobs)} {row['mode']} {row['series']} VUS-PR {row['VUS-PR']}")


def compare(args: argparse.Namespace) -> None:
    with args.rows.open() as file:
        rows = list(csv.DictReader(file))
    for mode in sorted({r["mode"] for r in rows}):
        for tuning, text in (("0", "reporting"), ("1", "tuning")):
            part = [r for r in rows if r["mode"] == mode and r["tuning"] == tuning]
            if part:
                columns = ["VUS-PR", *(f"VUS-PR {p}" for p in PARTS), "VUS-PR end"]
                means = (f"{c} {np.mean([float(r[c]) for r in part]):.4f}" for c in columns)
                print(f"{mode:7}{text:10}{len(part):3} series: {', '.join(means)}")
    if args.published is None:
        return
    with args.published.open() as file:
        theirs = {r["file"]: float(r["AxonAD (authors)"]) for r in csv.DictReader(file)}
    paired = [
        (float(r["VUS-PR"]), theirs[r["series"]], r["series"])
        for r in rows
        if r["mode"] == "paper" and r["series"] in theirs
    ]
    ours, published = np.array([p[:2] for p in paired]).T
    off = np.abs(ours - published)
    print(f"parity on {len(paired)} series: ours {ours.mean():.4f}, authors {published.mean():.4f}")
    print(f"|difference|: mean {off.mean():.4f}, median {np.median(off):.4f}, max {off.max():.4f}")
    for i in np.argsort(-off)[:5]:
        print(f"  {paired[i][2]}: ours {ours[i]:.3f}, authors {published[i]:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("pack")
    one.add_argument("data", type=Path)
    one.add_argument("target", type=Path)
    one = commands.add_parser("run")
    one.add_argument("--data", type=Path, required=True)
    one.add_argument("--out", type=Path, required=True)
    one.add_argument("--modes", nargs="+", choices=MODES, default=["paper"])
    one.add_argument("--seeds", nargs="+", type=int, default=[2024])
    one.add_argument("--series", nargs="*", default=[], help="parts of file names")
    one.add_argument("--device", default="auto")
    one.add_argument("--workers", type=int, default=1)
    one.add_argument("--threads", type=int, default=2, help="per worker")
    one = commands.add_parser("compare")
    one.add_argument("rows", type=Path)
    one.add_argument("--published", type=Path)
    args = parser.parse_args()
    if args.command == "pack":
        pack(args.data, args.target)
    elif args.command == "run":
        run(args)
    else:
        compare(args)


if __name__ == "__main__":
    sys.exit(main())
