"""Performance, calibration, length and correlations across models, as tables and reliability curves."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl
from markupsafe import Markup

from psycheck.core.finding import Finding
from psycheck.core.run import Run
from psycheck.report.display_names import (
    Place,
    lower_is_better,
    name_of,
    place_names,
    place_of,
)
from psycheck.report.llm_sections import llm_sections
from psycheck.report.numbers import decimal, figure
from psycheck.report.sections import Section, UnshownFindings, by, drawn, grouped, unique
from psycheck.report.tables import Table, table_of

KNOWN = frozenset({"audit", "model", "corpus", "label", "bin", "mean_score", "threshold"})
HARD = ("hard_brier", "hard_auc")  # computed from decisions, for comparison with published figures
MAIN = ("f1", "macro_f1", "auc", "brier")  # each has a matrix of models × corpora
FIRST = ("decided_1_share", "prevalence", "auc_among_claims", "hard_auc_among_claims")
BINS = 20  # of a histogram
POINTS = 200  # of a ROC curve; it has at most about twice as many
_PLACE_AND_LABEL = by("model", "corpus", "label")


class Curve(NamedTuple):
    """A reliability curve: its name, its bins by mean score, and a note."""

    name: str
    bins: list[tuple[float, Finding]]
    note: str


class Performance(NamedTuple):
    """The tables of a label: matrices of the main measures, all measures, and those from hard labels."""

    name: str
    matrices: list[Table]
    all_measures: Table
    hard_measures: Table | None


def is_performance(finding: Finding) -> bool:
    """Whether a finding belongs to the performance of a model as a whole."""
    return finding.where.get("audit") == "performance" and set(finding.where) <= KNOWN


def performance_section(unshown: UnshownFindings) -> list[Section]:
    """Performance on annotated texts, calibration, the items of rating scales, cascades and replies."""
    # First: what was asked of LLMs is no measure of performance.
    sections_on_llms = llm_sections(unshown)
    return [
        *drawn(
            "performance",
            performance(unshown),
            pictures(unshown.run),
        ),
        *drawn("calibration", *curves(unshown)),
        *drawn("items", items(unshown)),
        *sections_on_llms,
    ]


def performance(unshown: UnshownFindings) -> list[Performance]:
    """Take the findings on performance: one matrix per main measure, then all measures."""
    section_findings = unshown.take(
        lambda finding: is_performance(finding) and finding.measure != "reliability",
        by(
            "measure",
            "label",
            "model",
            "corpus",
        ),
    )
    by_label = grouped(section_findings.values(), lambda finding: finding.where.get("label", ""))
    parts = []
    for label, findings in by_label.items():
        name = ""
        # With one label its name says nothing.
        if len(by_label) > 1:
            name = "All labels together" if label in ("", "all") else f"Label {label}"
        parts.append(_performance_of_label(name, findings, unshown.run.plan))
    return parts


def distribution(model: str, corpus: str, plan: Mapping[str, Any]) -> str:
    """Whether a model was trained on a corpus; empty if the plan does not tell."""
    trained_on = (plan.get("trained_on") or {}).get(model)
    if not trained_on:
        return ""
    return "in distribution" if corpus in trained_on else "out of distribution"


def _performance_of_label(name: str, findings: Sequence[Finding], plan: Mapping[str, Any]) -> Performance:
    cells = {(finding.measure, place_of(finding)): finding for finding in findings}
    measures = unique(finding.measure for finding in findings)
    called = place_names(unique(place_of(finding) for finding in findings))

    # A matrix of one model on one corpus would repeat the table of all measures.
    matrices = []
    if len(called) > 1:
        main_measures = [measure for measure in MAIN if measure in measures]
        matrices = [_matrix(measure, cells, list(called), plan) for measure in main_measures]

    head = _place_columns(called, plan)
    # What a model decides, beside what is annotated, and ranking apart from decisions come before all else.
    measures.sort(key=lambda measure: [*FIRST, measure].index(measure))
    # What has a matrix is not told again.
    without_own_table = (*HARD, *(MAIN if matrices else ()))
    soft = [measure for measure in measures if measure not in without_own_table]
    hard = [measure for measure in HARD if measure in measures]
    return Performance(
        name=name,
        matrices=matrices,
        all_measures=table_of("measures", _measure_rows(soft, cells, called), head),
        hard_measures=table_of("hard_measures", _measure_rows(hard, cells, called), head) if hard else None,
    )


def _matrix(
    measure: str,
    cells: Mapping[tuple[str, Place], Finding],
    places: Sequence[Place],
    plan: Mapping[str, Any],
) -> Table:
    """Models × corpora for one measure."""
    models = unique(model for model, _ in places)
    corpora = unique(corpus for _, corpus in places)
    rows = []
    for model in models:
        figures = [_with_distribution(cells.get((measure, (model, corpus))), plan) for corpus in corpora]
        rows.append((model, *figures))
    better = "lower is better" if lower_is_better(measure) else "higher is better"
    return Table(
        caption=f"{name_of('measures', measure)} ({better})",
        head=("Model", *corpora),
        rows=tuple(rows),
    )


def _place_columns(called: Mapping[Place, str], plan: Mapping[str, Any]) -> list[str]:
    """The head of the tables of measures: the places, and whether the model was trained there."""
    if len(called) == 1:
        return ["Value, interval, n"]
    head = []
    for (model, corpus), name in called.items():
        trained = distribution(model, corpus, plan)
        head.append(f"{name} ({trained})" if trained else name)
    return head


def _measure_rows(
    measures: Iterable[str], cells: Mapping[tuple[str, Place], Finding], places: Iterable[Place]
) -> list[tuple[str, ...]]:
    places = list(places)
    rows = []
    for measure in measures:
        name = name_of("measures", measure)
        if lower_is_better(measure):
            name += " (lower is better)"
        figures = [figure(cells.get((measure, place))) for place in places]
        rows.append((name, *figures))
    return rows


def _with_distribution(finding: Finding | None, plan: Mapping[str, Any]) -> Markup:
    """A figure, marked as in or out of distribution where the plan tells."""
    trained = distribution(*place_of(finding), plan) if finding else ""
    if not trained:
        return figure(finding)
    side = "in" if trained.startswith("in") else "out"
    mark = Markup(' <span class="{}">{}</span>').format(side, trained)
    return figure(finding) + mark


def curves(unshown: UnshownFindings) -> tuple[list[Curve], Table | None]:
    """Take the reliability findings: one curve per model, corpus and label, and a table."""
    plan = unshown.run.plan
    section_findings = unshown.take(
        _is_reliability_bin,
        by(
            "model",
            "corpus",
            "label",
            "bin",
        ),
    )
    bins_of_curve = grouped(section_findings.values(), _PLACE_AND_LABEL)
    places = [(model, corpus) for model, corpus, _ in bins_of_curve]
    called = place_names(places)
    labels = {label for _, _, label in bins_of_curve}
    several_labels = len(labels) > 1

    drawn_curves = []
    rows = []
    for (model, corpus, label), findings in bins_of_curve.items():
        name = called[model, corpus]
        if several_labels:
            name += f", {label}"
        bins = [(float(finding.where["mean_score"]), finding) for finding in findings]
        bins.sort(key=lambda score_and_finding: score_and_finding[0])
        drawn_curves.append(
            Curve(
                name=name,
                bins=bins,
                note=distribution(model, corpus, plan),
            )
        )
        for score, finding in bins:
            rows.append(
                (
                    name,
                    finding.where.get("bin", ""),
                    decimal(score, 2),
                    figure(finding),
                )
            )
    return drawn_curves, table_of("reliability", rows) if rows else None


def _is_reliability_bin(finding: Finding) -> bool:
    """Whether a finding is a bin of a reliability curve, with a mean score that is a number."""
    mean_score = finding.where.get("mean_score", "")
    return finding.measure == "reliability" and mean_score.replace(".", "", 1).isdecimal()


def pictures(run: Run) -> list[dict[str, Any]]:
    """Of every model, corpus and label with both classes: confusion matrix, ROC curve, histogram of scores.

    `roc` has the false and true positive rate at every score, from the highest on; `bars` the share of the
    texts annotated 0 and 1 in each of the equal bins of the score.
    """
    # A table with other columns is not ours to read; the report is drawn without pictures.
    predictions = run.tables.get("predictions")
    columns = {"model", "corpus", "label", "id", "target", "score"}
    if predictions is None or set(predictions.columns) != columns:
        return []

    # Only where both classes occur is there an AUC, and only there a curve.
    aucs = {}
    for finding in run.findings:
        if finding.measure == "auc" and is_performance(finding) and finding.tested:
            aucs[_PLACE_AND_LABEL(finding)] = finding
    called = place_names(unique(place_of(auc) for auc in aucs.values()))
    labels = {label for _, _, label in aucs}
    several_labels = len(labels) > 1

    # A target of 0.5 is undecided: annotators disagree.
    decided = predictions.drop_nulls(["target", "score"]).filter(pl.col("target") != 0.5)
    annotated = decided.with_columns(yes=pl.col("target") > 0.5)

    drawn_pictures = []
    for (model, corpus, label), auc in aucs.items():
        texts = annotated.filter(
            model=model,
            corpus=corpus,
            label=label,
        )
        name = called[model, corpus]
        if several_labels:
            name += f", {label}"
        drawn_pictures.append(
            {
                "name": name,
                "counts": auc.counts,
                "roc": _roc(texts),
                "bars": _histogram(texts),
            }
        )
    return drawn_pictures


_CLASSES = [(~pl.col("yes")).sum().alias("no"), pl.col("yes").sum()]  # texts annotated 0 and 1
_SHARE_OF_CLASS = pl.col("no", "yes") / pl.col("no", "yes").sum()


def _roc(texts: pl.DataFrame) -> list[tuple[float, ...]]:
    """The false and the true positive rate at about POINTS scores, from the highest on."""
    by_score = texts.group_by("score").agg(_CLASSES).sort("score", descending=True)
    steps = by_score.select(_SHARE_OF_CLASS.cum_sum())
    # Thinned out: a curve of many thousand points looks the same and makes the page large.
    every = max(1, steps.height // POINTS)
    return [(0, 0), *steps.gather_every(every).iter_rows(), (1, 1)]


def _histogram(texts: pl.DataFrame) -> list[Sequence[float]]:
    """The share of the texts annotated 0 and 1 in each bin of the score."""
    bin_of_score = (pl.col("score") * BINS).floor().clip(0, BINS - 1).cast(pl.Int64)
    by_bin = texts.group_by(bin=bin_of_score).agg(_CLASSES)
    shares = by_bin.select("bin", _SHARE_OF_CLASS)
    # A group exists only for bins that hold a text.
    bars = {number: (no, yes) for number, no, yes in shares.iter_rows()}
    return [bars.get(number, (0, 0)) for number in range(BINS)]


def items(unshown: UnshownFindings) -> list[Table]:
    """Take the findings on items of rating scales: one table per model, corpus and scale."""
    section_findings = unshown.take(
        lambda finding: finding.measure in ("item_invented", "item_missed"),
        by(
            "measure",
            "model",
            "corpus",
            "scale",
            "item",
        ),
    )
    items_of_scale = grouped(unique(key[1:] for key in section_findings), lambda key: key[:3])
    called = place_names(unique((model, corpus) for model, corpus, _ in items_of_scale))
    tables = []
    for (model, corpus, scale), keys in items_of_scale.items():
        rows = []
        for key in keys:
            invented = section_findings.get(("item_invented", *key))
            missed = section_findings.get(("item_missed", *key))
            rows.append((key[-1], figure(invented), figure(missed)))
        place = f", {called[model, corpus]}" if len(called) > 1 else ""
        tables.append(
            table_of(
                "items",
                rows,
                scale=scale,
                place=place,
            )
        )
    return tables
