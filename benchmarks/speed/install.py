"""What ``pip install axonad`` costs with and without its extras: installed size and start-up time.

    python benchmarks/speed/install.py

Builds the wheel and installs it into new environments with the versions of ``constraints.txt``, so
it needs a package index. Sizes leave out pip and setuptools. Start-up is the CPU time of a whole
process, in multiples of a Python that does nothing: the median of alternating rounds.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.packaging.conftest import Environment, build

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = ("plot", "baselines", "onnx", "can,mcap,mdf")  # in this order, each on top of the others
LIGHT = "views=shape,forecast,relation"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        _, wheel = build(ROOT, folder / "dist")
        core, network = (make(folder / name) for name in ("core", "network"))
        for environment in (core, network):
            environment.install(wheel)
        network.install("axonad[network]")
        print(f"wheel: {wheel.stat().st_size / 1e6:.1f} MB")
        print(f"axonad: {core.megabytes()} MB in {len(core.packages())} packages")
        print(f"axonad[network]: {network.megabytes()} MB in {len(network.packages())} packages")
        data = folder / "data"
        core.axonad("demo", "--steps", 4000, "--data", "--out", data)
        for views in ("light", "all"):
            settings = ("--set", LIGHT) if views == "light" else ("--set", "epochs=1")
            network.axonad("fit", data / "normal.csv", "--out", folder / views, *settings)
        report(start_up(core, network, folder, data), args.rounds)
        before = core.megabytes()
        for extra in EXTRAS:
            core.install(f"axonad[{extra}]")
            print(f"axonad[{extra}]: {core.megabytes() - before} MB more")
            before = core.megabytes()


def make(folder: Path) -> Environment:
    folder.mkdir()
    return Environment(folder)


def start_up(
    core: Environment, network: Environment, folder: Path, data: Path
) -> dict[str, list[object]]:
    """Return commands whose time is measured, by name."""
    light, full, drive = folder / "light", folder / "all", data / "drive.csv"
    out = ("--out", folder / "scores.csv", "--force")
    python = core.bin / "python"

    def load(environment: Environment, model: Path) -> list[object]:
        return [environment.bin / "python", "-c", f"import axonad; axonad.load({str(model)!r})"]

    return {
        "python -c pass": [python, "-c", "pass"],
        "import axonad": [python, "-c", "import axonad"],
        "import numpy": [python, "-c", "import numpy"],
        "axonad --help": [core.bin / "axonad", "--help"],
        "load three views": load(core, light),
        "load three views, torch installed": load(network, light),
        "load all four views": load(network, full),
        "import torch": [network.bin / "python", "-c", "import torch"],
        "axonad score, three views, 2000 rows": [core.bin / "axonad", "score", light, drive, *out],
        "axonad score, all four": [network.bin / "axonad", "score", full, drive, *out],
    }


def report(commands: dict[str, list[object]], rounds: int) -> None:
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, words in commands.items():
            seconds = cpu_seconds(words)
            if number:  # the first round compiles and fills caches
                taken[name].append(seconds)
    base = statistics.median(taken["python -c pass"])
    for name, values in taken.items():
        print(f"{statistics.median(values) / base:6.1f}  {name}")


def cpu_seconds(words: list[object]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = {"OMP_NUM_THREADS": "1", "PATH": ""}
    subprocess.run([str(word) for word in words], env=env, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
