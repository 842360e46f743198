"""DECK's tables, ours next to the published ones, marked where the paper contradicts itself."""

from collections.abc import Mapping, Sequence

from psycheck.finding import Finding
from psycheck.report.headlines import sentence
from psycheck.report.page import draw
from psycheck.report.shelf import by, grouped, unique
from psycheck.report.studies import papers
from psycheck.report.studies.papers import marked, over_seeds, p_values, published
from psycheck.report.tables import Table, table_of
from psycheck.report.words import listed, words_of
from psycheck.run import Run

HALF, DEV = "0.5", "dev"  # how a decision was made, as findings name it
Row = tuple[str, ...]
# A figure of a model on a test: the measure, the decision and what it is tested against.
_F1, _F1_DEV, _AUC = ("f1", HALF, ""), ("f1", DEV, ""), ("auc", "ranking", "")
_AT_HOME = (("accuracy", HALF, ""), _F1, ("macro_f1", HALF, ""), _AUC)


def render_deck(run: Run) -> str:
    """The page of the study as one HTML file without scripts."""
    return draw(
        "study",
        run,
        study="deck",
        corpus=listed(sorted({f.where["trained_on"] for f in run.findings if "trained_on" in f.where})),
        sentences=answers(run.findings),
        plot=_plot(run.findings),
        words=words_of("studies")["deck"],
        tables=tables_of(run.findings),
        notes=(*run.notes, *notes()),
    )


def deck_tables(findings: Sequence[Finding]) -> str:
    """All tables in Markdown, in the order of the paper."""
    return papers.document(papers.intro_of("deck"), tables_of(findings), notes())


def tables_of(findings: Sequence[Finding]) -> list[Table]:
    """Tables 2, 4, 5 and 6 and App-table 3."""
    tables = (checks_table, matrix_table, category_table, retraining_table, seeds_table)
    return [table(findings) for table in tables]


def answers(findings: Sequence[Finding]) -> list[str]:
    """The macro-F1 of each model on its own corpus and on the others."""
    out = []
    for (trained_on, model), tests in _trained(findings).items():
        tested = {test: found for test, found in tests.items() if any(f.tested for f in found)}
        figures = {test: over_seeds(found, scale=100, digits=1) for test, found in tested.items()}
        others = listed([f"{figure} on {test}" for test, figure in figures.items() if test != trained_on])
        if trained_on in figures and others:
            words = {"model": model, "corpus": trained_on, "own": figures[trained_on], "others": others}
            out.append(sentence("study.deck", **words))
    return out


def _trained(findings: Sequence[Finding]) -> dict[Row, dict[str, list[Finding]]]:
    """The macro-F1 at 0.5 of plain models by training corpus and model, then by test corpus."""
    out: dict[Row, dict[str, list[Finding]]] = {}
    for (trained_on, test, model), mine in _places(findings, "plain").items():
        out.setdefault((trained_on, model), {})[test] = _of(mine, ("macro_f1", HALF, ""))
    return out


def _plot(findings: Sequence[Finding]) -> dict[str, object]:
    """Macro-F1 of each model on every corpus, and its pass rate of every check, as dots."""
    groups: dict[str, dict[str, list[Finding]]] = {
        f"Macro-F1, {model} trained on {trained_on}": {f"on {test}": mine for test, mine in tests.items()}
        for (trained_on, model), tests in _trained(findings).items()
    }
    for f in findings:
        if f.measure == "pass_rate" and "check" in f.where:
            title = f"Pass rate, {f.where['model']} trained on {f.where['corpus']}"
            keys = ("symptom", "polarity") if "symptom" in f.where else ("title",)
            what = [f.where[key] for key in keys if key in f.where]
            groups.setdefault(title, {}).setdefault(f"{f.where['check']} {', '.join(what)}", []).append(f)
    return papers.dots(groups)


def checks_table(findings: Sequence[Finding]) -> Table:
    """One row per check, one column per model and training corpus."""
    paper = published("deck-app-table-4")
    rates = [f for f in findings if f.measure == "pass_rate" and "check" in f.where]
    theirs = {(row["check"], row["model"], row["trained_on"]): marked(row) for row in paper}
    ours = {by("check", "model", "corpus")(f): _percent(f) for f in rates}
    kinds = {f.where["check"]: f.where["kind"] for f in rates} | {row["check"]: row["kind"] for row in paper}
    head, rows = [], {key[0]: [key[0], kinds[key[0]]] for key in (*theirs, *ours)}
    for side, whose in ((theirs, " (published)"), (ours, "")):
        for model, corpus in unique(key[1:] for key in side):
            head.append(f"{model}, {corpus}{whose}")
            for check, row in rows.items():
                row.append(side.get((check, model, corpus), ""))
    return table_of("deck_checks", rows.values(), head)


