"""What to read, and the pieces of the series that is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from axonad.data.readers import RECORDINGS, find_reader
from axonad.data.readers.asked import Asked
from axonad.errors import AxonADError, FileError, is_out_of_memory

if TYPE_CHECKING:
    from axonad.data.readers.table import End, Piece

LONGEST = 1000  # characters of a message
SHOWN = 80  # characters of what a parser said when it failed
CSV = "axonad.data.readers.csv:read_csv"


@dataclass(frozen=True, kw_only=True)
class Request:
    """A file or the bytes of one, and how to read it. All fields can be written as JSON."""

    target: str  # the function that reads it, as in READERS
    path: str = ""  # absolute; empty for bytes
    shown: str  # the path as the user gave it, for messages
    name: str
    size: int  # in bytes
    asked: Asked = Asked()  # noqa: RUF009 - frozen
    separator: str | None = None
    rows: int | None = None  # of a chunk; None: the whole at once
    time_kind: str | None = None  # of the time column, if known from an earlier iteration

    @classmethod
    def of(
        cls,
        path: str | Path,
        asked: Asked,
        *,
        separator: str | None = None,
        rows: int | None = None,
    ) -> Self:
        """Return the request for a file; raise an error if it is missing or of another format."""
        path = Path(path)
        target, size = find_reader(path)
        return cls(
            target=target, path=str(path.absolute()), shown=str(path), name=path.name,
            size=size, asked=asked, separator=separator, rows=rows,
        )  # fmt: skip

    @property
    def format(self) -> str:
        """The name of the format, for messages."""
        module = self.target.split(":")[0].rpartition(".")[2]
        if module == "can_log":
            return Path(self.name).suffix[1:].upper()
        return module.capitalize() if module == "parquet" else module.upper()

    @property
    def is_recording(self) -> bool:
        """Whether the file holds channels with times of their own, which get onto a raster."""
        return self.target in RECORDINGS

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON has them."""
        return vars(self) | {"asked": self.asked.to_json()}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Self:
        """Return a request from its fields."""
        return cls(**fields | {"asked": Asked.from_json(fields["asked"])})


def read_pieces(request: Request, data: bytes | None = None) -> Iterator[Piece | End]:
    """Yield the pieces of the series in a file or in ``data``; every error is an AxonADError."""
    from axonad.data.readers.table import pieces_in_chunks, pieces_of_whole

    module, function = request.target.split(":")
    try:
        table = getattr(import_module(module), function)(
            Path(request.path) if data is None else data,
            shown_path=request.shown,
            name=request.name,
            asked=request.asked,
            separator=request.separator,
            rows=request.rows,
        )
        if request.rows is None:
            yield from pieces_of_whole(table)
        else:
            yield from pieces_in_chunks(table, request.time_kind)
    except AxonADError as error:
        raise type(error)(to_sentence(str(error))) from None
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # polars panics with a BaseException
        failed = to_file_error(error, request)
        if request.is_recording and isinstance(error, Exception) and not is_out_of_memory(error):
            raise failed from None  # its parsers are Python, so the process can go on
        raise failed from error


def to_file_error(error: BaseException, request: Request) -> FileError:
    """Return the error of a parser as a sentence about the file."""
    if is_out_of_memory(error):
        reason = "it needs more memory than this machine has"
    else:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        if not isinstance(error, Exception):  # a panic of the parser
            reason = f"it is damaged; its parser failed with {reason[:SHOWN]!r}"
        elif request.is_recording and not isinstance(error, OSError):
            kind = type(error).__name__
            reason = f"it is damaged or of another format ({kind}: {reason[:SHOWN]})"
    return FileError(to_sentence(f"{request.shown} cannot be read as {request.format}: {reason}"))


def to_sentence(text: str) -> str:
    r"""Return a message on one line and not too long, whatever of a file it quotes.

    >>> to_sentence("no column 'a\nb'")
    "no column 'a\\nb'"
    """
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
