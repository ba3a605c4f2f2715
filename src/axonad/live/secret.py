"""Passwords and tokens: read from a file or an environment variable."""

from __future__ import annotations

import os
from pathlib import Path

from axonad.errors import ConfigError


def read_secret(what: str, *, file: str, env: str) -> str:
    """Return the text of a file or of an environment variable; empty if neither is named.

    ``what`` names the secret in error messages, such as ``"password of [store]"``. White space at
    the end of a file does not count.
    """
    if file and env:
        raise ConfigError(f"the {what} has both a file and an environment variable; name one")
    if file:
        try:
            return Path(file).read_text(encoding="utf-8").rstrip()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise ConfigError(f"the {what} cannot be read from {file}: {reason}") from None
    if env and env not in os.environ:
        raise ConfigError(f"the {what} should be in the environment variable {env}, not set")
    return os.environ[env] if env else ""
