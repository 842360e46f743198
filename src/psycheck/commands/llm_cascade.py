"""`psycheck llm cascade`: choose on dev the band in which an LLM is asked; accuracy against cost."""

from collections.abc import Callable, Mapping, Sequence
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
    from psycheck.statistics.two_stage import CascadePoint, Policy, Prices

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
    policy: "Policy | None" = None

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
    costs: str | None = None,
    store: Path | None = None,
    limits: "Limits | None" = None,
    progress: Callable[[str, int, int, float], None] = lambda *_: None,
) -> ChosenCascade:
    """Score dev with both models, and choose the band for a share asked, a loss of F1, or the least cost.

    `costs` are those of a call, of a person and of an error ("1:20:100"): then scores to abstain on are
    chosen, too.

    The cheap model is calibrated on the same texts (Platt), so figures of dev are optimistic: judge the
    cascade on other texts.
    """
    from psycheck.commands.llm_calibrate import WRONG_WAY
    from psycheck.models.opening import open_model
    from psycheck.scoring.answers import answers, in_equal_shares
    from psycheck.scoring.limits import NO_LIMITS
    from psycheck.statistics.recalibration import fit_platt
    from psycheck.statistics.two_stage import (
        best_within_budget,
        cascade_curve,
        cheapest_policy,
        cheapest_within_loss,
    )

    if [budget, loss, costs].count(None) != 2:
        raise BadInput(
            "a band is chosen for a budget, for a loss of F1 or for the least cost",
            code="cascade.budget-or-loss",
            allowed="exactly one of `budget`, `loss` and `costs`",
        )
    prices = None if costs is None else _prices(costs)
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
    calibrated = platt(cheap_scores)
    curve = cascade_curve(targets, calibrated, llm_scores)
    policy = None if prices is None else cheapest_policy(targets, calibrated, llm_scores, curve, prices)
    if policy is not None:
        point = policy.point
    elif budget is not None:
        point = best_within_budget(curve, budget)
    else:
        point = cheapest_within_loss(curve, loss or 0.0)

    chosen = {"band": _around_half(point.half_width), "cheap_platt": _pair(platt.slope, platt.intercept)}
    if policy is not None:
        chosen |= {"abstain": _around_half(policy.abstain)} if policy.abstain else {}
        chosen |= {"costs": costs or ""}
    return ChosenCascade(
        spec=_spec(cheap, llm, chosen),
        label=label,
        curve=curve,
        point=point,
        platt=platt,
        requests=tally.requests,
        notes=(*tally.notes_on_replies(), *([WRONG_WAY.format(label=label)] if platt.only_shifts else [])),
        policy=policy,
    )


def _prices(costs: str) -> "Prices":
    """The costs of an option, checked as those of a spec are."""
    from psycheck.io.settings import read_settings
    from psycheck.llm.cascade import CascadeOptions, prices_of

    read_settings(CascadeOptions, {"costs": costs})
    return prices_of(costs)


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


def _spec(cheap: str, llm: str, chosen: Mapping[str, str]) -> str:
    """The spec of the cascade with what was chosen."""
    name, _, query = llm.removeprefix("llm:").partition("?")
    options = "&".join(part for part in (query, urlencode(chosen, safe=":")) if part)
    return f"cascade:{cheap},llm:{name}?{options}"


def _around_half(half_width: float) -> str:
    """A band around 0.5, within 0 to 1."""
    return _pair(max(0.0, 0.5 - half_width), min(1.0, 0.5 + half_width))


def _pair(first: float, second: float) -> str:
    """Two numbers without exponents."""
    return f"{first:.{_DIGITS}f}:{second:.{_DIGITS}f}"


@opt.verb("llm cascade")
def cascade_cli(
    ctx: typer.Context,
    columns: "Columns",
    cheap: str,
    llm: str,
    corpus: str,
    budget: float | None = None,
    loss: float | None = None,
    costs: str | None = None,
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
            costs=costs,
            store=store,
            limits=read_settings(Limits, opt.values_for(ctx, Limits)),
            progress=line,
        )
    print_notes(chosen.notes)
    for row in _rows(chosen):
        typer.echo(row)
    if chosen.policy is not None:
        left = _around_half(chosen.policy.abstain) if chosen.policy.abstain else "none"
        typer.echo(f"cost per text {chosen.policy.cost:.4g}; final scores left to a person: {left}")
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
