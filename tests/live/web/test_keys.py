"""Keys: what the file holds, and when a server refuses to start."""

from __future__ import annotations

import os
import stat

import pytest
from typer.testing import CliRunner

from axonad.cli.app import app as commands
from axonad.errors import AxonADError, ConfigError
from axonad.live.config import Server
from axonad.live.web.keys import Keys, create_key, list_keys
from axonad.live.web.security import COOKIE, LASTS, Door, cautions, open_keys

EVERYWHERE = "0.0.0.0"  # noqa: S104


@pytest.fixture
def path(tmp_path):
    return tmp_path / "keys.json"


def test_the_file_holds_no_key_and_is_nobody_elses(path):
    tokens = [create_key(path, name=name, role="read") for name in ("anna", "ben")]
    assert len(set(tokens)) == 2 and all(len(token) == 47 for token in tokens)
    text = path.read_text()
    assert not any(token[4:] in text for token in tokens)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Keys(path).find(tokens[1]).name == "ben"
    path.chmod(0o640)
    if os.name == "posix":
        with pytest.raises(ConfigError, match="chmod 600"):
            list_keys(path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version":2}', '{"version":1,"keys":[]}',
                                  '{"version":1,"secret":"AA==","keys":[]}'])  # fmt: skip
def test_a_damaged_file_is_refused(path, text):
    path.touch(mode=0o600)
    path.write_text(text)
    with pytest.raises(ConfigError, match="keys file"):
        Keys(path)


def test_others_can_reach_a_server_with_keys_only(path):
    assert open_keys(Server()) is None
    for host in (EVERYWHERE, "::", "192.168.0.7", "fleet.example"):
        with pytest.raises(ConfigError, match="set keys_file"):
            open_keys(Server(host=host))
        with pytest.raises(AxonADError, match="live-key add"):
            open_keys(Server(host=host, keys_file=str(path)))
    create_key(path, name="anna", role="write")
    server = Server(host=EVERYWHERE, keys_file=str(path))
    assert open_keys(server) is not None
    assert "unencrypted" in cautions(server)[0]


def test_a_session_ends_after_a_week(path):
    token, now = create_key(path, name="anna", role="read"), [1_000.0]
    door = Door(Server(), Keys(path), clock=lambda: now[0])
    cookies = {COOKIE: door.log_in(token)}
    assert door.recognise({}, cookies).name == "anna"
    now[0] += LASTS
    assert door.recognise({}, cookies) is None


def test_keys_are_made_listed_and_revoked_by_commands(path):
    def run(*words):
        return CliRunner().invoke(commands, ["live-key", *words, "--keys-file", str(path)])

    token = run("add", "anna", "--role", "write").stdout.strip()
    assert Keys(path).find(token).role == "write"
    assert "already" in str(run("add", "anna").exception)
    assert "anna" in run("list").stdout and token not in run("list").stdout
    assert "did you mean 'anna'" in str(run("revoke", "ana").exception)
    assert run("revoke", "anna").exit_code == 0
    assert Keys(path).find(token) is None
