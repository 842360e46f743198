"""Before and after: the tables of `improve`, and what they say in a line for each arm."""

import csv
import io
import math
from collections.abc import Sequence

from psycheck.finding import Finding
from psycheck.report.studies.markdown import markdown, p_values
from psycheck.report.tables import Table
from psycheck.report.words import swapped_words

TRAINED_ON = "trained_on"
_PAIRED = (
    "Before and after are the same texts: the interval is that of pairs, and further seeds add no texts."
)
_FAIR = ("tested on", "arm", "decision", "FNR ratio", "FNR female", "FNR male", "flips", "change", "F1")
_WHICH = ("trained on", "tested on", "arm", "decision", "threshold")
_HEAD = (*_WHICH, "F1", "macro-F1", "change", "95 %", "p", "p Holm")


def improve_table(findings: Sequence[Finding]) -> str:
    """Markdown: figures before and after on each corpus, the symptoms, the checks."""
    first, *more = tables_of(findings)
    parts = ["# Before and after", "", *markdown(first.head, first.rows), "", first.note, ""]
    parts += [f"- {line}" for line in summary_lines(findings)] + [""]
    for table in more:
        parts += [f"## {table.caption}", "", *markdown(table.head, table.rows), ""]
        parts += [table.note, ""] if table.note else []
    return "\n".join(parts)


def tables_of(findings: Sequence[Finding]) -> list[Table]:
    """The tables of before and after: performance, the swapped texts, symptoms and checks of each suite."""

    def table(
        caption: str, head: Sequence[str], rows: Sequence[Sequence[str]], words: int, note: str = ""
    ) -> Table:
        return Table(caption, tuple(head), tuple(tuple(row) for row in rows), words, note)

    note = (
        "AUC stands in the rows “ranking”. The threshold of “dev” has the highest macro-F1 on dev (of equal "
        "ones the nearest to 0.5). Changes are against plain; p is McNemar's."
    )
    out = [table("Performance before and after", _HEAD, result_rows(findings), 4, note)]
    if fair := fair_rows(findings):
        flips = next((f for f in findings if f.measure == "flip_rate"), None)
        note = "The ratio is the lower by the higher false negative rate; F, M: who is missed less."
        out.append(table(f"The same texts with {swapped_words(flips)} swapped", _FAIR, fair, 3, note))
    for suite in dict.fromkeys(f.where["suite"] for f in findings if f.measure == "pass_rate_change"):
        for by in ("symptom", "check"):
            if rows := change_rows(findings, suite, by):
                head = ("arm", by, "polarity", "before", "after", "change", "95 %", "")
                out.append(table(f"{suite}: pass rate by {by}", head, rows, 3, _PAIRED))
    return out


def summary_lines(findings: Sequence[Finding]) -> list[str]:
    """For each arm one line: what it costs on the corpus it learned from, what it brings on the others."""
    lines = []
    changes = [f for f in findings if f.measure in ("macro_f1_change", "auc_change")]
    for arm in dict.fromkeys(f.where["arm"] for f in changes):
        for flag, said in (
            ("in_distribution", "on its own corpus"),
            ("out_of_distribution", "on the others"),
        ):
            mine = [f for f in changes if f.where["arm"] == arm and flag in f.flags and f.tested]
            means = []
            for decision, name in (
                ("0.5", "macro-F1 at 0.5"),
                ("dev", "at the dev threshold"),
                ("ranking", "AUC"),
            ):
                values = [f.value for f in mine if f.where["decision"] == decision]
                means += [f"{name} {sum(values) / len(values):+.3f}"] if values else []
            if means:
                lines.append(f"{arm}, {said}: {', '.join(means)} against plain")
    return lines


