"""Lines, tables and errors on the terminal."""

from __future__ import annotations

from axonad.cli.terminal import plain_table, print_error, print_line, print_table


def test_a_line_is_printed_as_it_is(capsys):
    text = "[bold]channel[0][/bold] " + "long " * 40 + "end"
    print_line(text)
    assert capsys.readouterr().out == text + "\n", "no markup, no line breaks"


def test_an_error_is_one_line_on_stderr(capsys):
    print_error("window [3]\n  is   too\nshort " + "x" * 200)
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "error: window [3] is too short " + "x" * 200 + "\n"


def test_numbers_are_aligned_to_the_right(capsys):
    table = plain_table("name", "rows", numeric={"rows"})
    table.add_row("a", "5")
    table.add_row("longer", "12345")
    print_table(table)
    assert capsys.readouterr().out.splitlines() == [
        "name     rows",
        "a           5",
        "longer  12345",
    ]
