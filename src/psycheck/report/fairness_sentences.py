"""Sentences on gender pairs and groups, for the verdict and for what the model learned."""

from collections.abc import Sequence
from dataclasses import dataclass

from psycheck.errors import counted
from psycheck.finding import Finding
from psycheck.report.numbers import count, decimal, ends, plain, rate
from psycheck.report.words import listed, name_of, swapped_words, where_named
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
NO_PAIRS = ("unchanged", "unseen", "unanswered", "undecided")
OTHER = {"female": "male", "male": "female"}


@dataclass(frozen=True, slots=True)
class Headline:
    """One sentence of the verdict and the share that certainly fails, by which sentences are sorted.

    `later` is the wording for a sentence that does not come first, if that differs.
    """

    words: str
    least: float = 0.0
    later: str = ""


def gender_headline(run: Run) -> Headline | None:
    """The share of decisions that change with the gender, and who is missed more if that is significant."""
    pairs = judged_pairs(run)
    if not pairs:
        return None
    most = most_flipped(pairs)
    same_pairs = _same_pairs(run, most)
    if most.value:
        texts = f"{rate(most, prose=True)} of {counted(most.n, 'text')}"
        missed = _significant(same_pairs, MISSED)
        least = max(ends(most)[0], 0.0 if missed is None else _least(missed))
        swapped = f"when {swapped_words(most)} are swapped{where_named(most, run.findings)}"
        return Headline(f"The decision changes in {texts} {swapped}{_unequal(same_pairs)}.", least)
    moved = _score_moved(same_pairs)
    changed = _changed(run, most)
    return Headline(f"{changed}{moved}." if moved else f"No difference by gender found: {changed}.")


def _changed(run: Run, flips: Finding) -> str:
    change = "changes its" if flips.n == 1 else "change their"
    texts = f"{rate(flips, prose=True)} of {counted(flips.n, 'text')}"
    return (
        f"{texts} {change} decision when {swapped_words(flips)} are swapped{where_named(flips, run.findings)}"
    )


def groups_headline(run: Run) -> Headline | None:
    """The worst significant gap between groups after Holm's correction; misses before decisions."""
    apart = [f for f in _compared(run) if "significant" in f.flags]
    gaps = [gap for f in apart for gap in _same(run, f, f.measure.removesuffix("_p_holm")) if _enough(gap)]
    if not gaps:
        return None
    # A group that is missed more is named before one that is missed less than the rest.
    gap = max(gaps, key=lambda one: (one.measure == MISSED, _more(one) or _between_two(one), _least(one)))
    what, measure, texts = BEHIND[gap.measure]
    group, versus, more = gap.where["group"], gap.where["versus"], _more(gap)
    if not more and _between_two(gap):
        group, versus, more = versus, group, True
    words = f"By {gap.where['column']}{where_named(gap, run.findings)}, texts of {group} are {what} "
    words += f"{'more' if more else 'less'} often than those of {versus}, by {_points(gap)}"
    behind = _same(run, gap, measure, group=group, versus="")
    figures = "".join(f": {rate(f, prose=True)} of {count(f.n)} {texts}" for f in behind)
    # The share annotated 1 may differ between groups: more positive decisions alone are not a failure.
    return Headline(f"{words}{figures}.", _least(gap) if gap.measure == MISSED else 0.0)


def _enough(gap: Finding) -> bool:
    """Whether both sides of a gap have enough texts for a headline."""
    return min(gap.counts.get("texts", FEWEST), gap.counts.get("texts_versus", FEWEST)) >= FEWEST


def unmarked_headlines(run: Run) -> list[Headline]:
    """Sentences on untested pairs and on groups without a gap, for a run of this audit alone."""
    out = []
    flips = _flips(run)
    if flips and not judged_pairs(run):
        most = max(NO_PAIRS, key=lambda name: flips[0].counts.get(name, 0))
        out.append(Headline(f"Gender was not tested: {name_of('no_pairs', most)}. This is not a pass."))
    if not groups_headline(run) and (compared := _columns(_compared(run))):
        out.append(Headline(f"No difference found between groups by {compared} after Holm's correction."))
    return out


def fairness_tested(run: Run) -> list[str]:
    """What this audit tested, in words."""
    compared = _columns(_compared(run))
    return ["gender pairs"] * bool(judged_pairs(run)) + [f"groups by {compared}"] * bool(compared)


