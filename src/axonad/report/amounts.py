"""Durations and sizes as people write them."""

from __future__ import annotations

UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def format_duration(seconds: float) -> str:
    """Return a duration as people write it.

    >>> [format_duration(s) for s in (0.25, 13.2, 125, 3840)]
    ['0.25 s', '13.2 s', '2 min 5 s', '1 h 4 min']
    """
    if seconds < 60:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min" + (f" {whole % 60} s" if whole % 60 else "")
    minutes = round(seconds / 60)
    return f"{minutes // 60:,} h" + (f" {minutes % 60} min" if minutes % 60 else "")


def format_size(count: float) -> str:
    """Return a number of bytes as people write it.

    >>> [format_size(n) for n in (17, 1536, 3 * 2**20, 15.62 * 2**30)]
    ['17 bytes', '1.5 KiB', '3 MiB', '15.6 GiB']
    """
    unit = 0
    while count >= 1000 and unit < len(UNITS) - 1:
        count, unit = count / 1024, unit + 1
    return f"{count:.3g} {UNITS[unit]}"
