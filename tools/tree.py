"""Measures the tree: what a newcomer has to read, what imports what, what one walk touches.

    python tools/tree.py                  # this checkout
    python tools/tree.py ../old           # another one, such as release 0.2.0
    python tools/tree.py ../old . --walks # both beside each other, with the modules of walks

Everything but the walks is read from the source, without importing it. A walk runs the code of the
checkout with this interpreter and counts the modules in which a function was called.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import statistics
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

PACKAGE = "axonad"


class Module:
    """A source file and what can be read from it."""

    def __init__(self, path: Path, source: Path) -> None:
        self.path = path
        parts = path.relative_to(source).with_suffix("").parts
        self.name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        self.is_package = parts[-1] == "__init__"
        self.text = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)

    @property
    def room(self) -> str:
        """The package it lies in; a loose module at the top is a room of its own."""
        return self.name if self.is_package else self.name.rpartition(".")[0]

    @property
    def lines(self) -> int:
        return self.text.count("\n")

    @cached_property
    def code_lines(self) -> int:
        """Lines with code: neither blank nor comment nor docstring."""
        docs = set()
        for node in ast.walk(self.tree):
            is_constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if is_constant and isinstance(node.value.value, str):
                docs.update(range(node.lineno, node.end_lineno + 1))
        skipped = {
            tokenize.COMMENT,
            tokenize.NL,
            tokenize.NEWLINE,
            tokenize.INDENT,
            tokenize.DEDENT,
        }
        found = set()
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type not in skipped and token.type != tokenize.ENDMARKER:
                found.update(range(token.start[0], token.end[0] + 1))
        return len(found - docs)

    @property
    def has_type_checking(self) -> bool:
        return any(
            isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            for node in ast.walk(self.tree)
        )

    @property
    def classes(self) -> list[ast.ClassDef]:
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)]

    @property
    def public_names(self) -> int:
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        return sum(isinstance(n, kinds) and not n.name.startswith("_") for n in self.tree.body)

    def imports(self, known: set[str]) -> set[str]:
        """Return the modules of the package that it imports, also in functions and for types."""
        found = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    found.add(inner if inner in known else node.module)
        return (found & known) - {self.name}


class Tree:
    """All modules of a checkout."""

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout
        source = checkout / "src"
        files = sorted((source / PACKAGE).rglob("*.py"))
        if not files:
            sys.exit(f"{checkout} has no src/{PACKAGE}; name a checkout of it")
        self.modules = {module.name: module for module in (Module(path, source) for path in files)}
        known = set(self.modules)
        self.imports = {name: module.imports(known) for name, module in self.modules.items()}

    def measures(self) -> dict[str, object]:
        """Return what is counted, by name."""
        modules = list(self.modules.values())
        lines = [module.lines for module in modules]
        alone = self._with_one_importer()
        top = Path(self.checkout / "src" / PACKAGE)
        names, depth, files = self._detector()
        return {
            "files": len(modules),
            "lines": sum(lines),
            "code lines": sum(module.code_lines for module in modules),
            "median file": round(statistics.median(lines)),
            "longest file": max(lines),
            "units at the top": sum(
                (path.is_dir() and path.name != "__pycache__") or path.suffix == ".py"
                for path in top.iterdir()
                if not path.name.startswith("__")
            ),
            "levels": self._levels(),
            "modules with one importer, in their room": len(alone),
            "their lines": sum(self.modules[name].lines for name in alone),
            "modules with TYPE_CHECKING": sum(module.has_type_checking for module in modules),
            "longest import cycle": max(map(len, self._cycles()), default=0),
            "protocols": sum(
                any("Protocol" in ast.unparse(base) for base in one.bases)
                for module in modules
                for one in module.classes
            ),
            "classes": sum(len(module.classes) for module in modules),
            "public names of modules": sum(module.public_names for module in modules),
            "file names that occur more than once": sum(
                count > 1
                for name, count in Counter(module.path.name for module in modules).items()
                if name != "__init__.py"
            ),
            "fmt: skip": sum(module.text.count("# fmt: skip") for module in modules),
            "files of Detector": files,
            "public names of Detector": names,
            "deepest subclass of Detector": depth,
        }

    def _with_one_importer(self) -> list[str]:
        importers: dict[str, set[str]] = {name: set() for name in self.modules}
        for name, found in self.imports.items():
            for other in found:
                importers[other].add(name)
        return [
            name
            for name, module in self.modules.items()
            if not module.is_package
            and len(importers[name]) == 1
            and self._top(next(iter(importers[name]))) == self._top(name)
            and name.count(".") > 1
        ]

    @staticmethod
    def _top(name: str) -> str:
        return ".".join(name.split(".")[:2])

    def _levels(self) -> int:
        """Return the number of layers in import-linter's contract."""
        import tomllib

        document = tomllib.loads((self.checkout / "pyproject.toml").read_text(encoding="utf-8"))
        contracts = document["tool"]["importlinter"]["contracts"]
        return max(len(contract.get("layers", ())) for contract in contracts)

    def _cycles(self) -> Iterator[set[str]]:
        """Yield the sets of modules that import each other (Tarjan 1972, without recursion)."""
        index: dict[str, int] = {}
        low: dict[str, int] = {}
        stack: list[str] = []
        for root in self.modules:
            if root in index:
                continue
            work = [(root, iter(sorted(self.imports[root])))]
            index[root] = low[root] = len(index)
            stack.append(root)
            while work:
                name, others = work[-1]
                for other in others:
                    if other not in index:
                        index[other] = low[other] = len(index)
                        stack.append(other)
                        work.append((other, iter(sorted(self.imports[other]))))
                        break
                    if other in stack:
                        low[name] = min(low[name], index[other])
                else:
                    work.pop()
                    if work:
                        low[work[-1][0]] = min(low[work[-1][0]], low[name])
                    if low[name] == index[name]:
                        cut = stack.index(name)
                        found, stack[cut:] = set(stack[cut:]), []
                        if len(found) > 1:
                            yield found

    def _detector(self) -> tuple[int, int, int]:
        """Return public names, depth of the deepest subclass and files of the class Detector.

        Names are methods and properties, also inherited ones; class flags and fitted attributes,
        which end in ``_``, do not count. Depth counts classes of the package from Detector's first
        ancestor on.
        """
        classes = {one.name: one for module in self.modules.values() for one in module.classes}
        home = {one.name: m.name for m in self.modules.values() for one in m.classes}

        def bases(name: str) -> list[str]:
            found = [ast.unparse(base).split("[")[0].split(".")[-1] for base in classes[name].bases]
            return [base for base in found if base in classes]

        def line(name: str) -> list[str]:
            return [name, *(other for base in bases(name) for other in line(base))]

        def depth(name: str) -> int:
            return 1 + max((depth(base) for base in bases(name)), default=0)

        family = set(line("Detector"))
        names = {
            node.name
            for name in family
            for node in classes[name].body
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        }
        names = {name for name in names if not name.endswith("_")}
        deepest = max(depth(name) for name in classes if "Detector" in line(name))
        return len(names), deepest, len({home[name] for name in family})


