"""The page of the gender study: decisions that change with the gender, by learner, and the tables."""

import re
from collections.abc import Sequence
from dataclasses import replace

from psycheck.finding import Finding
from psycheck.report.charts import DOT
from psycheck.report.numbers import ends, percent
from psycheck.report.page import draw
from psycheck.report.tables import Table
from psycheck.run import Run

WIDTH, LEFT, LINE = 720, 250, 20
SPAN = WIDTH - LEFT - 70
NO_BREAK = "\u00a0"
_INTERVAL = re.compile(r"\([^)]*\)")
_SIDE = re.compile(r"(?<=\d) (?=[FM]\b)")
# One shape per experiment: distinct in grey print and without colour vision.
SHAPES = {
    "original": DOT,
    "swapped": "M0 -6L6 0L0 6L-6 0z",
    "neutralised": "M-4 -4H4V4H-4z",
    "augmented": "M0 -5.5L5 4H-5z",
}


def render_gender(run: Run, sentences: Sequence[str], tables: Sequence[Table]) -> str:
    """The page of a gender study as one HTML file without scripts."""
    return draw(
        "gender",
        run,
        corpus=str(run.plan["corpora"][0]["name"]),
        vectors=str(run.plan["encoder"]),
        sentences=sentences,
        plot=flips_plot([f for f in run.findings if f.measure == "flip_rate"]),
        tables=[replace(t, rows=tuple(tuple(map(_kept_whole, row)) for row in t.rows)) for t in tables],
    )


def _kept_whole(cell: str) -> str:
    """A cell that breaks before an interval, never within it, nor between a value and its F or M."""
    whole = _INTERVAL.sub(lambda found: found[0].replace(" ", NO_BREAK), cell)
    return _SIDE.sub(NO_BREAK, whole)


def flips_plot(flips: Sequence[Finding]) -> dict[str, object]:
    """The share of flipped pairs with its interval, one line per learner, experiment and seed."""
    most = max((ends(f)[1] for f in flips), default=0.0)
    top = next((step for step in (0.05, 0.1, 0.2, 0.4, 0.6, 0.8) if most <= step), 1.0)
    seeds = any(f.where["seed"] != "0" for f in flips)
    y, learner, learners, rows = 20, "", [], []
    for f in flips:
        if f.where["model"] != learner:
            learner = f.where["model"]
            learners.append((y + 14, learner))
            y += LINE
        rows.append(
            {
                "y": y + LINE // 2,
                "name": f.where["experiment"] + (f", seed {f.where['seed']}" if seeds else ""),
                "at": [LEFT + value / top * SPAN for value in (*ends(f), f.value)],
                "shape": SHAPES.get(f.where["experiment"], DOT),
                "figures": f"{f.counts['flipped']} of {f.n}",
            }
        )
        y += LINE
    digits = 0 if top >= 0.1 else 1
    ticks = [(LEFT + share * SPAN, percent(share * top, digits)) for share in (0.0, 0.5, 1.0)]
    size = {"width": WIDTH, "height": y + 6, "end": LEFT + SPAN + 10}
    return {"ticks": ticks, "learners": learners, "rows": rows, **size}
