"""DECK's tables, ours beside the published ones, marked where the paper contradicts itself."""

import math
from collections.abc import Sequence

from psycheck.finding import Finding
from psycheck.report.studies.markdown import markdown, p_values
from psycheck.report.studies.papers import MARK, PUBLISHED, marked, published

HALF, DEV = "0.5", "dev"  # how a decision was made, as findings name it
SOURCE = "Novikova and Shkaruta (2022), DECK"
_MATRIX = ("accuracy", "F1", "macro-F1", "AUC", "F1, dev threshold", "p, coin", "p, larger class")
_FURTHER = ("F1 without, dev threshold", "F1 with, dev threshold", "AUC without", "AUC with")
Row = tuple[str, ...]


def deck_tables(findings: Sequence[Finding]) -> str:
    """All tables in Markdown, in the order of the paper."""
    parts = [
        "# DECK: ours beside the published figures",
        "",
        f"Published: {SOURCE}, in percent, as printed; {MARK} marks a figure that the paper contradicts",
        "(see the notes). Ours: in percent, with the 95 % interval (one seed), or the mean over seeds with",
        "the standard deviation (several). p-values of ours are adjusted by Holm, one a seed.",
        "",
    ]
    for title, table in (
        ("Tables 2 and App-table 4: checks passed", checks_table(findings)),
        ("Table 4: in and out of distribution", matrix_table(findings)),
        ("Table 5: checks by kind of symptom", category_table(findings)),
        ("Table 6: out of distribution before and after retraining", retraining_table(findings)),
        ("App-table 3: over seeds, in distribution", seeds_table(findings)),
    ):
        parts += [f"## {title}", "", *table, ""]
    return "\n".join([*parts, "## Notes", "", *(f"- {note}" for note in notes())]) + "\n"


def checks_table(findings: Sequence[Finding]) -> list[str]:
    """One row a check, one column a model and training corpus."""
    rates = [f for f in findings if f.measure == "pass_rate" and "check" in f.where]
    paper = published("deck-app-table-4")
    theirs = list(dict.fromkeys((row["model"], row["trained_on"]) for row in paper))
    ours = list(dict.fromkeys((f.where["model"], f.where["corpus"]) for f in rates))
    head = ["check", "kind", *(f"{m}, {c} (published)" for m, c in theirs), *(f"{m}, {c}" for m, c in ours)]
    rows = []
    for check in dict.fromkeys([*(row["check"] for row in paper), *(f.where["check"] for f in rates)]):
        known = {(row["model"], row["trained_on"]): marked(row) for row in paper if row["check"] == check}
        found = {(f.where["model"], f.where["corpus"]): f for f in rates if f.where["check"] == check}
        kind = next((row["kind"] for row in paper if row["check"] == check), "")
        kind = kind or next(iter(found.values())).where["kind"]
        cells = [_percent(found[key]) if key in found else "" for key in ours]
        rows.append([check, kind, *(known.get(key, "") for key in theirs), *cells])
    return markdown(head, rows)


def matrix_table(findings: Sequence[Finding]) -> list[str]:
    """Train × model × test: accuracy and AUC at home, F1 everywhere, and whether it beats chance."""
    head = ("whose", "trained on", "tested on", "model", *_MATRIX)
    cells: dict[Row, dict[str, str]] = {}
    for row in published("deck-table-4"):
        key = ("published", row["trained_on"], row["tested_on"], row["model"])
        cells.setdefault(key, {})[row["measure"]] = marked(row)
    rows: list[Sequence[str]] = [
        (
            *key,
            c.get("accuracy", ""),
            c["f1"],
            "",
            f"hard {c['hard_auc']}" if "hard_auc" in c else "",
            "",
            "",
            "",
        )
        for key, c in cells.items()
    ]
    for place, mine in _places(findings, "plain").items():
        at = {(f.measure, f.where["decision"], f.where.get("against", "")) for f in mine}
        said = {key: _mean([f for f in mine if _key(f) == key]) for key in at}
        ps = [
            p_values(f for f in mine if _key(f) == ("chance_p_holm", HALF, who))
            for who in ("coin", "larger class")
        ]
        figures = [
            said.get(key, "")
            for key in (
                ("accuracy", HALF, ""),
                ("f1", HALF, ""),
                ("macro_f1", HALF, ""),
                ("auc", "ranking", ""),
                ("f1", DEV, ""),
            )
        ]
        rows.append(("ours", *place, *figures, *ps))
    return markdown(head, rows)


