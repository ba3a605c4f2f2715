"""The command line: one command, one file."""

from axonad.cli.main import main

__all__ = ["main"]
