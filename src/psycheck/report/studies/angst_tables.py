"""ANGST's tables, ours next to the published ones, marked where the paper contradicts itself."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from psycheck.core.finding import Finding, Findings
from psycheck.core.headline import Headline
from psycheck.core.run import Page, Run
from psycheck.report.display_names import words_of
from psycheck.report.headlines import headline
from psycheck.report.numbers import count, percent
from psycheck.report.page import draw
from psycheck.report.sections import by, grouped, unique
from psycheck.report.studies import corpora_tables
from psycheck.report.studies.angst_cells import (
    Row,
    count_or_dash,
    figure_over_seeds,
    length_cell,
    mean_interval,
    our_model,
    printed_model,
    published_rows,
    with_deviation,
)
from psycheck.report.studies.published_figures import (
    contradicted,
    document,
    dots,
    intro_of,
    marked,
    published,
)
from psycheck.report.tables import Table, table_of

BINARY, MULTI = "binary", "multi-label"
LABEL, CONTROL, COMBINATION, TOGETHER = "label", "control", "combination", "together"
TRAINED, GIVEN, ZERO_SHOT, FEW_SHOT = "trained", "as given", "zero-shot", "few-shot"
PROMPTS = (ZERO_SHOT, FEW_SHOT)
OUTCOMES = ("TT", "TF", "FT", "FF", "all")
_NOT_A_SCALE = (TRAINED, GIVEN, *PROMPTS)  # every other kind is a rating scale
# Our names of the paper's measures, where it weighs the classes of one label, and where it weighs labels.
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
_CLASS_MEASURES = ("precision", "recall", "f1")
_TABLES = ("3", "4", "5", "6", "8", "10", "11", "16")
_PLACE = by("model", "experiment", "arm")
_MOST_FIGURES = 6  # of a contradiction, named in a note
ByModel = dict[tuple[str, ...], list[Finding]]  # by model, kind and task, all seeds


def pages(run: Run) -> dict[str, str]:
    """The files of the study."""
    return {"report.html": render_angst(run), "study.md": angst_tables(run)}


def verdict(run: Run) -> list[Headline]:
    """The headlines of the study."""
    return answers(run.findings)


PAGE = Page(draw=pages, verdict=verdict)


def render_angst(run: Run) -> str:
    """The page of the study as one HTML file without scripts."""
    return draw(
        "study",
        run,
        study="angst",
        words=words_of("studies")["angst"],
        corpus=str(run.plan["corpora"][0]["name"]),
        sentences=[answer.sentence for answer in run.headlines],
        plot=f1_plot(run.findings),
        tables=tables_of(run.findings),
    )


def angst_tables(run: Run) -> str:
    """All tables in Markdown, in the order of the paper."""
    answer_lines = "".join(f"- {answer.sentence}\n" for answer in run.headlines)
    return document(
        intro_of("angst", answers=answer_lines),
        tables_of(run.findings),
        run.notes,
    )


def tables_of(findings: Findings) -> list[Table]:
    """Tables 3 to 6, the classes of Table 6 one by one, what answers took, Tables 8, 10, 11 and 16."""
    labels = _labels(findings)
    tables = [
        *(overall_table(findings, label) for label in labels),
        class_table(
            findings,
            "4",
            "depression",
            scales=False,
        ),
        class_table(
            findings,
            "5",
            "anxiety",
            scales=False,
        ),
        together_table(findings),
        combination_table(findings),
        usage_table(findings),
        *(table for table in corpora_tables.tables_of(findings) if "Table 8" in table.caption),
        class_table(
            findings,
            "10",
            "depression",
            scales=True,
        ),
        class_table(
            findings,
            "11",
            "anxiety",
            scales=True,
        ),
        *(length_table(findings, label) for label in labels),
    ]
    return [table for table in tables if _has_ours(table)]


def _labels(findings: Findings) -> list[str]:
    return unique(finding.where["label"] for finding in findings.where(level=LABEL))


def _has_ours(table: Table) -> bool:
    """Whether a table has a row of ours; tables without a column "whose" have only such rows."""
    # A table without a published side is ours altogether.
    if table.head[0] != "whose":
        return bool(table.rows)
    return any(row[0] == "ours" for row in table.rows)


def answers(findings: Findings) -> list[Headline]:
    """For all labels together and for each, which model has the highest figure; no claim beyond figures."""
    return [_highest(figure, by_model) for figure, by_model in _compared(findings).items()]


def _highest(figure: str, by_model: ByModel) -> Headline:
    """The model with the highest mean of a figure over its seeds."""
    means = {
        place: fmean(finding.value for finding in model_findings)
        for place, model_findings in by_model.items()
    }
    # The highest mean, and not the highest seed: one lucky training must not win.
    place = max(means, key=lambda place: means[place])
    model, kind, task = place
    best = by_model[place]

    interval = mean_interval(best, 1, 2)
    answered = ""
    share = fmean(_share_answered(finding) for finding in best)
    # A model that answers only what is easy would look better than it is.
    if share != 1:
        answered = f", on the {percent(share)} of the texts that it answered"
    return headline(
        "study.angst_alone" if len(by_model) == 1 else "study.angst_highest",
        best,
        what=figure,
        model=f"{model} ({kind}, {task})",
        models=count(len(by_model)),
        value=f"{means[place]:.2f}",
        ends=f" ({interval})" if interval else "",
        answered=answered,
    )


def _compared(findings: Findings) -> dict[str, ByModel]:
    """The mean F1 of all labels, and the macro-F1 of each, by model; only where every seed has one."""
    figures = {"mean F1 of the labels": findings.where(measure="macro_f1_across_labels", label="all")}
    for label in _labels(findings):
        figures[f"macro-F1 on {label}"] = findings.where(
            measure="macro_f1",
            label=label,
            level=LABEL,
        )

    compared = {}
    for figure, model_findings in figures.items():
        by_model = grouped(model_findings, _PLACE)
        # A seed without a figure would make the mean one of the others.
        complete = {place: fs for place, fs in by_model.items() if all(f.tested for f in fs)}
        if complete:
            compared[figure] = complete
    return compared


def _share_answered(finding: Finding) -> float:
    return 1 - finding.counts["unanswered"] / max(finding.counts["annotated"], 1)


def f1_plot(findings: Findings) -> dict[str, object]:
    """The figures of `answers` as dots with their intervals, one line per model."""
    groups = {}
    for figure, by_model in _compared(findings).items():
        groups[figure] = {", ".join(place): model_findings for place, model_findings in by_model.items()}
    return dots(groups)


def overall_table(findings: Findings, label: str) -> Table:
    """Table 3: one label against its absence, weighted over both classes."""
    rows: list[Row] = []
    for place, model_findings in _models(findings, label, LABEL).items():
        rows.append(
            (*our_model(place), *(figure_over_seeds(model_findings, measure) for measure in _BINARY.values()))
        )
    printed = [row for row in published("angst-table-3") if row["label"] == label]
    rows += published_rows(printed, tuple(_BINARY))
    return table_of("angst_overall", rows, label=label)


def class_table(findings: Findings, name: str, label: str, *, scales: bool) -> Table:
    """Tables 4 and 5, or 10 and 11 of rating scales: the label and its absence, each as a class."""
    present = _models(
        findings,
        label,
        LABEL,
        scales=scales,
    )
    absent = _models(
        findings,
        label,
        CONTROL,
        scales=scales,
    )
    rows: list[Row] = []
    for place, model_findings in present.items():
        figures = [figure_over_seeds(model_findings, measure) for measure in _CLASS_MEASURES]
        figures += [figure_over_seeds(absent[place], measure) for measure in _CLASS_MEASURES]
        rows.append((*our_model(place), *figures))

    # In the order of the rows above: published figures stand below ours.
    columns = [(class_, measure) for class_ in (label, CONTROL) for measure in _CLASS_MEASURES]
    for model, printed in grouped(published(f"angst-table-{name}"), printed_model).items():
        cells = {(row["class"], row["measure"]): with_deviation(row) for row in printed}
        rows.append(("published", *model, *(cells[column] for column in columns)))
    caption = words_of("studies")["angst"]["per_class"][name]
    return table_of(
        "angst_classes",
        rows,
        caption=caption,
        label=label,
    )


def together_table(findings: Findings) -> Table:
    """Table 6: all labels at once."""
    labels = _labels(findings)
    by_label = [_models(findings, label, LABEL) for label in labels]
    rows: list[Row] = []
    for place, model_findings in _models(findings, "all", TOGETHER).items():
        figures = [figure_over_seeds(model_findings, measure) for measure in _MULTI.values()]
        figures += [figure_over_seeds(models[place], "f1") for models in by_label]
        figures.append(figure_over_seeds(model_findings, "exact_match"))
        rows.append((*our_model(place), *figures))

    label_columns = [f"{label}_f1" for label in labels]
    rows += published_rows(published("angst-table-6"), (*_MULTI, *label_columns))
    return table_of("angst_together", rows, [*(f"{label} F1" for label in labels), "exact match"])


def combination_table(findings: Findings) -> Table:
    """Ours alone: none of the labels, each alone, and both, as classes that exclude each other."""
    combinations = findings.where(level=COMBINATION)
    rows: list[Row] = []
    for place, model_findings in grouped(combinations, by("model", "experiment", "label")).items():
        f1s = [finding for finding in model_findings if finding.measure == "f1"]
        # The same for all seeds, unless a corpus was drawn anew for each.
        annotated = unique(count(f1.counts["annotated"]) for f1 in f1s)
        predicted = [count(f1.counts["predicted"]) for f1 in f1s]
        figures = [figure_over_seeds(model_findings, measure) for measure in _CLASS_MEASURES]
        rows.append(
            (
                *place,
                ", ".join(annotated),
                ", ".join(predicted),
                *figures,
            )
        )
    return table_of("angst_combinations", rows)


def usage_table(findings: Findings) -> Table:
    """What each model left unanswered, and what its answers took."""
    costs = {_PLACE(f): f"{f.value:,.2f}" for f in findings.where(measure="answer_cost", seed="0")}
    place_and_label = by(
        "model",
        "experiment",
        "arm",
        "label",
    )
    rows: list[Row] = []
    for (*place, label), model_findings in grouped(
        findings.where(measure="unanswered"), place_and_label
    ).items():
        _, model, kind_and_task = our_model(place)
        unanswered = ", ".join(f"{finding.counts['unanswered']} of {finding.n}" for finding in model_findings)
        used = [
            count_or_dash(model_findings[0].counts.get(resource))
            for resource in ("requests", "prompt_tokens", "completion_tokens")
        ]
        rows.append(
            (
                model,
                kind_and_task,
                label,
                unanswered,
                *used,
                costs.get(tuple(place), "–"),
            )
        )
    return table_of("angst_usage", rows)


def length_table(findings: Findings, label: str) -> Table:
    """Table 16: mean characters by which of two models is right."""
    rows: list[Row] = []
    ours = findings.where(measure="outcome_length", label=label)
    for pair, model_findings in grouped(ours, by("model", "versus")).items():
        lengths = {by("outcome", "gold")(finding): finding for finding in model_findings}
        for outcome in OUTCOMES:
            annotated_0 = length_cell(lengths.get((outcome, "0")))
            annotated_1 = length_cell(lengths.get((outcome, "1")))
            rows.append(
                (
                    "ours",
                    *pair,
                    outcome,
                    annotated_0,
                    annotated_1,
                )
            )

    # The paper has this table for depression only.
    paper = published("angst-table-16") if label == "depression" else ()
    for names, printed in grouped(paper, lambda row: (row["first"], row["second"])).items():
        cells = {(row["outcome"], row["gold"]): marked(row) for row in printed}
        for outcome in OUTCOMES:
            rows.append(
                (
                    "published",
                    *names,
                    outcome,
                    cells[outcome, "0"],
                    cells[outcome, "1"],
                )
            )
    return table_of("angst_lengths", rows, label=label)


def paper_notes() -> list[str]:
    """Where the paper contradicts itself, or leaves open what is needed to repeat it."""
    notes = list(words_of("studies")["angst"]["notes"])
    rows_by_reason: dict[str, list[Mapping[str, str]]] = {}
    for _, table, row in contradicted(*(f"angst-table-{name}" for name in _TABLES)):
        rows_by_reason.setdefault(f"{table}: {row['mark']}", []).append(row)
    for reason, rows in rows_by_reason.items():
        notes.append(f"{reason} ({_figures_named(rows)})")
    return notes


def _figures_named(rows: Sequence[Mapping[str, str]]) -> str:
    """The marked figures, or how many there are."""
    if len(rows) > _MOST_FIGURES:
        return f"{len(rows)} figures"
    figures = []
    for row in rows:
        deviation = f" (sd {row['sd']})" if row.get("sd") else ""
        figures.append(row["value"] + deviation)
    return ", ".join(figures)


def _models(findings: Findings, label: str, level: str, *, scales: bool | None = None) -> ByModel:
    """Our findings on a label or combination by model, kind and task; rating scales only, none, or all."""
    model_findings: Iterable[Finding] = findings.where(label=label, level=level)
    if scales is not None:
        model_findings = [f for f in model_findings if (f.where["experiment"] not in _NOT_A_SCALE) == scales]
    return grouped(model_findings, _PLACE)