def category_table(findings: Sequence[Finding]) -> list[str]:
    """Mean and standard deviation of pass rates over checks and corpora, by kind of symptom."""
    rows: list[Sequence[str]] = [
        ("published", row["category"], row["model"], f"{row['mean']} ({row['sd']})")
        for row in published("deck-table-5")
    ]
    pooled = [f for f in findings if f.where.get("corpus") == "all" and f.where.get("by") == "category"]
    for f in pooled:
        if f.measure == "pass_rate_mean":
            sd = next(
                (g.value for g in pooled if g.measure == "pass_rate_sd" and g.where == f.where), math.nan
            )
            spread = "" if math.isnan(sd) else f" ({100 * sd:.1f})"
            rows.append(("ours", f.where["category"], f.where["model"], f"{100 * f.value:.2f}{spread}"))
    return markdown(("whose", "symptoms", "model", "mean % (sd)"), rows)


def retraining_table(findings: Sequence[Finding]) -> list[str]:
    """F1 of class 1 on other corpora before and after, at 0.5 and at a threshold from dev, and AUC."""
    head = ("whose", "trained on", "tested on", "model", "F1 without", "F1 with", "p", *_FURTHER)
    rows: list[Sequence[str]] = [
        (
            "published",
            row["trained_on"],
            row["tested_on"],
            row["model"],
            row["plain_f1"] + (MARK if row["mark"] else ""),
            row["augmented_f1"],
            f"<{row['p_below']}" if row["p_below"] else "",
            "",
            "",
            "",
            "",
        )
        for row in published("deck-table-6")
    ]
    after = _places(findings, "augmented")
    for place, plain in _places(findings, "plain").items():
        if place[0] == place[1] or place not in after:
            continue
        sides = (plain, after[place])
        at_half, at_dev, auc = (
            [_mean([f for f in side if _key(f) == key]) for side in sides]
            for key in (("f1", HALF, ""), ("f1", DEV, ""), ("auc", "ranking", ""))
        )
        p = p_values(f for f in after[place] if _key(f) == ("mcnemar_p_holm", HALF, ""))
        rows.append(("ours", *place, *at_half, p, *at_dev, *auc))
    return markdown(head, rows)


def seeds_table(findings: Sequence[Finding]) -> list[str]:
    """Mean and standard deviation over seeds on the own test split."""
    rows: list[Sequence[str]] = [
        ("published", "TwSelfDiag", row["model"], row["measure"], f"{marked(row, 'mean')} ({row['sd']})")
        for row in published("deck-app-table-3")
    ]
    for place, mine in _places(findings, "plain").items():
        if place[0] == place[1]:
            for key in (
                ("accuracy", HALF, ""),
                ("f1", HALF, ""),
                ("macro_f1", HALF, ""),
                ("auc", "ranking", ""),
            ):
                value = _mean([f for f in mine if _key(f) == key])
                rows.append(("ours", place[0], place[2], key[0], value))
    return markdown(("whose", "corpus", "model", "measure", "mean (sd)"), rows)


def notes() -> list[str]:
    """Where the paper contradicts itself or computes otherwise."""
    out = [
        "The paper's Brier and AUC come from hard labels: Brier is 1 − accuracy; its AUC is called hard here."
    ]
    for path in sorted(PUBLISHED.glob("deck-*.csv")):
        for row in published(path.stem):
            if row["mark"]:
                keys = ("check", "trained_on", "tested_on", "model", "measure")
                what = ", ".join(row[key] for key in keys if row.get(key))
                value = row.get("value") or row.get("plain_f1") or row.get("mean")
                out.append(
                    f"{path.stem.removeprefix('deck-').replace('-', ' ')}: {what}: {value}; {row['mark']}"
                )
    return out


def _places(findings: Sequence[Finding], arm: str) -> dict[Row, list[Finding]]:
    """Findings of an arm by training corpus, test corpus and model, seed by seed."""
    out: dict[Row, list[Finding]] = {}
    for f in findings:
        if f.where.get("arm") == arm and "decision" in f.where and f.where["seed"] != "mean":
            place = (f.where["trained_on"], f.where["corpus"], f.where["model"])
            out.setdefault(place, []).append(f)
    return out


def _key(finding: Finding) -> Row:
    return finding.measure, finding.where["decision"], finding.where.get("against", "")


def _percent(finding: Finding) -> str:
    if not finding.tested:
        return "not tested"
    ends = (
        f" ({100 * finding.interval[0]:.0f} to {100 * finding.interval[1]:.0f})" if finding.interval else ""
    )
    return f"{100 * finding.value:.1f}{ends}, n {finding.n}"


def _mean(findings: Sequence[Finding]) -> str:
    values = [100 * f.value for f in findings if f.tested]
    if not values:
        return "–"
    mean = sum(values) / len(values)
    if len(values) == 1:
        interval = next(f.interval for f in findings if f.tested)
        return f"{mean:.1f}" + (f" ({100 * interval[0]:.0f} to {100 * interval[1]:.0f})" if interval else "")
    return f"{mean:.1f} (sd {math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1)):.1f})"
