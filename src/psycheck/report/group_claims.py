"""What a verdict claims on groups of a corpus: the clearest gap, or which gap is not ruled out."""

from collections.abc import Sequence
from dataclasses import replace

from psycheck.core.finding import Finding
from psycheck.core.headline import Headline
from psycheck.core.run import Run
from psycheck.report.display_names import listed, place_of, where_named
from psycheck.report.gender_claims import BEHIND
from psycheck.report.headlines import headline, sentence
from psycheck.report.numbers import count, decimal, known_interval, p_value, rate
from psycheck.report.performance_claims import alike_places
from psycheck.report.points import MISSED, POSITIVE, directed, first_has_more, in_points, least
from psycheck.report.sections import by, unique

REST = "the rest"
FEWEST = 5  # texts per side
SHOWN = 5  # groups of a column named in a sentence
_PLACE = by("model", "corpus", "label", "unit", "column", "group", "versus")


def groups_headlines(run: Run) -> list[Headline]:
    """The gap between groups with the strongest evidence: the smallest p after Holm's correction."""
    clearest = _clearest_gap(run)
    return [] if clearest is None else [_gap_headline(run, *clearest)]


def _gap_headline(run: Run, p: float, gap: Finding) -> Headline:
    what, measure, texts = BEHIND[_difference_of(gap)]
    group = gap.where["group"]
    versus = gap.where["versus"]
    place = {"column": gap.where["column"], "where": where_named(gap, run.findings), "what": what}
    # Groups differ, but the interval does not tell which is worse off.
    if not directed(gap):
        return headline(
            "groups.undirected",
            [gap],
            group=group,
            versus=versus,
            p=p_value(p),
            points=in_points(gap),
            **place,
        )

    # The group with the higher rate is named first, except "the rest", which is not a group.
    has_more = first_has_more(gap)
    if not has_more and versus != REST:
        group, versus = versus, group
        has_more = True
    behind = _same(run, gap, measure, group=group, versus="")
    rates = ""
    for finding in behind:
        rates += f": {rate(finding, prose=True)} of {count(finding.n)} {texts}"
    return headline(
        "groups.gap",
        [gap, *behind],
        # The share annotated 1 may differ between groups: more positive decisions alone are not a failure.
        least(gap) if what == "missed" else 0.0,
        group=group,
        versus=versus,
        more="more" if has_more else "less",
        points=in_points(gap),
        rates=rates,
        **place,
    )


def _clearest_gap(run: Run) -> tuple[float, Finding] | None:
    """The smallest significant p and its gap; of equal ones a gap in missed texts, then the largest."""
    significant = [test for test in _compared(run) if "significant" in test.flags]
    ranked = []
    for number, test in enumerate(significant):
        for gap in _gaps_of(run, test):
            # A gap of few texts may be significant, and is no basis for a headline.
            sides = [gap.counts.get(side, FEWEST) for side in ("texts", "texts_versus")]
            if min(sides) < FEWEST:
                continue

            of_the_rest = not first_has_more(gap) and gap.where["versus"] == REST
            is_missed = _difference_of(gap) == MISSED
            rank = (
                test.value,
                not is_missed,
                of_the_rest,
                -least(gap),
                number,
            )
            ranked.append((rank, gap))
    if not ranked:
        return None
    (p, *_), gap = min(ranked, key=lambda ranked_gap: ranked_gap[0])
    return p, gap


def _gaps_of(run: Run, test: Finding) -> list[Finding]:
    """The gap of a test with the interval that allows for the choice; in older runs with its own alone."""
    difference = test.measure.removesuffix("_p_holm")
    among_tests = _same(run, test, f"{difference}_among_tests")
    return among_tests or _same(run, test, difference)


def _difference_of(gap: Finding) -> str:
    return gap.measure.removesuffix("_among_tests")


