"""Measures source trees as one Markdown table, one column per tree.

    python tools/tree.py ../old/src src            # release 0.2.0 beside this tree
    python tools/tree.py ../old/src src --quick    # only what is read from source, nothing is run

A figure that cannot be computed is "–"; standard error says why. How each is counted:

files: *.py in src/axonad. lines: all of them. median, longest file: in lines.
code lines: neither blank nor only comment or docstring.
units at the top: folders with Python files and *.py directly in src/axonad.
levels: lines of the longest layers contract of import-linter in pyproject.toml beside SRC.
one importer, in its own unit: modules in packages, imported by one module, of the same unit.
TYPE_CHECKING: modules with ``if TYPE_CHECKING``, and those that import axonad under it.
longest import cycle: largest strongly connected component of all imports, also those in functions
and under TYPE_CHECKING. protocols: classes with Protocol as a base. classes: all, also nested.
public names: functions and classes at the top of modules that do not begin with an underscore.
file names that occur more than once: without __init__.py. fmt: skip: comments that say so.
Detector, files: those of the class and of its bases and mixins in axonad.
Detector, public names: its and their methods and properties, without names that end in _.
Detector, deepest subclass: classes of axonad in the longest line from a root to a subclass.
finders of events, ways to explain: which of the names in FINDERS and EXPLAINING exist.
classes that carry an event: CARRIES in the name, STARTS and ENDS among the fields or inherited.
walks: modules of which a function runs, also in child processes, but not while importing. From CSV:
``axonad fit`` (default detector, one short epoch) and ``score --events``. Live: from samples by
HTTP to the page and its stream, after ``axonad live`` has scored some rows.
--help: modules loaded by ``python -m axonad --help``; fastest of 5 over fastest ``python -c pass``.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import math
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import tokenize
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

PACKAGE = "axonad"
FINDERS = {
    "function": "find_events find_segments",
    "class": "EventCollector LiveEvents AlarmCollector DataCollector DriftCollector LiveAlarms "
    "AlarmMachine EventFinder",
}
EXPLAINING = {
    "function": "explain_events explain_event",
    "class": "KeptRows Explainer",  # Explainer is live's own
    "module": "stream_why",
}
CARRIES = re.compile("Event|Change|Alarm|Record")
STARTS = {"start", "first", "begin", "begins", "begun", "from_", "since"}
ENDS = {"end", "last", "stop", "ends", "ended", "to", "until"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def last(full: str) -> str:
    """Return the last part of a full name."""
    return full.rpartition(".")[2]


class UnknownFigureError(Exception):
    """A figure cannot be computed; the message says why."""


class Module:
    """A source file and what can be read from it."""

    def __init__(self, path: Path, source: Path) -> None:
        self.path, self.text = path, path.read_text(encoding="utf-8")
        parts = path.relative_to(source).with_suffix("").parts
        self.is_package = parts[-1] == "__init__"
        self.name = ".".join(parts[:-1] if self.is_package else parts)
        self.unit = ".".join(self.name.split(".")[:2])
        tree = ast.parse(self.text)
        self.nodes = list(ast.walk(tree))
        self.classes = [node for node in self.nodes if isinstance(node, ast.ClassDef)]
        self.top = [one for one in tree.body if isinstance(one, (ast.ClassDef, *FUNCTIONS))]
        self.lines = len(self.text.splitlines())
        self.imported = self.targets(self.nodes)
        self.names = dict(self.imported)  # full names by the names they have here
        self.uses: set[str] = set()  # modules of the package, given by the tree

    @cached_property
    def code_lines(self) -> int:
        texts = [node for node in self.nodes if isinstance(node, ast.Expr)]
        texts = [node for node in texts if isinstance(getattr(node.value, "value", None), str)]
        docs = {line for node in texts for line in range(node.lineno, node.end_lineno + 1)}
        found: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.string.strip() and token.type != tokenize.COMMENT:
                found.update(range(token.start[0], token.end[0] + 1))
        return len(found - docs)

    def targets(self, nodes: Iterable[ast.AST]) -> list[tuple[str, str]]:
        """Return the names that imports bind, each with the full name of what it stands for."""
        found: list[tuple[str, str]] = []
        room = self.name.split(".") if self.is_package else self.name.split(".")[:-1]
        for node in nodes:
            if isinstance(node, ast.Import):
                found += [(one.asname or one.name, one.name) for one in node.names]
            elif isinstance(node, ast.ImportFrom):
                above = room[: len(room) - node.level + 1] if node.level else []
                home = ".".join([*above, *([node.module] if node.module else [])])
                found += [(one.asname or one.name, f"{home}.{one.name}") for one in node.names]
        return found


class Tree:
    """All modules of a source tree."""

    def __init__(self, source: Path) -> None:
        self.source = source
        files = sorted((source / PACKAGE).rglob("*.py"))
        if not files:
            sys.exit(f"{source} has no {PACKAGE}/*.py; name a folder such as src of a checkout")
        self.modules = {module.name: module for module in (Module(path, source) for path in files)}
        self.all = list(self.modules.values())
        for module in self.all:
            homes = {x if x in self.modules else x.rpartition(".")[0] for _, x in module.imported}
            module.uses = (homes & set(self.modules)) - {module.name}
        top = {f"{m.name}.{one.name}": (m, one) for m in self.all for one in m.top}
        kinds = ((name, m, one) for name, (m, one) in top.items())
        self.classes = {name: (m, x) for name, m, x in kinds if isinstance(x, ast.ClassDef)}
        self.functions = set(top) - set(self.classes)
        self._folder = tempfile.TemporaryDirectory()  # removed with this object
        self.folder = Path(self._folder.name)
        (self.folder / "sitecustomize.py").write_text(TRACER, encoding="utf-8")
        self.plain = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
        seen = {"TREE_SOURCE": f"{source}{os.sep}", "TREE_SEEN": str(self.folder / "seen")}
        self.tracing = self.plain | seen | {"PYTHONPATH": f"{self.folder}{os.pathsep}{source}"}
        self.axonad = (sys.executable, "-m", PACKAGE)

    def alone(self) -> list[Module]:
        """Modules in packages with exactly one importer, which is in the same unit."""
        inner = (m for m in self.all if not m.is_package and m.name != m.unit)
        users = ((m, [other for other in self.all if m.name in other.uses]) for m in inner)
        return [one for one, found in users if [other.unit for other in found] == [one.unit]]

    def find(self, module: Module, name: str) -> str:
        """Return the full name of what a name of a module stands for, through re-exports."""
        head, *rest = name.split(".")
        full = ".".join([module.names.get(head, f"{module.name}.{head}"), *rest])
        for _ in range(9):  # re-exports of re-exports
            home = self.modules.get(full.rpartition(".")[0])
            if home and full not in self.classes:
                full = home.names.get(last(full), full)
        return full

    def bases(self, full: str) -> list[str]:
        """Return the bases of a class that are in the package."""
        module, one = self.classes[full]
        names = (self.find(module, ast.unparse(base).split("[")[0]) for base in one.bases)
        return [name for name in names if name in self.classes]

    def line(self, full: str) -> list[str]:
        """Return a class and all its bases in the package."""
        return [full, *(other for base in self.bases(full) for other in self.line(base))]

    def depth(self, full: str) -> int:
        """Return the number of classes from the first ancestor to a class."""
        return 1 + max((self.depth(base) for base in self.bases(full)), default=0)

    @cached_property
    def detector(self) -> str:
        found = [full for full in self.classes if full.endswith(".Detector")]
        if len(found) != 1:
            raise UnknownFigureError(f"there are {len(found)} classes Detector, expected one")
        return found[0]

    @cached_property
    def model(self) -> tuple[Path, set[str]]:
        """A model of the default detector, and the modules that fitting and scoring walked."""
        for name, rows in (("normal", _rows(1000)), ("drive", _rows(500, fault=300))):
            lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
            (self.folder / f"{name}.csv").write_text("\n".join(lines), encoding="utf-8")
        short = ("--set", "epochs=1", "--set", "epoch_windows=50", "--budget", "1 per 300 steps")
        out = ("--out", "rows.csv", "--events", "events.json", "--force")
        fit = ("fit", "normal.csv", "--out", "model", "--force", *short)
        self.run(*self.axonad, *fit, env=self.tracing)
        self.run(*self.axonad, "score", "model", "drive.csv", *out, env=self.tracing)
        if not json.loads((self.folder / "events.json").read_text(encoding="utf-8")):
            raise UnknownFigureError("no event was found in the generated drive")
        return self.folder / "model", self.traced()

    def run(self, *command: str, env: dict[str, str]) -> str:
        """Run a command to its end and return what it says on standard error."""
        done = subprocess.run(
            command, check=False, cwd=self.folder, env=env, capture_output=True, text=True
        )
        if done.returncode:
            said = (done.stderr.strip() or "no output").splitlines()[-1]
            raise UnknownFigureError(f"{' '.join(command[1:4])} failed: {said}")
        return done.stderr

    def traced(self) -> set[str]:
        """Return the files that ran since the walk began, without templates."""
        seen = (self.folder / "seen").read_text(encoding="utf-8").split("--begin--\n")
        return {name for name in seen[-1].splitlines() if name.endswith(".py")}


def units(tree: Tree) -> str:
    """Return packages and loose modules at the top."""
    names = {m.path.relative_to(tree.source / PACKAGE).parts[0] for m in tree.all}
    loose = sum(name.endswith(".py") for name in names)
    return f"{len(names)} ({len(names) - loose} packages, {loose} modules)"


def levels(tree: Tree) -> int:
    """Return the number of layers in import-linter's contract."""
    text = (tree.source.parent / "pyproject.toml").read_text(encoding="utf-8")
    contracts = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    return max(len(contract.get("layers", ())) for contract in contracts)


