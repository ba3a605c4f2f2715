"""``axonad list``: all detectors, or one in detail."""

from __future__ import annotations

import re

import pytest

from axonad import list_detectors


def test_list_tells_all_about_one_detector(run):
    code, out, err = run("list", "KNN")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "KNN: distance of a row to its nearest training rows."
    assert "SIGMOD" in out
    assert "Where we differ: a long series is represented by a sample." in lines
    at = lines.index("  max_train=40000")
    assert lines[at + 1].startswith("      Maximum number of training windows to keep")
    code, out, _ = run("list", "AxonAD")
    assert "  scaling='soft' (parity: 'array')" in out.splitlines()
    assert "(parity: 'center')" not in out, "the same as the default"
    code, out, _ = run("list", "PCA")
    assert "window=1 (parity: 100, leaderboard: 1)" in out
    code, _, err = run("list", "KN")
    assert (code, "no detector 'KN'; did you mean 'KNN'" in err) == (2, True)


@pytest.mark.parametrize("entry", list_detectors(), ids=lambda entry: entry.name)
def test_a_description_is_prose_without_markup(run, entry):
    code, out, _ = run("list", entry.name)
    assert code == 0
    assert out.startswith(f"{entry.name}: ")
    assert not re.search(r"`|:\w+:|axonad\.\w+\._|[ .]_\w+|this module", out), out
    assert all(len(line) <= 100 for line in out.splitlines())


def test_list_has_a_line_for_every_detector(run):
    code, out, _ = run("list")
    assert code == 0
    heading, *lines = out.splitlines()
    assert heading.split() == ["detector", "learns", "from", "what", "it", "looks", "at"]
    assert [line.split()[0] for line in lines] == [entry.name for entry in list_detectors()]
