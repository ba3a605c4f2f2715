"""Draw the network as ``architecture.svg`` beside this file: ``python docs/img/architecture.py``.

Figure 2 of the paper with its symbols. Every number comes from the parameters of a detector, so the
picture follows the defaults of the package; a test compares it with the committed file.
"""

from __future__ import annotations

import re
from pathlib import Path

import svg_shapes as svg
from svg_shapes import Pen, arrow, box, dot, label, line, region

from axonad import AxonAD
from axonad.model.config import KERNEL

SIZE = 1400, 888
TITLE = "The architecture of AxonAD"
DESCRIPTION = (
    "A window X is embedded and normalised to H_on. The online pathway reconstructs the window by "
    "self-attention, which gives d_rec. The predictive pathway delays H_on by s steps and "
    "forecasts the attention queries with causal convolutions. A slowly moving copy of the encoder "
    "gives the target queries. The cosine distance between forecast and target is the training "
    "loss on masked steps and the query mismatch d_q on the last steps. The anomaly score is the "
    "sum of both terms after robust standardisation."
)

ONLINE = Pen("#0b4f8a", tint="#eaf2fa")
PREDICTOR = Pen("#c44e00", "11 5", tint="#fdf0e4")
TARGET = Pen("#00705c", "2.5 4.5", tint="#e8f4f0")
TRAINING = Pen("#6f3a94", "14 4 3 4", tint="#f5eefa")
SCORE = Pen("#3d3d3d", tint="#f3f3f1")
HEADS = "N_{h} T d_{h}"
EMBEDDING = "embedding", "**X** **W**_{e} + **b**_{e} + **P**"


def badge(x: float, y: float) -> str:
    """Return the mark of parameters that the target encoder tracks."""
    circle = f'<circle cx="{x:g}" cy="{y:g}" r="11" fill="{TRAINING.colour}"/>'
    return circle + label(x, y + 5, "*θ*", size=16, colour=svg.PAPER)


def stop(x: float, y: float) -> str:
    """Return the mark of a stopped gradient: two bars across a line."""
    bars = Pen(svg.INK)
    return "".join(line(bars, (x + d, y - 12), (x + d, y + 12)) for d in (-3.5, 3.5))


def shape(x: float, y: float, text: str) -> str:
    """Return a tensor's shape such as T×D, written T D."""
    return label(x, y, "×".join(f"*{word[0]}*{word[1:]}" for word in text.split()), size=svg.SHAPE)


def draw_online(detector: AxonAD) -> str:
    """Return the input, the shared embedding and the reconstruction."""
    pen, width = ONLINE, detector.d_model // detector.heads
    projections = [
        arrow(pen, (440, y), (463, y))
        + box(pen, 488, y, 50, 36, f"**W**_{{{name}}}")
        + arrow(pen, (513, y), (604, y))
        + label(558, y - 11, symbol, size=svg.NAME)
        for name, symbol, y in zip(
            "qkv", ("**Q**_{rec}", "**K**", "**V**"), (252, 302, 352), strict=True
        )
    ]
    return "".join([
        region(pen, 142, 62, 846, 332, "Online reconstruction pathway"),
        box(pen, 58, 132, 76, 60, "window", "**X**"),
        arrow(pen, (96, 132), (160, 132)), shape(118, 122, "T F"),
        box(pen, 235, 132, 150, 60, *EMBEDDING),
        arrow(pen, (310, 132), (675, 132)), dot(pen, 340, 132),
        label(430, 122, "**h**", size=svg.NAME), shape(430, 154, "T D"),
        arrow(pen, (340, 132), (340, 282)), box(pen, 340, 302, 54, 40, "LN"),
        line(pen, (367, 302), (440, 302)), line(pen, (440, 251), (440, 352)),
        dot(pen, 440, 302), label(405, 290, "**H**_{on}", size=svg.NAME), shape(406, 324, "T D"),
        *projections, dot(pen, 440, 352), shape(558, 374, HEADS),
        box(pen, 688, 302, 168, 136, "self-attention", "over all *T* steps",
            f"*N*_{{h}} = {detector.heads} heads", f"of width *d*_{{h}} = {width}"),
        arrow(pen, (688, 234), (688, 206)), label(702, 227, "**Z**", size=svg.NAME, anchor="start"),
        shape(745, 226, "T D"),
        box(pen, 688, 189, 54, 34, "**W**_{o}"), arrow(pen, (688, 172), (688, 145)),
        arrow(pen, (701, 132), (873, 132)), svg.plus(pen, 688, 132), dot(pen, 820, 132),
        arrow(pen, (820, 132), (820, 244)), arrow(pen, (886, 244), (886, 145)),
        box(pen, 853, 302, 128, 116, "LN, then FFN", "*D* → 2*D* → *D*", "ReLU"),
        arrow(pen, (899, 132), (915, 132)), svg.plus(pen, 886, 132),
        box(pen, 948, 132, 66, 60, "head", "*D* → *F*"),
        arrow(pen, (981, 132), (1045, 132)),
        label(1010, 121, "**X̂**", size=svg.NAME), shape(1010, 154, "T F"),
        badge(310, 162), badge(367, 322), badge(513, 270),
    ])  # fmt: skip