def typed_aside(tree: Tree) -> str:
    """Return the modules with imports for types only, and those that so import the package."""
    count = own = 0
    for module in tree.all:
        tests = [node for node in module.nodes if isinstance(node, ast.If)]
        tests = [node for node in tests if "TYPE_CHECKING" in ast.unparse(node.test)]
        inner = (node for test in tests for line in test.body for node in ast.walk(line))
        count += bool(tests)
        own += any(full.split(".")[0] == PACKAGE for _, full in module.targets(inner))
    return f"{count}, of {PACKAGE} itself {own}"


def longest_cycle(tree: Tree) -> int:
    """Return the size of the largest set of modules that all reach each other by imports."""
    reach: dict[str, set[str]] = {}
    for name in tree.modules:
        reach[name], waiting = set(), [name]
        while waiting:
            new = tree.modules[waiting.pop()].uses - reach[name]
            reach[name] |= new
            waiting += new
    return max(sum(name in reach[other] for other in found) for name, found in reach.items())


def public_names(tree: Tree) -> int:
    """Return the number of public methods and properties of Detector and its bases."""
    names = set()
    for full in tree.line(tree.detector):
        module, one = tree.classes[full]
        for node in one.body:
            if isinstance(node, FUNCTIONS):
                names.add(node.name)
            elif isinstance(node, ast.Assign) and ast.unparse(node.value) in module.names:
                is_function = tree.find(module, ast.unparse(node.value)) in tree.functions
                names |= {ast.unparse(target) for target in node.targets if is_function}
    return sum(not name.startswith("_") and not name.endswith("_") for name in names)


