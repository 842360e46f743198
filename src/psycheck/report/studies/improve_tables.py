"""Before and after: the page and the tables of `improve`, and one summary line per arm."""

import csv
import io
from collections.abc import Mapping, Sequence
from statistics import fmean

from psycheck.core.finding import Finding, spreadsheet_safe
from psycheck.core.headline import Headline
from psycheck.core.run import Page, Run
from psycheck.report import audit_page
from psycheck.report.display_names import swapped_words
from psycheck.report.headlines import sentence
from psycheck.report.junit import junit
from psycheck.report.page import draw
from psycheck.report.sections import by, grouped, unique
from psycheck.report.studies.improve_claims import RANKING, improvement_headlines, tested_changes
from psycheck.report.studies.published_figures import interval_of, over_seeds, p_values
from psycheck.report.tables import Table, table_of

TRAINED_ON = "trained_on"
PLACES = {"in_distribution": "on its own corpus", "out_of_distribution": "on the others"}
DECISIONS = {
    "0.5": "macro-F1 at 0.5",
    "dev": "at the dev threshold",
    RANKING: "AUC",
}
FAVOURED = {"F": "favours_female", "M": "favours_male"}  # the letter of a flag
_FAIR_PLACE = by(
    "corpus",
    "label",
    "decision",
    "arm",
)
Row = tuple[str, ...]
ByMeasure = Mapping[str, Sequence[Finding]]


def pages(run: Run) -> dict[str, str]:
    """The files of `improve`."""
    # With swapped texts the fairness section of the audit's page draws the pairs.
    swapped = run.plan.get("augment") == "gender"
    return {
        "report.html": audit_page.render(run) if swapped else render_improving(run),
        "junit.xml": junit(run),
        "improve.md": improve_table(run.findings),
        "improve.csv": improve_csv(run.findings),
    }


def verdict(run: Run) -> Sequence[Headline]:
    """The headlines of `improve`; with swapped texts those of an audit."""
    if run.plan.get("augment") == "gender":
        return audit_page.verdict(run)
    return improvement_headlines(run.findings, str(run.plan.get("threshold_command", "")))


PAGE = Page(draw=pages, verdict=verdict)


def render_improving(run: Run) -> str:
    """The page of before and after as one HTML file without scripts."""
    corpora = [str(corpus["name"]) for corpus in run.plan.get("corpora", ())]
    return draw(
        "improvement",
        run,
        verdict=run.verdict,
        lines=summary_lines(run.findings),
        tables=tables_of(run.findings),
        corpus=corpora[0] if corpora else "",
    )


def improve_table(findings: Sequence[Finding]) -> str:
    """Markdown: figures before and after on each corpus, the symptoms, the checks."""
    first, *more = tables_of(findings)
    summary = [f"- {line}" for line in summary_lines(findings)]
    parts = [first.to_markdown("# Before and after"), "\n".join([*summary, ""])]
    return "\n".join([*parts, *(table.to_markdown() for table in more)])


def improve_csv(findings: Sequence[Finding]) -> str:
    """The first table as CSV."""
    table = table_of("improve", result_rows(findings))
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(table.head)
    writer.writerows(map(spreadsheet_safe, row) for row in table.rows)
    return file.getvalue()


def tables_of(findings: Sequence[Finding]) -> list[Table]:
    """The tables of before and after: performance, the swapped texts, symptoms and checks of each suite."""
    tables = [table_of("improve", result_rows(findings))]
    pairs = fair_rows(findings)
    if pairs:
        flips = next((finding for finding in findings if finding.measure == "flip_rate"), None)
        tables.append(
            table_of(
                "improve_pairs",
                pairs,
                swapped=swapped_words(flips),
            )
        )

    changes = [finding for finding in findings if finding.measure == "pass_rate_change"]
    for suite in unique(change.where["suite"] for change in changes):
        for column in ("symptom", "check"):
            rows = change_rows(findings, suite, column)
            if rows:
                tables.append(
                    table_of(
                        "improve_checks",
                        rows,
                        suite=suite,
                        column=column,
                    )
                )
    return tables


def summary_lines(findings: Sequence[Finding]) -> list[str]:
    """One line per arm: what it costs on the corpus it learned from, what it brings on the others."""
    changes = tested_changes(findings)
    lines = []
    for arm in unique(change.where["arm"] for change in changes):
        for flag, place in PLACES.items():
            there = [change for change in changes if change.where["arm"] == arm and flag in change.flags]
            means = _mean_changes(there)
            if means:
                lines.append(
                    sentence(
                        "improve.means",
                        arm=arm,
                        place=place,
                        changes=", ".join(means),
                    )
                )
    return lines


def _mean_changes(changes: Sequence[Finding]) -> list[str]:
    """The mean change of each figure: "macro-F1 at 0.5 +0.021"."""
    means = []
    for decision, name in DECISIONS.items():
        values = [change.value for change in changes if change.where["decision"] == decision]
        if values:
            mean = f"{fmean(values):+.3f}".replace("-", "−")
            means.append(f"{name} {mean}")
    return means