def draw_convolutions(dilations: tuple[int, ...], x: float, y: float) -> str:
    """Return which steps the last output sees through the convolutions; (x, y) is the output."""
    gap = 240 / ((KERNEL - 1) * sum(dilations))
    steps, dots, path = {0}, dot(PREDICTOR, x, y, 3.6), ""
    for row, dilation in enumerate(reversed(dilations), start=1):
        taps = {(step, step + tap * dilation) for step in steps for tap in range(KERNEL)}
        path += "".join(
            f"M{x - gap * a:g},{y + 25 * row - 25:g}L{x - gap * b:g},{y + 25 * row:g}"
            for a, b in sorted(taps)
        )
        steps = {below for _, below in taps}
        dots += "".join(dot(PREDICTOR, x - gap * a, y + 25 * row, 2.6) for a in sorted(steps))
        dots += label(x - 262, y + 25 * row - 6, str(dilation), size=svg.SHAPE)
    return f'<path d="{path}" stroke="{PREDICTOR.colour}" stroke-width="0.9"/>{dots}'


def draw_predictor(detector: AxonAD) -> str:
    """Return the branch that forecasts queries from the past."""
    pen, dilations = PREDICTOR, detector.dilations
    sees = detector.net_config(channels=1).reach + 1
    return "".join([
        region(pen, 376, 414, 612, 198, "Predictive pathway *g*, history only", indent=80),
        arrow(pen, (440, 352), (440, 475)),
        box(pen, 440, 510, 108, 70, "shift by *s*,", "zeros first"),
        arrow(pen, (494, 510), (570, 510)),
        label(527, 500, "**H̃**", size=svg.NAME), shape(527, 532, "T D"),
        box(pen, 715, 510, 290, 124),
        label(612, 467, "ReLU, dropout", size=svg.SHAPE, anchor="start"),
        draw_convolutions(dilations, 848, 510 - 12.5 * len(dilations)),
        arrow(pen, (860, 510), (888, 510)), box(pen, 916, 510, 56, 60, "1×1", "conv"),
        arrow(pen, (944, 510), (1045, 510)),
        label(998, 495, "**Q̂**_{pred}", size=svg.NAME), shape(1000, 532, HEADS),
        label(682, 597, f"causal convolutions, kernel {KERNEL}, dilations "
              f"{', '.join(map(str, dilations))}: receptive field {sees}"),
    ])  # fmt: skip


def draw_target(detector: AxonAD) -> str:
    """Return the target encoder and its update."""
    pen, update = TARGET, TRAINING
    notes = (
        "EMA update after", "each training step:", "*θ*_{tgt} ← *m* *θ*_{tgt}",
        "+ (1 − *m*) *θ*_{on}", f"with *m* = {detector.ema:g}",
    )  # fmt: skip
    return "".join([
        region(pen, 142, 634, 846, 128, "EMA target encoder: slow copies of the parts marked "
               "*θ*, no gradient", indent=56),
        arrow(update, (180, 162), (180, 675)),
        *(label(192, 456 + 25 * i, note, colour=update.colour, anchor="start")
          for i, note in enumerate(notes)),
        arrow(pen, (58, 162), (58, 705), (160, 705)), shape(100, 695, "T F"),
        box(pen, 235, 705, 150, 60, *EMBEDDING),
        arrow(pen, (310, 705), (340, 705)), box(pen, 367, 705, 54, 40, "LN"),
        arrow(pen, (394, 705), (482, 705)),
        label(435, 692, "**H**_{tgt}", size=svg.NAME), shape(435, 728, "T D"),
        box(pen, 514, 705, 64, 40, "**W**_{q}^{tgt}"),
        arrow(pen, (546, 705), (1045, 705)),
        label(715, 692, "**Q**_{tgt}", size=svg.NAME), shape(715, 728, HEADS),
        stop(920, 705), label(920, 740, "stop-gradient"),
    ])  # fmt: skip


