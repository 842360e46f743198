"""DECK's tables, ours next to the published ones, marked where the paper contradicts itself."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from psycheck.core.finding import Finding
from psycheck.core.headline import Headline
from psycheck.core.run import Page, Run
from psycheck.report.display_names import listed, words_of
from psycheck.report.headlines import headline
from psycheck.report.junit import junit
from psycheck.report.page import draw
from psycheck.report.sections import by, grouped
from psycheck.report.studies import published_figures as papers
from psycheck.report.studies.deck_check_table import check_name, checks_table, pass_rates
from psycheck.report.studies.deck_sections import correlation_table, length_table
from psycheck.report.studies.published_figures import MARK, marked, over_seeds, p_values, published
from psycheck.report.tables import Table, table_of

HALF, DEV = "0.5", "dev"  # how a decision was made, as findings name it
Row = tuple[str, ...]
BySeed = list[Finding]  # the findings of all seeds


class Figure(NamedTuple):
    """A figure of a model on a test: the measure, the decision and what it is tested against."""

    measure: str
    decision: str
    against: str = ""


F1 = Figure("f1", HALF)
F1_DEV = Figure("f1", DEV)
AUC = Figure("auc", "ranking")
MACRO_F1 = Figure("macro_f1", HALF)
BRIER = Figure("brier", "ranking")
ACCURACY = Figure("accuracy", HALF)
HARD_BRIER = Figure("hard_brier", HALF)
HARD_AUC = Figure("hard_auc", HALF)
# What the paper prints of a model and what it does not, in the order of its tables.
PRINTED = (ACCURACY, F1, HARD_BRIER, HARD_AUC)
OURS_ALONE = (MACRO_F1, BRIER, AUC, F1_DEV)
OF_SEEDS = (
    ACCURACY,
    F1,
    Figure("precision", HALF),
    Figure("recall", HALF),
    HARD_BRIER,
    HARD_AUC,
    MACRO_F1,
    BRIER,
    AUC,
)


def pages(run: Run) -> dict[str, str]:
    """The files of the study."""
    return {
        "report.html": render_deck(run),
        "junit.xml": junit(run),
        "study.md": deck_tables(run),
    }


def verdict(run: Run) -> list[Headline]:
    """The headlines of the study."""
    return answers(run.findings)


PAGE = Page(draw=pages, verdict=verdict)


def render_deck(run: Run) -> str:
    """The page of the study as one HTML file without scripts."""
    trained_on = {f.where["trained_on"] for f in run.findings if "trained_on" in f.where}
    return draw(
        "study",
        run,
        study="deck",
        corpus=listed(sorted(trained_on)),
        sentences=[answer.sentence for answer in run.headlines],
        plot=_plot(run.findings),
        words=words_of("studies")["deck"],
        tables=tables_of(run.findings),
        notes=(*run.notes, *notes()),
    )


def deck_tables(run: Run) -> str:
    """All tables in Markdown, in the order of the paper; then what the run left out of its design."""
    return papers.document(
        papers.intro_of("deck"),
        tables_of(run.findings),
        [*run.notes, *notes()],
    )


def tables_of(findings: Sequence[Finding]) -> list[Table]:
    """Tables 2, 4, 5 and 6, App-table 3, and sections 5.2 and 6.2."""
    return [
        checks_table(findings),
        matrix_table(findings),
        category_table(findings),
        retraining_table(findings),
        seeds_table(findings),
        correlation_table(findings),
        length_table(findings),
    ]


def answers(findings: Sequence[Finding]) -> list[Headline]:
    """The macro-F1 of each model on its own corpus and on the others."""
    headlines = []
    for (trained_on, model), by_test in _macro_f1_by_test(findings).items():
        tested = {
            test: model_findings
            for test, model_findings in by_test.items()
            if any(f.tested for f in model_findings)
        }
        figures = {
            test: over_seeds(
                model_findings,
                scale=100,
                digits=1,
            )
            for test, model_findings in tested.items()
        }
        elsewhere = [f"{figure} on {test}" for test, figure in figures.items() if test != trained_on]
        if trained_on in figures and elsewhere:
            behind = [finding for model_findings in tested.values() for finding in model_findings]
            headlines.append(
                headline(
                    "study.deck",
                    behind,
                    model=model,
                    corpus=trained_on,
                    own=figures[trained_on],
                    others=listed(elsewhere),
                )
            )
    return headlines


def _macro_f1_by_test(findings: Sequence[Finding]) -> dict[Row, dict[str, BySeed]]:
    """The macro-F1 at 0.5 of plain models by training corpus and model, then by test corpus."""
    by_model: dict[Row, dict[str, BySeed]] = {}
    for (trained_on, test, model), model_findings in _places(findings, "plain").items():
        by_model.setdefault((trained_on, model), {})[test] = _of_figure(model_findings, MACRO_F1)
    return by_model


def _plot(findings: Sequence[Finding]) -> dict[str, object]:
    """Macro-F1 of each model on every corpus, and its pass rate of every check, as dots."""
    groups: dict[str, dict[str, BySeed]] = {}
    for (trained_on, model), by_test in _macro_f1_by_test(findings).items():
        lines = {f"on {test}": model_findings for test, model_findings in by_test.items()}
        groups[f"Macro-F1, {model} trained on {trained_on}"] = lines
    for rate in pass_rates(findings):
        title = f"Pass rate, {rate.where['model']} trained on {rate.where['corpus']}"
        lines = groups.setdefault(title, {})
        lines.setdefault(check_name(rate), []).append(rate)
    return papers.dots(groups)


def matrix_table(findings: Sequence[Finding]) -> Table:
    """Train × model × test: what the paper prints, our own figures, and whether it beats chance."""
    rows: list[Row] = []
    for place, printed_rows in grouped(published("deck-table-4"), _printed_place).items():
        printed = {row["measure"]: marked(row) for row in printed_rows}
        rows.append((*place, *(printed.get(figure.measure, "") for figure in PRINTED)))
    for place, model_findings in _places(findings, "plain").items():
        figures = [_over_seeds(model_findings, figure) for figure in (*PRINTED, *OURS_ALONE)]
        against_coin = _of_figure(
            model_findings,
            Figure(
                "chance_p_holm",
                HALF,
                "coin",
            ),
        )
        against_class = _of_figure(
            model_findings,
            Figure(
                "chance_p_holm",
                HALF,
                "larger class",
            ),
        )
        rows.append(
            (
                "ours",
                *place,
                *figures,
                p_values(against_coin),
                p_values(against_class),
            )
        )
    return table_of("deck_matrix", rows)


def category_table(findings: Sequence[Finding]) -> Table:
    """Mean and standard deviation of pass rates over checks and corpora, by kind of symptom."""
    rows: list[Row] = []
    for row in published("deck-table-5"):
        rows.append(
            (
                "published",
                row["category"],
                row["model"],
                f"{row['mean']} ({row['sd']})",
            )
        )

    # The paper's means are over corpora and checks together.
    over_corpora = [f for f in findings if f.where.get("corpus") == "all"]
    by_category = [f for f in over_corpora if f.where.get("by") == "category"]
    deviations = [f for f in by_category if f.measure == "pass_rate_sd"]
    for mean in by_category:
        if mean.measure == "pass_rate_mean":
            figure = f"{100 * mean.value:.2f}"
            deviation = next((f for f in deviations if f.where == mean.where), None)
            if deviation is not None and deviation.tested:
                figure += f" ({100 * deviation.value:.1f})"
            rows.append(
                (
                    "ours",
                    mean.where["category"],
                    mean.where["model"],
                    figure,
                )
            )
    return table_of("deck_categories", rows)


def retraining_table(findings: Sequence[Finding]) -> Table:
    """F1 of class 1 on other corpora before and after, at 0.5 and at a threshold from dev, and AUC."""
    rows: list[Row] = []
    for row in published("deck-table-6"):
        p = f"<{row['p_below']}" if row["p_below"] else ""
        rows.append(
            (
                *_printed_place(row),
                marked(row, "plain_f1"),
                row["augmented_f1"],
                p,
            )
        )

    augmented = _places(findings, "augmented")
    for place, before in _places(findings, "plain").items():
        trained_on, test, _ = place
        # On its own corpus an arm has seen texts like those of the test.
        if trained_on != test and place in augmented:
            after = augmented[place]
            rows.append(
                (
                    "ours",
                    *place,
                    _over_seeds(before, F1),
                    _over_seeds(after, F1),
                    p_values(_of_figure(after, Figure("mcnemar_p_holm", HALF))),
                    _over_seeds(before, F1_DEV),
                    _over_seeds(after, F1_DEV),
                    _over_seeds(before, AUC),
                    _over_seeds(after, AUC),
                )
            )
    return table_of("deck_retraining", rows)


def seeds_table(findings: Sequence[Finding]) -> Table:
    """Mean and standard deviation over seeds on the own test split."""
    rows: list[Row] = []
    for row in published("deck-app-table-3"):
        # Printed as shares; all tables here are in per cent.
        mark = MARK if row["mark"] else ""
        figure = f"{100 * float(row['mean']):.1f}{mark} (sd {100 * float(row['sd']):.1f})"
        rows.append(
            (
                "published",
                "TwSelfDiag",
                row["model"],
                row["measure"],
                figure,
            )
        )
    for (trained_on, test, model), model_findings in _places(findings, "plain").items():
        # The paper gives seeds for the own test split alone.
        if trained_on == test:
            for figure_of_model in OF_SEEDS:
                cell = _over_seeds(model_findings, figure_of_model)
                rows.append(
                    (
                        "ours",
                        trained_on,
                        model,
                        figure_of_model.measure,
                        cell,
                    )
                )
    return table_of("deck_seeds", rows)


def notes() -> list[str]:
    """Where the paper contradicts itself or computes otherwise."""
    lines = list(words_of("studies")["deck"]["notes"])
    for _, table, row in papers.contradicted("deck-*"):
        keys = ("check", "trained_on", "tested_on", "model", "measure")
        place = ", ".join(row[key] for key in keys if row.get(key))
        value = row.get("value") or row.get("plain_f1") or row.get("mean")
        lines.append(f"{table}: {place}: {value}; {row['mark']}")
    return lines


def _printed_place(row: Mapping[str, str]) -> Row:
    return (
        "published",
        row["trained_on"],
        row["tested_on"],
        row["model"],
    )


def _places(findings: Sequence[Finding], arm: str) -> dict[Row, BySeed]:
    """Findings of an arm by training corpus, test corpus and model, seed by seed."""
    of_arm = [finding for finding in findings if finding.where.get("arm") == arm]
    of_seeds = [f for f in of_arm if "decision" in f.where and f.where["seed"] != "mean"]
    return grouped(
        of_seeds,
        by(
            "trained_on",
            "corpus",
            "model",
        ),
    )


def _of_figure(findings: Sequence[Finding], figure: Figure) -> BySeed:
    key = by(
        "measure",
        "decision",
        "against",
    )
    return [finding for finding in findings if key(finding) == figure]


def _over_seeds(findings: Sequence[Finding], figure: Figure) -> str:
    return over_seeds(
        _of_figure(findings, figure),
        scale=100,
        digits=1,
    )
