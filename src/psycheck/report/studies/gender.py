"""The tables of the gender study, ours next to the published ones, and one sentence per learner."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from statistics import fmean

from psycheck.finding import Finding, Findings
from psycheck.report.headlines import sentence
from psycheck.report.numbers import ends, percent
from psycheck.report.page import draw
from psycheck.report.shelf import by, unique
from psycheck.report.studies.papers import contradicted, document, intro_of, marked, p_values, published
from psycheck.report.tables import Table, table_of
from psycheck.report.words import words_of
from psycheck.run import Run

ORIGINAL, SWAPPED, NEUTRAL, AUGMENTED = "original", "swapped", "neutralised", "augmented"
EXPERIMENTS = (ORIGINAL, SWAPPED, NEUTRAL, AUGMENTED)
PUBLISHED = {"SVM": "gender-table-1", "random forest": "gender-table-2", "MLP": "gender-table-3"}
_LETTER = {"favours_female": " F", "favours_male": " M"}
SHOWN = 20  # ids of flipped pairs in a row of their table
_WIDTH, _LEFT, _LINE = 720, 250, 20  # of the plot
_SPAN = _WIDTH - _LEFT - 70


def render_gender(run: Run) -> str:
    """The page of a gender study as one HTML file without scripts."""
    return draw(
        "gender",
        run,
        corpus=str(run.plan["corpora"][0]["name"]),
        vectors=str(run.plan["encoder"]),
        sentences=answers(run.findings),
        plot=flips_plot(run.findings.where(measure="flip_rate")),
        tables=tables_of(run.findings),
    )


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
            y += _LINE
        seed = f", seed {f.where['seed']}" if seeds else ""
        places = [_LEFT + value / top * _SPAN for value in (*ends(f), f.value)]
        rows.append((y + _LINE // 2, f.where["experiment"], seed, places, f"{f.counts['flipped']} of {f.n}"))
        y += _LINE
    digits = 0 if top >= 0.1 else 1
    ticks = [(_LEFT + share * _SPAN, percent(share * top, digits)) for share in (0.0, 0.5, 1.0)]
    size = {"width": _WIDTH, "height": y + 6, "end": _LEFT + _SPAN + 10}
    return {"ticks": ticks, "learners": learners, "rows": rows, **size}


def gender_tables(run: Run) -> str:
    """All tables in Markdown: the sentences first, then the paper's tables, the pairs and the changes."""
    tables = tables_of(run.findings)
    over_draws = tables[0].note
    ours = over_draws or words_of("studies")["gender"]["ours"]
    listed = "".join(f"- {line}\n" for line in answers(run.findings))
    intro = intro_of("gender", answers=listed, ours=ours)
    tables = [replace(table, note="") if table.note == over_draws else table for table in tables]
    return document(intro, tables, run.notes)


def tables_of(findings: Findings) -> list[Table]:
    """The paper's tables, one per learner, then the pairs, the changes and the ids of flipped pairs."""
    main = [main_table(findings, learner) for learner in _learners(findings)]
    tables = [*main, pairs_table(findings), change_table(findings)]
    draws = _draws(findings)
    if draws > 1:
        note = f"Ours: mean of {draws} draws of the training texts; in brackets the least and the most."
        tables = [replace(table, note=note) for table in tables]
    ids = flipped_table(findings)
    return [*tables, ids] if ids.rows else tables


def answers(findings: Findings) -> list[str]:
    """For each learner one sentence: what it learned from the original texts, and what augmenting changed."""
    out = []
    for learner in _learners(findings):
        original, augmented = (
            partial(findings.where, model=learner, experiment=name) for name in (ORIGINAL, AUGMENTED)
        )
        before, after = original(measure="flip_rate"), augmented(measure="flip_rate")
        if before and after:
            ratios = " and ".join(_cell(of(measure="fnr_ratio")) for of in (original, augmented))
            cost = _cell(augmented(measure="macro_f1_change"), "+.1f", 100)
            flips = {"before": _flips(before), "after": _flips(after, again=True)}
            out.append(sentence("study.gender", learner=learner, ratios=ratios, cost=cost, **flips))
    return out


def main_table(findings: Findings, learner: str) -> Table:
    """FNRR and macro-F1 of the four experiments, as the paper lays them out."""
    head = ["whose", "vectors", "DB (95 %)" if _draws(findings) > 1 else "DB"]
    head += [f"{experiment} {figure}" for experiment in EXPERIMENTS for figure in ("FNRR", "F1")]
    rows: list[tuple[str, ...]] = []
    paper = published(PUBLISHED[learner]) if learner in PUBLISHED else ()
    for model in unique(row["model"] for row in paper):
        mine = {row["experiment"]: row for row in paper if row["model"] == model}
        cells = ["published", model, f"{mine[ORIGINAL]['direct_bias']} {mine[ORIGINAL]['towards']}"]
        for row in map(mine.__getitem__, EXPERIMENTS):
            ratio = f"{row['fnrr']} {row['favoured']}".strip()
            cells += [marked({**row, "fnrr": ratio}, "fnrr"), row["macro_f1"]]
        rows.append(tuple(cells))
    of = partial(findings.where, model=learner)
    for vectors in unique(f.where["encoder"] for f in of(measure="flip_rate")):
        figures = [
            _cell(of(measure=measure, experiment=experiment))
            for experiment in EXPERIMENTS
            for measure in ("fnr_ratio", "macro_f1")
        ]
        rows.append(("ours", vectors, _bias(findings, vectors), *figures))
    title = f"Table {PUBLISHED[learner][-1]}: {learner}" if paper else f"{learner} (not in the paper)"
    return Table(title, tuple(head), tuple(rows), words=2)