def existing(tree: Tree, wanted: dict[str, str]) -> str:
    """Return which of some names exist, as functions and classes at the top or as modules."""
    kinds = {"class": tree.classes, "function": tree.functions, "module": tree.modules}
    found = {(kind, last(full)) for kind, names in kinds.items() for full in names}
    pairs = ((kind, name) for kind, names in wanted.items() for name in names.split())
    return listed(pair[1] for pair in pairs if pair in found)


def event_classes(tree: Tree) -> str:
    """Return the classes that carry an event."""
    found = []
    for full in tree.classes:
        lines = [line for other in tree.line(full) for line in tree.classes[other][1].body]
        fields = {ast.unparse(line.target) for line in lines if isinstance(line, ast.AnnAssign)}
        if CARRIES.search(last(full)) and fields & STARTS and fields & ENDS:
            found.append(last(full))
    return listed(found)


def listed(names: Iterable[str]) -> str:
    """Return the number of names and the names."""
    found = sorted(names)
    return f"{len(found)}: {', '.join(found)}" if found else "0"


READ: dict[str, Callable[[Tree], object]] = {
    "files": lambda t: len(t.modules),
    "lines": lambda t: sum(m.lines for m in t.all),
    "code lines": lambda t: sum(m.code_lines for m in t.all),
    "median file": lambda t: round(statistics.median(m.lines for m in t.all)),
    "longest file": lambda t: max(m.lines for m in t.all),
    "units at the top": units,
    "levels": levels,
    "modules with one importer, in its own unit": lambda t: len(t.alone()),
    "their lines": lambda t: sum(m.lines for m in t.alone()),
    "modules with TYPE_CHECKING": typed_aside,
    "longest import cycle": longest_cycle,
    "protocols": lambda t: sum(
        any(last(ast.unparse(base).split("[")[0]) == "Protocol" for base in one.bases)
        for m in t.all
        for one in m.classes
    ),
    "classes": lambda t: sum(len(m.classes) for m in t.all),
    "public names": lambda t: sum(node.name[0] != "_" for m in t.all for node in m.top),
    "file names that occur more than once": lambda t: sum(
        count > 1 and name != "__init__.py"
        for name, count in Counter(m.path.name for m in t.all).items()
    ),
    "`fmt: skip`": lambda t: sum(m.text.count("# fmt: skip") for m in t.all),
    "Detector, files": lambda t: len({t.classes[c][0].name for c in t.line(t.detector)}),
    "Detector, public names": public_names,
    "Detector, deepest subclass": lambda t: max(
        t.depth(full) for full in t.classes if t.detector in t.line(full)
    ),
    "finders of events": lambda t: existing(t, FINDERS),
    "classes that carry an event": event_classes,
    "ways to explain": lambda t: existing(t, EXPLAINING),
}

