"""The tables of the gender study, ours beside the published ones, and what they say in a sentence each."""

import math
from collections.abc import Callable, Sequence

from psycheck.finding import Finding
from psycheck.report.tables import Table
from psycheck.run import Run
from psycheck.study.gender_rows import AUGMENTED, EXPERIMENTS, NEUTRAL, ORIGINAL
from psycheck.study.markdown import markdown, p_values
from psycheck.study.papers import MARK, published

SOURCE = "the effects of gender bias in word embeddings on depression prediction"
PUBLISHED = {"SVM": "gender-table-1", "random forest": "gender-table-2", "MLP": "gender-table-3"}
_LETTER = {"favours_female": " F", "favours_male": " M"}
_PAIRS = (
    "learner", "vectors", "trained on", "pairs", "flipped", "% (95 %)", "positive only as F", "only as M",
    "p", "p Holm", "FNR as F", "FNR as M", "equal opportunity", "demographic parity",
)  # fmt: skip
_CHANGES = ("learner", "vectors", "trained on", "flipped, % points", "p Holm", "macro-F1, % points")


def gender_tables(run: Run) -> str:
    """All tables in Markdown: the sentences first, then the paper's tables, the pairs and the changes."""
    findings = run.findings
    parts = [
        "# Gender bias on its way to a classifier: ours beside the published figures",
        "",
        *(f"- {line}" for line in answers(findings)),
        "",
        f"Published: “{SOURCE}”, Tables 1–3, as printed;",
        f"{MARK} marks a figure that the paper's own text contradicts (see the notes). FNRR is the lower by",
        "the higher false negative rate; the letter names the gender that is missed less. Ours with the 95 %",
        "interval (one seed), or the mean and, in brackets, the least and most over seeds. The interval of",
        "an FNRR is that of FNR(named) / FNR(other): where it reaches above 1, these texts cannot tell which",
        "gender is missed less.",
        "",
    ]
    for table in tables_of(findings):
        parts += [f"## {table.caption}", "", *markdown(table.head, table.rows), ""]
    return "\n".join([*parts, "## Notes", "", *(f"- {note}" for note in run.notes)]) + "\n"


def tables_of(findings: Sequence[Finding]) -> list[Table]:
    """The paper's tables, one a learner, then the pairs and the changes."""
    main = [main_table(findings, learner) for learner in _learners(findings)]
    return [*main, pairs_table(findings), change_table(findings)]


def answers(findings: Sequence[Finding]) -> list[str]:
    """For each learner one sentence: what the original texts taught it, and what augmenting changed."""
    out = []
    for learner in _learners(findings):
        before = _of(findings, "flip_rate", learner, ORIGINAL)
        after = _of(findings, "flip_rate", learner, AUGMENTED)
        ratio = _of(findings, "fnr_ratio", learner, ORIGINAL), _of(findings, "fnr_ratio", learner, AUGMENTED)
        cost = _of(findings, "macro_f1_change", learner, AUGMENTED)
        if before and after:
            out.append(
                f"{learner}: swapping the gender turns {_flips(before)} when trained on the "
                f"original texts, {_flips(after)} when augmented; FNRR {_cell(ratio[0], _two)} and "
                f"{_cell(ratio[1], _two)}; macro-F1 {_cell(cost, _points)} points"
            )
    return out


def main_table(findings: Sequence[Finding], learner: str) -> Table:
    """FNRR and macro-F1 of the four experiments, as the paper lays them out."""
    head = ["whose", "vectors", "DB"]
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
                cells.append(_cell(_of(findings, measure, learner, experiment), _two))
        rows.append(tuple(cells))
    title = f"Table {PUBLISHED[learner][-1]}: {learner}" if paper else f"{learner} (not in the paper)"
    return Table(title, tuple(head), tuple(rows), words=2)


