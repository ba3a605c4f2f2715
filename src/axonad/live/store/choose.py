"""The store of a URL: ``sqlite:FILE``, ``sqlite::memory:`` or ``postgresql://user@host/database``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from axonad.errors import ConfigError
from axonad.extras import need
from axonad.live.config import Storing
from axonad.live.secrets import read_secret
from axonad.live.store import postgres, sqlite
from axonad.live.store.contract import Store
from axonad.live.store.memory import MemoryStore
from axonad.live.store.sql import SqlStore

SCHEMA = "axonad_live"
KINDS = "sqlite:FILE, sqlite::memory: or postgresql://user@host/database"


def open_store(config: Storing, *, partition: str = "") -> Store:
    """Return the store of a configuration, not started yet.

    Parameters
    ----------
    partition
        Name of the part of the fleet it is for: each has a file or a schema of its own.

    """
    if partition and not re.fullmatch(r"[a-z0-9_]{1,32}", partition):
        raise ConfigError(f"partition must be lower-case letters and digits, got {partition!r}")
    kind, _, rest = config.url.partition(":")
    if kind == "sqlite" and rest:
        return MemoryStore() if rest == ":memory:" else _sqlite(Path(rest), partition)
    if kind in ("postgresql", "postgres") and rest.startswith("//"):
        return _postgres(config, partition)
    got = repr(kind + ":") if re.fullmatch("[a-z0-9+]{1,20}", kind) and rest else "another text"
    raise ConfigError(f"url of [store] must be {KINDS}; got {got}")


def _sqlite(path: Path, partition: str) -> Store:
    if partition:
        path = path.with_name(f"{path.stem}-{partition}{path.suffix}")
    return SqlStore(sqlite.SqliteDatabase(path), dialect=sqlite.DIALECT)


def _postgres(config: Storing, partition: str) -> Store:
    schema = f"{SCHEMA}_{partition}" if partition else SCHEMA
    settings = _settings(config.url)
    if password := read_secret(
        "password of [store]", file=config.password_file, env=config.password_env
    ):
        settings["password"] = password
    return SqlStore(postgres.PostgresDatabase(settings, schema=schema), dialect=postgres.DIALECT)


def _settings(url: str) -> dict[str, Any]:
    """Return the settings of libpq in a URL. Messages do not repeat it: it may hold a password."""
    driver = need("psycopg", what="stores in PostgreSQL need")
    try:
        settings: dict[str, Any] = driver.conninfo.conninfo_to_dict(url)
    except driver.Error:
        raise ConfigError(
            f"url of [store] is not a URL of PostgreSQL; it should look like {KINDS}"
        ) from None
    if "password" in settings:
        raise ConfigError(
            "url of [store] has a password in it; put it into a file and name that by "
            "password_file, or name an environment variable by password_env"
        )
    return settings
