"""Saved detectors and stream states: JSON documents, and safetensors for arrays.

Neither format can execute code. A document holds a checksum of its own content and of its arrays,
and is written last, so a reader finds either a complete save or an error that names the damaged
file. A checksum is no signature: whoever writes it may write anything, so what is read is also
checked for sense. ``docs/model-files.md`` describes the files.
"""

from axonad.modelfile.arrays import Arrays
from axonad.modelfile.checks import (
    Shapes,
    check_counts,
    check_entries,
    check_indices,
    check_number,
    check_rows,
    take,
)
from axonad.modelfile.document import (
    FORMAT,
    MISFITS,
    check_format,
    damaged,
    parse,
    read_document,
    warn_without_checksum,
    write_document,
)
from axonad.modelfile.fingerprint import fingerprint
from axonad.modelfile.folder import read, write
from axonad.modelfile.plain_file import read_bytes, shown

__all__ = [
    "FORMAT", "MISFITS", "Arrays", "Shapes", "check_counts", "check_entries", "check_format",
    "check_indices", "check_number", "check_rows", "damaged", "fingerprint", "parse", "read",
    "read_bytes", "read_document", "shown", "take", "warn_without_checksum", "write",
    "write_document",
]  # fmt: skip
