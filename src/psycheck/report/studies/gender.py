"""The tables of the gender study, ours next to the published ones, and one sentence per learner."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean

from psycheck.finding import Finding
from psycheck.report.studies.layout import document, p_values
from psycheck.report.studies.papers import MARK, published
from psycheck.report.tables import Table
from psycheck.run import Run

ORIGINAL, SWAPPED, NEUTRAL, AUGMENTED = "original", "swapped", "neutralised", "augmented"
EXPERIMENTS = (ORIGINAL, SWAPPED, NEUTRAL, AUGMENTED)
SOURCE = "the effects of gender bias in word embeddings on depression prediction"
PUBLISHED = {"SVM": "gender-table-1", "random forest": "gender-table-2", "MLP": "gender-table-3"}
_LETTER = {"favours_female": " F", "favours_male": " M"}
SHOWN = 20  # ids of flipped pairs in a row of their table
_PAIRS = (
    "learner", "vectors", "trained on", "pairs", "flipped", "% (95 %)", "positive only as F", "only as M",
    "p", "p Holm", "FNR as F", "FNR as M", "equal opportunity", "demographic parity",
)  # fmt: skip
_FLIPPED = ("learner", "vectors", "trained on", "seed", "flipped", "ids")
_CHANGES = ("learner", "vectors", "trained on", "flipped, % points", "p Holm", "macro-F1, % points")


def gender_tables(run: Run) -> str:
    """All tables in Markdown: the sentences first, then the paper's tables, the pairs and the changes."""
    findings = run.findings
    draws = _draws(findings)
    ours = (
        f"Ours: {_over(draws)}."
        if draws > 1
        else "Ours with the 95 % interval. That of an FNRR is of FNR(named) / FNR(other): where it reaches "
        "above 1, these texts cannot tell which gender is missed less."
    )
    intro = (
        "# Gender bias on its way to a classifier: ours and the published figures",
        "",
        *(f"- {line}" for line in answers(findings)),
        "",
        f"Published: “{SOURCE}”, Tables 1–3, as printed;",
        f"{MARK} marks a figure that the paper's own text contradicts (see the notes). FNRR is the lower by",
        "the higher false negative rate; the letter names the gender that is missed less.",
        ours,
    )
    tables = [replace(table, note="") if table.note == ours else table for table in tables_of(findings)]
    return document(intro, tables, run.notes)


def tables_of(findings: Sequence[Finding]) -> list[Table]:
    """The paper's tables, one per learner, then the pairs, the changes and the ids of flipped pairs."""
    main = [main_table(findings, learner) for learner in _learners(findings)]
    tables = [*main, pairs_table(findings), change_table(findings)]
    draws = _draws(findings)
    if draws > 1:
        tables = [replace(table, note=f"Ours: {_over(draws)}.") for table in tables]
    ids = flipped_table(findings)
    return [*tables, ids] if ids.rows else tables


def answers(findings: Sequence[Finding]) -> list[str]:
    """For each learner one sentence: what it learned from the original texts, and what augmenting changed."""
    out = []
    for learner in _learners(findings):
        before = _of(findings, "flip_rate", learner, ORIGINAL)
        after = _of(findings, "flip_rate", learner, AUGMENTED)
        ratio = _of(findings, "fnr_ratio", learner, ORIGINAL), _of(findings, "fnr_ratio", learner, AUGMENTED)
        cost = _of(findings, "macro_f1_change", learner, AUGMENTED)
        if before and after:
            out.append(
                f"{learner}: swapping the gender flips {_flips(before)} when trained on the original texts, "
                f"{_flips(after, again=True)} when augmented; FNRR {_cell(ratio[0])} and "
                f"{_cell(ratio[1])}; macro-F1 {_cell(cost, '+.1f', 100)} points"
            )
    return out


def main_table(findings: Sequence[Finding], learner: str) -> Table:
    """FNRR and macro-F1 of the four experiments, as the paper lays them out."""
    head = ["whose", "vectors", "DB (95 %)" if _draws(findings) > 1 else "DB"]
    for experiment in EXPERIMENTS:
        head += [f"{experiment} FNRR", f"{experiment} F1"]
    rows: list[tuple[str, ...]] = []
    paper = published(PUBLISHED[learner]) if learner in PUBLISHED else ()
    for model in dict.fromkeys(row["model"] for row in paper):
        mine = {row["experiment"]: row for row in paper if row["model"] == model}
        first = mine[ORIGINAL]
        cells = ["published", model, f"{first['direct_bias']} {first['towards']}"]
        for experiment in EXPERIMENTS:
            row = mine[experiment]
            cells += [f"{row['fnrr']} {row['favoured']}".strip() + (MARK if row["mark"] else "")]
            cells += [row["macro_f1"]]
        rows.append(tuple(cells))
    for vectors in _vectors(findings, learner):
        cells = ["ours", vectors, _bias(findings, vectors)]
        for experiment in EXPERIMENTS:
            for measure in ("fnr_ratio", "macro_f1"):
                cells.append(_cell(_of(findings, measure, learner, experiment)))
        rows.append(tuple(cells))
    title = f"Table {PUBLISHED[learner][-1]}: {learner}" if paper else f"{learner} (not in the paper)"
    return Table(title, tuple(head), tuple(rows), words=2)