# -- walks -----------------------------------------------------------------------------------------

TRACER = """
import atexit, json, sys, threading
found = set()
def look(frame, event, argument):
    name = frame.f_globals.get("__name__", "")
    is_ours = event == "call" and name.partition(".")[0] == "axonad"
    if is_ours and frame.f_code.co_name != "<module>":
        found.add(name)
threading.setprofile(look)
def begin():
    found.clear(); sys.setprofile(look)
def finish():
    sys.setprofile(None); print(json.dumps(sorted(found)))
"""

FILE_WALK = """
from pathlib import Path
from tempfile import TemporaryDirectory
import warnings
import numpy as np
from axonad.cli import main
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
steering = np.convolve(rng.normal(size=1540), np.hanning(41), "valid")
X = np.stack([steering, 0.8 * steering, 0.5 * steering], axis=1) + rng.normal(size=(1500, 3)) * 0.05
with TemporaryDirectory() as folder:
    def call(*words):
        try:
            main([str(word) for word in words])
        except SystemExit as ended:
            assert not ended.code, ended.code
    folder = Path(folder)
    for name, rows in (("normal", X[:1000]), ("drive", X[1000:])):
        lines = ["steering,yaw_rate,lateral", *(",".join(map(str, row)) for row in rows)]
        (folder / f"{name}.csv").write_text("\\n".join(lines))
    begin()
    import contextlib, io
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        call("fit", folder / "normal.csv", "--out", folder / "model", "--set", "epochs=1",
             "--set", "epoch_windows=64", "--budget", "1 per 300 steps")
        call("score", folder / "model", folder / "drive.csv", "--out", folder / "scores.csv",
             "--events", folder / "events.json")
    finish()
"""


def walk(checkout: Path, code: str) -> int:
    """Return the number of modules in which a walk calls a function."""
    env = {**os.environ, "PYTHONPATH": str(checkout / "src"), "OMP_NUM_THREADS": "1"}
    words = [sys.executable, "-c", TRACER + code]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"the walk failed in {checkout}: {done.stderr.strip().splitlines()[-1]}")
    return len(json.loads(done.stdout.splitlines()[-1]))


def imported(checkout: Path) -> int:
    """Return the number of modules of the package that ``axonad --help`` imports."""
    code = (
        "import sys, io, contextlib\n"
        "from axonad.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        "    main(['--help'])\n"
        "print(sum(name.partition('.')[0] == 'axonad' for name in sys.modules))"
    )
    env = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=True)
    return int(done.stdout)


def main() -> None:
    """Print a table with a column for each checkout."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", nargs="*", type=Path, default=[Path(__file__).parents[1]])
    parser.add_argument("--walks", action="store_true", help="run the walks, which takes a minute")
    asked = parser.parse_args()
    columns = []
    for checkout in asked.checkout:
        found = Tree(checkout.resolve()).measures()
        if asked.walks:
            found["modules of: CSV, fit, score, events"] = walk(checkout.resolve(), FILE_WALK)
            found["modules imported by --help"] = imported(checkout.resolve())
        columns.append(found)
    width = max(map(len, columns[0]))
    print(" " * width, *(f"{checkout.resolve().name:>10}" for checkout in asked.checkout))
    for name in columns[0]:
        print(f"{name:{width}}", *(f"{column[name]:>10,}" for column in columns))


if __name__ == "__main__":
    main()