def pairs_table(findings: Sequence[Finding]) -> Table:
    """What becomes of the pairs: flips and their direction, misses by gender, both differences (F less M)."""
    rows: list[tuple[str, ...]] = []
    for learner in _learners(findings):
        for experiment in EXPERIMENTS:
            flips = _of(findings, "flip_rate", learner, experiment)
            found = {
                measure: _of(findings, measure, learner, experiment)
                for measure in ("mcnemar_p", "mcnemar_p_holm", "equal_opportunity_difference")
            }
            parity = _of(findings, "demographic_parity_difference", learner, experiment)
            misses = _of(findings, "fnr", learner, experiment)
            rows.append(
                (
                    learner,
                    flips[0].where["encoder"],
                    experiment,
                    _counted([f.n for f in flips]),
                    _counted([f.counts["flipped"] for f in flips]),
                    _cell(flips, _hundred),
                    _counted([f.counts["only_female_positive"] for f in flips]),
                    _counted([f.counts["only_male_positive"] for f in flips]),
                    p_values(found["mcnemar_p"]),
                    p_values(found["mcnemar_p_holm"]),
                    _cell([f for f in misses if f.where["group"] == "female"], _two),
                    _cell([f for f in misses if f.where["group"] == "male"], _two),
                    _cell(found["equal_opportunity_difference"], _signed),
                    _cell(parity, _signed),
                )
            )
    return Table("The pairs", _PAIRS, tuple(rows), words=3)


def change_table(findings: Sequence[Finding]) -> Table:
    """How far each experiment is from the original, on the same pairs."""
    rows: list[tuple[str, ...]] = []
    for learner in _learners(findings):
        for experiment in EXPERIMENTS[1:]:
            moved = _of(findings, "flip_rate_change", learner, experiment)
            rows.append(
                (
                    learner,
                    moved[0].where["encoder"],
                    experiment,
                    _cell(moved, _points),
                    p_values(_of(findings, "flip_rate_change_p_holm", learner, experiment)),
                    _cell(_of(findings, "macro_f1_change", learner, experiment), _points),
                )
            )
    return Table("Against training on the original texts", _CHANGES, tuple(rows), words=3)


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
    """The findings of a measure, one a seed (the false negative rate: one a seed and gender)."""
    return [
        f
        for f in findings
        if f.measure == measure and (f.where.get("model"), f.where.get("experiment")) == (learner, experiment)
    ]


def _bias(findings: Sequence[Finding], vectors: str) -> str:
    """Direct Bias of the vectors with its direction and interval, where it was measured."""
    for f in findings:
        if f.measure == "direct_bias" and f.where["encoder"] == vectors and f.interval:
            return f"{_two(f.value)} {f.where['direction']} ({_two(f.interval[0])} to {_two(f.interval[1])})"
    return ""


def _cell(findings: Sequence[Finding], said: Callable[[float], str]) -> str:
    """One seed with its interval and direction, or the mean over seeds with the least and the most."""
    tested = [f for f in findings if f.tested]
    if not tested:
        return "–"
    letters = [_LETTER.get(flag, "") for f in tested for flag in f.flags if flag.startswith("favours_")]
    if len(tested) == 1:
        ends = tested[0].interval
        between = f" ({said(ends[0])} to {said(ends[1])})" if ends and not math.isnan(ends[0]) else ""
        return f"{said(tested[0].value)}{letters[0] if letters else ''}{between}"
    values = [f.value for f in tested]
    mean = f"{said(sum(values) / len(values))} ({said(min(values))} to {said(max(values))})"
    towards = ", ".join(f"{letters.count(x)}{x}" for x in _LETTER.values() if x in letters)
    return f"{mean}{'; ' + towards if towards else ''}"


def _flips(findings: Sequence[Finding]) -> str:
    turned = sum(f.counts["flipped"] for f in findings)
    n = sum(f.n for f in findings)
    return f"{turned} of {n} decisions, {_cell(findings, _percent)},"


def _counted(values: Sequence[int]) -> str:
    return ", ".join(map(str, values)) if len(set(values)) > 1 else str(values[0])


def _two(value: float) -> str:
    return f"{value:.2f}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _hundred(value: float) -> str:
    return f"{100 * value:.1f}"


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def _points(value: float) -> str:
    return f"{100 * value:+.1f}".replace("-", "−")
