"""What gender pairs and groups say in a sentence: in the verdict, and in what the model learned."""

from collections.abc import Sequence
from dataclasses import dataclass

from psycheck.errors import counted
from psycheck.finding import Finding
from psycheck.report.numbers import count, decimal, plain, rate
from psycheck.report.words import listed, name_of, place_said, swapped_words
from psycheck.run import Run

PLACE = ("model", "corpus", "label")
MISSED, POSITIVE = "equal_opportunity_difference", "demographic_parity_difference"
# What a difference speaks of, the rate that stands behind it, and of which texts.
BEHIND = {
    MISSED: ("missed", "fnr", "texts annotated 1"),
    POSITIVE: ("decided positive", "positive_rate", "texts"),
}
REST = "the rest"
FEWEST = 5  # texts of a side that a headline may rest on
NO_PAIRS = ("unchanged", "unseen", "unanswered", "undecided")
OTHER = {"female": "male", "male": "female"}


@dataclass(frozen=True, slots=True)
class Headline:
    """One sentence of the verdict, and the share that fails for certain: the worst is said first.

    `later` is what is said where something worse stands before it, if that differs.
    """

    words: str
    least: float = 0.0
    later: str = ""


def gender_headline(run: Run) -> Headline | None:
    """The share of decisions that change with the gender, and who is missed more where that is no chance."""
    pairs = judged_pairs(run)
    if not pairs:
        return None
    most = most_flipped(pairs)
    beside = _beside(run, most)
    texts, swapped = counted(most.n, "text"), f"when {swapped_words(most)} are swapped"
    changes = "changes its" if most.n == 1 else "change their"
    where = place_said(most, run.findings)
    if most.value:
        said = f"The decision changes in {rate(most, prose=True)} of {texts} {swapped}{where}"
        missed = _told_apart(beside, MISSED)
        least = max(_ends(most)[0], 0.0 if missed is None else _least(missed))
        return Headline(f"{said}{_unequal(beside)}.", least)
    said = f"{rate(most, prose=True)} of {texts} {changes} decision {swapped}{where}"
    moved = _score_moved(beside)
    return Headline(f"{said}{moved}." if moved else f"No difference by gender found: {said}.")


def groups_headline(run: Run) -> Headline | None:
    """The worst gap between groups of the corpus that Holm's correction leaves; misses before decisions."""
    apart = [f for f in _compared(run) if "significant" in f.flags]
    gaps = [gap for f in apart for gap in _same(run, f, f.measure.removesuffix("_p_holm"))]
    gaps = [gap for gap in gaps if _enough(gap)]
    if not gaps:
        return None
    # A group that is missed more is named before one that is missed less than the rest.
    gap = max(gaps, key=lambda one: (one.measure == MISSED, _more(one) or _between_two(one), _least(one)))
    what, measure, texts = BEHIND[gap.measure]
    group, versus, more = gap.where["group"], gap.where["versus"], _more(gap)
    if not more and _between_two(gap):
        group, versus, more = versus, group, True
    said = f"By {gap.where['column']}{place_said(gap, run.findings)}, texts of {group} are {what} "
    said += f"{'more' if more else 'less'} than those of {versus}, by {_points(gap)}"
    behind = _same(run, gap, measure, group=group, versus="")
    figures = "".join(f": {rate(f, prose=True)} of {count(f.n)} {texts}" for f in behind)
    # Groups may be annotated 1 unequally often: more positive decisions alone are no failure.
    return Headline(f"{said}{figures}.", _least(gap) if gap.measure == MISSED else 0.0)


def _enough(gap: Finding) -> bool:
    """Whether no side of a gap rests on fewer texts than a headline may: the tables show it all the same."""
    return min(gap.counts.get("texts", FEWEST), gap.counts.get("texts_versus", FEWEST)) >= FEWEST


def unmarked_headlines(run: Run) -> list[Headline]:
    """What a run of this audit alone says of pairs that were not tested and of groups without a gap."""
    out = []
    flips = _flips(run)
    if flips and not judged_pairs(run):
        most = max(NO_PAIRS, key=lambda name: flips[0].counts.get(name, 0))
        out.append(Headline(f"Gender was not tested: {name_of('no_pairs', most)}. This is not a pass."))
    if not groups_headline(run) and (compared := _columns(_compared(run))):
        out.append(Headline(f"No difference found between groups by {compared} after Holm's correction."))
    return out


