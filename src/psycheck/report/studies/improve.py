"""Before and after: the tables of `improve`, and one summary line per arm."""

import csv
import io
from collections.abc import Sequence
from statistics import fmean

from psycheck.finding import Finding, spreadsheet_safe
from psycheck.report.headlines import sentence
from psycheck.report.numbers import known_interval, plain
from psycheck.report.page import draw
from psycheck.report.shelf import by, grouped, unique
from psycheck.report.studies.papers import interval_of, over_seeds, p_values
from psycheck.report.tables import Table, table_of
from psycheck.report.words import listed, swapped_words
from psycheck.run import Run

TRAINED_ON, AUGMENTED, CONTROL, GROUNDED = "trained_on", "augmented", "control", "grounded"
_PLACES = {"in_distribution": "on its own corpus", "out_of_distribution": "on the others"}
_DECISIONS = {"0.5": "macro-F1 at 0.5", "dev": "at the dev threshold", "ranking": "AUC"}


def render_improving(run: Run) -> str:
    """The page of before and after as one HTML file without scripts."""
    return draw(
        "improvement",
        run,
        verdict=improvement_verdict(run.findings),
        lines=summary_lines(run.findings),
        tables=tables_of(run.findings),
        corpus=next((str(corpus["name"]) for corpus in run.plan.get("corpora", ())), ""),
    )


def improve_table(findings: Sequence[Finding]) -> str:
    """Markdown: figures before and after on each corpus, the symptoms, the checks."""
    first, *more = tables_of(findings)
    summary = [f"- {line}" for line in summary_lines(findings)]
    parts = [first.to_markdown("# Before and after"), "\n".join([*summary, ""])]
    return "\n".join([*parts, *(table.to_markdown() for table in more)])


def tables_of(findings: Sequence[Finding]) -> list[Table]:
    """The tables of before and after: performance, the swapped texts, symptoms and checks of each suite."""
    out = [table_of("improve", result_rows(findings))]
    if fair := fair_rows(findings):
        flips = next((f for f in findings if f.measure == "flip_rate"), None)
        out.append(table_of("improve_pairs", fair, swapped=swapped_words(flips)))
    for suite in unique(f.where["suite"] for f in findings if f.measure == "pass_rate_change"):
        for column in ("symptom", "check"):
            if rows := change_rows(findings, suite, column):
                out.append(table_of("improve_checks", rows, suite=suite, column=column))
    return out


def improvement_verdict(findings: Sequence[Finding]) -> str:
    """How the arm that learned changes macro-F1 at 0.5 on the other corpora, or else on its own.

    An arm that decides from symptoms is meant to rank better, so it is judged by AUC.
    """
    changes = [f for f in findings if f.measure in ("macro_f1_change", "auc_change") and f.tested]
    arms = unique(f.where["arm"] for f in changes)
    arm = next((name for name in (AUGMENTED, GROUNDED) if name in arms), "".join(arms[:1]))
    decision, figure = ("ranking", "AUC") if arm == GROUNDED else ("0.5", "macro-F1 at 0.5")
    for flag in reversed(_PLACES):
        here = grouped((f for f in changes if flag in f.flags), by("arm", "decision"))
        if not (mine := here.get((arm, decision))):
            continue
        up, down = (any(_moved(f) == way for f in mine) for way in (1, -1))
        name = "mixed" if up and down else "rises" if up else "falls" if down else "not_shown"
        figures = [f"by {plain(f)} on {f.where['corpus']}" for f in mine]
        words = sentence(f"improve.{name}", arm=arm, figure=figure, changes=listed(figures))
        if up and any(_moved(f) == 1 for f in here.get((CONTROL, "0.5"), ())):
            words += " " + sentence("improve.control_too")
        if up and not any(_moved(f) == 1 for f in here.get((arm, "ranking"), ())):
            words += " " + sentence("improve.threshold")
        return words
    return sentence("improve.nothing")


def _moved(change: Finding) -> int:
    """1 where the interval of a change is above 0, -1 where it is below, else 0."""
    low, high = known_interval(change) or (0.0, 0.0)
    return (low > 0) - (high < 0)


def summary_lines(findings: Sequence[Finding]) -> list[str]:
    """One line per arm: what it costs on the corpus it learned from, what it brings on the others."""
    lines = []
    changes = [f for f in findings if f.measure in ("macro_f1_change", "auc_change") and f.tested]
    for arm in unique(f.where["arm"] for f in changes):
        for flag, place in _PLACES.items():
            mine = [f for f in changes if f.where["arm"] == arm and flag in f.flags]
            means = []
            for decision, name in _DECISIONS.items():
                values = [f.value for f in mine if f.where["decision"] == decision]
                means += [f"{name} " + f"{fmean(values):+.3f}".replace("-", "−")] if values else []
            if means:
                lines.append(sentence("improve.means", arm=arm, place=place, changes=", ".join(means)))
    return lines


