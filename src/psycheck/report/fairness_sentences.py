"""Sentences on gender pairs and groups, for the verdict and for what the model learned."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from psycheck.errors import counted
from psycheck.finding import Finding
from psycheck.report.headlines import Headline, headline, same_for_all, sentence
from psycheck.report.numbers import count, decimal, ends, known_interval, p_value, plain, rate
from psycheck.report.shelf import Key, by, unique
from psycheck.report.words import listed, name_of, place_of, swapped_words, where_named
from psycheck.run import Run

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
    beyond = [f for f in pairs if f.value and not _placebo_alike(_same_pairs(run, f))]
    most = max(beyond or pairs, key=lambda f: (ends(f)[0], f.value))
    same_pairs = _same_pairs(run, most)
    picked = replace(most, interval=None) if most.value and len(pairs) > 1 else most  # the largest of several
    flips = f"{rate(picked, prose=True)} of {counted(most.n, 'text')}"
    where = {"swapped": swapped_words(most), "where": where_named(most, run.findings)}
    if most.value and (placebo := _placebo_alike(same_pairs)):
        alike = f"{rate(placebo, prose=True)} of {counted(placebo.n, 'text')}"
        return headline("gender.any_edit", flips=flips, placebo=alike, **where)
    if most.value:
        missed = _significant(same_pairs, MISSED)
        least = max(min(known_interval(most), default=0.0), 0.0 if missed is None else _least(missed))
        return headline("gender.flips", least, flips=flips, side=_unequal(same_pairs), **where)
    flips += " changes its decision" if most.n == 1 else " change their decision"
    if moved := _score_moved(same_pairs):
        return headline("gender.scores", flips=flips, side=moved, **where)
    if reasons := _doubts(run, most):
        return headline("gender.not_shown", flips=flips, reasons="; ".join(reasons), **where)
    return headline("gender.none_found", flips=flips, **where)


def _placebo_alike(pairs: Pairs) -> Finding | None:
    """The flip rate of the placebo, if the swap is not shown to flip more and no wording fares worse."""
    measures = ("flip_excess", "flip_excess_p_holm", "placebo_flip_rate")
    excess, test, placebo = (pairs.get((measure, "")) for measure in measures)
    if test is None or placebo is None or not (test.tested and placebo.tested):
        return None
    more = "significant" in test.flags and (excess is None or excess.value > 0)
    return None if more or _unequal(pairs) else placebo


def _doubts(run: Run, flips: Finding) -> list[str]:
    """Why pairs without a flip do not show that gender makes no difference."""
    units, besides = flips.counts.get("units", 0), flips.counts.get("named_besides", 0)
    same = same_for_all(run).get(place_of(flips))
    doubts = {
        f"the model gives every text the same {same}": bool(same),
        "the flip rate has no interval": not known_interval(flips),
        f"only {counted(units, 'independent unit')} could be judged": units < FEWEST_UNITS,
        f"only pronouns were swapped, and {count(besides)} of {counted(flips.n, 'text')} keep a gendered noun"
        " or title": flips.where.get("swap", "pronouns") == "pronouns" and 2 * besides >= flips.n,
    }
    return [doubt for doubt, holds in doubts.items() if holds]


def groups_headline(run: Run) -> Headline | None:
    """The gap between groups with the strongest evidence: the smallest p after Holm's correction."""
    apart = [f for f in _compared(run) if "significant" in f.flags]
    gaps = [
        (f.value, gap.measure != MISSED, not _more(gap) and gap.where["versus"] == REST, -_least(gap), k, gap)
        for k, f in enumerate(apart)
        for gap in _same(run, f, f.measure.removesuffix("_p_holm"))
        if min(gap.counts.get("texts", FEWEST), gap.counts.get("texts_versus", FEWEST)) >= FEWEST
    ]
    if not gaps:
        return None
    p, *_, gap = min(gaps)
    what, measure, texts = BEHIND[gap.measure]
    group, versus, more = gap.where["group"], gap.where["versus"], _more(gap)
    place = {"column": gap.where["column"], "where": where_named(gap, run.findings), "what": what}
    if not _directed(gap):
        return headline("groups.undirected", group=group, versus=versus, p=p_value(p), **place)
    if not more and versus != REST:
        group, versus, more = versus, group, True
    behind = _same(run, gap, measure, group=group, versus="")
    rates = "".join(f": {rate(f, prose=True)} of {count(f.n)} {texts}" for f in behind)
    # The share annotated 1 may differ between groups: more positive decisions alone are not a failure.
    least = _least(gap) if gap.measure == MISSED else 0.0
    place |= {"group": group, "versus": versus, "more": "more" if more else "less"}
    return headline("groups.gap", least, points=_points(gap), rates=rates, **place)


def _directed(gap: Finding) -> bool:
    """Whether the interval of a difference excludes 0."""
    return bool(known_interval(gap)) and _least(gap) > 0


