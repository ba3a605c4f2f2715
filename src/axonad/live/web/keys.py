"""Keys of the web server: random tokens, of which a file keeps only the hashes.

A token is 32 random bytes, so one round of SHA-256 keeps it as safe as a slow hash would. The file
also has the secret that signs the sessions of browsers; they survive a restart of the server.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import secrets
import stat
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

from axonad.atomic import replacement
from axonad.config import check_choice
from axonad.errors import ConfigError, FileError, suggest

PREFIX = "axl_"
ROLES = ("read", "write")
LONGEST = 64  # characters of a name
VERSION = 1


@dataclass(frozen=True)
class Key:
    """What is kept of a key; the token itself is shown once, when it is made."""

    id: str
    name: str
    role: str
    created: str
    sha256: str


class Keys:
    """The keys of a file; it is read again when it has changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._stamp: tuple[int, int, int] | None = None
        self._secret, self._keys = _read(path)
        self._stamp = _stamp(path)

    @property
    def secret(self) -> bytes:
        """The secret that signs sessions."""
        self._refresh()
        return self._secret

    def find(self, token: str) -> Key | None:
        """Return the key of a token; None if there is none."""
        self._refresh()
        given, found = _hash(token), None
        for key in self._keys:  # all are compared, so that the time tells nothing
            if hmac.compare_digest(given, key.sha256):
                found = key
        return found

    def known(self, id: str) -> Key | None:
        """Return the key with an id; None if it was revoked."""
        self._refresh()
        return next((key for key in self._keys if key.id == id), None)

    def _refresh(self) -> None:
        """Read the file again if it has changed; without a readable file no key is known."""
        with self._lock:
            try:
                stamp = _stamp(self.path)
                if stamp != self._stamp:
                    self._secret, self._keys = _read(self.path)
                    self._stamp = stamp
            except (OSError, ConfigError):
                self._keys, self._stamp = [], None


def create_key(path: Path, *, name: str, role: str) -> str:
    """Add a key to a file, which is created if it is missing; return its token."""
    check_choice("role", role, ROLES)
    if not name or len(name) > LONGEST or not name.isprintable():
        raise ConfigError(f"the name of a key must have 1 to {LONGEST} printable characters")
    secret, keys = _read(path) if path.exists() else (secrets.token_bytes(32), [])
    if any(key.name == name for key in keys):
        raise ConfigError(f"there is a key named {name!r} already; revoke it or use another name")
    token = PREFIX + base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip("=")
    created = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    keys.append(Key(secrets.token_hex(6), name, role, created, _hash(token)))
    _write(path, secret, keys)
    return token


def list_keys(path: Path) -> list[Key]:
    """Return the keys of a file."""
    return _read(path)[1]


def revoke_key(path: Path, *, name: str) -> Key:
    """Remove a key from a file; a running server refuses it, and its sessions, from then on."""
    secret, keys = _read(path)
    found = next((key for key in keys if key.name == name), None)
    if found is None:
        raise ConfigError(f"there is no key named {name!r}{suggest(name, [k.name for k in keys])}")
    _write(path, secret, [key for key in keys if key is not found])
    return found


def _read(path: Path) -> tuple[bytes, list[Key]]:
    try:
        if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ConfigError(
                f"the keys file {str(path)!r} can be read or written by others; "
                f"run: chmod 600 {path}"
            )
        document: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileError(
            f"there is no keys file {str(path)!r}; make one with: axonad live-key add NAME"
        ) from None
    except (ValueError, UnicodeDecodeError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"the keys file {str(path)!r} is damaged: {error}") from None
    try:
        if document["version"] != VERSION:
            raise ConfigError(f"the keys file {str(path)!r} was written by a newer version")
        secret = base64.b64decode(document["secret"], validate=True)
        keys = [Key(**{field: str(value) for field, value in k.items()}) for k in document["keys"]]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"the keys file {str(path)!r} is damaged; make a new one") from None
    if len(secret) < 32 or any(key.role not in ROLES for key in keys):
        raise ConfigError(f"the keys file {str(path)!r} is damaged; make a new one")
    return secret, keys


def _write(path: Path, secret: bytes, keys: Sequence[Key]) -> None:
    document = {
        "version": VERSION,
        "secret": base64.b64encode(secret).decode("ascii"),
        "keys": [asdict(key) for key in keys],
    }
    with replacement(path) as temporary:
        temporary.touch(mode=0o600)
        temporary.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _stamp(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino
