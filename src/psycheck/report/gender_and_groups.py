"""Gender and groups: what swapping the gender changes, and the rates of each group of the corpus."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from psycheck.core.errors import counted
from psycheck.core.finding import Finding
from psycheck.report.cases import Case, pair_cases
from psycheck.report.charts import Plot, Row, rate_lane
from psycheck.report.checks import LEDGER
from psycheck.report.display_names import name_of, place_names, swapped_words, words_of
from psycheck.report.numbers import count, figure, p_value, rate
from psycheck.report.sections import Section, UnshownFindings, by, drawn, unique
from psycheck.report.tables import Table, table_of

RATES = ("fnr", "fpr", "positive_rate")
PLOTTED_RATE = "fnr"
BETWEEN = ("fnr_ratio", "equal_opportunity_difference", "demographic_parity_difference")
# The ratio and the equal opportunity difference share one test.
TESTED_BY = {"fnr_ratio": "equal_opportunity_difference"}
SHOWN = 50  # ids
FEW = 8  # groups of a column that starts unfolded, or is in the plot
PAIRS, GROUPS = "pairs", "groups"


class FairKey(NamedTuple):
    """What a finding of one label, model and corpus is about: pairs of wordings, or groups of a column."""

    measure: str
    unit: str
    column: str = ""
    group: str = ""
    versus: str = ""


FairFindings = Mapping[FairKey, Finding]
Plotted = Mapping[tuple[str, str], str]  # the names of what is in the plot, by unit and column


@dataclass(frozen=True, slots=True)
class Column:
    """The groups of one column; unfolded if they are few or differ significantly."""

    name: str
    summary: str
    open: bool
    tables: tuple[Table, ...]


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
    columns: tuple[Column, ...]


def fairness_section(unshown: UnshownFindings) -> list[Section]:
    """Gender and groups."""
    with_texts = any(case.text is not None for case in unshown.run.shown)
    return drawn("fairness", fairness(unshown), with_texts)


def fairness(unshown: UnshownFindings) -> tuple[Fair, ...]:
    """Take the findings on fairness and arrange them by label, model and corpus."""
    cases = pair_cases(unshown.run)
    fairness_findings = unshown.take(
        lambda f: f.where.get("audit") == "fairness" and f.where.get("unit") in (PAIRS, GROUPS),
        by(
            "label",
            "model",
            "corpus",
            "measure",
            "unit",
            "column",
            "group",
            "versus",
        ),
    )
    parts: dict[tuple[str, str, str], dict[FairKey, Finding]] = {}
    for (label, model, corpus, *key), finding in fairness_findings.items():
        parts.setdefault((label, model, corpus), {})[FairKey(*key)] = finding

    # What has no label is about the texts, and joins the part of each label.
    heads = [head for head in parts if head[0]]
    called = place_names(unique((model, corpus) for _, model, corpus in heads))
    several_labels = len({label for label, _, _ in heads}) > 1
    fair_parts = []
    for label, model, corpus in heads:
        words = []
        if len(called) > 1:
            words.append(called[model, corpus])
        if several_labels:
            words.append(f"label {label}")
        # Whether a text can be swapped does not depend on the label.
        without_label = parts.get(("", model, corpus), {})
        fair_parts.append(
            _fair(
                ", ".join(words),
                parts[label, model, corpus],
                undecided=without_label.get(FairKey("undecided_rate", PAIRS)),
                cases=cases.get((label, model, corpus), ()),
            )
        )
    return tuple(fair_parts)


def _fair(name: str, findings: FairFindings, *, undecided: Finding | None, cases: tuple[Case, ...]) -> Fair:
    flips = findings.get(FairKey("flip_rate", PAIRS))
    flipped_ids = flips.examples[:SHOWN] if flips else ()
    undecided_ids = undecided.examples[:SHOWN] if undecided else ()
    groups_by_column = _groups_by_column(findings)
    plotted = _plotted(findings, groups_by_column)
    columns = [_column(column, groups, findings, plotted) for column, groups in groups_by_column.items()]
    return Fair(
        name=name,
        plot=_plot(findings, plotted),
        pairs=_pairs_table(findings, flips, plotted) if flips and flips.tested else None,
        flipped=flipped_ids,
        flipped_more=flips.counts.get("failed", 0) - len(flipped_ids) if flips else 0,
        cases=cases,
        undecided=undecided_ids,
        undecided_more=undecided.counts.get("count", 0) - len(undecided_ids) if undecided else 0,
        ledger=_ledger(flips) if flips else None,
        columns=tuple(columns),
    )


def _groups_by_column(findings: FairFindings) -> dict[str, list[str]]:
    """The groups of each column that was compared."""
    of_groups = [key for key in findings if key.unit == GROUPS]
    groups: dict[str, list[str]] = {key.column: [] for key in of_groups}
    for key in of_groups:
        # Comparisons name two groups; each has a finding of its own as well.
        if not key.versus and key.group not in groups[key.column]:
            groups[key.column].append(key.group)
    return groups


def _pairs_table(findings: FairFindings, flips: Finding, plotted: Plotted) -> Table:
    """One row per measure of the pairs, but for those that the plot shows."""

    def plain_row(measure: str, wording: str = "") -> tuple[str, ...]:
        name = name_of("measures", measure)
        if wording:
            name += f", {wording} wording"
        return name, figure(findings.get(FairKey(measure, PAIRS, group=wording))), "", ""

    rows = [
        plain_row("flip_rate"),
        plain_row("placebo_flip_rate"),
        (name_of("measures", "flip_excess"), *_compared(findings, FairKey("flip_excess", PAIRS))),
        plain_row("score_shift"),
    ]
    for measure in _tabled_rates((PAIRS, ""), plotted):
        rows += [plain_row(measure, "female"), plain_row(measure, "male")]
    for measure in (*BETWEEN, "score_difference"):
        name = name_of("measures", measure)
        # A ratio has no side that is subtracted, and the score's name says it already.
        if measure not in ("fnr_ratio", "score_difference"):
            name += ", female minus male"
        key = FairKey(
            measure,
            PAIRS,
            group="female",
            versus="male",
        )
        rows.append((name, *_compared(findings, key)))
    return table_of(
        "pairs",
        rows,
        swapped=swapped_words(flips),
    )


def _tabled_rates(unit: tuple[str, str], plotted: Plotted) -> tuple[str, ...]:
    """The rates of a unit that its table shows: a rate in the plot is not told again."""
    return tuple(measure for measure in RATES if measure != PLOTTED_RATE or unit not in plotted)


def _column(column: str, groups: Sequence[str], findings: FairFindings, plotted: Plotted) -> Column:
    """The rates of each group of a column, and how the groups compare."""
    of_column = {key: f for key, f in findings.items() if (key.unit, key.column) == (GROUPS, column)}
    # Only adjusted tests are flagged as significant.
    tests = [finding for key, finding in of_column.items() if key.measure.endswith("_p_holm")]
    differ = any("significant" in test.flags for test in tests)
    summary = counted(len(groups), "group")
    if differ:
        summary += "; they differ after Holm's correction"

    tables = [
        _rates_table(
            column,
            groups,
            of_column,
            _tabled_rates((GROUPS, column), plotted),
        )
    ]
    comparisons = _comparisons_table(column, of_column)
    if comparisons is not None:
        tables.append(comparisons)
    return Column(
        name=column,
        summary=summary,
        open=len(groups) <= FEW or differ,
        tables=tuple(tables),
    )


def _rates_table(
    column: str, groups: Sequence[str], findings: FairFindings, measures: Sequence[str]
) -> Table:
    rows = []
    for group in groups:
        figures = [
            figure(
                findings.get(
                    FairKey(
                        measure,
                        GROUPS,
                        column,
                        group,
                    )
                )
            )
            for measure in measures
        ]
        rows.append((group or "no group is large enough", *figures))
    head = [name_of("measures", measure) for measure in measures]
    note = _read_as(
        findings[
            FairKey(
                "fnr",
                GROUPS,
                column,
                groups[0],
            )
        ].counts
    )
    return table_of(
        "group_rates",
        rows,
        head,
        column=column.capitalize(),
        note=note,
    )


def _comparisons_table(column: str, findings: FairFindings) -> Table | None:
    rows = []
    for group, versus in unique((key.group, key.versus) for key in findings if key.versus):
        keys = [
            FairKey(
                measure,
                GROUPS,
                column,
                group,
                versus,
            )
            for measure in BETWEEN
        ]
        (ratio, _, _), (opportunity, _, opportunity_p), (parity, _, parity_p) = (
            _compared(findings, key) for key in keys
        )
        rows.append(
            (
                f"{group} minus {versus}",
                ratio,
                opportunity,
                opportunity_p,
                parity,
                parity_p,
            )
        )
    if not rows:
        return None
    names = {measure: name_of("measures", measure) for measure in BETWEEN}
    return table_of("group_comparisons", rows, **names)


def _read_as(counts: Mapping[str, int]) -> str:
    """How the values of a column were read: which texts are not compared, and what was merged."""
    by_code = counts.get("read_as_not_given", 0)
    by_word = f" ({count(by_code)} by a word or code such as NA)" if by_code else ""
    outside = []
    for key, reason in words_of("words")["not_compared"].items():
        if counts.get(key):
            outside.append(f"{counted(counts[key], 'text')} {reason.format(by_word=by_word)}")

    notes = []
    if outside:
        notes.append(f"Not compared: {', '.join(outside)}.")
    if spelled := counts.get("other_spelling", 0):
        notes.append(f"{counted(spelled, 'text')} counted under the most common spelling of the group.")
    if odd := counts.get("not_banded", 0):
        notes.append(f"No age bands: more than a fifth of the values ({count(odd)}) are not numbers.")
    return " ".join(notes)


def _compared(findings: FairFindings, key: FairKey) -> tuple[str, str, str]:
    """A figure, with the side that is missed less; its p-value, and the adjusted one, bold below 0.05."""
    tested_measure = TESTED_BY.get(key.measure, key.measure)
    test = findings.get(key._replace(measure=f"{tested_measure}_p"))
    adjusted_test = findings.get(key._replace(measure=f"{tested_measure}_p_holm"))
    p = "–" if test is None else p_value(test.value)
    adjusted_p = "–" if adjusted_test is None else p_value(adjusted_test.value)
    if adjusted_test is not None and "significant" in adjusted_test.flags:
        adjusted_p = Markup("<b>{}</b>").format(adjusted_p)
    return figure(findings.get(key), "favours_neither"), p, adjusted_p


def _plotted(findings: FairFindings, groups_by_column: Mapping[str, Sequence[str]]) -> Plotted:
    """The units of the plot with their names: both wordings, and columns of few groups."""
    names = {(PAIRS, ""): "The same texts in both wordings"}
    for column, groups in groups_by_column.items():
        # One group has nothing beside it, and many would hide the wordings.
        if 1 < len(groups) <= FEW:
            names[GROUPS, column] = column.capitalize()

    plotted = {}
    for (unit, column), name in names.items():
        rates = _plotted_rates(findings, unit, column)
        if any(rate_of_group.tested for rate_of_group in rates):
            plotted[unit, column] = name
    return plotted


def _plotted_rates(findings: FairFindings, unit: str, column: str) -> list[Finding]:
    """The rates of one unit and column, group by group, that the plot shows."""
    rates = []
    for key, finding in findings.items():
        if (key.measure, key.unit, key.column) == (PLOTTED_RATE, unit, column):
            rates.append(finding)
    return rates


def _plot(findings: FairFindings, plotted: Plotted) -> Plot | None:
    """The false negative rates of both wordings and of all groups on one scale."""
    plot_groups = []
    for (unit, column), name in plotted.items():
        rates = _plotted_rates(findings, unit, column)
        rows = tuple(_plot_row(rate_of_group) for rate_of_group in rates)
        plot_groups.append((name, (None,), rows))
    if not plot_groups:
        return None
    return Plot(
        name="",
        panels=(),
        groups=tuple(plot_groups),
    )


def _plot_row(finding: Finding) -> Row:
    group = finding.where["group"]
    lane = rate_lane(finding, f"{group}: {rate(finding)} of {count(finding.n)} missed")
    return Row(
        check=group,
        word="",
        title="",
        cells=(lane,),
    )


def _ledger(flips: Finding) -> Table:
    """Every text of the corpus, in exactly one column of the ledger."""
    names = [name for name in (*LEDGER, "both_genders") if name in flips.counts]
    row = (f"{swapped_words(flips)} swapped", *(count(flips.counts[name]) for name in names))
    head = [name.replace("_", " ") for name in names]
    note = ""
    # The swap of pronouns alone leaves them: the reader must know what was compared.
    if besides := flips.counts.get("named_besides", 0):
        note = f" {count(besides)} of the pairs also have a gendered noun or title, which is left as it is."
    return table_of(
        "pairs_ledger",
        [row],
        head,
        besides=note,
    )
