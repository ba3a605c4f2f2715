from __future__ import annotations

import hashlib
import json
import warnings
from pathlib import Path

import pytest

from axonad.errors import DataWarning, FileError, ModelFileError
from axonad.modelfile import read_document, warn_without_checksum, write_document
from tests.fuzz.forging import forge

KIND = "axonad-test"
CONTENT = {"kind": KIND, "format": 2, "ä": [0.1, -0.0, 1e-300, 10**20], "none": None}


def read(path: Path):
    return read_document(path, kind=KIND, newest=2)


@pytest.fixture
def saved(tmp_path) -> Path:
    write_document(tmp_path / "x.json", CONTENT, overwrite=False)
    return tmp_path / "x.json"


def test_what_was_written_is_read_with_its_checksum(saved):
    document = read(saved)
    checksum = document.pop("checksum")
    assert document == CONTENT
    text = json.dumps(CONTENT, sort_keys=True, separators=(",", ":"))
    assert checksum == hashlib.sha256(text.encode()).hexdigest()


def test_the_layout_of_the_text_does_not_matter(saved):
    document = json.loads(saved.read_text())
    text = json.dumps(dict(reversed(document.items())), indent=4, ensure_ascii=False)
    saved.write_text(text, encoding="utf-8")
    assert read(saved) == document


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is damaged: not valid JSON"),
        ('{"kind": ', "is damaged: not valid JSON"),
        (b"\xff", "is damaged: not valid JSON"),
        (b'\xef\xbb\xbf{"kind": "axonad-test"}', "is damaged: not valid JSON"),
        ("[1]", "was not written by axonad"),
        ('{"kind": "other"}', "was not written by axonad"),
        ('{"kind": "axonad-b"}', "is an 'axonad-b' document; expected 'axonad-test'"),
        ('{"kind": "axonad-test"}', "its format number is None; expected 1 to 2"),
        ('{"kind": "axonad-test", "format": true}', "its format number is True"),
        ('{"kind": "axonad-test", "format": 0}', "its format number is 0"),
        ('{"kind": "axonad-test", "format": 99}', "has format 99, newer than 2.*upgrade axonad"),
        ('{"kind": "axonad-test", "format": 2}', "is damaged: entry 'checksum' is missing"),
        ('{"kind": "axonad-test", "format": 1, "a": NaN}', "is damaged: it has the value NaN"),
        ('{"kind": "axonad-test", "format": 1, "a": -Infinity}', "it has the value -Infinity"),
        ('{"kind": "axonad-test", "format": 1, "a": 1e999}', "is damaged: Out of range float"),
        ('{"kind": "axonad-test", "kind": "axonad-test"}', "entry 'kind' appears twice"),
        ('{"a": ' + "9" * 5_000 + "}", "it has an integer of 5000 digits; expected at most 300"),
        ("[" * 100_000, "is damaged: it is nested too deeply"),
        ('{"a": ' * 100_000, "is damaged: it is nested too deeply"),
    ],
    ids=lambda value: value[:60] if isinstance(value, str) else None,
)
def test_what_cannot_be_read_is_refused_in_one_sentence(tmp_path, text, message):
    path = tmp_path / "x.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ModelFileError, match=rf"x\.json .*{message}") as caught:
        read(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("change", [{"none": 0}, {"ä": [0.1, 0.0, 1e-300, 10**20]}, {"new": 1}])
def test_a_changed_document_does_not_match_its_checksum(saved, change):
    saved.write_text(json.dumps(json.loads(saved.read_text()) | change))
    with pytest.raises(ModelFileError, match="its content does not match its checksum; save again"):
        read(saved)


def test_format_1_needs_no_checksum_but_one_it_has_is_compared(saved):
    forge(saved, format=1)
    assert read(saved)["format"] == 1
    document = json.loads(saved.read_text())
    saved.write_text(json.dumps({**document, "none": 1}))
    with pytest.raises(ModelFileError, match="does not match its checksum"):
        read(saved)
    del document["checksum"]
    saved.write_text(json.dumps(document))
    with pytest.warns(DataWarning, match=r"x\.json was saved by an older version.*save it again"):
        warn_without_checksum(saved, read(saved))


def test_documents_with_a_checksum_cause_no_warning(saved):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_without_checksum(saved, read(saved))


def test_sizes_are_limited_when_reading_and_when_writing(saved, monkeypatch):
    with pytest.raises(ModelFileError, match=r"x\.json has \d+ bytes; expected at most 10"):
        read_document(saved, kind=KIND, newest=2, most=10)
    monkeypatch.setattr("axonad.modelfile.document.LARGE", 10)
    with pytest.raises(FileError, match=r"x\.json: it would have \d+ bytes, and at most 10"):
        write_document(saved, CONTENT, overwrite=True)
    assert read(saved)["none"] is None
