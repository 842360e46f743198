"""DECK's checks, ours next to the published ones: the texts that an edit changed, and every text."""

from collections.abc import Mapping, Sequence

from psycheck.core.finding import Finding
from psycheck.report.sections import by, unique
from psycheck.report.studies.published_figures import marked, over_seeds, published
from psycheck.report.tables import Table, table_of

# Which texts a pass rate counts: those that an edit changed, or every text, as the paper does.
CHANGED_TEXTS, EVERY_TEXT = "changed texts", "every text"
EVERY_TEXT_RATE = "pass_rate_every_text"
Row = tuple[str, ...]


def pass_rates(findings: Sequence[Finding]) -> list[Finding]:
    """The pass rates of all checks, model by model."""
    return [finding for finding in findings if finding.measure == "pass_rate" and "check" in finding.where]


def check_name(rate: Finding) -> str:
    """A check with its symptom and polarity, or with its title."""
    keys = ("symptom", "polarity") if "symptom" in rate.where else ("title",)
    about = [rate.where[key] for key in keys if key in rate.where]
    return f"{rate.where['check']} {', '.join(about)}"


def checks_table(findings: Sequence[Finding]) -> Table:
    """One row per check; for each model and training corpus the texts that changed, and every text."""
    paper = published("deck-app-table-4")
    place = by(
        "check",
        "model",
        "corpus",
    )
    rates = pass_rates(findings)
    of_every_text = [finding for finding in findings if finding.measure == EVERY_TEXT_RATE]

    # The paper counts texts that an edit left unchanged: its figures stand beside ours of every text.
    theirs: dict[Row, str] = {(row["check"], row["model"], row["trained_on"]): marked(row) for row in paper}
    columns: dict[str, dict[Row, str]] = {
        " (published, every text)": theirs,
        f" ({EVERY_TEXT})": {place(rate): _percent(rate) for rate in of_every_text},
        f" ({CHANGED_TEXTS})": {place(rate): _percent(rate) for rate in rates},
    }
    kinds = {rate.where["check"]: rate.where["kind"] for rate in rates}
    kinds |= {row["check"]: row["kind"] for row in paper}
    return table_of("deck_checks", *_cells_of_checks(columns, kinds))


def _cells_of_checks(
    columns: Mapping[str, Mapping[Row, str]], kinds: Mapping[str, str]
) -> tuple[list[list[str]], list[str]]:
    """The rows of the checks, and the head of the columns of each model and corpus."""
    checks = unique(key[0] for cells in columns.values() for key in cells)
    rows = {check: [check, kinds[check]] for check in checks}
    head = []
    for whose, cells in columns.items():
        for model, corpus in unique(key[1:] for key in cells):
            head.append(f"{model}, {corpus}{whose}")
            for check in checks:
                rows[check].append(cells.get((check, model, corpus), ""))
    return list(rows.values()), head


def _percent(rate: Finding) -> str:
    if not rate.tested:
        return "not tested"
    return f"{over_seeds([rate], scale=100, digits=1)}, n {rate.n}"