# Every child's sitecustomize: notes modules of which a function runs while none is imported.
TRACER = """
import os, signal, sys, threading
source, seen = os.environ["TREE_SOURCE"], os.environ["TREE_SEEN"]
found, depth = set(), threading.local()
def write(line):
    with open(seen, "a") as file:
        file.write(line + "\\n")
def look(frame, event, argument):
    code = frame.f_code
    if code.co_name == "<module>" and frame.f_globals.get("__name__") != "__main__":
        step = {"call": 1, "return": -1}.get(event, 0)
        depth.value = max(getattr(depth, "value", 0) + step, 0)
    elif event == "call" and code.co_flags & 3 == 3 and code.co_filename.startswith(source):
        if code.co_filename not in found and not getattr(depth, "value", 0):
            found.add(code.co_filename)
            write(code.co_filename)
def begin(*_):
    write("--begin--")
    found.clear()
signal.signal(signal.SIGUSR1, begin)
threading.setprofile(look)
sys.setprofile(look)
"""


def _rows(count: int, fault: int = -100) -> list[dict[str, float]]:
    """Return rows of three related channels; yaw_rate is stuck for 30 rows after a fault."""
    chance, rows = random.Random(0), []  # noqa: S311
    for n in range(count):
        steering = math.sin(n / 9) + math.sin(n / 23)
        yaw = -3.0 if fault <= n < fault + 30 else 0.8 * steering
        exact = {"steering": steering, "yaw_rate": yaw, "lateral": 0.5 * steering}
        rows.append({name: round(x + chance.gauss(0, 0.05), 4) for name, x in exact.items()})
    return rows