def matrix_table(findings: Sequence[Finding]) -> Table:
    """Train × model × test: accuracy and AUC at home, F1 everywhere, and whether it beats chance."""
    rows: list[Row] = []
    for place, found in grouped(published("deck-table-4"), _printed_place).items():
        printed = {row["measure"]: marked(row) for row in found}
        auc = f"hard {printed['hard_auc']}" if "hard_auc" in printed else ""
        rows.append((*place, printed.get("accuracy", ""), printed["f1"], "", auc))
    for place, mine in _places(findings, "plain").items():
        figures = [_mean(mine, key) for key in (*_AT_HOME, _F1_DEV)]
        ps = [p_values(_of(mine, ("chance_p_holm", HALF, who))) for who in ("coin", "larger class")]
        rows.append(("ours", *place, *figures, *ps))
    return table_of("deck_matrix", rows)


def category_table(findings: Sequence[Finding]) -> Table:
    """Mean and standard deviation of pass rates over checks and corpora, by kind of symptom."""
    rows: list[Row] = [
        ("published", row["category"], row["model"], f"{row['mean']} ({row['sd']})")
        for row in published("deck-table-5")
    ]
    pooled = [f for f in findings if f.where.get("corpus") == "all" and f.where.get("by") == "category"]
    for f in pooled:
        if f.measure == "pass_rate_mean":
            spread = next((g for g in pooled if g.measure == "pass_rate_sd" and g.where == f.where), None)
            sd = f" ({100 * spread.value:.1f})" if spread and spread.tested else ""
            rows.append(("ours", f.where["category"], f.where["model"], f"{100 * f.value:.2f}{sd}"))
    return table_of("deck_categories", rows)


def retraining_table(findings: Sequence[Finding]) -> Table:
    """F1 of class 1 on other corpora before and after, at 0.5 and at a threshold from dev, and AUC."""
    rows: list[Row] = []
    for row in published("deck-table-6"):
        p = f"<{row['p_below']}" if row["p_below"] else ""
        rows.append((*_printed_place(row), marked(row, "plain_f1"), row["augmented_f1"], p))
    after = _places(findings, "augmented")
    for place, plain in _places(findings, "plain").items():
        if place[0] != place[1] and place in after:
            sides = (plain, after[place])
            at_half, at_dev, auc = ([_mean(side, key) for side in sides] for key in (_F1, _F1_DEV, _AUC))
            p = p_values(_of(after[place], ("mcnemar_p_holm", HALF, "")))
            rows.append(("ours", *place, *at_half, p, *at_dev, *auc))
    return table_of("deck_retraining", rows)


def seeds_table(findings: Sequence[Finding]) -> Table:
    """Mean and standard deviation over seeds on the own test split."""
    rows: list[Row] = [
        ("published", "TwSelfDiag", row["model"], row["measure"], f"{marked(row, 'mean')} ({row['sd']})")
        for row in published("deck-app-table-3")
    ]
    for place, mine in _places(findings, "plain").items():
        if place[0] == place[1]:
            rows += [("ours", place[0], place[2], key[0], _mean(mine, key)) for key in _AT_HOME]
    return table_of("deck_seeds", rows)


def notes() -> list[str]:
    """Where the paper contradicts itself or computes otherwise."""
    out = list(words_of("studies")["deck"]["notes"])
    for _, table, row in papers.contradicted("deck-*"):
        keys = ("check", "trained_on", "tested_on", "model", "measure")
        what = ", ".join(row[key] for key in keys if row.get(key))
        value = row.get("value") or row.get("plain_f1") or row.get("mean")
        out.append(f"{table}: {what}: {value}; {row['mark']}")
    return out


def _printed_place(row: Mapping[str, str]) -> Row:
    return ("published", row["trained_on"], row["tested_on"], row["model"])


def _places(findings: Sequence[Finding], arm: str) -> dict[Row, list[Finding]]:
    """Findings of an arm by training corpus, test corpus and model, seed by seed."""
    mine = [f for f in findings if f.where.get("arm") == arm and "decision" in f.where]
    return grouped((f for f in mine if f.where["seed"] != "mean"), by("trained_on", "corpus", "model"))


def _of(findings: Sequence[Finding], key: Row) -> list[Finding]:
    return [f for f in findings if (f.measure, f.where["decision"], f.where.get("against", "")) == key]


def _mean(findings: Sequence[Finding], key: Row) -> str:
    return over_seeds(_of(findings, key), scale=100, digits=1)


def _percent(finding: Finding) -> str:
    return f"{over_seeds([finding], scale=100, digits=1)}, n {finding.n}" if finding.tested else "not tested"
