"""What the size and training of MultiView's network cost in quality.

Fits MultiView with each setting on the tuning series of TSB-AD, generated drives of seeds that are
not reported, and the tunable machines (SKAB, three files of ALFA, three of TEP), and writes one row
with the VUS-PR of MultiView and of its network alone, centre and end, under the protocol causal.

    python benchmarks/multiview/network.py prepare ../shared/data series   # the series as .npz
    python benchmarks/multiview/network.py run series rows.csv --device cuda --workers 12
    python benchmarks/multiview/network.py table rows.csv

Rows that are there are not computed again.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

NAMES = (
    "w100 e25", "w100 e25 s7", "w50 e12", "w50 e25", "w50 e8", "w50 e12 d64", "w50 e12 n750",
    "w100 e12", "w100 e12 s7", "w100 e8", "w100 e8 s7", "w100 e8 b64", "w100 e8 b64 s7",
    "w100 e8 lr2", "w100 e8 b64 lr2", "w100 e8 b32", "w100 e8 b32 s7", "w100 e12 n750 b64",
    "w100 e5 b32", "w80 e8 b32", "w64 e8 b32", "w100 e8 b32 d64", "w100 e8 b64 lr2 s7",
    "w100 e6 b64 lr2", "w100 e6 b64 lr2 s7", "w100 e6 b64 lr3", "w100 e5 b64 lr3",
    "w100 e6 b32 lr2", "w100 e4 b32 lr2", "w100 e8 n1000 b64 lr2", "e12 n600 b64 lr2",
    "e12 n600 b64 lr2 s7", "e16 n450 b64 lr2", "e16 n450 b64 lr2 s7", "e12 n600 b32 lr2",
    "e12 n600 b32 lr2 s7", "e12 n500 b32 lr1", "e12 n500 b64 lr3", "e12 n500 b64 lr3 m100",
    "e12 n500 b64 lr3 m100 s7", "e12 n500 b64 lr3 m70", "e12 n500 b64 lr3 m70 s7",
    "e12 n500 b64 lr3 m50", "e12 n500 b64 lr3 m50 s7", "e12 n500 b64 lr3 m40",
    "e12 n500 b64 lr3 m40 s7", "e12 n500 b64 lr3 m30", "e12 n500 b64 lr3 m30 s7",
    "e12 n500 b64 lr3 t2", "e12 n500 b64 lr3 t2 s7", "e12 n500 b64 lr3 t3",
    "e12 n500 b64 lr3 t3 s7", "e12 n500 b64 lr3 d64", "e12 n500 b64 lr3 d64 s7",
    "e12 n1000 b64 lr3 d64", "e12 n1000 b64 lr3 d64 s7", "e20 n500 b64 lr3 d64",
    "e20 n500 b64 lr3 d64 s7", "e12 n500 b32 lr3 d64", "e12 n500 b32 lr3 d64 s7",
    "e12 n800 b64 lr2", "e12 n800 b64 lr2 s7",
)  # fmt: skip
LETTERS = {"w": "window", "e": "epochs", "n": "epoch_windows", "d": "d_model", "s": "seed"}
OF_AXON = {"b": "batch_size"}  # and the learning rate: parameters that MultiView does not have
MIDDLE = "m"  # percent of a window's steps, around its centre, whose errors count there
EVERY = "t"  # only every n-th of them counts
BASE = {"epochs": 25, "epoch_windows": 1500}  # of release 0.2.0, what a name does not say
BASE_OF_AXON = {"batch_size": 128, "lr": 1e-3}
DRIVES = (3001, 3002)  # seeds; 2024 to 2027 are for reporting
MOST = 30_000  # rows that are scored after the training rows
TUNABLE = ("SKAB_", "ALFA_", "TEP_")
FIRST = {"ALFA": 3, "TEP": 3, "SKAB": 8}  # files
FIELDS = ("setting", "series", "group", "seconds", "multiview", "multiview_end", "network",
          "network_end", "weights", "skills")  # fmt: skip


def prepare(data: Path, folder: Path) -> None:
    """Write the series as arrays, so that a machine without our readers can use them."""
    import io
    import zipfile

    import numpy as np
    import polars as pl

    from axonad.data.telemetry import generate_coordination, generate_telemetry
    from axonad.data.tsb_ad import TUNING
    from axonad.metrics.vus_window import choose_window

    folder.mkdir(parents=True, exist_ok=True)

    def write(name: str, values, labels, train: int, window: int | None = None) -> None:
        window = window or choose_window("tsb-ad-2026", channel=values[:, 0]).length
        values, labels = values[: train + MOST].astype(np.float32), labels[: train + MOST]
        if labels.any():
            np.savez_compressed(
                folder / f"{name}.npz", values=values, labels=labels.astype(np.int8), train=train,
                window=window,
            )  # fmt: skip

    def unpack(archive: str, wanted) -> None:
        with zipfile.ZipFile(data / archive) as packed:
            for name in sorted(packed.namelist()):
                stem = Path(name).stem
                if not name.endswith(".csv") or not wanted(stem):
                    continue
                table = pl.read_csv(io.BytesIO(packed.read(name)), infer_schema_length=None)
                labels = table["Label"].to_numpy()
                values = table.drop("Label").to_numpy().astype(np.float64)
                known = np.isfinite(values).all(axis=1)
                train = int(stem.split("_tr_")[1].split("_")[0])
                train = int(known[:train].sum())
                write(stem, values[known], labels[known], train)

    unpack("TSB-AD-M-dev.zip", lambda stem: int(stem.split("_")[0]) in TUNING)
    seen: dict[str, int] = defaultdict(int)

    def tunable(stem: str) -> bool:
        group = stem.split("_", maxsplit=1)[0]
        seen[group] += 1
        return stem.startswith(TUNABLE) and seen[group] <= FIRST[group]

    unpack("machines-dev.zip", tunable)
    for kind, generate in (
        ("telemetry", generate_telemetry),
        ("coordination", generate_coordination),
    ):
        for seed in DRIVES:
            drive = generate(seed=seed)
            write(f"{kind}_{seed}", drive.values, drive.labels, drive.train_end, 100)


def settings_of(name: str) -> tuple[dict[str, int], dict[str, float]]:
    """Return the parameters of MultiView and those of its network's AxonAD that a name stands for.

    >>> settings_of("w50 b32")
    ({'epochs': 25, 'epoch_windows': 1500, 'window': 50}, {'batch_size': 32, 'lr': 0.001})
    """
    own: dict[str, int] = dict(BASE)
    axon: dict[str, float] = dict(BASE_OF_AXON)
    for word in name.split():
        if word.startswith("lr"):
            axon["lr"] = int(word[2:]) / 1000
        elif word[0] in MIDDLE + EVERY:
            continue
        elif word[0] in OF_AXON:
            axon[OF_AXON[word[0]]] = int(word[1:])
        else:
            own[LETTERS[word[0]]] = int(word[1:])
    if own.get("d_model") == 64:
        own["heads"] = 4
    return own, axon


def group_of(name: str) -> str:
    """Return what a series belongs to: tuning, telemetry, coordination, SKAB, ALFA or TEP."""
    first = name.split("_", maxsplit=1)[0]
    return "tuning" if first.isdigit() else first


def narrow(share: float, every: int) -> None:
    """Let only every n-th of this share of the steps count where a window's centre is scored."""
    import numpy as np

    from axonad.data.windows import place
    from axonad.score import step_errors

    def weights(window: int):
        count = max(1, round(share * window))
        first = (window - count) // 2
        center = np.zeros(window)
        center[first : first + count] = np.sin(np.pi * (np.arange(count) + 0.5) / count) ** 2
        center[np.arange(window) % every != place(window, "center") % every] = 0.0
        end = np.arange(window) >= window - max(1, round(step_errors.LAST * window))
        both = np.stack([center, end.astype(float)])
        return (both / both.sum(axis=1, keepdims=True)).astype(np.float32)

    step_errors.step_weights = weights


