"""Histories: what removing, moving and adding posts does to the score, and the sentences on it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from psycheck.core.errors import counted
from psycheck.core.finding import Finding
from psycheck.core.headline import Headline
from psycheck.core.run import Run
from psycheck.report.charts import Plot, Row, rate_lane
from psycheck.report.display_names import name_of, place_names, place_of, where_named
from psycheck.report.headlines import headline
from psycheck.report.numbers import count, figure, known_interval, plain, rate
from psycheck.report.sections import Section, UnshownFindings, by, drawn, grouped, unique
from psycheck.report.tables import Table, table_of

HALF = 0.5  # pass rate: below it, the removed evidence hardly matters
STEADY = 0.9  # pass rate: below it, an edit that should not matter does
FEW_CHANGES = 0.2  # share of changed scores: below it, one post decides
SHOWN = 10  # authors behind an edit
PASSES, CHANGES = "history_pass_rate", "history_change_rate"
LEFT_OUT = ("without_evidence", "decided_0")
Head = tuple[str, str, str]  # model, corpus and label


@dataclass(frozen=True, slots=True)
class Part:
    """The tables of one model, corpus and label, and the authors behind failed and changed cases."""

    name: str
    table: Table
    authors: tuple[tuple[str, tuple[str, ...], int], ...]  # edit, ids, and how many more


def histories_section(unshown: UnshownFindings) -> list[Section]:
    """Edits of histories."""
    history_findings = unshown.take(
        lambda finding: finding.where.get("audit") == "histories",
        by(
            "measure",
            "model",
            "corpus",
            "label",
            "edit",
        ),
    )
    parts = grouped(history_findings.values(), _head)
    names = _part_names(list(parts))
    drawn_parts = [_part(names[head], findings) for head, findings in parts.items()]
    overview = _plot(names, parts) if len(parts) > 1 else None
    return drawn("histories", drawn_parts, overview)


def _head(finding: Finding) -> Head:
    return (*place_of(finding), finding.where["label"])


def _part_names(heads: Sequence[Head]) -> dict[Head, str]:
    """The shortest distinct name of each part; empty if there is one part only."""
    places = place_names(unique((model, corpus) for model, corpus, _ in heads))
    labels = {label for _, _, label in heads}
    names = {}
    for model, corpus, label in heads:
        words = []
        if len(places) > 1:
            words.append(places[model, corpus])
        if len(labels) > 1:
            words.append(f"label {label}")
        names[model, corpus, label] = ", ".join(words)
    return names


def _part(name: str, findings: Sequence[Finding]) -> Part:
    by_edit = {(finding.measure, finding.where.get("edit", "")): finding for finding in findings}
    rows = []
    authors = []
    for finding in findings:
        if finding.measure not in (PASSES, CHANGES):
            continue
        edit = finding.where["edit"]
        edit_name = name_of("history_edits", edit)
        # An edit of a kind is expected to pass; the others only change the score, or do not.
        kind = finding.where.get("kind", "")
        expected = name_of("history_expected", kind or "none")
        shift = by_edit.get(("history_shift", edit))
        rows.append(
            (
                edit_name,
                expected,
                figure(finding),
                figure(shift),
            )
        )

        ids = finding.examples[:SHOWN]
        if ids:
            behind = finding.counts["failed"] if kind else finding.counts["changed"]
            authors.append((edit_name, ids, behind - len(ids)))

    table = _edits_table(
        rows,
        first=findings[0],
        effect=by_edit["evidence_effect", ""],
    )
    return Part(
        name=name,
        table=table,
        authors=tuple(authors),
    )


def _edits_table(rows: Sequence[tuple[str, ...]], *, first: Finding, effect: Finding) -> Table:
    """One row per edit; the caption says whose histories were edited."""
    left_out = []
    for key in LEFT_OUT:
        reason = name_of("history_left_out", key)
        left_out.append(f"{count(first.counts[key])} {reason}")
    return table_of(
        "histories",
        rows,
        label=first.where["label"],
        authors=counted(first.counts["authors"], "author"),
        left=" and ".join(left_out),
        evidence=first.where.get("evidence", ""),
        effect=plain(effect),
        n=count(effect.n),
    )


def _plot(names: Mapping[Head, str], parts: Mapping[Head, Sequence[Finding]]) -> Plot | None:
    """Pass rates by edit, one row for each label, model and corpus."""
    rates: list[Finding] = []
    for findings in parts.values():
        tested = [finding for finding in findings if finding.tested]
        rates += [finding for finding in tested if finding.measure == PASSES]
    if not rates:
        return None

    groups = []
    for edit, rates_of_edit in grouped(rates, lambda finding: finding.where["edit"]).items():
        rows = tuple(_plot_row(names[_head(finding)], finding) for finding in rates_of_edit)
        groups.append((name_of("history_edits", edit), (None,), rows))
    return Plot(
        name="",
        panels=(),
        groups=tuple(groups),
    )


def _plot_row(name: str, finding: Finding) -> Row:
    lane = rate_lane(finding, f"{name}: {rate(finding)} of {count(finding.n)}")
    return Row(
        check=name,
        word="",
        title="",
        cells=(lane,),
    )


def history_headlines(run: Run) -> list[Headline]:
    """What histories show: evidence that does not count, other posts that do, one post that decides."""
    of_histories = run.findings.where(audit="histories")
    rates = [finding for finding in of_histories if finding.measure in (PASSES, CHANGES)]
    if not rates:
        return []

    by_edit = grouped(rates, lambda finding: finding.where["edit"])
    evidence = [finding for finding in by_edit["evidence_removed"] if finding.tested]
    if not evidence:
        return [headline("histories.untested", by_edit["evidence_removed"])]
    return _weaknesses(by_edit, run) or [_without_weakness(evidence, run)]


def _weaknesses(by_edit: Mapping[str, Sequence[Finding]], run: Run) -> list[Headline]:
    """Edits that should matter and do not, edits that should not and do, and one post that decides."""
    headlines = []
    bounds = {
        "evidence_removed": ("histories.evidence", HALF),
        "others_removed": ("histories.others_removed", STEADY),
        "post_inserted": ("histories.post_inserted", STEADY),
        "post_appended": ("histories.post_appended", STEADY),
    }
    # Each edit has its own bound: evidence should matter, other posts should not.
    for edit, (rule, bound) in bounds.items():
        low = _lowest(by_edit[edit], bound)
        if low is not None:
            certain_failures = 1 - max(known_interval(low))
            headlines.append(
                headline(
                    rule,
                    [low],
                    certain_failures,
                    **_values(low, run),
                )
            )

    for edit, opposite in (("last_post", "first_post"), ("first_post", "last_post")):
        decisive = _decisive(by_edit[edit], by_edit[opposite])
        if decisive is not None:
            headlines.append(
                headline(
                    f"histories.{edit}",
                    [decisive],
                    **_values(decisive, run),
                )
            )
    return headlines


def _without_weakness(evidence: Sequence[Finding], run: Run) -> Headline:
    """Whether the score is shown to rest on the evidence, for the weakest label."""
    weakest = min(evidence, key=lambda finding: max(known_interval(finding), default=1.0))
    rests_on_evidence = min(known_interval(weakest), default=0.0) > HALF
    rule = "histories.sound" if rests_on_evidence else "histories.not_shown"
    return headline(
        rule,
        [weakest],
        **_values(weakest, run),
    )


def _lowest(rates: Iterable[Finding], bound: float) -> Finding | None:
    """The pass rate with the lowest upper end, if that is below a bound."""
    # A claim needs an interval: a single author proves nothing.
    with_interval = [finding for finding in rates if finding.tested and known_interval(finding)]
    low = min(
        with_interval,
        key=lambda finding: max(known_interval(finding)),
        default=None,
    )
    if low is None or max(known_interval(low)) >= bound:
        return None
    return low


def _decisive(with_post_alone: Iterable[Finding], with_opposite_alone: Iterable[Finding]) -> Finding | None:
    """The label whose score hardly ever changes with one post kept, and does with the opposite one kept."""
    # Where neither post changes the score, or both do, no single post decides.
    least_changes = {}
    for finding in with_opposite_alone:
        if finding.tested:
            least_changes[_head(finding)] = min(known_interval(finding), default=0.0)

    for finding in with_post_alone:
        if not finding.tested:
            continue
        most_changes = max(known_interval(finding), default=1.0)
        least_with_opposite = least_changes.get(_head(finding), 0.0)
        if most_changes < FEW_CHANGES < least_with_opposite:
            return finding
    return None


def _values(finding: Finding, run: Run) -> dict[str, str]:
    return {
        "where": where_named(finding, run.findings),
        "rate": rate(finding, prose=True),
        "n": counted(finding.n, "author"),
    }
