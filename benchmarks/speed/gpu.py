"""Measure training and scoring on a GPU, and the effect of reduced precision.

    cd benchmarks/speed
    python gpu.py --csv gpu_h200.csv

Times are medians after a warm-up, with synchronisation of the GPU. ``naive`` is the
straightforward loop of ``naive.py``. The time of a step of a stack is divided by the number of its
models. Fits are whole calls of ``fit`` on the training part of the generated vehicle stream, and
on all its 80,000 rows; VUS-PR is that of the stream, causal. ``TF32`` is the default on a GPU.
``bfloat16`` is inside autocast (attention and queries in training, everything in scoring).
``exact`` is full float32. ``plain loop`` trains one batch after another with ``train/loop.py``, as
on a CPU, to compare the quality of its fits.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import time
from pathlib import Path

import naive
import numpy as np
import torch
from timing import timed

from axonad import AxonAD, axon
from axonad.bench.machine import commit, describe_device
from axonad.data.telemetry import generate_telemetry
from axonad.fast.choose import run_windows
from axonad.fast.gpu import training
from axonad.fast.gpu.feed import Member, TrainingWindows
from axonad.fast.gpu.fused import MIN_WINDOWS
from axonad.fast.gpu.stack import Precision
from axonad.metrics import evaluate
from axonad.model.net import AxonNet
from axonad.progress import Progress
from axonad.score.terms import compute_terms
from axonad.torch_runtime.seed import generator, seeded
from axonad.torch_runtime.windows import Windows
from axonad.train.loop import train

CUDA, CHANNELS, BATCH = torch.device("cuda"), 19, 128


@contextlib.contextmanager
def exact():
    """Train in full float32."""
    kept = training.step_precision, training.allow_tf32
    training.step_precision = lambda rows: Precision(rows.dtype, rows.dtype)
    training.allow_tf32 = lambda device: contextlib.nullcontext()
    try:
        yield
    finally:
        training.step_precision, training.allow_tf32 = kept


@contextlib.contextmanager
def plain_loop():
    """Train with the plain loop of ``train/loop.py`` in full float32, without a stack."""
    kept = axon.train_net

    def train_net(net, series, validation, config, progress, *, seed):
        return train(net, series, validation, config, progress)

    axon.train_net = train_net
    try:
        yield
    finally:
        axon.train_net = kept


def bfloat16():
    return torch.autocast("cuda", dtype=torch.bfloat16)


MODES = {"TF32": contextlib.nullcontext, "bfloat16": bfloat16, "exact": exact}


def median(work, repeats: int) -> float:
    return float(np.median([timed(work, "cuda") for _ in range(repeats)]))


def step_ms(models: int, steps: int = 50) -> float:
    """Return the milliseconds of one training step of a stack, replayed as a CUDA graph."""
    detector = AxonAD()
    members = []
    for seed in range(models):
        with seeded(seed, CUDA):
            net = AxonNet(detector.net_config(CHANNELS)).to(CUDA)
            series = torch.randn(4000, CHANNELS, device=CUDA)
        members.append(Member(net, Windows(series, net.config.window), None, generator(seed, CUDA)))
    config = detector.train_config()
    stack = training.Stack([member.net for member in members], config, windows=MIN_WINDOWS)
    net = members[0].net.config
    plan = config.mask_plan(window=net.window, horizon=net.horizon)
    windows = TrainingWindows(members, plan=plan, batch_size=BATCH)
    for model in range(models):
        windows.shuffle(model)
    windows.select(list(range(models)), [0] * models)
    step = training.Step(stack, windows, members)
    with training.allow_tf32(CUDA):
        for _ in range(6):
            step.make()

        def some():
            for _ in range(steps):
                step.make()

        return median(some, 5) / steps * 1e3


def naive_step_ms(steps: int = 30) -> float:
    detector = AxonAD()
    net = AxonNet(detector.net_config(CHANNELS)).to(CUDA)
    series = torch.randn(BATCH * steps + 99, CHANNELS, device=CUDA)
    naive.train(net, series)
    return median(lambda: naive.train(net, series), 3) / steps * 1e3


def time_training(rows: list[dict]) -> None:
    base = naive_step_ms()
    found = {("naive", 1): base}
    for kind, mode in MODES.items():
        for models, steps in ((1, 50), (16, 50), (64, 8)):
            with mode():
                found[kind, models] = step_ms(models, steps)
    for (kind, models), ms in found.items():
        each = ms / models
        rows.append(row("training step of 128, ms", f"{kind}, {models} models", each, base / each))


def scoring(rows: list[dict], windows: int = 200_000) -> None:
    net = AxonNet(AxonAD().net_config(CHANNELS)).to(CUDA).eval()
    series = torch.randn(windows + 99, CHANNELS, device=CUDA)
    quiet = Progress("", 1, show=False)

    def ours():
        return compute_terms(net, series, batch_size=256, progress=quiet, run=run_windows).terms

    def how_far(terms) -> str:
        pairs = zip(reference, ("d_rec", "d_q"), strict=True)
        far = [np.abs(terms[name] / one.double().cpu().numpy() - 1).max() for one, name in pairs]
        return f"terms differ by up to {max(far):.1e}"

    reference = naive.score(net.double(), series.double())
    net.float()
    base = median(lambda: naive.score(net, series), 3) / windows * 1e6
    rows.append(row("scoring a window, us", "naive", base, 1.0))
    for name, precision, cast in (
        ("float32", "highest", contextlib.nullcontext()),
        ("TF32", "high", contextlib.nullcontext()),
        ("bfloat16", "highest", bfloat16()),
    ):
        torch.set_float32_matmul_precision(precision)
        with cast:
            terms = ours()
            us = median(ours, 5) / windows * 1e6
        rows.append(row("scoring a window, us", name, us, base / us, how_far(terms)))
    torch.set_float32_matmul_precision("highest")


def fitting(rows: list[dict], seeds: list[int]) -> None:
    AxonAD(device="cuda", epochs=1, verbose=False).fit(
        np.random.default_rng(0).normal(size=(900, 19))
    )
    stream = generate_telemetry(seed=seeds[0])
    detector = AxonAD(device="cuda", verbose=False)
    seconds = timed(lambda: detector.fit(stream.values), "cuda")
    note = f"{detector.training_.epochs} epochs"
    rows.append(row("fit of all 80000 x 19, s", "TF32", seconds, None, note))
    for seed in seeds:
        stream = generate_telemetry(seed=seed)
        train = stream.train
        for kind, mode in {**MODES, "plain loop": plain_loop}.items():
            detector = AxonAD(device="cuda", seed=seed, verbose=False)
            with mode():
                seconds = timed(lambda: detector.fit(train), "cuda")  # noqa: B023
            history = detector.training_
            scores = detector.decision_function(stream.values)[stream.train_end :]
            found = evaluate(scores, stream.test_labels, window=100, metrics=["VUS-PR"])
            note = f"{history.epochs} epochs, validation {min(history.validation):.5f}, "
            note += f"VUS-PR {found['VUS-PR']:.3f}"
            rows.append(
                row(f"fit of {len(train)} x 19, s", f"{kind}, seed {seed}", seconds, None, note)
            )


def row(what: str, how: str, value: float, ratio: float | None, note: str = "") -> dict:
    line = {
        "what": what, "how": how, "value": f"{value:.3f}",
        "naive / this": "" if ratio is None else f"{ratio:.2f}", "note": note,
    }  # fmt: skip
    print("| " + " | ".join(line.values()) + " |", flush=True)
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[2024, 2025])
    args = parser.parse_args()
    if not torch.cuda.is_available():
        parser.error("this script needs a CUDA device, but torch finds none")
    begin, rows = time.perf_counter(), []
    print(f"{describe_device('cuda')}, torch {torch.__version__}\n")
    print("| what | how | value | naive / this | note |\n|---|---|---:|---:|---|")
    for part in (time_training, scoring, lambda rows: fitting(rows, args.seeds)):
        part(rows)
        if args.csv:
            write(args.csv, rows)
    print(f"\n{time.perf_counter() - begin:.0f} s")


def write(path: Path, rows: list[dict]) -> None:
    made = {"commit": commit(), "device": describe_device("cuda")}
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], *made])
        writer.writeheader()
        writer.writerows(row | made for row in rows)


if __name__ == "__main__":
    main()
