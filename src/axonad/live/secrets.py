"""Passwords and tokens, from a file or an environment variable. They are never shown or logged."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from axonad.errors import ConfigError, FileError

LOG = logging.getLogger("axonad.live")
OTHERS = stat.S_IRGRP | stat.S_IROTH
MAX_SECRET = 65_536  # bytes


def read_secret(name: str, *, file: str = "", env: str = "") -> str:
    """Return a secret, empty if neither a file nor a variable is named.

    ``name`` is that of the key without its ending, such as ``password of [mqtt]``. The end of the
    file's line is no part of the secret. A file that everyone may read is used, with a warning:
    containers mount secrets like that.
    """
    if file and env:
        raise ConfigError(f"{name}: set the file or the environment variable, not both")
    if env:
        value = os.environ.get(env, "")
        if not value:
            raise ConfigError(f"{name}: the environment variable {env} is not set")
        return value
    return _read_file(name, Path(file)) if file else ""


def split_url(name: str, url: str, *, schemes: dict[str, int]) -> tuple[SplitResult, int]:
    """Return the parts of a URL and its port; ``schemes`` has the usual port of each.

    A URL with a password is refused, since URLs are shown and logged.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ConfigError(f"{name} is no URL; expected {_examples(schemes)}") from None
    if parts.username is not None or parts.password is not None:
        raise ConfigError(
            f"{name} must not contain a user or password; use username and password_file"
        )
    if parts.scheme not in schemes or not parts.hostname:
        raise ConfigError(f"{name} must be like {_examples(schemes)}, got {url!r:.100}")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ConfigError(f"{name} must end with the port, like {_examples(schemes)}, got {url!r}")
    return parts, port or schemes[parts.scheme]


def _examples(schemes: dict[str, int]) -> str:
    return " or ".join(f"{scheme}://host:{port}" for scheme, port in schemes.items())


def _read_file(name: str, path: Path) -> str:
    try:
        with path.open("rb") as file:
            is_shared = bool(os.fstat(file.fileno()).st_mode & OTHERS)
            data = file.read(MAX_SECRET + 1)
        value = data.decode().strip("\r\n")
    except OSError as error:
        raise FileError(f"{name}: {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{name}: {path} is not text in UTF-8") from None
    if not value or len(data) > MAX_SECRET:
        raise ConfigError(f"{name}: {path} must hold 1 to {MAX_SECRET:,} bytes, got {len(data):,}")
    if is_shared and os.name == "posix":
        LOG.warning("%s: %s can be read by other users; chmod 600 prevents that", name, path)
    return value
