"""PsySym's tables, ours next to the published ones."""

from collections.abc import Iterable
from statistics import fmean

from psycheck.finding import Finding, Findings
from psycheck.report.headlines import sentence
from psycheck.report.page import draw
from psycheck.report.shelf import by, grouped, unique
from psycheck.report.studies.papers import document, dots, intro_of, over_seeds, published
from psycheck.report.tables import Table, table_of
from psycheck.report.words import words_of
from psycheck.run import Run

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


def render_psysym(run: Run) -> str:
    """The page of the study as one HTML file without scripts."""
    names = " and ".join(str(one["name"]) for one in run.plan["corpora"])
    return draw(
        "study",
        run,
        study="psysym",
        corpus=names,
        sentences=answers(run.findings),
        plot=_plot(run.findings),
        words=words_of("studies")["psysym"],
        tables=tables_of(run.findings),
    )


def psysym_tables(run: Run) -> str:
    """All tables in Markdown, in the order of the paper."""
    listed = "".join(f"- {line}\n" for line in answers(run.findings))
    return document(intro_of("psysym", answers=listed), tables_of(run.findings), run.notes)


def tables_of(findings: Findings) -> list[Table]:
    """Table 2, the figures of 5.2 and 5.3, Tables 5 and 9 in one, Table 10."""
    tables = [relevance_table(findings), controls_table(findings), status_table(findings)]
    if _of(findings, DETECTION):
        tables.append(detection_table(findings))
    return [*tables, retrieval_table(findings)]


def relevance_table(findings: Findings) -> Table:
    """Table 2: mean AUC over the symptoms of each disease, then over diseases."""
    means = findings.where(measure="symptom_auc_by_disease", disease=ALL)
    ours = [("ours", *place, _percent(some)) for place, some in _arms(means).items()]
    printed = [
        ("published", row["models"], row["method"], row["value"]) for row in published("psysym-table-2")
    ]
    return table_of("psysym_relevance", [*ours, *printed])


def controls_table(findings: Findings) -> Table:
    """Section 5.2: all symptoms on all test sentences, controls among them."""
    found = [f for f in _of(findings, CONTROLS) if f.where.get("label") == ALL]
    rows: list[Row] = []
    for (_, method), some in _arms(found).items():
        cells = (_percent(f for f in some if f.measure == name) for name in ("symptom_auc", "symptom_f1"))
        rows.append(("ours", method, *cells))
    return table_of("psysym_controls", [*rows, *_printed("relevance with control posts", ("auc", "f1"))])


def status_table(findings: Findings) -> Table:
    """Section 5.3: the mean absolute error of the status."""
    ours = grouped(findings.where(measure="status_mae"), by("of"))
    rows = [("ours", of, over_seeds(some)) for (of,), some in ours.items()]
    return table_of("psysym_status", [*rows, *_printed("status", ("mae",))])


def detection_table(findings: Findings) -> Table:
    """Tables 5 and 9: F1 of each condition against controls, and their mean."""
    all_of = _of(findings, DETECTION)
    found, means = ([f for f in all_of if f.measure == name] for name in ("f1", "macro_f1_across_labels"))
    labels, mean_of = unique(f.where["label"] for f in found), _arms(means)
    rows: list[Row] = []
    for arm, some in _arms(found).items():
        cells = [_percent(f for f in some if f.where["label"] == label) for label in labels]
        rows.append(("ours", arm[1], _percent(mean_of[arm]), *cells))
    annotated = [
        str(next(f for f in found if f.where["label"] == label).counts["annotated"]) for label in labels
    ]
    rows.append(("ours", "authors annotated 1 in test", "", *annotated))
    for (method,), printed in grouped(published("psysym-table-9"), lambda row: (row["method"],)).items():
        values = {NAMES.get(row["disease"], row["disease"]): row["value"] for row in printed}
        cells = [values.get(label, "–") for label in labels]
        rows.append(("published", method, values["Mean (7 Diseases)"], *cells))
    return table_of("psysym_detection", rows, labels)


def retrieval_table(findings: Findings) -> Table:
    """Table 10: precision and recall, the means over symptoms."""
    rows: list[Row] = []
    for (_, method), some in _arms(_of(findings, RETRIEVAL)).items():
        cells = (
            _percent(f for f in some if f.measure == f"retrieval_{name}") for name in ("precision", "recall")
        )
        rows.append(("ours", method, *cells))
    for (method,), printed in grouped(published("psysym-table-10"), lambda row: (row["method"],)).items():
        values = {row["measure"]: row["value"] for row in printed}
        rows.append(("published", method, values["precision"], values["recall"]))
    return table_of("psysym_retrieval", rows)


def answers(findings: Findings) -> list[str]:
    """The order of the three ways, and the F1 of all features for the rarest condition."""
    out = []
    ways = {
        arm: fmean(f.value for f in some if f.tested)
        for (_, arm), some in _arms(findings.where(measure="symptom_auc_by_disease", disease=ALL)).items()
        if some[0].where["experiment"] == ONE and any(f.tested for f in some)
    }
    if len(ways) > 1:
        order = sorted(ways, key=lambda arm: -ways[arm])
        listed = ", ".join(f"{arm} {100 * ways[arm]:.1f}" for arm in order)
        out.append(sentence("study.psysym_ways", order=listed))
    found = [f for f in _of(findings, DETECTION) if f.measure == "f1" and f.tested]
    if found:
        rare = min(found, key=lambda f: f.counts["annotated"])
        mine = _arms([f for f in found if f.where["label"] == rare.where["label"]])
        listed = ", ".join(
            f"{arm} {100 * fmean(f.value for f in some):.0f}" for (_, arm), some in mine.items()
        )
        n = rare.counts["annotated"]
        out.append(sentence("study.psysym_rare", label=rare.where["label"], annotated=str(n), figures=listed))
    return out


def _plot(findings: Findings) -> dict[str, object]:
    """Table 2, and the mean F1 of conditions, as dots with their intervals."""
    groups: dict[str, dict[str, list[Finding]]] = {}
    for (kind, arm), some in _arms(findings.where(measure="symptom_auc_by_disease", disease=ALL)).items():
        groups.setdefault("AUC of symptoms", {})[f"{arm}, {kind}"] = some
    for (_, arm), some in _arms([f for f in _of(findings, DETECTION) if f.measure == "f1"]).items():
        for f in some:
            groups.setdefault(f"F1, {f.where['label']}", {}).setdefault(arm, []).append(f)
    return dots(groups)


def paper_notes() -> list[str]:
    """What the paper leaves open, or counts otherwise."""
    return list(words_of("studies")["psysym"]["notes"])


def _of(findings: Findings, experiment: str) -> list[Finding]:
    return [f for f in findings if f.where.get("experiment") == experiment]


def _arms(findings: Iterable[Finding]) -> dict[tuple[str, ...], list[Finding]]:
    return grouped(findings, by("experiment", "arm"))


def _percent(findings: Iterable[Finding]) -> str:
    return over_seeds(list(findings), scale=100, digits=2)


def _printed(task: str, columns: tuple[str, ...]) -> list[Row]:
    rows = [row for row in published("psysym-section-5") if row["task"] == task]
    out: list[Row] = []
    for (model,), some in grouped(rows, lambda row: (row["model"],)).items():
        values = {row["measure"]: row["value"] for row in some}
        out.append(("published", model, *(values.get(name, "–") for name in columns)))
    return out