def walk_live(tree: Tree) -> int:
    """Return the number of modules from samples by HTTP to the page of their vehicle."""
    rows = [{"vehicle": "car", "time": 1.7e9 + n / 10, **row} for n, row in enumerate(_rows(320))]
    words = ("live", str(tree.model[0]), "--port", "0", "--store", "sqlite::memory:")
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    server = subprocess.Popen((*tree.axonad, *words), cwd=tree.folder, env=tree.tracing, **pipes)
    line = "no output"
    try:
        while not (found := re.search(r"http://([\w.]+:\d+)", line)):
            before, line = line, server.stdout.readline()
            if not line:
                raise UnknownFigureError(f"axonad live ended: {before.strip()}")
        address = found[1]
        _ask(address, "/api/v1/samples", json.dumps(rows[:300])).read()
        server.send_signal(signal.SIGUSR1)  # what ran until here does not count
        time.sleep(1.0)
        stream = _ask(address, "/live/vehicles/car")
        any(line.startswith(b"data:") for line in stream)  # what is known so far
        for row in rows[300:]:
            _ask(address, "/api/v1/samples", json.dumps(row)).read()
        any(line.startswith(b"data:") for line in stream)  # the new rows
        if any(b"car" not in _ask(address, path).read() for path in ("/", "/vehicles/car")):
            raise UnknownFigureError("the pages do not show the vehicle")
        return len(tree.traced())
    finally:
        server.terminate()
        server.wait(timeout=60)


def _ask(address: str, path: str, body: str | None = None) -> HTTPResponse:
    line = HTTPConnection(address, timeout=60)
    line.request("POST" if body else "GET", path, body, {"Content-Type": "application/json"})
    answer = line.getresponse()
    if answer.status != 200:
        raise UnknownFigureError(f"{path} answered {answer.status}: {answer.read()[:200]!r}")
    return answer


def loaded(tree: Tree) -> int:
    """Return the number of modules of the package that --help imports."""
    said = tree.run(sys.executable, "-X", "importtime", "-m", PACKAGE, "--help", env=tree.plain)
    return len(set(re.findall(rf"\|\s+({PACKAGE}(?:\.\w+)*)$", said, flags=re.MULTILINE)))


def start_ratio(tree: Tree) -> str:
    """Return how often longer --help takes than an empty program."""
    commands = ((*tree.axonad, "--help"), (sys.executable, "-c", "pass"))
    best = [math.inf, math.inf]
    for number, command in enumerate(commands * 5):
        begun = time.perf_counter()
        tree.run(*command, env=tree.plain)
        best[number % 2] = min(best[number % 2], time.perf_counter() - begun)
    return f"{best[0] / best[1]:.1f} ({best[0]:.2f} s / {best[1]:.3f} s)"


RUN: dict[str, Callable[[Tree], object]] = {
    "modules walked: CSV, fit, score, events": lambda t: len(t.model[1]),
    "modules walked: live sample to page": walk_live,
    "modules loaded by `axonad --help`": loaded,
    "its start, times `python -c pass`": start_ratio,
}


def main() -> None:
    """Print a table with a column for each tree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("src", nargs="*", type=Path, default=[Path(__file__).parents[1] / "src"])
    parser.add_argument("--quick", action="store_true", help="run nothing of the trees")
    asked = parser.parse_args()
    trees = [Tree(source.resolve()) for source in asked.src]
    print("| |", " | ".join(str(source) for source in asked.src), "|")
    print("|---|" + "---:|" * len(trees))
    for name, count in (READ if asked.quick else READ | RUN).items():
        cells = []
        for tree in trees:
            try:
                value = count(tree)
                cells.append(f"{value:,}" if isinstance(value, int) else str(value))
            except (UnknownFigureError, LookupError, OSError, ValueError) as error:
                cells.append("–")
                print(f"{tree.source}: {name}: {type(error).__name__}: {error}", file=sys.stderr)
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
