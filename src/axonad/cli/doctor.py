"""``axonad doctor``: what is installed and what is missing, to paste into a bug report."""

from __future__ import annotations

import platform
from typing import Any

import typer

from axonad import __version__
from axonad.bench.machine import commit
from axonad.cli import machine_facts
from axonad.cli.installed import PURPOSES, installed_version, list_packages, missing_extras
from axonad.cli.options import AsJson
from axonad.cli.terminal import print_json, print_line
from axonad.report.amounts import format_size

PROBLEM = 1  # exit code if axonad cannot work as installed
CUDA_HELP = "https://pytorch.org/get-started/locally/"
WIDTH = 96
Facts = dict[str, Any]


def doctor(as_json: AsJson = False) -> None:
    """Show versions, devices and what is missing, to paste into a bug report.

    It contains no paths, user names or host names. The exit code is 1 if axonad cannot work.
    """
    facts = gather()
    if as_json:
        print_json(facts)
    else:
        _print(facts)
    if facts["problems"]:
        raise typer.Exit(PROBLEM)


def gather() -> Facts:
    """Return everything that is shown."""
    packages = list_packages()
    facts: Facts = {
        "axonad": {"version": __version__, "commit": commit() or None},
        "python": {
            "version": platform.python_version(),
            "implementation": platform.python_implementation(),
        },
        "system": {"name": platform.system(), "release": platform.release()},
        "packages": {p.name: p.version for p in packages if not p.extra},
        "optional": {p.name: p.version for p in packages if p.extra},
        "cpu": machine_facts.cpu(),
        "torch": machine_facts.torch_facts(),
        "blas": machine_facts.numpy_blas(),
        "thread_variables": machine_facts.thread_variables(),
        "disk": machine_facts.disk(),
        "encoding": machine_facts.text_encoding(),
        "missing": [
            {
                "for": PURPOSES.get(extra, extra),
                "packages": names,
                "install": f"pip install 'axonad[{extra}]'",
            }
            for extra, names in missing_extras(packages).items()
        ],
    }
    facts["problems"] = _problems(
        facts, [p.name for p in packages if not p.extra and not p.is_usable]
    )
    facts["advice"] = _advice(facts)
    return facts


def _problems(facts: Facts, unusable: list[str]) -> list[str]:
    """Return what keeps axonad from working, each with what to do."""
    found = []
    if installed_version("axonad") is None:
        found.append("axonad is not installed as a package; run: pip install axonad")
    if unusable:
        names = ", ".join(unusable)
        found.append(f"missing or too old: {names}; run: pip install --upgrade axonad")
    if "error" in facts["torch"]:
        found.append(f"torch cannot be loaded ({facts['torch']['error']}); see {CUDA_HELP}")
    if reason := machine_facts.check_reading():
        found.append(f"reading a small CSV file failed: {reason}")
    return found


def _advice(facts: Facts) -> list[str]:
    """Return what works but could be better."""
    found, torch = [], facts["torch"]
    if torch.get("nvidia_driver") and not torch.get("gpus"):
        why = "is a CPU build" if torch.get("cuda_build") is None else "does not see it"
        found.append(f"an NVIDIA driver is installed but torch {why}; see {CUDA_HELP}")
    threads, cores = torch.get("threads"), facts["cpu"]["usable_cores"]
    if threads is not None and threads > cores:
        found.append(f"torch uses {threads} threads on {cores} cores; set OMP_NUM_THREADS={cores}")
    return found


def _print(facts: Facts) -> None:
    """Print the facts on one screen."""
    own, python, system = facts["axonad"], facts["python"], facts["system"]
    of_commit = f" ({own['commit']})" if own["commit"] else ""
    _line("axonad", f"{own['version']}{of_commit}")
    _line(
        "Python",
        f"{python['version']} {python['implementation']}, {system['name']} {system['release']}",
    )
    for key in ("packages", "optional"):
        _line(key, *(f"{name} {found}" for name, found in facts[key].items() if found))
    cpu, torch = facts["cpu"], facts["torch"]
    memory = [] if cpu["memory"] is None else [f"{format_size(cpu['memory'])} of memory"]
    cores = f"{cpu['usable_cores']} of {cpu['cores']} cores"
    _line("CPU", cpu["model"], cpu["architecture"], cores, *memory)
    _line("GPU", *_gpus(torch))
    variables = " ".join(f"{name}={value}" for name, value in facts["thread_variables"].items())
    threads = [f"torch {torch['threads']}"] if "threads" in torch else []
    _line("threads", *threads, variables or "no variable limits them")
    instructions = [f"torch {torch['instruction_set']}"] if "instruction_set" in torch else []
    _line("BLAS", f"numpy {facts['blas']}", *instructions)
    free = [f"{name.replace('_', ' ')} {'unknown' if size is None else format_size(size)} free"
            for name, size in facts["disk"].items()]  # fmt: skip
    _line("disk", *free, "axonad keeps no cache")
    _line("text", facts["encoding"])
    for one in facts["missing"]:
        _line("missing", f"for {one['for']}: {', '.join(one['packages'])}; run: {one['install']}")
    for text in facts["advice"]:
        _line("advice", text, style="yellow")
    for text in facts["problems"]:
        _line("problem", text, style="bold red")
    if not facts["problems"]:
        _line("verdict", "everything that is always needed works", style="green")


def _gpus(torch: Facts) -> list[str]:
    if not torch.get("installed", True):
        return ["not known: torch is not installed"]
    if torch.get("mps"):
        return ["Apple GPU (mps)"]
    if not torch.get("gpus"):
        built = torch.get("cuda_build")
        return [f"none; torch is built {'without CUDA' if built is None else f'for CUDA {built}'}"]
    return [
        f"{gpu['name']}, {format_size(gpu['memory'])}, compute capability "
        f"{gpu['compute_capability']}, CUDA {torch['cuda_build']}"
        for gpu in torch["gpus"]
    ]


def _line(title: str, *parts: str, style: str | None = None) -> None:
    """Print a title and what belongs to it, on as many lines as it takes."""
    lines = [""]
    for part in parts:
        longer = f"{lines[-1]}, {part}" if lines[-1] else part
        if lines[-1] and len(longer) > WIDTH:
            lines[-1] += ","
            lines.append(part)
        else:
            lines[-1] = longer
    for number, text in enumerate(lines):
        print_line(f"{title if number == 0 else '':<9} {text}", style=style)
