"""Runs the code blocks of a page in their order, in one folder and one Python namespace."""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import sys
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from axonad.cli import main
from tests.conftest import ROOT
from tests.docs.blocks import Block, find_blocks, find_commands

DRIVES = ROOT / "docs" / "tutorials" / "recorded-drives.md"  # its first block writes drives/
WRITTEN = "text"  # language of a block with the output of the Python block above it


@dataclass(frozen=True)
class Output:
    """What a command or Python block printed, and lines ``first`` to ``last`` that show it."""

    what: str
    first: int
    last: int
    shown: str | None
    real: str


def run_page(page: Path, folder: Path) -> list[Output]:
    """Run every block of a page in a folder and return the outputs; raise if one fails."""
    blocks = find_blocks(page.read_text(encoding="utf-8"))
    _prepare(page, folder)
    space: dict[str, Any] = {"__name__": "__page__"}
    outputs: list[Output] = []
    with chdir(folder), _importing_from(folder):
        for i, block in enumerate(blocks):
            where = f"{page.name}, line {block.first}"
            if block.not_run or block.language == WRITTEN:
                continue
            if block.title:
                Path(block.title).write_text(block.text + "\n", encoding="utf-8")
            elif block.language == "python":
                following = blocks[i + 1] if i + 1 < len(blocks) else None
                outputs.append(_run_python(block, following, space, where))
            elif block.language == "console":
                for command in find_commands(block):
                    real = run_command(command.words, folder)
                    outputs.append(
                        Output(f"{where}: {command.words}", command.first, command.last,
                               command.shown or None, real)
                    )  # fmt: skip
            else:
                raise AssertionError(
                    f"{where}: a block of {block.language!r} needs a title, or a comment above it "
                    "that says why it is not run"
                )
    return outputs


def _prepare(page: Path, folder: Path) -> None:
    """Put into a folder what a reader has: a checkout's benchmarks and, for the README, drives."""
    (folder / "benchmarks").symlink_to(ROOT / "benchmarks")
    if page == ROOT / "README.md":
        first = find_blocks(DRIVES.read_text(encoding="utf-8"))[0]
        with chdir(folder):
            exec(compile(first.text, DRIVES.name, "exec"), {})  # noqa: S102 - our own


def _run_python(block: Block, after: Block | None, space: dict[str, Any], where: str) -> Output:
    printed = io.StringIO()
    code = compile("\n" * block.first + block.text, where, "exec")
    with redirect_stdout(printed):
        exec(code, space)  # noqa: S102 - the pages are our own
    shown = after if after is not None and after.language == WRITTEN and not after.title else None
    if shown is None:
        assert not printed.getvalue(), f"{where} prints what no block below it shows"
        return Output(where, block.last, block.last, None, "")
    return Output(where, shown.first, shown.last, shown.text, printed.getvalue().rstrip())


def run_command(words: str, folder: Path) -> str:
    """Run a command line; return what it prints, and raise if it fails."""
    tokens = [*shlex.shlex(words, posix=False, punctuation_chars=True)]
    if tokens[0] == "axonad" and not any(set(token) <= set("|<>;&") for token in tokens):
        return _run_axonad(shlex.split(words)[1:])  # it expands patterns itself
    binaries = folder / ".bin"
    binaries.mkdir(exist_ok=True)
    script = binaries / "axonad"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m axonad "$@"\n')
    script.chmod(0o755)
    paths = {
        "PATH": f"{binaries}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
    }
    done = subprocess.run(  # noqa: S603 - our own pages
        ["bash", "-c", f"set -o pipefail; {words}"], env=os.environ | paths, cwd=folder,  # noqa: S607
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{words}: exit code {done.returncode}\n{done.stdout}"
    return done.stdout.rstrip()


def _run_axonad(words: list[str]) -> str:
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        try:
            main(words)
        except SystemExit as ended:
            code = ended.code
    assert code in (0, None), f"axonad {shlex.join(words)}: code {code}\n{printed.getvalue()}"
    return "\n".join(line.rstrip() for line in printed.getvalue().rstrip().splitlines())


@contextmanager
def _importing_from(folder: Path):
    """Let files that a page writes be imported, and forget them afterwards."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
                del sys.modules[name]
