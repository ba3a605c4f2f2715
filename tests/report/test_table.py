from __future__ import annotations

import csv
import io
import math

import pytest

from axonad.report.table import Cell, Column, Table, escape_latex, format_p

NAN = math.nan
TABLE = Table(
    title="A & B_c",
    columns=(
        Column(heading="name", style="text"),
        Column(heading="score", style="spread", best="max"),
        Column(heading="time", digits=1, best="min"),
        Column(heading="change", style="signed"),
        Column(heading="p", style="p"),
        Column(heading="range", style="interval", digits=2),
        Column(heading="n", style="count"),
    ),
    rows=(
        ("x|y", Cell(0.12345, (0.01,)), 3.04, -0.5, 1.65e-30, Cell(None, (-0.4, -0.3)), 180),
        ("d_q", Cell(1 / 3, (math.nan,)), 3.01, 0.25, Cell(0.5, mark="†"), Cell(), 2),
        ("none", Cell(math.nan, (NAN,)), None, -1e-9, NAN, Cell(None, (NAN, NAN)), 0),
        ("z", 0.3331, 9, None, 0.04999, Cell(None, (0.0, 1.0)), 1),
    ),
    notes=("100 % of it.",),
)  # fmt: skip


def test_text():
    assert TABLE.to_text() == "\n".join(
        [
            "A & B_c",
            "name          score  time  change        p           range    n",
            "x|y   0.123 ± 0.010   3.0  -0.500  1.7e-30  [-0.40, -0.30]  180",
            "d_q           0.333   3.0  +0.250   0.500†               –    2",
            "none              –     –   0.000        –               –    0",
            "z             0.333   9.0       –    0.050    [0.00, 1.00]    1",
            "100 % of it.",
        ]
    )


def test_markdown_is_bold_where_shown_digits_are_best():
    lines = TABLE.to_markdown().splitlines()
    assert lines[0] == "**A & B_c**"
    assert lines[3] == "| :--- | ---: | ---: | ---: | ---: | ---: | ---: |"
    assert lines[4].startswith(r"| x\|y | 0.123 ± 0.010 | **3.0** |")
    assert lines[5].startswith("| d_q | **0.333** | **3.0** |")
    assert lines[7].startswith("| z | **0.333** | 9.0 |")
    assert lines[-1] == "100 % of it."


def test_latex_is_escaped_with_second_best_underlined():
    text = TABLE.to_latex()
    assert r"\caption{A \& B\_c}" in text
    assert r"\begin{tabular}{@{}lrrrrrr@{}}" in text
    assert (
        r"x\textbar{}y & \underline{0.123 $\pm$ 0.010} & \textbf{3.0} & $-0.500$ & "
        r"$1.7 \times 10^{-30}$ & $[-0.40, -0.30]$ & 180 \\"
    ) in text
    assert (
        r"d\_q & \textbf{0.333} & \textbf{3.0} & $+0.250$ & 0.500\textdagger{} & -- & 2 \\" in text
    )
    assert r"{\footnotesize 100 \% of it.}" in text
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")


def test_csv_has_every_digit():
    lines = list(csv.reader(io.StringIO(TABLE.to_csv())))
    assert ",".join(lines[0]) == "name,score,score std,time,change,p,range low,range high,n"
    assert lines[1] == ["x|y", "0.12345", "0.01", "3.04", "-0.5", "1.65e-30", "-0.4", "-0.3", "180"]
    assert float(lines[2][1]) == 1 / 3
    assert lines[3] == ["none", "", "", "", "-1e-09", "", "", "", "0"]


@pytest.mark.parametrize("values", [(0.5,), (0.5, 0.5), (None, 0.5)])
def test_nothing_is_best_without_something_worse(values):
    table = Table(
        title="t", columns=(Column(heading="x", best="max"),), rows=tuple((v,) for v in values)
    )
    assert "**0" not in table.to_markdown()


def test_escape_latex_takes_every_special_character():
    assert escape_latex("\\{}$&#^_%~") == (
        r"\textbackslash{}\{\}\$\&\#\textasciicircum{}\_\%\textasciitilde{}"
    )


def test_no_p_value_is_nought():
    assert format_p(0.0) == "<1e-300"
    assert format_p(0.00099) == "9.9e-4"