def draw_losses(detector: AxonAD) -> str:
    """Return both comparisons and the training objective between them."""
    plan = detector.train_config().mask_plan(window=detector.window, horizon=detector.horizon)
    masked = plan.span if plan.blocks == 1 else f"{plan.blocks}×{plan.span}"
    pen = TRAINING
    return "".join([
        region(pen, 1026, 188, 168, 290, "training only"),
        arrow(ONLINE, (58, 102), (58, 34), (1110, 34), (1110, 102)),
        label(584, 26, "**X**", size=svg.NAME),
        box(SCORE, 1110, 132, 130, 60, "difference", "**X̂** − **X**"),
        arrow(pen, (1165, 162), (1165, 222)), box(pen, 1110, 240, 156, 36, "MSE"),
        arrow(pen, (1110, 258), (1110, 280)),
        box(pen, 1110, 322, 156, 84, "training loss", "e^{−a} MSE + *a*",
            "+ e^{−b} *ℒ*_{JEPA} + *b*"),
        arrow(pen, (1110, 386), (1110, 364)),
        box(pen, 1110, 428, 156, 84, "*ℒ*_{JEPA}", "masked steps *ℳ*:",
            f"{masked} of last {plan.tail}"),
        arrow(pen, (1110, 494), (1110, 470)),
        box(SCORE, 1110, 613, 130, 238, "cosine", "distance", "1 − cos",
            "(**q̂**^{pred}, **q**^{tgt})", "per head *h*", "and step *τ*"),
    ])  # fmt: skip


def draw_score(detector: AxonAD) -> str:
    """Return the two terms, their standardisation and their sum."""
    pen, x, wide = SCORE, 1307, 160
    steps = detector.net_config(channels=1).scored_steps
    notes = "rz(*u*) =", "(*u* − median) /", "(IQR + *ε*_{rz})", "of training windows"
    return "".join([
        region(pen, 1222, 62, 170, 700, "scoring only"),
        arrow(pen, (1175, 132), (1227, 132)), shape(1198, 122, "T F"),
        box(pen, x, 132, wide, 62, "*d*_{rec}", "*T*^{−1} Σ_{τ} ‖**x̂**_{τ}−**x**_{τ}‖²"),
        arrow(pen, (x, 163), (x, 224)), box(pen, x, 248, wide, 48, "rz(*d*_{rec})"),
        arrow(pen, (x, 272), (x, 326)),
        box(pen, x, 376, wide, 100, "anomaly score", "*S*(**X**) =",
            "rz(*d*_{rec}) + rz(*d*_{q})", weight=4),
        arrow(pen, (x, 480), (x, 426)), box(pen, x, 504, wide, 48, "rz(*d*_{q})"),
        arrow(pen, (x, 570), (x, 528)),
        box(pen, x, 613, wide, 86, "*d*_{q}", "mean over heads,", f"last *k* = {steps} steps"),
        arrow(pen, (1175, 613), (1227, 613)), shape(1198, 603, "N_{h} T"),
        *(label(x, 681 + 23 * i, note, size=svg.SHAPE) for i, note in enumerate(notes)),
    ])  # fmt: skip


def draw_key(detector: AxonAD) -> str:
    """Return the legend."""
    lines, y = [], 794
    for x, pen, text in (
        (24, ONLINE, "online"), (176, PREDICTOR, "predictive"), (366, TARGET, "EMA target"),
        (562, TRAINING, "training only"),
    ):  # fmt: skip
        lines += [arrow(pen, (x, y), (x + 64, y)), label(x + 74, y + 6, text, anchor="start")]
    sizes = (
        f"window length *T* = {detector.window}", "channels *F*", f"width *D* = {detector.d_model}",
        f"heads *N*_{{h}} = {detector.heads}",
        f"*d*_{{h}} = *D* / *N*_{{h}} = {detector.d_model // detector.heads}",
        f"horizon *s* = {detector.horizon}", f"tail *k* = {detector.tail}",
        f"momentum *m* = {detector.ema:g}",
    )  # fmt: skip
    flow = (
        "Gradients reach both pathways, and through both the embedding, never the EMA target. "
        "Parts not marked “only” serve training and scoring."
    )
    return "".join([
        *lines, badge(808, y), label(826, y + 6, "parameters that the EMA tracks", anchor="start"),
        stop(1166, y), label(1182, y + 6, "stop-gradient", anchor="start"),
        label(24, 832, flow, anchor="start"), label(24, 868, ", ".join(sizes), anchor="start"),
    ])  # fmt: skip


def draw(detector: AxonAD) -> str:
    """Return the picture of a detector's network as SVG."""
    wide, high = SIZE
    draws = draw_online, draw_predictor, draw_target, draw_losses, draw_score, draw_key
    body = "\n".join(part(detector) for part in draws)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" '
        f'font-family="{svg.SANS}" role="img" xml:space="preserve" '
        f'aria-labelledby="title description">\n'
        f'<title id="title">{TITLE}</title>\n<desc id="description">{DESCRIPTION}</desc>\n'
        f'<rect width="{wide}" height="{high}" fill="{svg.PAPER}"/>\n'
        + re.sub("><(?!/?tspan|/text)", ">\n<", body)
        + "\n</svg>\n"
    )


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(draw(AxonAD()), encoding="utf-8")