def fairness_tested(run: Run) -> list[str]:
    """What of this audit was tested, in words."""
    compared = _columns(_compared(run))
    return ["gender pairs"] * bool(judged_pairs(run)) + [f"groups by {compared}"] * bool(compared)


def judged_pairs(run: Run) -> list[Finding]:
    """The shares of flipped pairs that were tested, one for each model, corpus and label."""
    return [f for f in _flips(run) if f.tested]


def most_flipped(pairs: Sequence[Finding]) -> Finding:
    """The pairs that flip most for certain."""
    return max(pairs, key=lambda f: (_ends(f)[0], f.value))


def pairs_learned(run: Run) -> str:
    """The pairs that flip most for certain, who is missed less in them, and what groups meet."""
    most = most_flipped(judged_pairs(run))
    change = "changes its" if most.n == 1 else "change their"
    what = swapped_words(most)
    said = f"{rate(most, prose=True)} of {counted(most.n, 'text')} {change} decision when {what} are swapped"
    said += place_said(most, run.findings)
    beside = _beside(run, most)
    found = beside.get(("fnr_ratio", "female"))
    favoured = "" if found is None else next((f for f in found.flags if f.startswith("favours_")), "")
    if found is not None and favoured and _told_apart(beside, MISSED) is not None:
        said += f"; the {favoured.removeprefix('favours_')} wording is missed less"
        said += f" (false negative rate ratio {plain(found, prose=True)}, n {count(found.n)})"
    said += _score_moved(beside, "; ")
    groups = groups_learned(run)
    return f"{said}{f'; {groups}' if groups else ''}"


def groups_learned(run: Run) -> str:
    """Which groups of the corpus the model treats apart, after Holm's correction."""
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
        return f"groups by {_columns(compared)} are not told apart after Holm's correction"
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


def _beside(run: Run, flips: Finding) -> dict[tuple[str, str], Finding]:
    """What else was found in the same pairs, by measure and wording."""
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


def _unequal(beside: dict[tuple[str, str], Finding]) -> str:
    """Which wording is missed more, or else decided positive more often, if Holm's test tells them apart."""
    for measure, (what, behind, texts) in BEHIND.items():
        gap = _told_apart(beside, measure)
        if gap is None:
            continue
        more = "female" if _more(gap) else "male"
        rates = [beside[behind, wording] for wording in (more, OTHER[more])]
        high, low = (rate(f, prose=True) for f in rates)
        return f"; the {more} wording is {what} more: {high} against {low} of {count(rates[0].n)} {texts}"
    return _score_moved(beside, "; ")


def _told_apart(beside: dict[tuple[str, str], Finding], measure: str) -> Finding | None:
    """A difference between the wordings, where it is significant after Holm's correction."""
    gap, test = (beside.get((measure + end, "female")) for end in ("", "_p_holm"))
    return gap if test is not None and "significant" in test.flags else None


def _score_moved(beside: dict[tuple[str, str], Finding], before: str = ", but ") -> str:
    moved = _told_apart(beside, "score_difference")
    if moved is None:
        return ""
    said = f"{before}the female wording scores {'higher' if moved.value > 0 else 'lower'}"
    return f"{said} (mean difference {plain(moved, prose=True)}, n {count(moved.n)})"


def _points(gap: Finding) -> str:
    """The size of a difference of rates in per cent points: "30 points (18–41)"."""
    sign = 1 if gap.value > 0 else -1
    ends = sorted(100 * sign * end for end in _ends(gap))
    between = " to " if ends[0] < 0 else "–"
    return f"{decimal(100 * sign * gap.value, 0)} points ({between.join(decimal(end, 0) for end in ends)})"


def _more(gap: Finding) -> bool:
    """Whether the first side is missed more, or decided positive more; found more often is missed less."""
    return gap.value < 0 if gap.measure == MISSED else gap.value > 0


def _between_two(gap: Finding) -> bool:
    return gap.where["versus"] != REST


def _least(gap: Finding) -> float:
    """How far a difference is from 0 at the least."""
    low, high = _ends(gap)
    return max(low, -high, 0.0)


def _ends(finding: Finding) -> tuple[float, float]:
    return finding.interval or (finding.value, finding.value)
