"""The page of `improve`: before and after, other corpora first."""

from collections.abc import Sequence

from psycheck.report.page import draw
from psycheck.report.tables import Table
from psycheck.run import Run


def render_improving(run: Run, lines: Sequence[str], tables: Sequence[Table]) -> str:
    """The page; `lines` compare each arm with plain, and the first on another corpus is the verdict."""
    elsewhere = [line for line in lines if "on the others" in line]
    verdict = next(iter([*elsewhere, *lines]), "no change could be measured")
    return draw(
        "improvement",
        run,
        verdict=f"{verdict[:1].upper()}{verdict[1:]}.",
        lines=lines,
        tables=tables,
        corpus=next((str(corpus["name"]) for corpus in run.plan.get("corpora", ())), ""),
    )
