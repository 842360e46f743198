"""PsySym's tables, ours next to the published ones."""

from collections.abc import Iterable, Mapping
from statistics import fmean

from psycheck.core.finding import Finding, Findings
from psycheck.core.headline import Headline
from psycheck.core.run import Page, Run
from psycheck.report.display_names import words_of
from psycheck.report.headlines import headline
from psycheck.report.page import draw
from psycheck.report.sections import by, grouped, unique
from psycheck.report.studies.published_figures import document, dots, intro_of, over_seeds, published
from psycheck.report.tables import Table, table_of

EACH, ONE = "one model per disease", "one model for all"
CONTROLS, RETRIEVAL, DETECTION = "with controls", "retrieval", "histories"
ALL = "all"
# Diseases as the paper and the graph call them.
NAMES = {
    "Depression": "depression",
    "Anxiety": "anxiety",
    "ADHD": "adhd",
    "Bipolar Disorder": "bipolar_disorder",
    "OCD": "ocd",
    "PTSD": "ptsd",
    "Eating Disorder": "eating_disorder",
}
Row = tuple[str, ...]
ByArm = dict[tuple[str, ...], list[Finding]]  # by experiment and arm, all seeds


def pages(run: Run) -> dict[str, str]:
    """The files of the study."""
    return {"report.html": render_psysym(run), "study.md": psysym_tables(run)}


def verdict(run: Run) -> list[Headline]:
    """The headlines of the study."""
    return answers(run.findings)


PAGE = Page(draw=pages, verdict=verdict)


def render_psysym(run: Run) -> str:
    """The page of the study as one HTML file without scripts."""
    return draw(
        "study",
        run,
        study="psysym",
        corpus=" and ".join(str(corpus["name"]) for corpus in run.plan["corpora"]),
        sentences=[answer.sentence for answer in run.headlines],
        plot=_plot(run.findings),
        words=words_of("studies")["psysym"],
        tables=tables_of(run.findings),
    )


def psysym_tables(run: Run) -> str:
    """All tables in Markdown, in the order of the paper."""
    answer_lines = "".join(f"- {answer.sentence}\n" for answer in run.headlines)
    intro = intro_of("psysym", answers=answer_lines)
    return document(intro, tables_of(run.findings), run.notes)


def tables_of(findings: Findings) -> list[Table]:
    """Table 2, the figures of 5.2 and 5.3, Tables 5 and 9 in one, Table 10."""
    tables = [relevance_table(findings), controls_table(findings), status_table(findings)]
    # Histories need a corpus of people, which not every run has.
    if findings.where(experiment=DETECTION):
        tables.append(detection_table(findings))
    return [*tables, retrieval_table(findings)]


def relevance_table(findings: Findings) -> Table:
    """Table 2: mean AUC over the symptoms of each disease, then over diseases."""
    rows: list[Row] = []
    for place, by_seed in _mean_auc_by_arm(findings).items():
        rows.append(("ours", *place, _percent(by_seed)))
    for row in published("psysym-table-2"):
        rows.append(
            (
                "published",
                row["models"],
                row["method"],
                row["value"],
            )
        )
    return table_of("psysym_relevance", rows)


def controls_table(findings: Findings) -> Table:
    """Section 5.2: all symptoms on all test sentences, controls among them."""
    of_controls = findings.where(experiment=CONTROLS, label=ALL)
    rows: list[Row] = []
    for (_, method), arm_findings in _by_arm(of_controls).items():
        rows.append(
            (
                "ours",
                method,
                _of_measure(arm_findings, "symptom_auc"),
                _of_measure(arm_findings, "symptom_f1"),
            )
        )
    rows += _section_5_rows("relevance with control posts", ("auc", "f1"))
    return table_of("psysym_controls", rows)


def status_table(findings: Findings) -> Table:
    """Section 5.3: the mean absolute error of the status."""
    errors = findings.where(measure="status_mae")
    rows: list[Row] = []
    for (subject,), by_seed in grouped(errors, by("of")).items():
        rows.append(("ours", subject, over_seeds(by_seed)))
    rows += _section_5_rows("status", ("mae",))
    return table_of("psysym_status", rows)


def detection_table(findings: Findings) -> Table:
    """Tables 5 and 9: F1 of each condition against controls, and their mean."""
    f1s = findings.where(experiment=DETECTION, measure="f1")
    means = _by_arm(findings.where(experiment=DETECTION, measure="macro_f1_across_labels"))
    labels = unique(f1.where["label"] for f1 in f1s)
    rows: list[Row] = []
    for arm, arm_findings in _by_arm(f1s).items():
        cells = [_percent(f1 for f1 in arm_findings if f1.where["label"] == label) for label in labels]
        rows.append(
            (
                "ours",
                arm[1],
                _percent(means[arm]),
                *cells,
            )
        )

    # How many authors a column rests on: an F1 of ten is an anecdote.
    annotated = [str(f1s.where(label=label)[0].counts["annotated"]) for label in labels]
    rows.append(
        (
            "ours",
            "authors annotated 1 in test",
            "",
            *annotated,
        )
    )
    for method, printed in grouped(published("psysym-table-9"), _method).items():
        values = {}
        for row in printed:
            disease = row["disease"]
            values[NAMES.get(disease, disease)] = row["value"]
        cells = [values.get(label, "–") for label in labels]
        rows.append(
            (
                "published",
                method,
                values["Mean (7 Diseases)"],
                *cells,
            )
        )
    return table_of("psysym_detection", rows, labels)