def pairs_table(findings: Sequence[Finding]) -> Table:
    """What becomes of the pairs: flips and their direction, misses by gender, both differences (F less M)."""
    rows: list[tuple[str, ...]] = []
    for learner in _learners(findings):
        for experiment in EXPERIMENTS:
            of = partial(_of, findings, learner=learner, experiment=experiment)
            flips, misses = of("flip_rate"), of("fnr")
            rows.append(
                (
                    learner,
                    flips[0].where["encoder"],
                    experiment,
                    _counted([f.n for f in flips]),
                    _counted([f.counts["flipped"] for f in flips]),
                    _cell(flips, ".1f", 100),
                    _counted([f.counts["only_female_positive"] for f in flips]),
                    _counted([f.counts["only_male_positive"] for f in flips]),
                    p_values(of("mcnemar_p")),
                    p_values(of("mcnemar_p_holm")),
                    _cell([f for f in misses if f.where["group"] == "female"]),
                    _cell([f for f in misses if f.where["group"] == "male"]),
                    _cell(of("equal_opportunity_difference"), "+.2f"),
                    _cell(of("demographic_parity_difference"), "+.2f"),
                )
            )
    draws = _draws(findings)
    several = {
        "flipped": "flipped, draw by draw",
        "% (95 %)": f"%, mean of {draws} draws (least to most)",
    }
    head = tuple(several.get(name, name) if draws > 1 else name for name in _PAIRS)
    return Table("The pairs", head, tuple(rows), words=3)


def change_table(findings: Sequence[Finding]) -> Table:
    """How far each experiment is from the original, on the same pairs."""
    rows: list[tuple[str, ...]] = []
    for learner in _learners(findings):
        for experiment in EXPERIMENTS[1:]:
            of = partial(_of, findings, learner=learner, experiment=experiment)
            moved = of("flip_rate_change")
            ps = p_values(of("flip_rate_change_p_holm"))
            place = (learner, moved[0].where["encoder"], experiment)
            rows.append((*place, _cell(moved, "+.1f", 100), ps, _cell(of("macro_f1_change"), "+.1f", 100)))
    return Table("Against training on the original texts", _CHANGES, tuple(rows), words=3)


def flipped_table(findings: Sequence[Finding]) -> Table:
    """The ids of flipped pairs: some of them, and how many more there are."""
    rows = []
    for f in findings:
        if f.measure == "flip_rate" and f.examples:
            more = len(f.examples) - SHOWN
            ids = ", ".join(f.examples[:SHOWN]) + (f" and {more} more" if more > 0 else "")
            place = (f.where["model"], f.where["encoder"], f.where["experiment"], f.where["seed"])
            rows.append((*place, str(len(f.examples)), ids))
    note = "All of them are in findings.jsonl; pairs.parquet has every decision on every pair."
    return Table("Flipped pairs by id", _FLIPPED, tuple(rows), words=6, note=note)


def paper_notes() -> list[str]:
    """What the paper leaves open or contradicts."""
    out = [
        "The paper gives no interval, no n of FNRR, and of the flipped predictions only “10 to 30 of 312”.",
        "Its captions say that the FNRR of a group is lower; what is meant is the false negative rate.",
        f"The paper's {NEUTRAL} texts either drop the pronouns or make them neutral: it does not say which.",
    ]
    for name in PUBLISHED.values():
        for row in published(name):
            if row["mark"]:
                table = name.removeprefix("gender-").replace("-", " ")
                out.append(f"{table}: {row['model']}, {row['experiment']}: {row['fnrr']}; {row['mark']}")
    return out


def _learners(findings: Sequence[Finding]) -> list[str]:
    return list(dict.fromkeys(f.where["model"] for f in findings if f.measure == "flip_rate"))


def _vectors(findings: Sequence[Finding], learner: str) -> list[str]:
    mine = [f for f in findings if f.measure == "flip_rate" and f.where["model"] == learner]
    return list(dict.fromkeys(f.where["encoder"] for f in mine))


def _of(findings: Sequence[Finding], measure: str, learner: str, experiment: str) -> list[Finding]:
    """The findings of a measure, one per seed (the false negative rate: one per seed and gender)."""
    return [
        f
        for f in findings
        if f.measure == measure and (f.where.get("model"), f.where.get("experiment")) == (learner, experiment)
    ]


def _bias(findings: Sequence[Finding], vectors: str) -> str:
    """Direct Bias of the vectors with its direction and interval, where it was measured."""
    for f in findings:
        if f.measure == "direct_bias" and f.where["encoder"] == vectors and f.interval:
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


def _draws(findings: Sequence[Finding]) -> int:
    return len({f.where["seed"] for f in findings if f.measure == "flip_rate"})


def _over(draws: int) -> str:
    return f"mean of {draws} draws of the training texts; in brackets the least and the most"


def _counted(values: Sequence[int]) -> str:
    return ", ".join(map(str, values)) if len(set(values)) > 1 else str(values[0])


def _number(value: float, spec: str = ".2f", scale: float = 1) -> str:
    return f"{scale * value:{spec}}".replace("-", "−")