def improve_csv(findings: Sequence[Finding]) -> str:
    """The first table as CSV."""
    out, table = io.StringIO(), table_of("improve", result_rows(findings))
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.head)
    writer.writerows(map(spreadsheet_safe, row) for row in table.rows)
    return out.getvalue()


def result_rows(findings: Sequence[Finding]) -> list[tuple[str, ...]]:
    """One row for each test, arm and decision; several seeds are averaged."""
    figures = [f for f in findings if {"trained_on", "decision"} <= set(f.where) and "against" not in f.where]
    rows = []
    for key, found in grouped(figures, by("trained_on", "corpus", "arm", "decision")).items():
        mine = grouped(found, lambda f: f.measure)
        main = "auc" if key[3] == "ranking" else "macro_f1"
        scores = [over_seeds(mine.get("f1", [])), over_seeds(mine[main])]
        if key[3] == "ranking":
            scores = ["", f"AUC {scores[1]}"]
        change = mine.get(f"{main}_change", [None])[0]
        moved = (f"{change.value:+.3f}", interval_of(change)) if change else ("", "")
        ps = [p_values(mine.get(name, [])) for name in ("mcnemar_p", "mcnemar_p_holm")]
        threshold = {"0.5": "0.500", "dev": over_seeds(mine.get("threshold", []))}.get(key[3], "")
        rows.append((*key, threshold, *scores, *moved, *ps))
    return rows


def fair_rows(findings: Sequence[Finding]) -> list[tuple[str, ...]]:
    """Flips, false negative rates and F1 of each test, arm and decision; several seeds are averaged."""
    place = by("corpus", "label", "decision", "arm")
    pairs = [f for f in findings if "arm" in f.where and f.where.get("unit") == "pairs"]
    places = unique(place(f) for f in pairs if f.measure == "fnr_ratio")
    # The arms of one test and decision come in consecutive rows; all else keeps its order.
    order = [unique(names) for names in zip(*places, strict=True)]
    rows: list[tuple[str, ...]] = []
    for key in sorted(places, key=lambda key: [names.index(k) for names, k in zip(order, key, strict=True)]):
        corpus, label, decision, arm = key
        mine = grouped((f for f in findings if place(f) == key), lambda f: f.measure)
        of_pairs = grouped((f for f in pairs if place(f) == key), lambda f: f.measure)
        flags = {flag for ratio in of_pairs["fnr_ratio"] for flag in ratio.flags}
        sides = "F" * ("favours_female" in flags) + "M" * ("favours_male" in flags)
        rates = [
            over_seeds([f for f in of_pairs.get("fnr", ()) if f.where["group"] == gender])
            for gender in ("female", "male")
        ]
        moved = [f.value for f in mine.get("flip_rate_change", ())]
        rows.append(
            (
                corpus if len(order[1]) == 1 else f"{corpus}, {label}",
                arm,
                decision,
                f"{over_seeds(of_pairs['fnr_ratio'])} {sides}".rstrip(),
                *rates,
                _of_each_seed(of_pairs.get("flip_rate", ())),
                f"{fmean(moved):+.3f}" if moved else "",
                over_seeds(mine.get("f1", ())),
            )
        )
    return rows


def _of_each_seed(flips: Sequence[Finding]) -> str:
    """Flipped pairs seed by seed, since each seed judges the same pairs: "3, 5 of 40"."""
    if len({f.n for f in flips}) > 1:
        return ", ".join(f"{f.counts['failed']} of {f.n}" for f in flips)
    return f"{', '.join(str(f.counts['failed']) for f in flips)} of {flips[0].n}" if flips else "–"


def change_rows(findings: Sequence[Finding], suite: str, column: str) -> list[tuple[str, ...]]:
    """Pass rates before and after."""
    rows: list[tuple[str, ...]] = []
    for f in findings:
        if f.measure == "pass_rate_change" and (f.where["suite"], f.where["by"]) == (suite, column):
            named = f.where.get("symptom", "")
            if column == "check":
                named = f"{f.where['check']} {named}".rstrip()
            rates = [f"{f.counts[f'passed_{t}'] / f.counts[f'n_{t}']:.2f}" for t in ("before", "after")]
            marks = "learned from" if TRAINED_ON in f.flags else ""
            change = (f"{f.value:+.2f}", interval_of(f), marks)
            rows.append((f.where["arm"], named, f.where.get("polarity", ""), *rates, *change))
    return rows