def improve_csv(findings: Sequence[Finding]) -> str:
    """The first table as CSV."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(_HEAD)
    table.writerows(result_rows(findings))
    return out.getvalue()


def result_rows(findings: Sequence[Finding]) -> list[tuple[str, ...]]:
    """One row for each test, arm and decision; several seeds are meaned."""
    found: dict[tuple[str, str, str, str], dict[str, list[Finding]]] = {}
    for f in findings:
        if "trained_on" in f.where and "decision" in f.where:
            key = (f.where["trained_on"], f.where["corpus"], f.where["arm"], f.where["decision"])
            if "against" not in f.where:
                found.setdefault(key, {}).setdefault(f.measure, []).append(f)
    rows = []
    for key, mine in found.items():
        ranking = key[3] == "ranking"
        main = "auc" if ranking else "macro_f1"
        change = mine.get(f"{main}_change", [None])[0]
        first = "" if ranking else _mean(mine.get("f1", []))
        second = f"AUC {_mean(mine['auc'])}" if ranking else _mean(mine[main])
        moved = f"{change.value:+.3f}" if change else ""
        ends = _ends(change) if change else ""
        ps = [p_values(mine.get(name, [])) for name in ("mcnemar_p", "mcnemar_p_holm")]
        threshold = {"0.5": "0.500", "dev": _mean(mine.get("threshold", []))}.get(key[3], "")
        rows.append((*key, threshold, first, second, moved, ends, *ps))
    return rows


def fair_rows(findings: Sequence[Finding]) -> list[tuple[str, ...]]:
    """Flips, false negative rates and F1 of each test, arm and decision; several seeds are meaned."""
    told = ("corpus", "label", "decision", "arm")
    of_arms = [f for f in findings if "arm" in f.where and f.where.get("unit") == "pairs"]
    met = [tuple(f.where[key] for key in told) for f in of_arms if f.measure == "fnr_ratio"]
    # The arms of one test and decision stand beneath each other; all else keeps its order.
    order = [list(dict.fromkeys(names)) for names in zip(*met, strict=True)]
    keys = sorted(
        dict.fromkeys(met), key=lambda key: [names.index(k) for names, k in zip(order, key, strict=True)]
    )
    rows: list[tuple[str, ...]] = []
    for key in keys:
        mine = [f for f in findings if tuple(f.where.get(one, "") for one in told) == key]
        of_pairs = [f for f in of_arms if tuple(f.where.get(one, "") for one in told) == key]
        ratios = [f for f in of_pairs if f.measure == "fnr_ratio"]
        sides = "".join(side for side, who in (("F", "female"), ("M", "male")) if _favours(ratios, who))
        fnr = {
            who: [f for f in of_pairs if f.measure == "fnr" and f.where["group"] == who]
            for who in ("female", "male")
        }
        flips = [f for f in of_pairs if f.measure == "flip_rate"]
        number = _of_each_seed(flips)
        moved = [f for f in mine if f.measure == "flip_rate_change"]
        change = f"{sum(f.value for f in moved) / len(moved):+.3f}" if moved else ""
        rates = (_mean(fnr["female"]), _mean(fnr["male"]))
        figure = [f for f in mine if f.measure == "f1"]
        tested = key[0] if len(order[1]) == 1 else f"{key[0]}, {key[1]}"
        head = (tested, key[3], key[2], f"{_mean(ratios)} {sides}".rstrip())
        rows.append((*head, *rates, number, change, _mean(figure)))
    return rows


def _of_each_seed(flips: Sequence[Finding]) -> str:
    """Flipped pairs seed by seed, since each seed judges the same pairs: "3, 5 of 40"."""
    if len({f.n for f in flips}) > 1:
        return ", ".join(f"{f.counts['failed']} of {f.n}" for f in flips)
    return f"{', '.join(str(f.counts['failed']) for f in flips)} of {flips[0].n}" if flips else "–"


def _favours(ratios: Sequence[Finding], who: str) -> bool:
    return any(f"favours_{who}" in ratio.flags for ratio in ratios)


def change_rows(findings: Sequence[Finding], suite: str, by: str) -> list[tuple[str, ...]]:
    """Pass rates before and after."""
    rows: list[tuple[str, ...]] = []
    for f in findings:
        if f.measure == "pass_rate_change" and (f.where["suite"], f.where["by"]) == (suite, by):
            c = f.counts
            named = f.where.get("symptom", "")
            if by == "check":
                named = f"{f.where['check']} {named}".rstrip()
            before, after = c["passed_before"] / c["n_before"], c["passed_after"] / c["n_after"]
            marks = "learned from" if TRAINED_ON in f.flags else ""
            polarity = f.where.get("polarity", "")
            rates = (f"{before:.2f}", f"{after:.2f}", f"{f.value:+.2f}", _ends(f), marks)
            rows.append((f.where["arm"], named, polarity, *rates))
    return rows


def _mean(findings: Sequence[Finding]) -> str:
    values = [f.value for f in findings if f.tested]
    if not values:
        return "–"
    mean = sum(values) / len(values)
    if len(values) > 1:
        sd = math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1))
        return f"{mean:.3f} (sd {sd:.3f})"
    ends = _ends(findings[0])
    return f"{mean:.3f} ({ends})" if ends else f"{mean:.3f}"


def _ends(finding: Finding) -> str:
    if finding.interval is None:
        return ""
    low, high = finding.interval
    return f"{low:+.2f} to {high:+.2f}" if low < 0 else f"{low:.2f} to {high:.2f}"
