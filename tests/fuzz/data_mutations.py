"""Small data files in every dialect and format, and random damage to them."""

from __future__ import annotations

import gzip
import io
import random

import polars as pl

ROWS = 24
LABELS = [int(8 <= i < 11) for i in range(ROWS)]
FRAME = pl.DataFrame(
    {
        "time": [i / 2 for i in range(ROWS)],
        "speed": [round(1.5 * i - 3, 2) if i % 9 else None for i in range(ROWS)],
        "oil °C": [80 + i for i in range(ROWS)],
        "Label": LABELS,
    }
)
EXTREMES = (
    b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff", b"\xff" * 8, b"\x80" * 5 + b"\x01", b"\0" * 8,
    b"\xff\xff\xff\xff\x0f", b"\x7f", b"\x80", b'"', b"\n", b"\r", b",", b";", b"\t", b"|",
    b"1e999", b"-", b"NaN", b"1,5", b"1.5", b"true", b"\xb5", b"\xef\xbb\xbf", b"#", b"PAR1",
    b"\x1f\x8b",
)  # fmt: skip
COMPRESSIONS = ("uncompressed", "snappy", "gzip", "zstd", "lz4", "brotli")


def csv_files() -> dict[str, bytes]:
    """Return CSV files by name, as people have them."""
    text = FRAME.write_csv()
    comma = FRAME.write_csv(separator=";", decimal_comma=True)
    words = FRAME.with_columns(pl.format('at {}\n"x"', "time").alias("time")).write_csv()
    lines = text.splitlines()
    return {
        "comma": text.encode(),
        "semicolon": comma.encode(),
        "tab": FRAME.write_csv(separator="\t").encode(),
        "pipe": FRAME.write_csv(separator="|", decimal_comma=True).encode(),
        "crlf": text.replace("\n", "\r\n").encode(),
        "cr": text.replace("\n", "\r").encode(),
        "bom": text.encode("utf-8-sig"),
        "latin1": comma.encode("latin-1"),
        "utf16": comma.encode("utf-16"),
        "text_times": words.encode(),
        "quoted": FRAME.write_csv(quote_style="always").encode(),
        "trailing": "".join(f"{line},\n" for line in lines).encode(),
        "blank": f"\n{text}\n\n".encode(),
        "units": "\n".join([lines[0], "s,m/s,K,-", *lines[1:]]).encode(),
        "comment": f"# made by hand\n{text}".encode(),
        "spaces": text.replace(",", ", ").encode(),
        "excel": f"sep=;\n{comma}".encode(),
        "short": text.encode()[:-9],
        "bools": text.replace(",0\n", ",false\n").replace(",1\n", ",true\n").encode(),
    }


def parquet_files() -> dict[str, bytes]:
    """Return Parquet files by name: compressions, types, nested columns, row groups."""
    times = pl.Series([1_700_000_000_000_000 + i for i in range(ROWS)])
    typed = FRAME.with_columns(
        time=times.cast(pl.Datetime("us")),
        small=pl.Series(range(ROWS), dtype=pl.Int8),
        big=pl.Series(range(ROWS), dtype=pl.UInt64),
        single=pl.Series(range(ROWS), dtype=pl.Float32),
        is_on=pl.Series([i % 2 == 0 for i in range(ROWS)]),
    )
    nested = {
        "lists": pl.Series([[1.0, i] for i in range(ROWS)]),
        "records": pl.Series([{"x": i, "y": "a"} for i in range(ROWS)]),
        "bytes": pl.Series([b"ab"] * ROWS),
        "arrays": pl.Series([[1, i] for i in range(ROWS)], dtype=pl.Array(pl.Int64, 2)),
    }
    frames = {"typed": typed, "text": FRAME.with_columns(pl.col("time").cast(pl.String))}
    frames |= {name: FRAME.with_columns(column.alias("x")) for name, column in nested.items()}
    found = {name: _parquet(frame) for name, frame in frames.items()}
    found |= {name: _parquet(FRAME, compression=name) for name in COMPRESSIONS}
    return found | {"groups": _parquet(typed, row_group_size=5, data_page_size=64)}


def corpus() -> dict[str, bytes]:
    """Return all files; the name ends with the suffix of the file."""
    csv = csv_files()
    return (
        {f"{name}.csv": data for name, data in csv.items()}
        | {f"{name}.csv.gz": gzip.compress(data, mtime=0) for name, data in csv.items()}
        | {f"{name}.parquet": data for name, data in parquet_files().items()}
    )


def damage(name: str, data: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    """Return a file with a few random changes; of a gzipped one, often of its text."""
    if name.endswith(".gz") and rng.random() < 0.7:
        return gzip.compress(_damage(gzip.decompress(data), rng, others), 1, mtime=0)
    if name.endswith(".parquet") and rng.random() < 0.5:  # leave the ends, which are checked first
        footer = int.from_bytes(data[-8:-4], "little") + 8
        cut = rng.choice((4, len(data) - footer))
        inner = _damage(data[cut:-8], rng, others)
        return (
            data[:cut]
            + inner
            + (len(inner) if cut > 4 else footer - 8).to_bytes(4, "little")
            + data[-4:]
        )
    return _damage(data, rng, others)


def _damage(data: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + rng.choice((1, 1, 2, 4, 16, 200)))
        kind = rng.randrange(8)
        if kind == 0 and at < len(data):
            data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        elif kind == 1:
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        elif kind == 2:
            data = data[:at] + data[end:]
        elif kind == 3:
            data = data[:end] + data[at:end] * rng.choice((1, 2, 20)) + data[end:]
        elif kind == 4:
            extreme = rng.choice(EXTREMES)
            data = data[:at] + extreme + data[at + len(extreme) :]
        elif kind == 5:
            data = data[:at] + rng.choice(EXTREMES) + data[at:]
        elif kind == 6:
            data = data[:at] if rng.random() < 0.3 else data
        else:
            other = rng.choice(others)
            start = rng.randrange(len(other) + 1)
            data = data[:at] + other[start : start + end - at] + data[end:]
    return data


def _parquet(frame: pl.DataFrame, **options: object) -> bytes:
    file = io.BytesIO()
    frame.write_parquet(file, **options)
    return file.getvalue()
