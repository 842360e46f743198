"""The checks of each suite and label: plots, heat map, means, sentences and the ledger."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from psycheck.core.finding import Finding
from psycheck.report.cases import CaseKey, case_anchors, case_key
from psycheck.report.charts import Lane, Means, Plot, Row, rate_lane
from psycheck.report.check_means import (
    DEVIATION,
    MEAN,
    Head,
    MeanKey,
    average_key,
    dir_means_of,
    means_by_head,
    means_table,
)
from psycheck.report.display_names import Place, name_of, natural, order, place_names, place_of
from psycheck.report.numbers import count, figure, percent, rate
from psycheck.report.sections import Key, Section, UnshownFindings, by, drawn, unique
from psycheck.report.tables import Table, table_of

PANELS = 3  # of a plot
LEDGER = ("generated", "passed", "failed", "unchanged", "unseen", "unanswered", "undecided")
CellKey = tuple[str, Place]  # a check at a place
PlotGroup = tuple[str, Means, tuple[Row, ...]]


@dataclass(frozen=True, slots=True)
class Block:
    """The section of one suite and one label.

    `called` names the places, `checks` has each check once, `cells` all findings, `cases` where their cases
    are on the page, `dir_means` the DIR means.
    """

    name: str
    called: Mapping[Place, str]
    checks: tuple[Finding, ...]
    cells: Mapping[CellKey, Finding]
    cases: Mapping[CellKey, str]
    dir_means: Mapping[Place, Finding]
    means: Table | None
    reactions: Table | None
    sentences: Table | None

    @property
    def is_wide(self) -> bool:
        """Whether the checks are a heat map: a plot with many panels cannot be read."""
        return len(self.called) > PANELS and bool(self.checks)

    def plots(self) -> Iterator[Plot]:
        """The dot plot of few places, one panel each; many places are a heat map instead."""
        if self.checks and not self.is_wide:
            yield Plot(
                name="",
                panels=tuple(self.called.values()) if len(self.called) > 1 else (),
                groups=tuple(self._groups(list(self.called))),
            )

    def _groups(self, places: Sequence[Place]) -> Iterator[PlotGroup]:
        """The name, means and rows of each group of checks; the DIR mean precedes the first DIR check."""
        mean_lanes = tuple(_mean_lane(self.dir_means.get(place)) for place in places)
        means = tuple(lane.mean if lane else None for lane in mean_lanes)
        rows: dict[str, list[Row]] = {}
        groups_with_dir_checks = set()
        for check in self.checks:
            name = _group_name(check)
            if check.where.get("kind") == "DIR":
                groups_with_dir_checks.add(name)
                if self.dir_means:
                    mean_row = Row(
                        check="",
                        word="Mean of the DIR checks",
                        title="",
                        cells=mean_lanes,
                    )
                    rows.setdefault("", [mean_row])
            rows.setdefault(name, []).append(self._row(check, places, means))

        no_means = (None,) * len(places)
        for name, rows_of_group in rows.items():
            drawn_means = means if name in groups_with_dir_checks else no_means
            yield name, drawn_means, tuple(rows_of_group)

    def _row(self, check: Finding, places: Sequence[Place], means: Means) -> Row:
        """One check at each place."""
        name = check.where["check"]
        lanes = []
        for place, mean in zip(places, means, strict=True):
            finding = self.cells.get((name, place))
            anchor = self.cases.get((name, place), "")
            lanes.append(_lane(finding, mean, anchor) if finding else None)
        # Presence and absence are of a symptom; pronouns have neither.
        polarity = check.where.get("polarity", "") if check.where.get("symptom") else ""
        return Row(
            check=name,
            word=polarity,
            title=check.where.get("title", ""),
            cells=tuple(lanes),
        )

    def ledgers(self) -> Iterator[tuple[Place, Table]]:
        """What became of the cases of every check, place by place."""
        for place, place_name in self.called.items():
            cells = [self.cells.get((check.where["check"], place)) for check in self.checks]
            findings = [finding for finding in cells if finding is not None]
            outcomes = _ledger_columns(findings)
            rows = []
            for finding in findings:
                counts = [count(finding.counts.get(outcome, 0)) for outcome in outcomes]
                rows.append((finding.where["check"], *counts))
            where = f", {place_name}" if len(self.called) > 1 else ""
            head = [outcome.replace("_", " ") for outcome in outcomes]
            yield (
                place,
                table_of(
                    "ledger",
                    rows,
                    head,
                    place=where,
                ),
            )


def _ledger_columns(findings: Sequence[Finding]) -> list[str]:
    """The outcomes of a ledger; "undecided" only where it occurs, unknown outcomes last."""
    counted_outcomes: set[str] = set()
    for finding in findings:
        counted_outcomes.update(finding.counts)
    # The usual columns stay even if empty: a 0 says that nothing was, for instance, unseen.
    usual = [outcome for outcome in LEDGER if outcome in counted_outcomes or outcome != "undecided"]
    unknown = counted_outcomes - set(LEDGER)
    return usual + sorted(unknown)


def _group_name(check: Finding) -> str:
    """The group of a check in a plot: its symptom with the item of the scale, or its topic."""
    where = check.where
    name = name_of("symptoms", where.get("symptom") or where.get("topic") or "other checks")
    # Not capitalize(): it would write "DECK" as "Deck".
    name = name[:1].upper() + name[1:]
    if where.get("symptom") and where.get("item"):
        name += f" · {where.get('scale', '')} item {where['item']}"
    return name


def _lane(finding: Finding, mean: float | None, cases: str) -> Lane:
    title = f"{finding.where['check']}: {rate(finding)}"
    if finding.tested:
        title += f" of {count(finding.n)} pass"
        if "below_dir_mean" in finding.flags:
            title += ", below the mean of the DIR checks"
    return rate_lane(
        finding,
        title,
        mean=mean if finding.where.get("kind") == "DIR" else None,
        cases=cases,
    )


def _mean_lane(mean: Finding | None) -> Lane | None:
    if mean is None or not mean.tested:
        return None
    # The figure itself is in the table of means.
    return Lane(
        title=f"Mean of the DIR checks: {percent(mean.value, 1)}",
        figures=Markup(),
        mean=mean.value,
    )


def checks_section(unshown: UnshownFindings) -> list[Section]:
    """Every check, by symptom."""
    return drawn("checks", blocks(unshown))


def blocks(unshown: UnshownFindings) -> tuple[Block, ...]:
    """Take the findings on behaviour, by suite and label."""
    # The verdict has shown these: the same rates with other intervals.
    unshown.take(lambda f: f.measure == "pass_rate_among_checks", lambda f: tuple(f.where.values()))
    checks = unshown.take(
        lambda f: f.measure == "pass_rate" and bool(f.where.get("check")),
        by(
            "suite",
            "label",
            "check",
            "model",
            "corpus",
        ),
    )
    reactions = unshown.take(
        lambda f: f.measure == "reaction" and bool(f.where.get("check")),
        by(
            "suite",
            "label",
            "check",
            "model",
            "corpus",
        ),
    )
    sentences = unshown.take(
        lambda f: f.measure == "sentence_pass_rate" and bool(f.where.get("check")),
        by(
            "suite",
            "label",
            "check",
            "variant",
            "sentence",
            "model",
            "corpus",
        ),
    )
    # Without "by" it is a mean of something else, which another section shows.
    averages = unshown.take(lambda f: f.measure in (MEAN, DEVIATION) and "by" in f.where, average_key)
    means = means_by_head(averages.values(), list(checks))

    # A suite may have means or sentences alone, when a run holds a part of it.
    heads = unique(key[:2] for key in (*checks, *sentences, *means))
    names = _block_names(heads)
    anchors = case_anchors(unshown.run)
    return tuple(
        _block(
            names[head],
            checks=[finding for key, finding in checks.items() if key[:2] == head],
            reactions=[finding for key, finding in reactions.items() if key[:2] == head],
            sentences=[finding for key, finding in sentences.items() if key[:2] == head],
            means=means.get(head, {}),
            anchors=anchors,
        )
        for head in heads
    )


def _block_names(heads: Sequence[Head]) -> dict[Head, str]:
    """The heading of each block: suite and label, each only where there are several."""
    suites = {suite for suite, _ in heads}
    labels = {label for _, label in heads}
    names: dict[Head, str] = {}
    for suite, label in heads:
        words = []
        if len(suites) > 1:
            words.append(f"suite {suite}")
        if len(labels) > 1:
            words.append(f"label {label}" if label else "all labels")
        names[suite, label] = ", ".join(words)
    return names


def _block(
    name: str,
    *,
    checks: Sequence[Finding],
    reactions: Sequence[Finding],
    sentences: Sequence[Finding],
    means: Mapping[MeanKey, Finding],
    anchors: Mapping[CaseKey, str],
) -> Block:
    # Both, as a sampled suite can have sentences where a check has no rate.
    places = unique(place_of(finding) for finding in (*checks, *sentences))
    called = place_names(places)
    cells = {(check.where["check"], place_of(check)): check for check in checks}
    cases = {cell: anchors.get(case_key(check), "") for cell, check in cells.items()}
    # A check has one finding per place; the plot needs one row for all of them.
    each_check_once = {check.where["check"]: check for check in sorted(checks, key=order)}
    return Block(
        name=name,
        called=called,
        checks=tuple(each_check_once.values()),
        cells=cells,
        cases=cases,
        dir_means=dir_means_of(means),
        means=means_table(means) if means else None,
        reactions=_reaction_table(reactions, called) if reactions else None,
        sentences=_sentence_table(sentences, called) if sentences else None,
    )


def _reaction_table(reactions: Sequence[Finding], called: Mapping[Place, str]) -> Table:
    """How scores move after the sentences of a check, beyond a neutral one; one column per place."""
    cells = {(reaction.where["check"], place_of(reaction)): reaction for reaction in reactions}
    each_check_once = {reaction.where["check"]: reaction for reaction in sorted(reactions, key=order)}
    rows = []
    for name, reaction in each_check_once.items():
        title = reaction.where.get("title", "")
        figures = [figure(cells.get((name, place))) for place in called]
        rows.append((name, title, reaction.where["expected"], *figures))
    columns = list(called.values()) if len(called) > 1 else ["Reaction"]
    return table_of("reactions", rows, columns)


def _sentence_table(sentences: Sequence[Finding], called: Mapping[Place, str]) -> Table:
    """The pass rate of each sentence of a check, one column per place."""
    key = by("check", "variant", "sentence")
    cells = {(key(finding), place_of(finding)): finding for finding in sentences}

    def by_check_and_variant(parts: Key) -> tuple[object, ...]:
        check, variant, _ = parts
        return natural(check), natural(variant)

    every_sentence = unique(key(finding) for finding in sentences)
    rows = []
    for parts in sorted(every_sentence, key=by_check_and_variant):
        check, variant, text = parts
        figures = [figure(cells.get((parts, place))) for place in called]
        rows.append((check, text or f"variant {variant}", *figures))
    columns = list(called.values()) if len(called) > 1 else ["Pass rate"]
    return table_of("sentences", rows, columns)
