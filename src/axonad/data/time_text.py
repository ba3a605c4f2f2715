"""Times written as text, in ISO 8601 and in the forms that tools export."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

# 26.07.2021 and 2021/07/26; not 07/26/2021 or 26/07/2021, which may mean two days.
DATE = r"(?:(?P<d1>\d{1,2})\.(?P<m1>\d{1,2})\.(?P<y1>\d{4})|(?P<y2>\d{4})(?P<mark>[-/.])(?P<m2>\d{1,2})(?P=mark)(?P<d2>\d{1,2}))"  # noqa: E501
CLOCK = r"(?P<h>\d{1,2}):(?P<min>\d{2})(?::(?P<s>\d{2})(?:[.,](?P<fraction>\d{1,12}))?)?"
ZONE = r"(?:(?P<utc>Z|UTC|GMT)|(?P<sign>[+-])(?P<zh>\d{2}):?(?P<zm>\d{2})?)"
FORM = re.compile(rf"{DATE}[T,\s]\s*{CLOCK}\s*{ZONE}?", re.IGNORECASE)


def parse_time(text: str) -> datetime:
    """Return a time; without a zone it is UTC. Raise ValueError if the text is none.

    >>> parse_time("26.07.2021 04:40:54,5 +02:00").isoformat()
    '2021-07-26T04:40:54.500000+02:00'
    >>> parse_time("2021/07/26 04:40 UTC").isoformat()
    '2021-07-26T04:40:00+00:00'
    """
    text = text.strip()
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = _parse_form(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _parse_form(text: str) -> datetime:
    match = FORM.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r:.40} is no time")
    part = match.groupdict()
    micros = int(f"{part['fraction'] or '':0<6.6}" or 0)
    zone: timezone = UTC
    if part["sign"]:
        away = timedelta(hours=int(part["zh"]), minutes=int(part["zm"] or 0))
        zone = timezone(away if part["sign"] == "+" else -away)
    return datetime(
        int(part["y1"] or part["y2"]), int(part["m1"] or part["m2"]),
        int(part["d1"] or part["d2"]), int(part["h"]), int(part["min"]), int(part["s"] or 0),
        micros, zone,
    )  # fmt: skip
