"""HTTP POST of JSON to another service."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Mapping
from urllib.parse import urlsplit

from axonad.errors import ConfigError
from axonad.live.sinks.contract import SinkError

TIMEOUT = 10.0  # seconds


def check_url(what: str, url: str) -> str:
    """Return an HTTP address; raise ``ConfigError`` if it is none."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{what} must be an address such as http://host:9093, got {url!r}")
    return url


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Redirects are refused: a secret would go to another place than the configured one."""

    def redirect_request(self, *args: object, **kwargs: object) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirect)


def post(
    url: str, body: bytes, *, headers: Mapping[str, str] | None = None, timeout: float = TIMEOUT
) -> None:
    """Send a JSON body; raise :class:`SinkError` unless the answer is a success."""
    lines = {"Content-Type": "application/json"} | dict(headers or {})
    request = urllib.request.Request(  # noqa: S310 - check_url lets only http and https through
        url, data=body, method="POST", headers=lines
    )
    host = urlsplit(url).hostname
    try:
        with _opener.open(request, timeout=timeout) as answer:
            answer.read(1024)
    except urllib.error.HTTPError as error:
        with error:
            detail = error.read(200).decode("utf-8", "replace").strip()
        raise SinkError(f"{host} answered {error.code} {detail!r}") from None
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise SinkError(f"{host} cannot be reached: {reason}") from None