def measure(path: str, setting: str, device: str) -> dict[str, object]:
    """Fit one setting on one series; return its row."""
    import warnings

    import numpy as np
    import torch

    from axonad.axon import AxonAD
    from axonad.metrics import evaluate
    from axonad.multiview.detector import MultiView
    from axonad.views.network import Network

    warnings.simplefilter("ignore")
    chosen, more = settings_of(setting)
    given = {word[0]: int(word[1:]) for word in setting.split() if word[1:].isdigit()}
    narrow(given.get(MIDDLE, 100) / 100, given.get(EVERY, 1))
    plain = Network._axon
    Network._axon = lambda view: AxonAD(**plain(view).get_params() | more)
    torch.set_num_threads(1)
    data = np.load(path)
    values, labels = data["values"].astype(np.float64), data["labels"]
    train, window = int(data["train"]), int(data["window"])
    begin = time.perf_counter()
    detector = MultiView(**chosen, device=device, verbose=False).fit(values[:train])
    seconds = time.perf_counter() - begin
    Network._axon = plain
    row: dict[str, object] = {
        "setting": setting, "series": Path(path).stem, "group": group_of(Path(path).stem),
        "seconds": round(seconds, 2), "weights": str(detector.weights_),
        "skills": str({k: round(float(np.mean(list(v.values()))), 3)
                       for k, v in (detector.skills_ or {}).items()}),
    }  # fmt: skip
    first = train if row["group"] in ("telemetry", "coordination") else 0
    for align, ending in (("center", ""), ("end", "_end")):
        detector.set_params(align=align)
        parts = detector.components(values[first:])
        total = np.sum(list(parts.values()), axis=0)
        for name, scores in (("multiview", total), ("network", parts["network"])):
            found = evaluate(scores, labels[first:], window=window, metrics=["VUS-PR"])
            row[name + ending] = round(found["VUS-PR"], 6)
    return row


