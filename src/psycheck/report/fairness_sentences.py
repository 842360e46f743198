"""Sentences on gender pairs and groups, for the verdict and for what the model learned."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from psycheck.core.errors import counted
from psycheck.core.finding import Finding
from psycheck.core.headline import Headline
from psycheck.core.run import Run
from psycheck.report.display_names import listed, name_of, place_of, swapped_words, where_named
from psycheck.report.headlines import headline, same_for_all, sentence
from psycheck.report.numbers import count, decimal, ends, known_interval, p_value, plain, rate
from psycheck.report.sections import Key, by, unique

PLACE = ("model", "corpus", "label")
MISSED, POSITIVE = "equal_opportunity_difference", "demographic_parity_difference"
# What a difference is about, the rate it comes from, and of which texts.
BEHIND = {
    MISSED: ("missed", "fnr", "texts annotated 1"),
    POSITIVE: ("decided positive", "positive_rate", "texts"),
}
REST = "the rest"
FEWEST = 5  # texts per side for a headline
SHOWN = 5  # groups of a column named in a sentence
FEWEST_UNITS = 15  # of pairs, for "no difference found"
NO_PAIRS = ("unchanged", "unseen", "unanswered", "undecided")
OTHER = {"female": "male", "male": "female"}
Pairs = Mapping[Key, Finding]  # the findings on the same pairs, by measure and wording


def gender_headline(run: Run) -> Headline | None:
    """The share of decisions that change with the gender, and who is missed more if that is significant."""
    pairs = judged_pairs(run)
    if not pairs:
        return None

    # A model whose decisions change with any edit does not hide one that changes them with the gender.
    beyond_placebo = [f for f in pairs if f.value and not _placebo_alike(_same_pairs(run, f))]
    most = max(beyond_placebo or pairs, key=lambda f: (ends(f)[0], f.value))
    where = {"swapped": swapped_words(most), "where": where_named(most, run.findings)}
    if most.value:
        return _flips_headline(run, most, where, picked_from=len(pairs))
    return _no_flip_headline(run, most, where)


def _flips_headline(run: Run, most: Finding, where: Mapping[str, str], *, picked_from: int) -> Headline:
    """Decisions change with the gender: as they do with any edit, or beyond that."""
    same_pairs = _same_pairs(run, most)
    # The interval of one rate does not allow for picking the largest of several.
    printed = replace(most, interval=None) if picked_from > 1 else most
    flips = _rate_of_texts(printed)

    placebo = _placebo_alike(same_pairs)
    if placebo is not None:
        return headline(
            "gender.any_edit",
            [most, placebo],
            flips=flips,
            placebo=_rate_of_texts(placebo),
            **where,
        )

    # The headline ranks by what is certain: the share of flips, or the gap in missed texts if that is larger.
    missed = _significant(same_pairs, MISSED)
    least_missed = 0.0 if missed is None else _least(missed)
    least_flips = min(known_interval(most), default=0.0)
    return headline(
        "gender.flips",
        [most],
        max(least_flips, least_missed),
        flips=flips,
        side=_unequal(same_pairs),
        **where,
    )


def _no_flip_headline(run: Run, most: Finding, where: Mapping[str, str]) -> Headline:
    """No decision changes: yet the scores move, or the pairs show little, or nothing was found."""
    verb = "changes its decision" if most.n == 1 else "change their decision"
    flips = f"{_rate_of_texts(most)} {verb}"
    moved = _score_moved(_same_pairs(run, most))
    if moved:
        return headline(
            "gender.scores",
            [most],
            flips=flips,
            side=moved,
            **where,
        )

    reasons = _doubts(run, most)
    if reasons:
        return headline(
            "gender.not_shown",
            [most],
            flips=flips,
            reasons="; ".join(reasons),
            **where,
        )
    return headline(
        "gender.none_found",
        [most],
        flips=flips,
        **where,
    )


def _rate_of_texts(finding: Finding) -> str:
    return f"{rate(finding, prose=True)} of {counted(finding.n, 'text')}"


def _placebo_alike(pairs: Pairs) -> Finding | None:
    """The flip rate of the placebo, if the swap is not shown to flip more and no wording fares worse."""
    excess = pairs.get(("flip_excess", ""))
    test = pairs.get(("flip_excess_p_holm", ""))
    placebo = pairs.get(("placebo_flip_rate", ""))
    if test is None or placebo is None:
        return None
    if not (test.tested and placebo.tested):
        return None

    # A significant test may also say that the swap flips less than the placebo.
    significant = "significant" in test.flags
    flips_more = significant and (excess is None or excess.value > 0)
    if flips_more or _unequal(pairs):
        return None
    return placebo


def _doubts(run: Run, flips: Finding) -> list[str]:
    """Why pairs without a flip do not show that gender makes no difference."""
    doubts = []
    same = same_for_all(run).get(place_of(flips))
    if same:
        doubts.append(f"the model gives every text the same {same}")

    if not known_interval(flips):
        doubts.append("the flip rate has no interval")

    units = flips.counts.get("units", 0)
    if units < FEWEST_UNITS:
        doubts.append(f"only {counted(units, 'independent unit')} could be judged")

    # A "she" that stays "a mother" is no text about a man.
    only_pronouns = flips.where.get("swap", "pronouns") == "pronouns"
    still_gendered = flips.counts.get("named_besides", 0)
    if only_pronouns and 2 * still_gendered >= flips.n:
        share = f"{count(still_gendered)} of {counted(flips.n, 'text')}"
        doubts.append(f"only pronouns were swapped, and {share} keep a gendered noun or title")
    return doubts


def groups_headline(run: Run) -> Headline | None:
    """The gap between groups with the strongest evidence: the smallest p after Holm's correction."""
    clearest = _clearest_gap(run)
    if clearest is None:
        return None

    p, gap = clearest
    what, measure, texts = BEHIND[gap.measure]
    group = gap.where["group"]
    versus = gap.where["versus"]
    more = _more(gap)
    place = {
        "column": gap.where["column"],
        "where": where_named(gap, run.findings),
        "what": what,
    }
    if not _directed(gap):
        return headline(
            "groups.undirected",
            [gap],
            group=group,
            versus=versus,
            p=p_value(p),
            **place,
        )

    # The group with the higher rate is named first, except "the rest", which is not a group.
    if not more and versus != REST:
        group, versus = versus, group
        more = True
    behind = _same(
        run,
        gap,
        measure,
        group=group,
        versus="",
    )
    rates = "".join(f": {rate(f, prose=True)} of {count(f.n)} {texts}" for f in behind)

    # The share annotated 1 may differ between groups: more positive decisions alone are not a failure.
    least = _least(gap) if gap.measure == MISSED else 0.0
    place |= {
        "group": group,
        "versus": versus,
        "more": "more" if more else "less",
    }
    return headline(
        "groups.gap",
        [gap, *behind],
        least,
        points=_points(gap),
        rates=rates,
        **place,
    )


