"""Gender and groups: what swapping the gender changes, and the rates of each group of the corpus."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from markupsafe import Markup

from psycheck.errors import counted
from psycheck.finding import Finding
from psycheck.report.cases import Case
from psycheck.report.charts import empty_lane, lane, track
from psycheck.report.dots import Plot, Row
from psycheck.report.numbers import count, figure, p_value, rate, rate_spans
from psycheck.report.shelf import Key, Shelf, by
from psycheck.report.tables import Table
from psycheck.report.words import name_of, place_names, swapped_words

RATES = ("fnr", "fpr", "positive_rate")
BETWEEN = ("fnr_ratio", "equal_opportunity_difference", "demographic_parity_difference")
# The ratio and the equal opportunity difference share one test.
TESTED_BY = {"fnr_ratio": "equal_opportunity_difference"}
LEDGER = ("generated", "passed", "failed", "unchanged", "unseen", "unanswered", "undecided", "both_genders")
BESIDES = "named_besides"
SHOWN = 50
NO_CASES: Mapping[tuple[str, str, str], tuple[Case, ...]] = MappingProxyType({})
FEW = 8


@dataclass(frozen=True, slots=True)
class Fair:
    """The section of one label, model and corpus, with the ids of flipped and of undecided texts.

    `flipped_more` and `undecided_more` count the ids that are not shown; the table of pairs has all.
    `cases` are flipped pairs with their scores, and with the swapped text if the run shows texts.
    """

    name: str
    plot: Plot | None
    pairs: Table | None
    flipped: tuple[str, ...]
    flipped_more: int
    cases: tuple[Case, ...]
    undecided: tuple[str, ...]
    undecided_more: int
    ledger: Table | None
    columns: "tuple[Column, ...]"


@dataclass(frozen=True, slots=True)
class Column:
    """The groups of one column; unfolded if they are few or differ significantly."""

    name: str
    summary: str
    open: bool
    tables: tuple[Table, ...]


def fairness(
    shelf: Shelf, cases: Mapping[tuple[str, str, str], tuple[Case, ...]] = NO_CASES
) -> tuple[Fair, ...]:
    """Take the findings on fairness and arrange them by label, model and corpus."""
    taken = shelf.take(
        lambda f: f.where.get("audit") == "fairness" and f.where.get("unit") in ("pairs", "groups"),
        lambda f: (f.measure, *by("label", "model", "corpus", "unit", "column", "group", "versus")(f)),
    )
    heads = list(dict.fromkeys(key[1:4] for key in taken if key[1]))
    labels = {label for label, _, _ in heads}
    called = place_names(list(dict.fromkeys((model, corpus) for _, model, corpus in heads)))
    out = []
    for label, model, corpus in heads:
        name = [called[model, corpus]] if len(called) > 1 else []
        name += [f"label {label}"] if len(labels) > 1 else []
        mine = {
            (key[0], *key[4:]): finding
            for key, finding in taken.items()
            if key[1:4] == (label, model, corpus)
        }
        left = taken.get(("undecided_rate", "", model, corpus, "pairs", "", "", ""))
        out.append(_fair(", ".join(name), mine, left, cases.get((label, model, corpus), ())))
    return tuple(out)


def _fair(name: str, mine: Mapping[Key, Finding], left: Finding | None, cases: tuple[Case, ...]) -> Fair:
    flips = mine.get(("flip_rate", "pairs", "", "", ""))
    flipped = flips.examples[:SHOWN] if flips is not None else ()
    undecided = left.examples[:SHOWN] if left is not None else ()
    columns = list(dict.fromkeys(key[2] for key in mine if key[1] == "groups"))
    groups = {column: _groups(column, mine) for column in columns}
    return Fair(
        name,
        _plot(mine, [column for column in columns if 1 < len(groups[column]) <= FEW]),
        _pairs(mine) if flips is not None and flips.tested else None,
        flipped,
        flips.counts.get("failed", 0) - len(flipped) if flips is not None else 0,
        cases,
        undecided,
        left.counts.get("count", 0) - len(undecided) if left is not None else 0,
        _ledger(flips) if flips is not None else None,
        tuple(_column(column, groups[column], mine) for column in columns),
    )


def _groups(column: str, mine: Mapping[Key, Finding]) -> list[str]:
    return list(dict.fromkeys(key[3] for key in mine if key[1:3] == ("groups", column) and not key[4]))


def _column(column: str, groups: list[str], mine: Mapping[Key, Finding]) -> Column:
    held = [f for key, f in mine.items() if key[1:3] == ("groups", column)]
    apart = [f for f in held if f.measure.endswith("_p_holm") and "significant" in f.flags]
    summary = counted(len(groups), "group") + ("; they differ after Holm's correction" if apart else "")
    tables = tuple(_column_tables(column, groups, mine))
    return Column(column, summary, len(groups) <= FEW or bool(apart), tables)


def _pairs(mine: Mapping[Key, Finding]) -> Table:
    """One row per measure of the pairs."""
    flips = mine.get(("flip_rate", "pairs", "", "", ""))
    rows: list[tuple[str, ...]] = []
    for measure in ("flip_rate", "score_shift"):
        rows.append((name_of("measures", measure), figure(mine.get((measure, "pairs", "", "", ""))), "", ""))
    for measure in RATES:
        for wording in ("female", "male"):
            finding = mine.get((measure, "pairs", "", wording, ""))
            rows.append((f"{name_of('measures', measure)}, {wording} wording", figure(finding), "", ""))
    for measure in (*BETWEEN, "score_difference"):
        sides = ("pairs", "", "female", "male")
        finding = mine.get((measure, *sides))
        minus = "" if measure in ("fnr_ratio", "score_difference") else ", female minus male"
        rows.append((name_of("measures", measure) + minus, _compared(finding), *_ps(mine, measure, sides)))
    return Table(
        f"The same texts with {swapped_words(flips)} swapped: value, 95 % interval, n",
        ("Measure", "Value", "p", "p, Holm"),
        tuple(rows),
    )


def _column_tables(column: str, groups: list[str], mine: Mapping[Key, Finding]) -> Iterable[Table]:
    """The rates of each group of a column, and how the groups compare."""
    rows = [
        (g or "no group is large enough", *(figure(mine.get((m, "groups", column, g, ""))) for m in RATES))
        for g in groups
    ]
    yield Table(
        "Rates of each group",
        (column.capitalize(), *(name_of("measures", measure) for measure in RATES)),
        tuple(rows),
        note=_read_as(mine[("fnr", "groups", column, groups[0], "")].counts),
    )
    pairs = list(dict.fromkeys(key[3:5] for key in mine if key[1:3] == ("groups", column) and key[4]))
    if not pairs:
        return
    compared = []
    for group, versus in pairs:
        sides = ("groups", column, group, versus)
        opportunity, parity = (_ps(mine, measure, sides) for measure in BETWEEN[1:])
        cells = [_compared(mine.get((measure, *sides))) for measure in BETWEEN]
        compared.append((f"{group} minus {versus}", *cells[:2], opportunity[1], cells[2], parity[1]))
    heads = [name_of("measures", measure) for measure in BETWEEN]
    yield Table(
        "How the groups compare",
        ("Compared", *heads[:2], "p, Holm", heads[2], "p, Holm"),
        tuple(compared),
    )


def _read_as(counts: Mapping[str, int]) -> str:
    """How the values of a column were read: which texts are not compared, and what was merged."""
    words = counts.get("read_as_not_given", 0)
    by_word = f" ({count(words)} by a word or code such as NA)" if words else ""
    left = {
        "unknown": f"without a group{by_word}",
        "in_small_groups": "in groups of fewer than 5",
        "beyond_largest": "in groups beyond the 20 largest",
    }
    outside = [f"{counted(counts[key], 'text')} {why}" for key, why in left.items() if counts.get(key)]
    notes = [f"Not compared: {', '.join(outside)}."] if outside else []
    if spelled := counts.get("other_spelling", 0):
        notes.append(f"{counted(spelled, 'text')} counted under the most common spelling of the group.")
    if odd := counts.get("not_banded", 0):
        notes.append(f"No age bands: more than a fifth of the values ({count(odd)}) are not numbers.")
    return " ".join(notes)


def _compared(finding: Finding | None) -> Markup:
    """A figure, with the side that is missed less; equal sides get no mark."""
    if finding is None or "favours_neither" not in finding.flags:
        return figure(finding)
    return figure(replace(finding, flags=tuple(flag for flag in finding.flags if flag != "favours_neither")))


def _ps(mine: Mapping[Key, Finding], measure: str, sides: Sequence[str]) -> tuple[str, Markup]:
    """The p-value of a measure and the adjusted one, marked where it is below 0.05."""
    tested = TESTED_BY.get(measure, measure)
    p, adjusted = (mine.get((f"{tested}_{end}", *sides)) for end in ("p", "p_holm"))
    shown, shown_adjusted = ("–" if one is None else p_value(one.value) for one in (p, adjusted))
    strong = adjusted is not None and "significant" in adjusted.flags
    return shown, Markup("<b>{}</b>" if strong else "{}").format(shown_adjusted)


def _plot(mine: Mapping[Key, Finding], columns: Sequence[str]) -> Plot | None:
    """The false negative rates of both wordings and of all groups on one scale."""
    heads = [("The same texts in both wordings", "pairs", "")]
    heads += [(column.capitalize(), "groups", column) for column in columns]
    groups = []
    for name, unit, column in heads:
        found = [f for key, f in mine.items() if key[:3] == ("fnr", unit, column) and f.tested]
        rows = tuple(Row(f.where["group"], "", "", (_track(f),)) for f in found)
        if rows:
            groups.append((name, (empty_lane(),), rows))
    return Plot("", (), tuple(groups)) if groups else None


def _track(finding: Finding) -> Markup:
    title = f"{finding.where['group']}: {rate(finding)} of {count(finding.n)} missed"
    return lane(track(finding, None, title), rate_spans(finding))


def _ledger(flips: Finding) -> Table:
    """Every text of the corpus, in exactly one column of the ledger."""
    names = [name for name in LEDGER if name in flips.counts]
    besides = flips.counts.get(BESIDES, 0)
    left = f" {count(besides)} of the pairs also have a gendered noun or title, which is not swapped"
    left += " (--swap nouns,titles)."
    return Table(
        "generated = passed + failed + unchanged + unseen + unanswered",
        ("Pairs", *(name.replace("_", " ") for name in names)),
        ((f"{swapped_words(flips)} swapped", *(count(flips.counts[name]) for name in names)),),
        note="Undecided texts have a word whose swap is ambiguous; they are left out. Pairs that name both "
        "genders count as pairs, but not in the figures of the female or the male wording."
        + (left if besides else ""),
    )
