"""Install release 0.2.0 into an environment of its own, so that one run compares it with this tree.

Run: python tools/release_0_2_0.py [FOLDER]

The release is commit 5d9358e of this repository, which has no tag. ``FOLDER`` (``.release-0.2.0``)
gets its source in ``source`` and an environment in ``venv`` with the versions of its constraints;
``FOLDER/venv/bin/python`` then runs it. A folder that is complete is left as it is.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path

COMMIT = "5d9358e"
ROOT = Path(__file__).resolve().parents[1]


def install(folder: Path) -> Path:
    """Return the interpreter of release 0.2.0, which is installed first if it is not there."""
    source, python = folder / "source", folder / "venv" / "bin" / "python"
    if (folder / "complete").exists():
        return python
    source.mkdir(parents=True, exist_ok=True)
    words = ["git", "archive", COMMIT]
    packed = subprocess.run(words, cwd=ROOT, capture_output=True, check=False)
    if packed.returncode:
        sys.exit(
            f"commit {COMMIT} is not in this clone; fetch the whole history (git fetch --unshallow)"
        )
    with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
        archive.extractall(source, filter="data")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
         "--constraint", str(source / "constraints.txt"), f"{source}[dev]"],
        check=True,
    )  # fmt: skip
    (folder / "complete").touch()
    return python


def main() -> None:
    """Install the release and print the path of its Python."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / ".release-0.2.0")
    sys.stdout.write(f"{install(parser.parse_args().folder.resolve())}\n")


if __name__ == "__main__":
    main()
