"""The page of the gender study: decisions that change with the gender, by learner, and the tables."""

import re
from collections.abc import Sequence
from dataclasses import replace

from markupsafe import Markup

from psycheck.finding import Finding
from psycheck.report.charts import DOT
from psycheck.report.numbers import ends, percent
from psycheck.report.page import draw
from psycheck.report.tables import Table
from psycheck.run import Run

WIDTH, LEFT, RIGHT, LINE = 720, 250, 70, 20
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


def flips_plot(flips: Sequence[Finding]) -> Markup:
    """The share of flipped pairs with its interval, one line per learner, experiment and seed."""
    most = max((ends(f)[1] for f in flips), default=0.0)
    top = next((step for step in (0.05, 0.1, 0.2, 0.4, 0.6, 0.8) if most <= step), 1.0)
    span = WIDTH - LEFT - RIGHT
    parts = [
        Markup('<line class="grid" x1="{0:.1f}" x2="{0:.1f}" y1="18" y2="100%"/>').format(LEFT + share * span)
        + Markup('<text class="mid" x="{:.1f}" y="12">{}</text>').format(
            LEFT + share * span, percent(share * top, 0 if top >= 0.1 else 1)
        )
        for share in (0.0, 0.5, 1.0)
    ]
    y, learner = 20.0, ""
    for f in flips:
        if f.where["model"] != learner:
            learner = f.where["model"]
            parts.append(
                Markup('<text x="0" y="{:.0f}" style="font-weight:600">{}</text>').format(y + 14, learner)
            )
            y += LINE
        low, high = ends(f)
        middle = y + LINE / 2
        seed = f", seed {f.where['seed']}" if any(g.where["seed"] != "0" for g in flips) else ""
        parts.append(
            Markup(
                '<text x="14" y="{base:.0f}">{name}</text>'
                '<line class="whisker" x1="{low:.1f}" x2="{high:.1f}" y1="{middle:.0f}" y2="{middle:.0f}"/>'
                '<path class="dot" d="{shape}" transform="translate({at:.1f} {middle:.0f})"/>'
                '<text x="{end}" y="{base:.0f}">{count} of {n}</text>'
            ).format(
                base=middle + 4,
                name=f"{f.where['experiment']}{seed}",
                low=LEFT + low / top * span,
                high=LEFT + high / top * span,
                middle=middle,
                shape=SHAPES.get(f.where["experiment"], DOT),
                at=LEFT + f.value / top * span,
                end=LEFT + span + 10,
                count=f.counts["flipped"],
                n=f.n,
            )
        )
        y += LINE
    return Markup(
        '<svg viewBox="0 0 {} {:.0f}" role="img" '
        'style="max-width:46rem;min-width:33rem;width:100%;height:auto">'
        "<title>Share of pairs whose decision changes when the gender is swapped</title>{}</svg>"
    ).format(WIDTH, y + 6, Markup().join(parts))