def unmarked_headlines(run: Run) -> list[Headline]:
    """Sentences on untested pairs and on groups without a gap, for a run of this audit alone."""
    out = []
    flips = _flips(run)
    if flips and not judged_pairs(run):
        most = max(NO_PAIRS, key=lambda name: flips[0].counts.get(name, 0))
        out.append(headline("gender.untested", why=name_of("no_pairs", most)))
    compared = _compared(run)
    alike = not any("significant" in f.flags for f in compared)
    if compared and alike and not {place_of(f) for f in compared} & set(same_for_all(run)):
        models = unique(place_of(f)[0] for f in compared)
        several = len({place_of(f)[0] for f in run.findings} - {""}) > 1
        named = f" for {listed(models)}" if several else ""
        out.append(headline("groups.none_found", columns=_columns(compared), models=named))
    return out


def fairness_tested(run: Run) -> list[str]:
    """What this audit tested, in words."""
    compared = _columns(_compared(run))
    return ["gender pairs"] * bool(judged_pairs(run)) + [f"groups by {compared}"] * bool(compared)


def judged_pairs(run: Run) -> list[Finding]:
    """The tested shares of flipped pairs, one per model, corpus and label."""
    return [f for f in _flips(run) if f.tested]


def groups_learned(run: Run) -> str:
    """Which groups of the corpus the model treats differently, after Holm's correction."""
    mine = _of_groups(run)
    if not mine:
        return ""
    compared = _compared(run)
    several = len({f.where.get("model") for f in compared}) > 1
    met: dict[str, dict[str, None]] = {}
    for f in compared:
        if "significant" in f.flags:
            against = "" if f.where["versus"] == REST else f" against {f.where['versus']}"
            head = f"for {f.where.get('model')} by " if several else ""
            met.setdefault(head + f.where["column"], {})[f.where["group"] + against] = None
    apart = []
    for column, groups in met.items():
        names, more = list(groups)[:SHOWN], len(groups) - SHOWN
        apart.append(f"{column} ({listed([*names, f'{more} more'] if more > 0 else names)})")
    if apart:
        return sentence("learned.groups_differ", groups=("" if several else "by ") + listed(apart))
    if {place_of(f) for f in compared} & set(same_for_all(run)):
        return sentence("learned.groups_blind")
    name = "alike" if compared else "untested"
    return sentence(f"learned.groups_{name}", columns=_columns(compared or mine))


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


def _same(run: Run, gap: Finding, measure: str, **other: str) -> list[Finding]:
    """The finding of another measure on the same groups, or on one of them."""
    place = by(*PLACE, "unit", "column", "group", "versus")
    wanted = place(replace(gap, where={**gap.where, **other}))
    return [f for f in run.findings if f.measure == measure and place(f) == wanted]


def _unequal(pairs: Pairs) -> str:
    """Which wording is missed, or else decided positive, more often, if that is significant."""
    for measure, (what, behind, texts) in BEHIND.items():
        gap = _significant(pairs, measure)
        if gap is None:
            continue
        more = "female" if _more(gap) else "male"
        rates = [pairs[behind, wording] for wording in (more, OTHER[more])]
        high, low = (rate(f, prose=True) for f in rates)
        return (
            f"; the {more} wording is {what} more often: {high} against {low} of {count(rates[0].n)} {texts}"
        )
    return _score_moved(pairs, "; ")


def _significant(pairs: Pairs, measure: str) -> Finding | None:
    """A difference between the wordings, significant after Holm's correction and with a direction."""
    gap, test = (pairs.get((measure + end, "female")) for end in ("", "_p_holm"))
    if gap is None or test is None or "significant" not in test.flags:
        return None
    return gap if _directed(gap) else None


def _score_moved(pairs: Pairs, before: str = ", but ") -> str:
    moved = _significant(pairs, "score_difference")
    if moved is None:
        return ""
    words = f"{before}the female wording scores {'higher' if moved.value > 0 else 'lower'}"
    return f"{words} (mean difference {plain(moved, prose=True)}, n {count(moved.n)})"


def _points(gap: Finding) -> str:
    """The size of a difference of rates in percentage points: "30 points (18–41)"."""
    sign = 1 if gap.value > 0 else -1
    interval = sorted(100 * sign * end for end in ends(gap))
    between = " to " if interval[0] < 0 else "–"
    return (
        f"{decimal(100 * sign * gap.value, 0)} points ({between.join(decimal(end, 0) for end in interval)})"
    )


def _more(gap: Finding) -> bool:
    """Whether the first side is missed or decided positive more often."""
    return gap.value < 0 if gap.measure == MISSED else gap.value > 0


def _least(gap: Finding) -> float:
    """The smallest distance from 0 within the interval of a difference."""
    low, high = ends(gap)
    return max(low, -high, 0.0)