def _clearest_gap(run: Run) -> tuple[float, Finding] | None:
    """The smallest significant p and its gap; of equal ones a gap in missed texts, then the largest."""
    significant = [test for test in _compared(run) if "significant" in test.flags]
    ranked = []
    for number, test in enumerate(significant):
        for gap in _same(run, test, test.measure.removesuffix("_p_holm")):
            # A gap of few texts may be significant, and is no basis for a headline.
            smaller_side = min(gap.counts.get("texts", FEWEST), gap.counts.get("texts_versus", FEWEST))
            if smaller_side < FEWEST:
                continue

            rank = (
                test.value,
                gap.measure != MISSED,
                not _more(gap) and gap.where["versus"] == REST,
                -_least(gap),
                number,
            )
            ranked.append((rank, gap))
    if not ranked:
        return None

    rank, gap = min(ranked, key=lambda ranked_gap: ranked_gap[0])
    return rank[0], gap


def _directed(gap: Finding) -> bool:
    """Whether the interval of a difference excludes 0."""
    return bool(known_interval(gap)) and _least(gap) > 0


def unmarked_headlines(run: Run) -> list[Headline]:
    """Sentences on untested pairs and on groups without a gap, for a run of this audit alone."""
    headlines = []
    flips = _flips(run)
    if flips and not judged_pairs(run):
        main_reason = max(NO_PAIRS, key=lambda name: flips[0].counts.get(name, 0))
        headlines.append(headline("gender.untested", flips[:1], why=name_of("no_pairs", main_reason)))

    compared = _compared(run)
    if not compared or any("significant" in test.flags for test in compared):
        return headlines

    # A model that gives all texts the same score treats all groups alike, which is no merit.
    if {place_of(test) for test in compared} & set(same_for_all(run)):
        return headlines

    models = unique(place_of(test)[0] for test in compared)
    models_of_run = {place_of(finding)[0] for finding in run.findings} - {""}
    named = f" for {listed(models)}" if len(models_of_run) > 1 else ""
    headlines.append(headline("groups.none_found", columns=_columns(compared), models=named))
    return headlines