def groups_without_gap(run: Run) -> list[Headline]:
    """That no difference was found, and which gap is not ruled out; nothing where none could be found."""
    compared = _compared(run)
    if not compared or any("significant" in test.flags for test in compared):
        return []

    # A model that gives all texts the same score treats all groups alike, which is no merit.
    if {place_of(test) for test in compared} & set(alike_places(run)):
        return []

    models = unique(place_of(test)[0] for test in compared)
    models_of_run = {place_of(finding)[0] for finding in run.findings} - {""}
    # Without the name of the model where there is only one.
    values = {
        "columns": columns_of(compared),
        "models": f" for {listed(models)}" if len(models_of_run) > 1 else "",
        "gap": not_ruled_out(run, compared),
    }
    return [headline("groups.none_found", compared, **values)]


def not_ruled_out(run: Run, compared: Sequence[Finding]) -> str:
    """The largest gap within the intervals: "a gap of up to 21 points is not ruled out"."""
    # Missed texts matter more than positive decisions, and need annotations.
    for difference, what in ((MISSED, "in missed texts"), (POSITIVE, "in positive decisions")):
        gaps: list[Finding] = []
        for test in compared:
            if test.measure == f"{difference}_p_holm":
                gaps += _gaps_of(run, test)
        if not gaps:
            continue

        ends = [abs(end) for gap in gaps for end in known_interval(gap)]
        # A gap without an interval might be of any size.
        if len(ends) < 2 * len(gaps):
            return f"too few authors or texts to rule out any gap {what}"
        largest = decimal(100 * max(ends), 0)
        return f"a gap of up to {largest} points {what} is not ruled out"
    return "no gap is ruled out"


def groups_learned(run: Run) -> str:
    """Which groups of the corpus the model treats differently, after Holm's correction."""
    of_groups = _of_groups(run)
    if not of_groups:
        return ""
    compared = _compared(run)
    # Which model it is matters only where there are several.
    several_models = len({test.where.get("model") for test in compared}) > 1
    differing = _differing_groups(compared, several_models=several_models)
    if differing:
        groups = listed(differing)
        if not several_models:
            groups = f"by {groups}"
        return sentence("learned.groups_differ", groups=groups)
    if {place_of(test) for test in compared} & set(alike_places(run)):
        return sentence("learned.groups_blind")
    if not compared:
        return sentence("learned.groups_untested", columns=columns_of(of_groups))
    return sentence(
        "learned.groups_alike",
        columns=columns_of(compared),
        gap=not_ruled_out(run, compared),
    )


def _differing_groups(tests: Sequence[Finding], *, several_models: bool) -> list[str]:
    """The groups that differ, column by column: "gender (women and men)"."""
    groups_by_column: dict[str, list[str]] = {}
    for test in tests:
        if "significant" not in test.flags:
            continue
        column = test.where["column"]
        if several_models:
            column = f"for {test.where.get('model')} by {column}"
        group = test.where["group"]
        # "Against the rest" is what a reader assumes anyway.
        if test.where["versus"] != REST:
            group += f" against {test.where['versus']}"
        groups = groups_by_column.setdefault(column, [])
        if group not in groups:
            groups.append(group)

    columns = []
    for column, groups in groups_by_column.items():
        names = groups[:SHOWN]
        if len(groups) > SHOWN:
            names.append(f"{len(groups) - SHOWN} more")
        columns.append(f"{column} ({listed(names)})")
    return columns


def _of_groups(run: Run) -> list[Finding]:
    audit_and_unit = by("audit", "unit")
    return [f for f in run.findings if audit_and_unit(f) == ("fairness", "groups")]


def _compared(run: Run) -> list[Finding]:
    """The adjusted tests of groups."""
    tested = [f for f in _of_groups(run) if f.tested]
    return [test for test in tested if test.measure.endswith("_p_holm")]


def compared_columns(run: Run) -> str:
    """The columns whose groups were compared, in words."""
    return columns_of(_compared(run))


def columns_of(findings: Sequence[Finding]) -> str:
    """The columns of some findings, in words."""
    return listed(unique(f.where["column"] for f in findings))


def _same(run: Run, gap: Finding, measure: str, **changes: str) -> list[Finding]:
    """The finding of another measure on the same groups, or on one of them."""
    place = _PLACE(replace(gap, where={**gap.where, **changes}))
    of_measure = [f for f in run.findings if f.measure == measure]
    return [f for f in of_measure if _PLACE(f) == place]