def judged_pairs(run: Run) -> list[Finding]:
    """The tested shares of flipped pairs, one per model, corpus and label."""
    return [f for f in _flips(run) if f.tested]


def most_flipped(pairs: Sequence[Finding]) -> Finding:
    """The flip rate with the highest lower end of its interval."""
    return max(pairs, key=lambda f: (ends(f)[0], f.value))


def pairs_learned(run: Run) -> str:
    """The highest flip rate, which wording is missed less, and what groups show."""
    most = most_flipped(judged_pairs(run))
    words = _changed(run, most)
    same_pairs = _same_pairs(run, most)
    found = same_pairs.get(("fnr_ratio", "female"))
    favoured = "" if found is None else next((f for f in found.flags if f.startswith("favours_")), "")
    if found is not None and favoured and _significant(same_pairs, MISSED) is not None:
        words += f"; the {favoured.removeprefix('favours_')} wording is missed less often"
        words += f" (false negative rate ratio {plain(found, prose=True)}, n {count(found.n)})"
    words += _score_moved(same_pairs, "; ")
    groups = groups_learned(run)
    return f"{words}; {groups}" if groups else words


def groups_learned(run: Run) -> str:
    """Which groups of the corpus the model treats differently, after Holm's correction."""
    mine = [f for f in run.findings if f.where.get("unit") == "groups" and f.where.get("audit") == "fairness"]
    if not mine:
        return ""
    compared = _compared(run)
    met: dict[str, dict[str, None]] = {}
    for f in compared:
        if "significant" in f.flags:
            against = "" if f.where["versus"] == REST else f" against {f.where['versus']}"
            met.setdefault(f.where["column"], {})[f.where["group"] + against] = None
    apart = [f"{column} ({listed(list(groups))})" for column, groups in met.items()]
    if apart:
        return f"groups differ by {listed(apart)} after Holm's correction"
    if compared:
        return f"no difference between groups by {_columns(compared)} after Holm's correction"
    return f"groups by {_columns(mine)} could not be compared"


def _flips(run: Run) -> list[Finding]:
    return [f for f in run.findings if f.measure == "flip_rate" and f.where.get("audit") == "fairness"]


def _compared(run: Run) -> list[Finding]:
    """The adjusted tests of groups."""
    return [
        f
        for f in run.findings
        if f.where.get("audit") == "fairness"
        and f.where.get("unit") == "groups"
        and f.measure.endswith("_p_holm")
        and f.tested
    ]


def _columns(findings: Sequence[Finding]) -> str:
    return listed(list(dict.fromkeys(f.where["column"] for f in findings)))


def _same_pairs(run: Run, flips: Finding) -> dict[tuple[str, str], Finding]:
    """The other findings on the same pairs, by measure and wording."""
    keys = (*PLACE, "unit")
    return {
        (f.measure, f.where.get("group", "")): f
        for f in run.findings
        if all(f.where.get(key) == flips.where.get(key) for key in keys)
    }


def _same(run: Run, gap: Finding, measure: str, **other: str) -> list[Finding]:
    """The finding of another measure on the same groups, or on one of them."""
    keys = (*PLACE, "unit", "column", "group", "versus")
    wanted = {**{key: gap.where.get(key, "") for key in keys}, **other}
    return [
        f
        for f in run.findings
        if f.measure == measure and all(f.where.get(key, "") == value for key, value in wanted.items())
    ]


def _unequal(pairs: dict[tuple[str, str], Finding]) -> str:
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


def _significant(pairs: dict[tuple[str, str], Finding], measure: str) -> Finding | None:
    """A difference between the wordings, where it is significant after Holm's correction."""
    gap, test = (pairs.get((measure + end, "female")) for end in ("", "_p_holm"))
    return gap if test is not None and "significant" in test.flags else None


def _score_moved(pairs: dict[tuple[str, str], Finding], before: str = ", but ") -> str:
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


def _between_two(gap: Finding) -> bool:
    return gap.where["versus"] != REST


def _least(gap: Finding) -> float:
    """The smallest distance from 0 within the interval of a difference."""
    low, high = ends(gap)
    return max(low, -high, 0.0)
