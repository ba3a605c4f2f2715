"""The address under which people open the page, as a configuration gives it."""

import pytest

from axonad.errors import ConfigError
from axonad.live.config import parse_config
from axonad.live.links import event_link


@pytest.mark.parametrize(
    "url", ["http://localhost:8757", "https://fleet.example.org/", "https://x.example.org/axonad/"]
)
def test_links_lead_below_the_public_address(url):
    config = parse_config({"server": {"public_url": url}})
    assert event_link(config.server.public_url, "a/b") == f"{url.rstrip('/')}/events/a%2Fb"


@pytest.mark.parametrize(
    "url",
    ["fleet.example.org", "ftp://fleet.example.org", "http://", "http://fleet:port", "http://[",
     "https://fleet.example.org/?a=1", "https://fleet.example.org#top", "https://fleet example",
     "https://fleet\n.example"],
)  # fmt: skip
def test_what_is_no_public_address_is_refused_in_a_sentence(url):
    with pytest.raises(ConfigError, match=r"^public_url of \[server\] must be like https://fleet"):
        parse_config({"server": {"public_url": url}})


def test_a_password_in_it_is_refused_and_not_repeated():
    with pytest.raises(ConfigError, match="must not contain a user or password") as refused:
        parse_config({"server": {"public_url": "https://anna:secret@fleet.example.org"}})
    assert "secret" not in str(refused.value)


def test_without_one_there_is_no_link():
    assert event_link("", "e1") == ""
