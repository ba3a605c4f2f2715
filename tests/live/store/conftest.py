"""Places for stores: memory, a SQLite file, a schema of a PostgreSQL database of a random name."""

import importlib.util
import os
import secrets
from pathlib import Path

import pytest

from axonad.live.config import Storing
from axonad.live.store.choose import open_store

SERVERS = Path(__file__).parents[3] / "benchmarks/live/servers.py"
SERVER = os.environ.get("AXONAD_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")


class Place:
    """Where a test opens its store, as often as it likes; ``other`` makes a place for another."""

    def __init__(self, kind, url):
        self.kind, self.url = kind, url
        self.partition = "0"
        self._opened = []

    def open(self, *, wait=0.2):
        store = open_store(Storing(url=self.url), partition=self.partition)
        if self.kind != "memory":
            store._db.timeout = store._db.patience = wait  # tests wait for no one
        self._opened.append(store)
        return store

    def start(self, *, model="model"):
        store = self.open()
        store.start(model=model)
        return store

    def other(self):
        self.partition = secrets.token_hex(4)

    def close(self):
        while self._opened:
            self._opened.pop().close()


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory):
    """The URL of a server: the one that runs, or else one started for the tests."""
    psycopg = pytest.importorskip("psycopg")
    try:
        psycopg.connect(SERVER, connect_timeout=3).close()
        yield SERVER
        return
    except psycopg.OperationalError:
        programs = list(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not programs:
        pytest.skip("no PostgreSQL server; set AXONAD_TEST_POSTGRES to the URL of one")
    spec = importlib.util.spec_from_file_location("live_servers", SERVERS)
    servers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(servers)
    server = servers.Postgres(tmp_path_factory.mktemp("postgres"))
    server.start()
    yield server.url
    server.stop()


@pytest.fixture(scope="session")
def postgres_url(postgres_server):
    """The URL of a new database, which is dropped afterwards."""
    psycopg = pytest.importorskip("psycopg")
    server = psycopg.connect(postgres_server, autocommit=True, connect_timeout=3)
    name = f"axonad_test_{secrets.token_hex(6)}"
    parts = psycopg.conninfo.conninfo_to_dict(postgres_server)
    server.execute(f"CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0")
    password = parts.pop("password", None)
    if password:
        os.environ["PGPASSWORD"] = password
    user, host = parts.get("user", "postgres"), parts.get("host", "127.0.0.1")
    yield f"postgresql://{user}@{host}:{parts.get('port', 5432)}/{name}"
    server.execute(f"DROP DATABASE {name} WITH (FORCE)")
    server.close()


def make_place(kind, request):
    if kind == "postgres":
        place = Place(kind, request.getfixturevalue("postgres_url"))
        place.partition = secrets.token_hex(4)
        return place
    path = request.getfixturevalue("tmp_path") / "live.db"
    return Place(kind, "sqlite::memory:" if kind == "memory" else f"sqlite:{path}")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.live)])
def place(request):
    """A place that lasts: SQLite and PostgreSQL."""
    found = make_place(request.param, request)
    yield found
    found.close()


@pytest.fixture
def file_place(request):
    found = make_place("sqlite", request)
    yield found
    found.close()


@pytest.fixture
def server_place(request):
    found = make_place("postgres", request)
    yield found
    found.close()
