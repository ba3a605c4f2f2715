"""The command line: one file per command."""

from axonad.cli.main import main

__all__ = ["main"]
