import logging

import pytest

from axonad.errors import ConfigError, FileError
from axonad.live.secrets import read_secret


def test_a_secret_comes_from_a_file_or_a_variable(tmp_path, monkeypatch, caplog):
    path = tmp_path / "password"
    path.write_text("hunter2\n")
    path.chmod(0o600)
    monkeypatch.setenv("PASSWORD", "hunter3")
    with caplog.at_level(logging.DEBUG):
        assert read_secret("password", file=str(path)) == "hunter2"
        assert read_secret("password", env="PASSWORD") == "hunter3"
        assert read_secret("password") == ""
        assert caplog.text == ""
        path.chmod(0o644)
        assert read_secret("password", file=str(path)) == "hunter2"
    assert "chmod 600" in caplog.text
    assert "hunter" not in caplog.text


def test_a_secret_that_is_not_there_is_an_error(tmp_path):
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(FileError, match=r"password of \[mqtt\]: .* cannot be read"):
        read_secret("password of [mqtt]", file=str(tmp_path / "none"))
    with pytest.raises(ConfigError, match="must hold 1 to"):
        read_secret("password", file=str(tmp_path / "empty"))
    with pytest.raises(ConfigError, match="not text in UTF-8"):
        read_secret("password", file=str(tmp_path / "binary"))
    with pytest.raises(ConfigError, match="not both"):
        read_secret("password", file="a", env="B")
