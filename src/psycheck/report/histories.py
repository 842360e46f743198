"""Histories: what removing, moving and adding posts does to the score, and the sentences on it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from psycheck.errors import counted
from psycheck.finding import Finding
from psycheck.report.charts import Plot, Row, rate_lane
from psycheck.report.headlines import Headline, headline
from psycheck.report.numbers import count, figure, known_interval, plain, rate
from psycheck.report.shelf import Section, Shelf, by, drawn, grouped, unique
from psycheck.report.tables import Table, table_of
from psycheck.report.words import name_of, place_names, place_of, where_named
from psycheck.run import Run

HALF, STEADY = 0.5, 0.9  # pass rates: below, an edit that should matter does not, or one that should not does
FEW_CHANGES = 0.2
SHOWN = 10
EDITED = ("history_pass_rate", "history_change_rate")
Head = tuple[str, str, str]  # model, corpus and label
LEFT_OUT = ("without_evidence", "decided_0")


@dataclass(frozen=True, slots=True)
class Part:
    """The tables of one model, corpus and label, and the authors behind failed and changed cases."""

    name: str
    table: Table
    authors: tuple[tuple[str, tuple[str, ...], int], ...]


def histories_section(shelf: Shelf) -> list[Section]:
    """Edits of histories."""
    taken = shelf.take(
        lambda f: f.where.get("audit") == "histories", by("measure", "model", "corpus", "label", "edit")
    )
    parts = grouped(taken.values(), lambda f: (*place_of(f), f.where["label"]))
    called = place_names(unique(head[:2] for head in parts))
    several = len(called) > 1, len({head[2] for head in parts}) > 1
    names = {
        head: ", ".join(
            [*([called[head[:2]]] if several[0] else []), *([f"label {head[2]}"] if several[1] else [])]
        )
        for head in parts
    }
    drawn_parts = [_part(names[head], head, mine) for head, mine in parts.items()]
    return drawn("histories", drawn_parts, _plot(names, parts) if len(parts) > 1 else None)


def _part(name: str, head: Head, mine: list[Finding]) -> Part:
    found = {(f.measure, f.where.get("edit", "")): f for f in mine}
    rows, authors = [], []
    for f in mine:
        if f.measure not in EDITED:
            continue
        edit, kind = f.where["edit"], f.where.get("kind", "")
        name_of_edit, shift = name_of("history_edits", edit), found.get(("history_shift", edit))
        rows.append((name_of_edit, name_of("history_expected", kind or "none"), figure(f), figure(shift)))
        if shown := f.examples[:SHOWN]:
            worse = f.counts["failed"] if kind else f.counts["changed"]
            authors.append((name_of_edit, shown, worse - len(shown)))
    first, effect = mine[0], found["evidence_effect", ""]
    left = [f"{count(first.counts[key])} {name_of('history_left_out', key)}" for key in LEFT_OUT]
    table = table_of(
        "histories",
        rows,
        label=head[2],
        authors=counted(first.counts["authors"], "author"),
        left=" and ".join(left),
        evidence=first.where.get("evidence", ""),
        effect=plain(effect),
        n=count(effect.n),
    )
    return Part(name, table, tuple(authors))


def _plot(names: Mapping[Head, str], parts: Mapping[Head, Sequence[Finding]]) -> Plot | None:
    """Pass rates by edit, one row for each label, model and corpus."""
    groups = []
    rates = [(head, f) for head, mine in parts.items() for f in mine if f.measure == EDITED[0] and f.tested]
    for edit in unique(f.where["edit"] for _, f in rates):
        rows = tuple(
            Row(names[head], "", "", (rate_lane(f, f"{names[head]}: {rate(f)} of {count(f.n)}"),))
            for head, f in rates
            if f.where["edit"] == edit
        )
        groups.append((name_of("history_edits", edit), (None,), rows))
    return Plot("", (), tuple(groups)) if groups else None


def history_headlines(run: Run) -> list[Headline]:
    """What histories show: evidence that does not count, other posts that do, one post that decides."""
    mine = [f for f in run.findings if f.where.get("audit") == "histories" and f.measure in EDITED]
    if not mine:
        return []
    by_edit = {edit: [f for f in mine if f.where["edit"] == edit] for edit in {f.where["edit"] for f in mine}}
    evidence = by_edit["evidence_removed"]
    if not any(f.tested for f in evidence):
        return [headline("histories.untested")]
    found = []
    if low := _lowest(evidence, HALF):
        found.append(headline("histories.evidence", 1 - max(known_interval(low)), **_words(low, run)))
    for edit in ("others_removed", "post_inserted", "post_appended"):
        if low := _lowest(by_edit[edit], STEADY):
            found.append(headline(f"histories.{edit}", 1 - max(known_interval(low)), **_words(low, run)))
    for edit, other in (("last_post", "first_post"), ("first_post", "last_post")):
        if alone := _alone(by_edit[edit], by_edit[other]):
            found.append(headline(f"histories.{edit}", **_words(alone, run)))
    if not found:
        weakest = min((f for f in evidence if f.tested), key=lambda f: max(known_interval(f), default=1.0))
        sure = min(known_interval(weakest), default=0.0) > HALF
        found.append(headline(f"histories.{'sound' if sure else 'not_shown'}", **_words(weakest, run)))
    return found


def _lowest(rates: Iterable[Finding], bound: float) -> Finding | None:
    """The pass rate with the lowest upper end, if that is below a bound."""
    known = [f for f in rates if f.tested and known_interval(f)]
    low = min(known, key=lambda f: max(known_interval(f)), default=None)
    return low if low is not None and max(known_interval(low)) < bound else None


def _alone(kept: Iterable[Finding], other: Iterable[Finding]) -> Finding | None:
    """The label whose score hardly ever changes with one post kept, and does with the other one kept."""
    beside = {
        (*place_of(f), f.where["label"]): min(known_interval(f), default=0.0) for f in other if f.tested
    }
    for f in kept:
        least = beside.get((*place_of(f), f.where["label"]), 0.0)
        if f.tested and max(known_interval(f), default=1.0) < FEW_CHANGES < least:
            return f
    return None


def _words(finding: Finding, run: Run) -> dict[str, str]:
    return {
        "where": where_named(finding, run.findings),
        "rate": rate(finding, prose=True),
        "n": counted(finding.n, "author"),
    }