def pairs_table(findings: Findings) -> Table:
    """What becomes of the pairs: flips and their direction, misses by gender, both differences (F less M)."""
    rows: list[tuple[str, ...]] = []
    for learner, experiment in product(_learners(findings), EXPERIMENTS):
        of = partial(findings.where, model=learner, experiment=experiment)
        flips = of(measure="flip_rate")
        counts = {
            name: _counted([f.counts[name] for f in flips])
            for name in ("flipped", "only_female_positive", "only_male_positive")
        }
        rows.append(
            (
                *(learner, flips[0].where["encoder"], experiment),
                _counted([f.n for f in flips]),
                counts.pop("flipped"),
                _cell(flips, ".1f", 100),
                *counts.values(),
                *(p_values(of(measure=name)) for name in ("mcnemar_p", "mcnemar_p_holm")),
                *(_cell(of(measure="fnr", group=gender)) for gender in ("female", "male")),
                _cell(of(measure="equal_opportunity_difference"), "+.2f"),
                _cell(of(measure="demographic_parity_difference"), "+.2f"),
            )
        )
    names = {"flipped": "flipped", "percent": "% (95 %)"}
    if (draws := _draws(findings)) > 1:
        several = f"%, mean of {draws} draws (least to most)"
        names = {"flipped": "flipped, draw by draw", "percent": several}
    return table_of("gender_pairs", rows, **names)


def change_table(findings: Findings) -> Table:
    """How far each experiment is from the original, on the same pairs."""
    rows: list[tuple[str, ...]] = []
    for learner, experiment in product(_learners(findings), EXPERIMENTS[1:]):
        of = partial(findings.where, model=learner, experiment=experiment)
        moved, p = of(measure="flip_rate_change"), p_values(of(measure="flip_rate_change_p_holm"))
        change, cost = (_cell(found, "+.1f", 100) for found in (moved, of(measure="macro_f1_change")))
        rows.append((learner, moved[0].where["encoder"], experiment, change, p, cost))
    return table_of("gender_changes", rows)


def flipped_table(findings: Findings) -> Table:
    """The ids of flipped pairs: some of them, and how many more there are."""
    rows = []
    for f in findings.where(measure="flip_rate"):
        if f.examples:
            more = len(f.examples) - SHOWN
            ids = ", ".join(f.examples[:SHOWN]) + (f" and {more} more" if more > 0 else "")
            rows.append((*by("model", "encoder", "experiment", "seed")(f), str(len(f.examples)), ids))
    return table_of("gender_flipped", rows)


def paper_notes() -> list[str]:
    """What the paper leaves open or contradicts."""
    out = list(words_of("studies")["gender"]["notes"])
    for _, table, row in contradicted("gender-*"):
        out.append(f"{table}: {row['model']}, {row['experiment']}: {row['fnrr']}; {row['mark']}")
    return out


def _learners(findings: Findings) -> list[str]:
    return unique(f.where["model"] for f in findings.where(measure="flip_rate"))


def _bias(findings: Findings, vectors: str) -> str:
    """Direct Bias of the vectors with its direction and interval, where it was measured."""
    for f in findings.where(measure="direct_bias", encoder=vectors):
        if f.interval:
            low, high = map(_number, f.interval)
            return f"{_number(f.value)} {f.where['direction']} ({low} to {high})"
    return ""


def _cell(findings: Sequence[Finding], spec: str = ".2f", scale: float = 1) -> str:
    """One draw with its interval and direction, or the mean over draws with the least and the most."""
    tested = [f for f in findings if f.tested]
    if not tested:
        return "–"
    write = partial(_number, spec=spec, scale=scale)
    letters = [_LETTER.get(flag, "") for f in tested for flag in f.flags if flag.startswith("favours_")]
    if len(findings) == 1:
        ends = tested[0].interval
        between = f" ({write(ends[0])} to {write(ends[1])})" if ends and not math.isnan(ends[0]) else ""
        return f"{write(tested[0].value)}{letters[0] if letters else ''}{between}"
    values = [f.value for f in tested]
    towards = ", ".join(f"{letters.count(x)}{x}" for x in _LETTER.values() if x in letters)
    between = f"{write(min(values))} to {write(max(values))}{'; ' + towards if towards else ''}"
    return f"{write(fmean(values))} ({between})"


def _flips(findings: Sequence[Finding], *, again: bool = False) -> str:
    """How many decisions flip; several draws share test texts, so they are never added up."""
    shares = [f.value for f in findings]
    ends = min(shares), max(shares)
    if len(findings) == 1:
        ends = findings[0].interval or ends
    low, mean, high = (_number(share, ".1f", 100) for share in (ends[0], fmean(shares), ends[1]))
    if len(findings) == 1:
        return f"{findings[0].counts['flipped']} of {findings[0].n} decisions, {mean} % ({low} to {high}),"
    over = "" if again else f" over {len(shares)} draws"
    return f"{mean} %{'' if again else ' of the decisions'} ({low} to {high}{over})"


def _draws(findings: Findings) -> int:
    return len({f.where["seed"] for f in findings.where(measure="flip_rate")})


def _counted(values: Sequence[int]) -> str:
    return ", ".join(map(str, values)) if len(set(values)) > 1 else str(values[0])


def _number(value: float, spec: str = ".2f", scale: float = 1) -> str:
    return f"{scale * value:{spec}}".replace("-", "−")
