"""URLs of stores, and passwords that appear nowhere."""

import sys

import pytest

from axonad.errors import ConfigError, FileError, MissingDependencyError
from axonad.live.config import Storing
from axonad.live.store.choose import open_store
from axonad.live.store.contract import StoreUnavailableError
from axonad.live.store.memory import MemoryStore


def test_the_url_chooses_the_store(tmp_path):
    assert isinstance(open_store(Storing(url="sqlite::memory:")), MemoryStore)
    store = open_store(Storing(url=f"sqlite:{tmp_path}/a b?.db"), partition="3")
    store.start(model="model")
    store.close()
    assert (tmp_path / "a b?-3.db").exists()


@pytest.mark.parametrize(
    "url", ["", "sqlite", "sqlite:", "fleet.db", "mysql://me:hunter2@host/db", "postgresql:db"]
)
def test_other_urls_are_refused(url):
    with pytest.raises(ConfigError, match=r"must be sqlite:FILE, sqlite::memory: or") as caught:
        open_store(Storing(url=url))
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hunter2@host/db",
        "postgresql://me@host/db?password=hunter2",
        "postgresql://me:hunter2%zz@host/db",
        "postgresql://me@host/db?pass=hunter2",
    ],
)
def test_a_password_in_the_url_is_refused_and_not_repeated(url):
    with pytest.raises(ConfigError, match=r"url of \[store\]") as caught:
        open_store(Storing(url=url))
    assert "hunter2" not in f"{caught.value!r} {caught.value.__cause__!r}"


def test_the_password_comes_from_a_file_or_the_environment(tmp_path, monkeypatch):
    url = "postgresql://me@host/fleet"
    file = tmp_path / "password"
    file.write_text("hunter2\n")
    monkeypatch.setenv("FLEET_PASSWORD", "hunter3")
    stores = [
        open_store(Storing(url=url, password_file=str(file)), partition="7"),
        open_store(Storing(url=url, password_env="FLEET_PASSWORD")),  # noqa: S106
    ]
    assert [store._db._settings["password"] for store in stores] == ["hunter2", "hunter3"]
    assert [store._db.schema for store in stores] == ["axonad_live_7", "axonad_live"]
    assert "hunter" not in repr(stores[0]._db) + stores[0]._db.name
    with pytest.raises(FileError, match="cannot be read: No such file"):
        open_store(Storing(url=url, password_file=str(tmp_path / "none")))
    with pytest.raises(ConfigError, match="environment variable UNSET is not set"):
        open_store(Storing(url=url, password_env="UNSET"))  # noqa: S106
    with pytest.raises(ConfigError, match="not both"):
        open_store(Storing(url=url, password_file=str(file), password_env="UNSET"))  # noqa: S106


def test_a_server_that_is_away_costs_one_sentence_without_the_password(monkeypatch):
    monkeypatch.setenv("FLEET_PASSWORD", "hunter2")
    url = "postgresql://me@127.0.0.1:1/fleet"
    store = open_store(Storing(url=url, password_env="FLEET_PASSWORD"))  # noqa: S106
    with pytest.raises(StoreUnavailableError, match=r"'fleet' on .* cannot be") as caught:
        store.start(model="model")
    assert "\n" not in str(caught.value)
    assert "hunter2" not in f"{caught.value!r} {caught.value.__cause__!r}"


def test_a_missing_driver_is_named_with_its_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'axonad\[postgres\]'"):
        open_store(Storing(url="postgresql://me@host/db"))


def test_a_partition_is_a_plain_name():
    with pytest.raises(ConfigError, match="partition must be lower-case letters and digits"):
        open_store(Storing(), partition="../3")
