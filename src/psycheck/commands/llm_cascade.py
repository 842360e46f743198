"""`psycheck llm cascade`: choose on dev the band in which an LLM is asked; accuracy against cost."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import numpy as np
import polars as pl
import typer

from psycheck.commands import options as opt
from psycheck.commands.console import ProgressLine, print_notes
from psycheck.core.errors import BadInput

if TYPE_CHECKING:
    from psycheck.core.corpus import Corpus
    from psycheck.corpora.columns import Columns
    from psycheck.scoring.limits import Limits
    from psycheck.statistics.recalibration import Platt
    from psycheck.statistics.two_stage import CascadePoint

_SHOWN_SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)  # of texts asked about, in the printed curve
_DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenCascade:
    """The curve of dev, the chosen point, the calibration of the cheap model, and the spec to use."""

    spec: str
    label: str
    curve: tuple["CascadePoint", ...]
    point: "CascadePoint"
    platt: "Platt"
    requests: int
    notes: tuple[str, ...]

    @property
    def table(self) -> pl.DataFrame:
        """The curve: one row per band."""
        rows = [
            {
                "asked": point.asked,
                "share": point.share,
                "low": 0.5 - point.half_width,
                "high": 0.5 + point.half_width,
                "f1": point.f1,
                "accuracy": point.accuracy,
                "chosen": point == self.point,
            }
            for point in self.curve
        ]
        return pl.DataFrame(rows)


def choose_cascade(
    cheap: str,
    llm: str,
    dev: "Corpus",
    *,
    budget: float | None = None,
    loss: float | None = None,
    store: Path | None = None,
    limits: "Limits | None" = None,
    progress: Callable[[str, int, int, float], None] = lambda *_: None,
) -> ChosenCascade:
    """Score dev with both models, and choose the band for a share of texts asked, or for a loss of F1.

    The cheap model is calibrated on the same texts (Platt), so figures of dev are optimistic: judge the
    cascade on other texts.
    """
    from psycheck.models.opening import open_model
    from psycheck.scoring.answers import answers, in_equal_shares
    from psycheck.scoring.limits import NO_LIMITS
    from psycheck.statistics.recalibration import fit_platt
    from psycheck.statistics.two_stage import best_within_budget, cascade_curve, cheapest_within_loss

    if (budget is None) == (loss is None):
        raise BadInput(
            "a band is chosen for a budget or for a loss of F1",
            code="cascade.budget-or-loss",
            allowed="exactly one of `budget` and `loss`",
        )
    models = [open_model(cheap), open_model(llm)]
    label = _common_label(models[0].labels, models[1].labels, dev.labels)
    with answers(
        models,
        in_equal_shares([dev.items]),
        store=store,
        limits=limits or NO_LIMITS,
        progress=progress,
    ) as answered:
        cheap_scores, llm_scores = (
            view.of(dev.items)[:, view.labels.index(label)] for view in answered.views
        )
        tally = answered.tallies[models[1].name]

    targets = dev.targets([label])[:, 0]
    platt = fit_platt(targets, cheap_scores)
    curve = cascade_curve(targets, platt(cheap_scores), llm_scores)
    if budget is not None:
        point = best_within_budget(curve, budget)
    else:
        point = cheapest_within_loss(curve, loss or 0.0)
    return ChosenCascade(
        spec=_spec(cheap, llm, point, platt),
        label=label,
        curve=curve,
        point=point,
        platt=platt,
        requests=tally.requests,
        notes=tuple(tally.notes_on_replies()),
    )


def _common_label(*labels: Sequence[str]) -> str:
    """The first label that both models and the corpus have."""
    first, *others = labels
    for label in first:
        if all(label in names for names in others):
            return label
    raise BadInput(
        "the models and the corpus have no label in common",
        code="cascade.no-common-label",
        allowed="; ".join(", ".join(names) for names in labels),
        do="name the labels with label= in the specs, or with `labels`",
    )


def _spec(cheap: str, llm: str, point: "CascadePoint", platt: "Platt") -> str:
    """The spec of the cascade with the chosen band."""
    name, _, query = llm.removeprefix("llm:").partition("?")
    band = f"{_plain(0.5 - point.half_width)}:{_plain(0.5 + point.half_width)}"
    chosen = {"band": band, "cheap_platt": f"{_plain(platt.slope)}:{_plain(platt.intercept)}"}
    options = "&".join(part for part in (query, urlencode(chosen, safe=":")) if part)
    return f"cascade:{cheap},llm:{name}?{options}"


def _plain(number: float) -> str:
    """A number without an exponent, and a band within 0 to 1."""
    return f"{number:.{_DIGITS}f}"


@opt.verb("llm cascade")
def cascade_cli(
    ctx: typer.Context,
    columns: "Columns",
    cheap: str,
    llm: str,
    corpus: str,
    budget: float | None = None,
    loss: float | None = None,
    split: str = "dev",
    out: Path | None = None,
    store: Path | None = None,
) -> None:
    """Choose the band of a cascade on dev; print accuracy against cost, and the spec to use."""
    from psycheck.commands.table_files import check_table_file, write_table
    from psycheck.corpora.opening import corpus_plan, open_corpus
    from psycheck.io.settings import read_settings
    from psycheck.scoring.limits import Limits

    if out is not None:
        check_table_file(out, [])
    dev = open_corpus(corpus_plan(corpus, columns, split, None))
    print_notes(dev.notes, dev.name)
    with ProgressLine() as line:
        chosen = choose_cascade(
            cheap,
            llm,
            dev,
            budget=budget,
            loss=loss,
            store=store,
            limits=read_settings(Limits, opt.values_for(ctx, Limits)),
            progress=line,
        )
    print_notes(chosen.notes)
    for row in _rows(chosen):
        typer.echo(row)
    if out is not None:
        write_table(chosen.table, out)
    typer.echo(chosen.spec)


def _rows(chosen: ChosenCascade) -> list[str]:
    """The curve at some shares, with the chosen point marked."""
    shares = np.array([point.share for point in chosen.curve])
    shown = {int(np.flatnonzero(shares <= share)[-1]) for share in _SHOWN_SHARES}
    shown.add(chosen.curve.index(chosen.point))

    rows = [f"{chosen.label}: {'asked':>6} {'share':>6} {'F1':>6} {'accuracy':>8}  calls saved"]
    for place in sorted(shown):
        point = chosen.curve[place]
        mark = "  <- chosen" if point == chosen.point else ""
        saved = point.n - point.asked
        figures = f"{point.asked:6,} {point.share:6.1%} {point.f1:6.3f} {point.accuracy:8.3f}"
        rows.append(f"{'':{len(chosen.label) + 1}} {figures}  {saved:,}{mark}")
    return rows
