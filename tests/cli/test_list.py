"""``axonad list``: all detectors, or one in detail."""

from __future__ import annotations

from axonad import list_detectors


def test_list_tells_all_about_one_detector(run):
    code, out, _ = run("list", "KNN")
    assert code == 0
    assert "SIGMOD" in out
    assert "max_train" in out
    code, out, _ = run("list", "AxonAD")
    assert "'array'" in out, "what the parity protocol changes"
    code, _, err = run("list", "KN")
    assert (code, "no detector 'KN'; did you mean 'KNN'" in err) == (2, True)


def test_list_has_a_line_for_every_detector(run):
    code, out, _ = run("list")
    assert code == 0
    heading, *lines = out.splitlines()
    assert heading.split() == ["detector", "learns", "from", "what", "it", "looks", "at"]
    assert [line.split()[0] for line in lines] == [entry.name for entry in list_detectors()]
