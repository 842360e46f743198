"""Gender and groups: what swapping the gender changes, and the rates of each group of the corpus."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from psycheck.errors import counted
from psycheck.finding import Finding
from psycheck.report.behaviour import LEDGER
from psycheck.report.cases import Case, pair_cases
from psycheck.report.charts import Plot, Row, rate_lane
from psycheck.report.numbers import count, figure, p_value, rate
from psycheck.report.shelf import Key, Section, Shelf, by, drawn, unique
from psycheck.report.tables import Table, table_of
from psycheck.report.words import name_of, place_names, swapped_words, words_of

RATES = ("fnr", "fpr", "positive_rate")
BETWEEN = ("fnr_ratio", "equal_opportunity_difference", "demographic_parity_difference")
# The ratio and the equal opportunity difference share one test.
TESTED_BY = {"fnr_ratio": "equal_opportunity_difference"}
SHOWN = 50
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


def fairness_section(shelf: Shelf) -> list[Section]:
    """Gender and groups."""
    return drawn("fairness", fairness(shelf), any(case.text is not None for case in shelf.run.shown))


def fairness(shelf: Shelf) -> tuple[Fair, ...]:
    """Take the findings on fairness and arrange them by label, model and corpus."""
    cases = pair_cases(shelf.run)
    taken = shelf.take(
        lambda f: f.where.get("audit") == "fairness" and f.where.get("unit") in ("pairs", "groups"),
        by("label", "model", "corpus", "measure", "unit", "column", "group", "versus"),
    )
    heads = unique((key[0], key[1], key[2]) for key in taken if key[0])
    called = place_names(unique(head[1:] for head in heads))
    several_labels = len({label for label, _, _ in heads}) > 1
    out = []
    for head in heads:
        name = [called[head[1:]]] if len(called) > 1 else []
        name += [f"label {head[0]}"] if several_labels else []
        mine = {key[3:]: f for key, f in taken.items() if key[:3] == head}
        left = taken.get(("", *head[1:], "undecided_rate", "pairs", "", "", ""))
        out.append(_fair(", ".join(name), mine, left, cases.get(head, ())))
    return tuple(out)


def _fair(name: str, mine: Mapping[Key, Finding], left: Finding | None, cases: tuple[Case, ...]) -> Fair:
    flips = mine.get(("flip_rate", "pairs", "", "", ""))
    flipped = flips.examples[:SHOWN] if flips else ()
    undecided = left.examples[:SHOWN] if left else ()
    groups = {
        column: unique(k[3] for k in mine if k[1:3] == ("groups", column) and not k[4])
        for column in unique(key[2] for key in mine if key[1] == "groups")
    }
    heads = [("The same texts in both wordings", "pairs", "")]
    heads += [(c.capitalize(), "groups", c) for c, members in groups.items() if 1 < len(members) <= FEW]
    return Fair(
        name,
        _plot(mine, heads),
        _pairs(mine, flips) if flips and flips.tested else None,
        flipped,
        flips.counts.get("failed", 0) - len(flipped) if flips else 0,
        cases,
        undecided,
        left.counts.get("count", 0) - len(undecided) if left else 0,
        _ledger(flips) if flips else None,
        tuple(_column(column, members, mine) for column, members in groups.items()),
    )


def _pairs(mine: Mapping[Key, Finding], flips: Finding) -> Table:
    """One row per measure of the pairs."""
    rows: list[tuple[str, ...]] = []
    whole = [(measure, "") for measure in ("flip_rate", "placebo_flip_rate", "score_shift")]
    for measure, wording in [*whole, *((m, w) for m in RATES for w in ("female", "male"))]:
        name = name_of("measures", measure) + (f", {wording} wording" if wording else "")
        rows.append((name, figure(mine.get((measure, "pairs", "", wording, ""))), "", ""))
    excess = _compared(mine, "flip_excess", ("pairs", "", "", ""))
    rows.insert(2, (name_of("measures", "flip_excess"), *excess))
    for measure in (*BETWEEN, "score_difference"):
        minus = "" if measure in ("fnr_ratio", "score_difference") else ", female minus male"
        cells = _compared(mine, measure, ("pairs", "", "female", "male"))
        rows.append((name_of("measures", measure) + minus, *cells))
    return table_of("pairs", rows, swapped=swapped_words(flips))


def _column(column: str, groups: list[str], mine: Mapping[Key, Finding]) -> Column:
    """The rates of each group of a column, and how the groups compare."""
    held = {key: f for key, f in mine.items() if key[1:3] == ("groups", column)}
    apart = any(f.measure.endswith("_p_holm") and "significant" in f.flags for f in held.values())
    rows = []
    for group in groups:
        figures = [figure(held.get((measure, "groups", column, group, ""))) for measure in RATES]
        rows.append((group or "no group is large enough", *figures))
    head = [name_of("measures", measure) for measure in RATES]
    note = _read_as(held["fnr", "groups", column, groups[0], ""].counts)
    tables = [table_of("group_rates", rows, head, column=column.capitalize(), note=note)]
    rows = []
    for group, versus in unique(key[3:5] for key in held if key[4]):
        cells = [_compared(held, measure, ("groups", column, group, versus)) for measure in BETWEEN]
        (ratio, *_), (opportunity, _, p), (parity, _, parity_p) = cells
        rows.append((f"{group} minus {versus}", ratio, opportunity, p, parity, parity_p))
    names = {measure: name_of("measures", measure) for measure in BETWEEN}
    tables += [table_of("group_comparisons", rows, **names)] if rows else []
    summary = counted(len(groups), "group") + ("; they differ after Holm's correction" if apart else "")
    return Column(column, summary, len(groups) <= FEW or apart, tuple(tables))


def _read_as(counts: Mapping[str, int]) -> str:
    """How the values of a column were read: which texts are not compared, and what was merged."""
    words = counts.get("read_as_not_given", 0)
    by_word = f" ({count(words)} by a word or code such as NA)" if words else ""
    left = [(key, why.format(by_word=by_word)) for key, why in words_of("words")["not_compared"].items()]
    outside = [f"{counted(counts[key], 'text')} {why}" for key, why in left if counts.get(key)]
    notes = [f"Not compared: {', '.join(outside)}."] if outside else []
    if spelled := counts.get("other_spelling", 0):
        notes.append(f"{counted(spelled, 'text')} counted under the most common spelling of the group.")
    if odd := counts.get("not_banded", 0):
        notes.append(f"No age bands: more than a fifth of the values ({count(odd)}) are not numbers.")
    return " ".join(notes)


def _compared(mine: Mapping[Key, Finding], measure: str, sides: Key) -> tuple[str, str, str]:
    """A figure, with the side that is missed less; its p-value, and the adjusted one, bold below 0.05."""
    tested = TESTED_BY.get(measure, measure)
    names = (measure, f"{tested}_p", f"{tested}_p_holm")
    value, p, adjusted = (mine.get((name, *sides)) for name in names)
    shown, shown_adjusted = ("–" if one is None else p_value(one.value) for one in (p, adjusted))
    if adjusted is not None and "significant" in adjusted.flags:
        shown_adjusted = Markup("<b>{}</b>").format(shown_adjusted)
    return figure(value, "favours_neither"), shown, shown_adjusted


def _plot(mine: Mapping[Key, Finding], heads: Sequence[Key]) -> Plot | None:
    """The false negative rates of both wordings and of all groups on one scale."""
    groups = []
    for name, *unit in heads:
        rows = []
        for key, f in mine.items():
            if key[:3] == ("fnr", *unit) and f.tested:
                title = f"{f.where['group']}: {rate(f)} of {count(f.n)} missed"
                rows.append(Row(f.where["group"], "", "", (rate_lane(f, title),)))
        if rows:
            groups.append((name, (None,), tuple(rows)))
    return Plot("", (), tuple(groups)) if groups else None


def _ledger(flips: Finding) -> Table:
    """Every text of the corpus, in exactly one column of the ledger."""
    names = [name for name in (*LEDGER, "both_genders") if name in flips.counts]
    besides = flips.counts.get("named_besides", 0)
    left = f" {count(besides)} of the pairs also have a gendered noun or title, which is left as it is."
    row = (f"{swapped_words(flips)} swapped", *(count(flips.counts[name]) for name in names))
    head = [name.replace("_", " ") for name in names]
    return table_of("pairs_ledger", [row], head, besides=left if besides else "")