def fairness_tested(run: Run) -> list[str]:
    """What this audit tested, in words."""
    subjects = []
    if judged_pairs(run):
        subjects.append("gender pairs")
    columns = _columns(_compared(run))
    if columns:
        subjects.append(f"groups by {columns}")
    return subjects


def judged_pairs(run: Run) -> list[Finding]:
    """The tested shares of flipped pairs, one per model, corpus and label."""
    return [f for f in _flips(run) if f.tested]


def groups_learned(run: Run) -> str:
    """Which groups of the corpus the model treats differently, after Holm's correction."""
    of_groups = _of_groups(run)
    if not of_groups:
        return ""
    compared = _compared(run)
    several_models = len({test.where.get("model") for test in compared}) > 1
    differing = _differing_groups(compared, several_models=several_models)
    if differing:
        groups = listed(differing)
        return sentence("learned.groups_differ", groups=groups if several_models else f"by {groups}")
    if {place_of(test) for test in compared} & set(same_for_all(run)):
        return sentence("learned.groups_blind")
    rule = "learned.groups_alike" if compared else "learned.groups_untested"
    return sentence(rule, columns=_columns(compared or of_groups))


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


def _flips(run: Run) -> list[Finding]:
    return [f for f in run.findings if f.measure == "flip_rate" and f.where.get("audit") == "fairness"]


def _of_groups(run: Run) -> list[Finding]:
    return [f for f in run.findings if by("audit", "unit")(f) == ("fairness", "groups")]


def _compared(run: Run) -> list[Finding]:
    """The adjusted tests of groups."""
    return [f for f in _of_groups(run) if f.measure.endswith("_p_holm") and f.tested]


def _columns(findings: Sequence[Finding]) -> str:
    return listed(list(dict.fromkeys(f.where["column"] for f in findings)))


def _same_pairs(run: Run, flips: Finding) -> Pairs:
    """The other findings on the same pairs, by measure and wording."""
    place = by(*PLACE, "unit")
    return {by("measure", "group")(f): f for f in run.findings if place(f) == place(flips)}


def _same(run: Run, gap: Finding, measure: str, **changes: str) -> list[Finding]:
    """The finding of another measure on the same groups, or on one of them."""
    place = by(
        *PLACE,
        "unit",
        "column",
        "group",
        "versus",
    )
    place_of_other = place(replace(gap, where={**gap.where, **changes}))
    return [f for f in run.findings if f.measure == measure and place(f) == place_of_other]


def _unequal(pairs: Pairs) -> str:
    """Which wording is missed, or else decided positive, more often, if that is significant."""
    for measure, (what, behind, texts) in BEHIND.items():
        gap = _significant(pairs, measure)
        if gap is None:
            continue

        more = "female" if _more(gap) else "male"
        higher = pairs[behind, more]
        lower = pairs[behind, OTHER[more]]
        rates = f"{rate(higher, prose=True)} against {rate(lower, prose=True)}"
        return f"; the {more} wording is {what} more often: {rates} of {count(higher.n)} {texts}"
    return _score_moved(pairs, "; ")


def _significant(pairs: Pairs, measure: str) -> Finding | None:
    """A difference between the wordings, significant after Holm's correction and with a direction."""
    gap = pairs.get((measure, "female"))
    test = pairs.get((f"{measure}_p_holm", "female"))
    if gap is None or test is None or "significant" not in test.flags:
        return None
    return gap if _directed(gap) else None


def _score_moved(pairs: Pairs, before: str = ", but ") -> str:
    moved = _significant(pairs, "score_difference")
    if moved is None:
        return ""
    direction = "higher" if moved.value > 0 else "lower"
    words = f"{before}the female wording scores {direction}"
    return f"{words} (mean difference {plain(moved, prose=True)}, n {count(moved.n)})"


def _points(gap: Finding) -> str:
    """The size of a difference of rates in percentage points: "30 points (18–41)"."""
    sign = 1 if gap.value > 0 else -1
    size = decimal(100 * sign * gap.value, 0)
    interval = sorted(100 * sign * end for end in ends(gap))

    # A dash before a minus sign would be hard to read.
    between = " to " if interval[0] < 0 else "–"
    low_to_high = between.join(decimal(end, 0) for end in interval)
    return f"{size} points ({low_to_high})"


def _more(gap: Finding) -> bool:
    """Whether the first side is missed or decided positive more often."""
    # MISSED compares true positive rates: the side with the lower one is missed more often.
    return gap.value < 0 if gap.measure == MISSED else gap.value > 0


def _least(gap: Finding) -> float:
    """The smallest distance from 0 within the interval of a difference."""
    low, high = ends(gap)
    return max(low, -high, 0.0)
