"""Links to the pages of events, for those who are notified of them."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

from axonad.errors import ConfigError

EXAMPLE = "https://fleet.example.org"


def check_public_url(url: str) -> str:
    """Return the address under which people open the page; raise ``ConfigError`` if it is none."""
    what = "public_url of [server]"
    if "@" in url:  # not repeated in the message: it may hold a password
        raise ConfigError(f"{what} must not contain a user or password: it is sent with each event")
    try:
        parts = urlsplit(url)
        is_right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_right = False
    if not is_right or not url.isprintable() or any(sign in url for sign in " ?#"):
        raise ConfigError(f"{what} must be like {EXAMPLE}, without query, got {url!r:.100}")
    return url


def event_link(public_url: str, id: str) -> str:
    """Return the address of an event's page; empty without a public address.

    >>> event_link("https://fleet.example.org/", "98fc51bd3c927a05")
    'https://fleet.example.org/events/98fc51bd3c927a05'
    """
    if not public_url:
        return ""
    return f"{public_url.rstrip('/')}/events/{quote(id, safe='', errors='surrogatepass')}"