def retrieval_table(findings: Findings) -> Table:
    """Table 10: precision and recall, the means over symptoms."""
    of_retrieval = findings.where(experiment=RETRIEVAL)
    rows: list[Row] = []
    for (_, method), arm_findings in _by_arm(of_retrieval).items():
        precision = _of_measure(arm_findings, "retrieval_precision")
        recall = _of_measure(arm_findings, "retrieval_recall")
        rows.append(("ours", method, precision, recall))
    for method, printed in grouped(published("psysym-table-10"), _method).items():
        values = {row["measure"]: row["value"] for row in printed}
        rows.append(
            (
                "published",
                method,
                values["precision"],
                values["recall"],
            )
        )
    return table_of("psysym_retrieval", rows)


def _method(printed_row: Mapping[str, str]) -> str:
    return printed_row["method"]


def answers(findings: Findings) -> list[Headline]:
    """The order of the three ways, and the F1 of all features for the rarest condition."""
    headlines = (_ways_headline(findings), _rarest_headline(findings))
    return [headline for headline in headlines if headline is not None]


def _ways_headline(findings: Findings) -> Headline | None:
    """The mean AUC of symptoms by how missing labels are treated, the highest first."""
    means = {}
    behind = []
    for (experiment, arm), by_seed in _mean_auc_by_arm(findings).items():
        tested = [finding for finding in by_seed if finding.tested]
        if experiment == ONE and tested:
            means[arm] = fmean(finding.value for finding in tested)
            behind += tested
    # One way alone has no order.
    if len(means) < 2:
        return None

    highest_first = sorted(means, key=lambda arm: -means[arm])
    in_percent = [f"{arm} {100 * means[arm]:.1f}" for arm in highest_first]
    order = ", ".join(in_percent)
    return headline("study.psysym_ways", behind, order=order)


def _rarest_headline(findings: Findings) -> Headline | None:
    """The F1 of each arm for the condition with the fewest authors in test."""
    f1s = [f1 for f1 in findings.where(experiment=DETECTION, measure="f1") if f1.tested]
    if not f1s:
        return None

    rarest = min(f1s, key=lambda f1: f1.counts["annotated"])
    label = rarest.where["label"]
    of_rarest = [f1 for f1 in f1s if f1.where["label"] == label]
    figures = []
    for (_, arm), by_seed in _by_arm(of_rarest).items():
        mean = fmean(f1.value for f1 in by_seed)
        figures.append(f"{arm} {100 * mean:.0f}")
    return headline(
        "study.psysym_rare",
        of_rarest,
        label=label,
        annotated=str(rarest.counts["annotated"]),
        figures=", ".join(figures),
    )


def _plot(findings: Findings) -> dict[str, object]:
    """Table 2, and the mean F1 of conditions, as dots with their intervals."""
    groups: dict[str, dict[str, list[Finding]]] = {}
    for (experiment, arm), by_seed in _mean_auc_by_arm(findings).items():
        groups.setdefault("AUC of symptoms", {})[f"{arm}, {experiment}"] = by_seed
    f1s = findings.where(experiment=DETECTION, measure="f1")
    for (_, arm), arm_findings in _by_arm(f1s).items():
        for f1 in arm_findings:
            lines = groups.setdefault(f"F1, {f1.where['label']}", {})
            lines.setdefault(arm, []).append(f1)
    return dots(groups)


def paper_notes() -> list[str]:
    """What the paper leaves open, or counts otherwise."""
    return list(words_of("studies")["psysym"]["notes"])


def _mean_auc_by_arm(findings: Findings) -> ByArm:
    """The AUC of symptoms, the mean over all diseases."""
    return _by_arm(findings.where(measure="symptom_auc_by_disease", disease=ALL))


def _by_arm(findings: Iterable[Finding]) -> ByArm:
    return grouped(findings, by("experiment", "arm"))


def _of_measure(findings: Iterable[Finding], measure: str) -> str:
    return _percent(finding for finding in findings if finding.measure == measure)


def _percent(findings: Iterable[Finding]) -> str:
    return over_seeds(
        list(findings),
        scale=100,
        digits=2,
    )


def _section_5_rows(task: str, measures: tuple[str, ...]) -> list[Row]:
    """What section 5 of the paper prints on a task, one row per model."""
    printed = [row for row in published("psysym-section-5") if row["task"] == task]
    rows: list[Row] = []
    for model, rows_of_model in grouped(printed, lambda row: row["model"]).items():
        values = {row["measure"]: row["value"] for row in rows_of_model}
        figures = [values.get(measure, "–") for measure in measures]
        rows.append(("published", model, *figures))
    return rows
