"""Code blocks of a Markdown page, and the comparison of shown output with real output.

- ``python``: run; what it prints is shown in the ``text`` block that follows.
- ``console``: lines that begin with ``$ `` are commands (a backslash continues them), the lines
  below a command are what it prints; a command without such lines must just succeed.
- a block of any language with ``title="name"``: a file that the page's reader writes.

A block that cannot run in a test has ``<!-- not run: why -->`` on the line above it. In shown
output, ``...`` stands for anything, and numbers may differ by 2 % or one unit of their last digit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

TOLERANCE = 0.02
NUMBER = r"\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?"
NOT_RUN = re.compile(r"<!-- not run: (.+) -->")
FENCE = re.compile(r"^(`{3,})\s*([\w+-]*)\s*(.*)$")


@dataclass(frozen=True)
class Block:
    """One fenced block; ``first`` and ``last`` are its lines between the fences, from 0."""

    language: str
    title: str
    first: int
    last: int
    lines: tuple[str, ...]
    not_run: str = ""

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@dataclass(frozen=True)
class Command:
    """A command of a console block, and the lines of the page that show its output."""

    words: str
    first: int
    last: int
    shown: str


def find_blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a page."""
    lines = text.splitlines()
    blocks, i = [], 0
    while i < len(lines):
        opened = FENCE.match(lines[i])
        if not opened:
            i += 1
            continue
        end = next(j for j in range(i + 1, len(lines)) if lines[j].startswith(opened[1]))
        title = re.search(r'title="([^"]+)"', opened[3])
        above = NOT_RUN.search(lines[i - 1]) if i else None
        blocks.append(
            Block(
                language=opened[2], title=title[1] if title else "", first=i + 1, last=end,
                lines=tuple(lines[i + 1 : end]), not_run=above[1] if above else "",
            )
        )  # fmt: skip
        i = end + 1
    return blocks


def find_commands(block: Block) -> list[Command]:
    """Return the commands of a console block with their shown output."""
    commands, i = [], 0
    while i < len(block.lines):
        line = block.lines[i]
        assert line.startswith("$ "), f"line {block.first + i + 1}: a command begins with '$ '"
        words = line[2:]
        while words.endswith("\\"):
            i += 1
            words = words[:-1] + block.lines[i].strip()
        start = i = i + 1
        while i < len(block.lines) and not block.lines[i].startswith("$ "):
            i += 1
        shown = "\n".join(block.lines[start:i])
        commands.append(Command(words, block.first + start, block.first + i, shown))
    return commands


def difference(shown: str, real: str) -> str:
    """Return where real output is not as shown, as text; empty if they agree."""
    pieces = re.split(rf"({NUMBER}|\.\.\.)", " ".join(shown.split()))
    pattern = "".join(
        r".*?" if piece == "..." else f"({NUMBER})" if i % 2 else re.escape(piece)
        for i, piece in enumerate(pieces)
    )
    found = re.fullmatch(pattern, " ".join(real.split()))
    if not found:
        return f"shown:\n{shown}\nreal:\n{real}"
    wanted = [piece for piece in pieces[1::2] if piece != "..."]
    far = [
        f"{old} is now {new}"
        for old, new in zip(wanted, found.groups(), strict=True)
        if not _is_close(old, new)
    ]
    return f"{'; '.join(far)}\nreal:\n{real}" if far else ""


def _is_close(old: str, new: str) -> bool:
    a, b = (float(text.replace(",", "")) for text in (old, new))
    decimals = len(old.partition("e")[0].partition(".")[2])
    unit = 10.0**-decimals if "e" not in old else 0.0
    return abs(a - b) <= max(TOLERANCE * abs(a), unit) * 1.001
