"""ANGST's tables, ours next to the published ones, marked where the paper contradicts itself."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev

from psycheck.finding import Finding, Findings
from psycheck.report.headlines import sentence
from psycheck.report.numbers import count, percent
from psycheck.report.page import draw
from psycheck.report.shelf import by, grouped, unique
from psycheck.report.studies import corpora
from psycheck.report.studies.papers import contradicted, document, dots, intro_of, marked, published
from psycheck.report.tables import Table, table_of
from psycheck.report.words import words_of
from psycheck.run import Run

BINARY, MULTI = "binary", "multi-label"
LABEL, CONTROL, COMBINATION, TOGETHER = "label", "control", "combination", "together"
TRAINED, GIVEN, ZERO_SHOT, FEW_SHOT = "trained", "as given", "zero-shot", "few-shot"
PROMPTS = (ZERO_SHOT, FEW_SHOT)
_NO_SCALE = (TRAINED, GIVEN, *PROMPTS)  # every other kind is a rating scale
# What ours are called where the paper weighs the classes of one label, and where it weighs labels.
_BINARY = {
    "accuracy": "accuracy",
    "weighted_precision": "weighted_precision",
    "weighted_recall": "accuracy",
    "weighted_f1": "weighted_f1",
    "macro_f1": "macro_f1",
}
_MULTI = {
    "hamming": "hamming",
    "weighted_precision": "weighted_precision_across_labels",
    "weighted_recall": "weighted_recall_across_labels",
    "weighted_f1": "weighted_f1_across_labels",
    "macro_f1": "macro_f1_across_labels",
}
_CLASS = ("precision", "recall", "f1")
OUTCOMES = ("TT", "TF", "FT", "FF", "all")
_PLACE = ("model", "experiment", "arm")
Row = tuple[str, ...]


def render_angst(run: Run) -> str:
    """The page of the study as one HTML file without scripts."""
    return draw(
        "study",
        run,
        study="angst",
        words=words_of("studies")["angst"],
        corpus=str(run.plan["corpora"][0]["name"]),
        sentences=answers(run.findings),
        plot=f1_plot(run.findings),
        tables=tables_of(run.findings),
    )


def angst_tables(run: Run) -> str:
    """All tables in Markdown, in the order of the paper."""
    listed = "".join(f"- {line}\n" for line in answers(run.findings))
    return document(intro_of("angst", answers=listed), tables_of(run.findings), run.notes)


def tables_of(findings: Findings) -> list[Table]:
    """Tables 3 to 6, the classes of Table 6 one by one, what answers took, Tables 8, 10, 11 and 16."""
    labels = _labels(findings)
    tables = [overall_table(findings, label) for label in labels]
    tables += [
        class_table(findings, name, label, scales=False)
        for name, label in (("4", "depression"), ("5", "anxiety"))
    ]
    tables += [together_table(findings), combination_table(findings), usage_table(findings)]
    tables += [table for table in corpora.tables_of(findings) if "Table 8" in table.caption]
    tables += [
        class_table(findings, name, label, scales=True)
        for name, label in (("10", "depression"), ("11", "anxiety"))
    ]
    tables += [length_table(findings, label) for label in labels]
    return [table for table in tables if _has_ours(table)]


def _labels(findings: Findings) -> list[str]:
    return unique(f.where["label"] for f in findings if f.where.get("level") == LABEL)


def _has_ours(table: Table) -> bool:
    return any(table.head[0] != "whose" or row[0] == "ours" for row in table.rows)


def answers(findings: Findings) -> list[str]:
    """For all labels together and for each, which model has the highest figure; no claim beyond figures."""
    out = []
    for what, rows in _compared(findings).items():
        means = {row: fmean(f.value for f in several) for row, several in rows.items()}
        (model, kind, task), value = max(means.items(), key=lambda one: one[1])
        best = rows[model, kind, task]
        between = _ends(best, 1, 2)
        share = fmean(_answered(f) for f in best)
        words = {
            "what": what,
            "model": f"{model} ({kind}, {task})",
            "models": count(len(rows)),
            "value": f"{value:.2f}",
            "ends": f" ({between})" if between else "",
            "answered": "" if share == 1 else f", on the {percent(share)} of the texts that it answered",
        }
        out.append(sentence(f"study.angst_{'alone' if len(rows) == 1 else 'highest'}", **words))
    return out


def _compared(findings: Findings) -> dict[str, dict[Row, list[Finding]]]:
    """The mean F1 of all labels, and the macro-F1 of each, by model; only where every seed has one."""
    found = {"mean F1 of the labels": findings.where(measure="macro_f1_across_labels", label="all")}
    for label in _labels(findings):
        found[f"macro-F1 on {label}"] = findings.where(measure="macro_f1", label=label, level=LABEL)
    rows = {what: grouped(some, by(*_PLACE)) for what, some in found.items()}
    whole = {
        what: {row: several for row, several in mine.items() if all(f.tested for f in several)}
        for what, mine in rows.items()
    }
    return {what: mine for what, mine in whole.items() if mine}


def _answered(finding: Finding) -> float:
    return 1 - finding.counts["unanswered"] / max(finding.counts["annotated"], 1)


def f1_plot(findings: Findings) -> dict[str, object]:
    """The figures of `answers` as dots with their intervals, one line per model."""
    return dots(
        {
            what: {", ".join(place): several for place, several in mine.items()}
            for what, mine in _compared(findings).items()
        }
    )


def overall_table(findings: Findings, label: str) -> Table:
    """Table 3: one label against its absence, weighted over both classes."""
    printed = [row for row in published("angst-table-3") if row["label"] == label]
    rows: list[Row] = []
    for place, mine in _models(findings, label, LABEL, scales=None).items():
        rows.append((*_ours(place), *(_of(mine, name) for name in _BINARY.values())))
    return table_of("angst_overall", [*rows, *_printed(printed, tuple(_BINARY))], label=label)


def class_table(findings: Findings, name: str, label: str, *, scales: bool) -> Table:
    """Tables 4 and 5, or 10 and 11 of rating scales: the label and its absence, each as a class."""
    printed = published(f"angst-table-{name}")
    keys = [(class_, measure) for class_ in (label, CONTROL) for measure in _CLASS]
    rows: list[Row] = []
    both = [_models(findings, label, level, scales=scales) for level in (LABEL, CONTROL)]
    for place, mine in both[0].items():
        sides = (mine, both[1][place])
        rows.append((*_ours(place), *(_of(side, measure) for side in sides for measure in _CLASS)))
    for whose, found in grouped(printed, lambda row: (row["model"], row["type"])).items():
        cells = {(row["class"], row["measure"]): _with_sd(row) for row in found}
        rows.append(("published", *whose, *(cells[key] for key in keys)))
    what = words_of("studies")["angst"]["per_class"][name]
    return table_of("angst_classes", rows, caption=what, label=label)


def together_table(findings: Findings) -> Table:
    """Table 6: all labels at once."""
    labels = _labels(findings)
    printed = published("angst-table-6")
    rows: list[Row] = []
    each = [_models(findings, label, LABEL, scales=None) for label in labels]
    for place, mine in _models(findings, "all", TOGETHER, scales=None).items():
        figures = [_of(mine, name) for name in _MULTI.values()]
        figures += [_of(one[place], "f1") for one in each]
        rows.append((*_ours(place), *figures, _of(mine, "exact_match")))
    rows += _printed(printed, (*_MULTI, *(f"{label}_f1" for label in labels)))
    return table_of("angst_together", rows, [*(f"{label} F1" for label in labels), "exact match"])


def combination_table(findings: Findings) -> Table:
    """Ours alone: none of the labels, each alone, and both, as classes that exclude each other."""
    found = [f for f in findings if f.where.get("level") == COMBINATION]
    rows: list[Row] = []
    for place, mine in grouped(found, by("model", "experiment", "label")).items():
        counts = [f.counts for f in mine if f.measure == "f1"]
        annotated = unique(count(one["annotated"]) for one in counts)
        predicted = ", ".join(count(one["predicted"]) for one in counts)
        cells = (_of(mine, measure) for measure in _CLASS)
        rows.append((*place, ", ".join(annotated), predicted, *cells))
    return table_of("angst_combinations", rows)


def usage_table(findings: Findings) -> Table:
    """What each model left unanswered, and what its answers took."""
    rows: list[Row] = []
    costs = {by(*_PLACE)(f): f"{f.value:,.2f}" for f in findings.where(measure="answer_cost", seed="0")}
    for (*place, label), mine in grouped(findings.where(measure="unanswered"), by(*_PLACE, "label")).items():
        first = mine[0].counts
        took = (first.get(name) for name in ("requests", "prompt_tokens", "completion_tokens"))
        missing = ", ".join(f"{f.counts['unanswered']} of {f.n}" for f in mine)
        counts = ("–" if one is None else count(one) for one in took)
        rows.append((*_ours(place)[1:], label, missing, *counts, costs.get(tuple(place), "–")))
    return table_of("angst_usage", rows)


def length_table(findings: Findings, label: str) -> Table:
    """Table 16: mean characters by which of two models is right."""
    rows: list[Row] = []
    ours = findings.where(measure="outcome_length", label=label)
    for pair, mine in grouped(ours, by("model", "versus")).items():
        held = {by("outcome", "gold")(f): f for f in mine}
        rows += [("ours", *pair, one, *(_length(held.get((one, gold))) for gold in "01")) for one in OUTCOMES]
    printed = published("angst-table-16") if label == "depression" else ()
    for names, found in grouped(printed, lambda row: (row["first"], row["second"])).items():
        cells = {(row["outcome"], row["gold"]): marked(row) for row in found}
        rows += [("published", *names, one, cells[one, "0"], cells[one, "1"]) for one in OUTCOMES]
    return table_of("angst_lengths", rows, label=label)


def paper_notes() -> list[str]:
    """Where the paper contradicts itself, or leaves open what is needed to repeat it."""
    words = words_of("studies")["angst"]
    names = [f"angst-table-{name}" for name in ("3", "4", "5", "6", "8", "10", "11", "16")]
    marks = grouped(contradicted(*names), lambda one: (one[1], one[2]["mark"]))
    return [*words["notes"], *(f"{table}: {why} ({_whose(rows)})" for (table, why), rows in marks.items())]


def _whose(rows: Sequence[tuple[str, str, Mapping[str, str]]]) -> str:
    """The marked figures, or how many there are."""
    if len(rows) > 6:
        return f"{len(rows)} figures"
    return ", ".join(row["value"] + (f" (sd {row['sd']})" if row.get("sd") else "") for _, _, row in rows)


def _models(
    findings: Findings, label: str, level: str, *, scales: bool | None
) -> dict[tuple[str, ...], list[Finding]]:
    """Our findings on a label or combination by model, kind and task; rating scales only, none, or all."""
    found = findings.where(label=label, level=level)
    wanted = [f for f in found if scales is None or (f.where["experiment"] not in _NO_SCALE) == scales]
    return grouped(wanted, by(*_PLACE))


def _ours(place: Sequence[str]) -> Row:
    model, kind, task = place
    return "ours", model, f"{kind}, {task}"


def _printed(rows: Iterable[Mapping[str, str]], measures: Sequence[str]) -> list[Row]:
    out: list[Row] = []
    for place, found in grouped(rows, lambda row: (row["model"], row["type"])).items():
        cells = {row["measure"]: _with_sd(row) for row in found}
        out.append(("published", *place, *(cells.get(name, "–") for name in measures)))
    return out


def _with_sd(row: Mapping[str, str]) -> str:
    return marked(row) + (f" (sd {row['sd']})" if row["sd"] else "")


def _of(findings: Sequence[Finding], measure: str) -> str:
    """In per cent: one seed with its interval, or the mean with its interval and the deviation over seeds."""
    found = [f for f in findings if f.measure == measure]
    tested = [f for f in found if f.tested]
    if not tested or len(tested) < len(found):
        return "–"  # a mean over the seeds that happen to be defined would be too good
    values = [100 * f.value for f in tested]
    between = [_ends(tested, 100, 1), f"sd {stdev(values):.1f}" if len(values) > 1 else ""]
    inside = "; ".join(filter(None, between))
    return f"{fmean(values):.1f}" + (f" ({inside})" if inside else "")


def _ends(findings: Sequence[Finding], scale: float, digits: int) -> str:
    """The mean interval of the seeds, which is never too narrow for their mean: all have the same texts."""
    known = [f.interval for f in findings if f.interval is not None]
    if not known or len(known) < len(findings):
        return ""
    return " to ".join(f"{scale * fmean(end):.{digits}f}" for end in zip(*known, strict=True))


def _length(finding: Finding | None) -> str:
    if finding is None or not finding.tested:
        return "–"
    return f"{finding.value:,.1f} ({_ends([finding], 1, 0)}), n {count(finding.n)}".replace(" ()", "")
