from __future__ import annotations

from dataclasses import replace

import pytest

from axonad.errors import FileError, InputError
from axonad.paper.diagnostics.finding import FILE, Finding, read_findings, rounded
from tests.paper.findings import make_finding


def test_a_folder_without_findings(tmp_path, saved):
    with pytest.raises(FileError, match="run `axonad paper diagnostics` first"):
        read_findings(tmp_path)
    text = (saved / FILE).read_text().replace("causal", "fair")
    (tmp_path / FILE).write_text(text)
    with pytest.raises(InputError, match="row 1: row's protocol must be one of"):
        read_findings(tmp_path)


def test_a_record_restores_the_finding():
    finding = make_finding("A", kl_spearman=1 / 3)
    some = replace(finding, measures={"kl spearman": 1 / 3})
    texts = {name: "" if v is None else str(v) for name, v in some.to_record().items()}
    again = Finding.from_record(texts)
    assert again.measures == {"kl spearman": pytest.approx(1 / 3)}
    assert again.key == finding.key
    with pytest.raises(InputError, match="a measure must be a number"):
        Finding.from_record({**texts, "kl spearman": "high"})


def test_measures_are_rounded_and_undefined_ones_left_out():
    assert rounded({"a": 1 / 3, "b": float("nan"), "c": 123456789.0}) == {
        "a": 0.333333, "c": 123457000.0,
    }  # fmt: skip