def run(folder: Path, rows: Path, device: str, workers: int, settings: list[str]) -> None:
    """Compute the rows that are missing."""
    done = set()
    if rows.exists():
        with rows.open() as file:
            done = {(row["setting"], row["series"]) for row in csv.DictReader(file)}
    paths = sorted(folder.glob("*.npz"), key=lambda path: -path.stat().st_size)
    jobs = [(str(p), s) for s in settings for p in paths if (s, p.stem) not in done]
    os.environ["OMP_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(workers) as pool, rows.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if not done:
            writer.writeheader()
        waiting = {pool.submit(measure, *job, device): job for job in jobs}
        for number, ended in enumerate(as_completed(waiting), 1):
            try:
                writer.writerow(ended.result())
            except Exception as error:
                print(f"failed: {waiting[ended]}: {error!r:.300}", file=sys.stderr)
            file.flush()
            print(f"{number}/{len(jobs)} {waiting[ended]}", flush=True)


def table(rows: Path) -> None:
    """Print the mean of each group by setting, and the mean over groups."""
    with rows.open() as file:
        found = list(csv.DictReader(file))
    for column in ("multiview", "network", "multiview_end", "network_end", "seconds"):
        groups = sorted({row["group"] for row in found})
        print(f"\n{column:16s}" + "".join(f"{group:>14s}" for group in groups) + f"{'mean':>10s}")
        for setting in dict.fromkeys(row["setting"] for row in found):
            means = []
            for group in groups:
                own = [
                    float(r[column])
                    for r in found
                    if (r["setting"], r["group"]) == (setting, group)
                ]
                means.append(sum(own) / max(1, len(own)))
            cells = "".join(f"{mean:14.3f}" for mean in means)
            print(f"{setting:16s}{cells}{sum(means) / len(means):10.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("prepare")
    one.add_argument("data", type=Path)
    one.add_argument("folder", type=Path)
    two = commands.add_parser("run")
    two.add_argument("folder", type=Path)
    two.add_argument("rows", type=Path)
    two.add_argument("--device", default="cpu")
    two.add_argument("--workers", type=int, default=1)
    two.add_argument("--settings", default=",".join(NAMES))
    three = commands.add_parser("table")
    three.add_argument("rows", type=Path)
    given = parser.parse_args()
    if given.command == "prepare":
        prepare(given.data, given.folder)
    elif given.command == "run":
        run(given.folder, given.rows, given.device, given.workers, given.settings.split(","))
    else:
        table(given.rows)