def result_rows(findings: Sequence[Finding]) -> list[Row]:
    """One row for each test, arm and decision; several seeds are averaged."""
    figures = []
    for finding in findings:
        # Figures with "against" are tests against trivial answers.
        if {TRAINED_ON, "decision"} <= finding.where.keys() and "against" not in finding.where:
            figures.append(finding)

    rows: list[Row] = []
    for place, arm_findings in grouped(
        figures,
        by(
            TRAINED_ON,
            "corpus",
            "arm",
            "decision",
        ),
    ).items():
        by_measure = grouped(arm_findings, lambda finding: finding.measure)
        rows.append((*place, *_result_cells(place[-1], by_measure)))
    return rows


def _result_cells(decision: str, by_measure: ByMeasure) -> Row:
    """Threshold, F1, main figure, its change with interval, and the p-values of McNemar's test."""
    if decision == RANKING:
        main = "auc"
        scores = ("", f"AUC {over_seeds(by_measure[main])}")
    else:
        main = "macro_f1"
        scores = (over_seeds(by_measure.get("f1", ())), over_seeds(by_measure[main]))

    moved = ("", "")
    changes = by_measure.get(f"{main}_change", ())
    if changes:
        moved = (f"{changes[0].value:+.3f}", interval_of(changes[0]))
    thresholds = {"0.5": "0.500", "dev": over_seeds(by_measure.get("threshold", ()))}
    return (
        thresholds.get(decision, ""),
        *scores,
        *moved,
        p_values(by_measure.get("mcnemar_p", ())),
        p_values(by_measure.get("mcnemar_p_holm", ())),
    )


def fair_rows(findings: Sequence[Finding]) -> list[Row]:
    """Flips, false negative rates and F1 of each test, arm and decision; several seeds are averaged."""
    of_arms = [finding for finding in findings if "arm" in finding.where]
    pairs = [finding for finding in of_arms if finding.where.get("unit") == "pairs"]
    ratios = [finding for finding in pairs if finding.measure == "fnr_ratio"]
    places = unique(_FAIR_PLACE(ratio) for ratio in ratios)
    # No swapped texts: the table would be a row of dashes.
    if not places:
        return []

    labels = {label for _, label, _, _ in places}
    rows: list[Row] = []
    for place in _arms_together(places):
        corpus, label, decision, arm = place
        of_pairs = _by_measure_at(place, pairs)
        of_texts = _by_measure_at(place, findings)
        name = corpus if len(labels) == 1 else f"{corpus}, {label}"
        rows.append(
            (
                name,
                arm,
                decision,
                *_fair_cells(of_pairs, of_texts),
            )
        )
    return rows


def _by_measure_at(place: Row, findings: Sequence[Finding]) -> ByMeasure:
    there = [finding for finding in findings if _FAIR_PLACE(finding) == place]
    return grouped(there, lambda finding: finding.measure)


def _arms_together(places: Sequence[Row]) -> list[Row]:
    """The places so that the arms of one test and decision follow each other; all else keeps its order."""
    order = [unique(names) for names in zip(*places, strict=True)]

    def rank(place: Row) -> list[int]:
        return [names.index(name) for names, name in zip(order, place, strict=True)]

    return sorted(places, key=rank)


def _fair_cells(of_pairs: ByMeasure, of_texts: ByMeasure) -> Row:
    """The ratio with the favoured sides, both false negative rates, flips, their change, and F1."""
    ratios = of_pairs["fnr_ratio"]
    flags = {flag for ratio in ratios for flag in ratio.flags}
    ratio = over_seeds(ratios)
    sides = "".join(letter for letter, flag in FAVOURED.items() if flag in flags)
    if sides:
        ratio += f" {sides}"

    rates = of_pairs.get("fnr", ())
    female = [rate for rate in rates if rate.where["group"] == "female"]
    male = [rate for rate in rates if rate.where["group"] == "male"]
    moved = [change.value for change in of_texts.get("flip_rate_change", ())]
    return (
        ratio,
        over_seeds(female),
        over_seeds(male),
        _of_each_seed(of_pairs.get("flip_rate", ())),
        f"{fmean(moved):+.3f}" if moved else "",
        over_seeds(of_texts.get("f1", ())),
    )


def _of_each_seed(flips: Sequence[Finding]) -> str:
    """Flipped pairs seed by seed, since each seed judges the same pairs: "3, 5 of 40"."""
    if not flips:
        return "–"
    # Seeds may lack answers of their own: then each has its number of pairs.
    if len({finding.n for finding in flips}) > 1:
        shares = [f"{finding.counts['failed']} of {finding.n}" for finding in flips]
        return ", ".join(shares)
    failed = [str(finding.counts["failed"]) for finding in flips]
    return f"{', '.join(failed)} of {flips[0].n}"


def change_rows(findings: Sequence[Finding], suite: str, column: str) -> list[Row]:
    """Pass rates before and after."""
    rows: list[Row] = []
    for finding in findings:
        if finding.measure != "pass_rate_change":
            continue
        where = finding.where
        if (where["suite"], where["by"]) != (suite, column):
            continue

        name = where.get("symptom", "")
        if column == "check":
            name = f"{where['check']} {name}".rstrip()
        counts = finding.counts
        rows.append(
            (
                where["arm"],
                name,
                where.get("polarity", ""),
                f"{counts['passed_before'] / counts['n_before']:.2f}",
                f"{counts['passed_after'] / counts['n_after']:.2f}",
                f"{finding.value:+.2f}",
                interval_of(finding),
                "learned from" if TRAINED_ON in finding.flags else "",
            )
        )
    return rows
