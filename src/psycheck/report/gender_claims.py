"""What a verdict claims on gender pairs: an effect of gender only beyond that of a placebo.

A placebo rewords as many words near the swapped ones, changes the length as the swap does, and leaves gender
alone. Without texts that have one, nothing is shown either way.
"""

from collections.abc import Mapping, Sequence

from psycheck.core.errors import counted
from psycheck.core.finding import Finding
from psycheck.core.headline import Headline
from psycheck.core.run import Run
from psycheck.report.display_names import name_of, place_of, swapped_words, where_named
from psycheck.report.headlines import headline, least_n
from psycheck.report.numbers import count, known_interval, plain, rate
from psycheck.report.performance_claims import alike_places
from psycheck.report.points import MISSED, directed, first_has_more, in_points, least
from psycheck.report.sections import Key, by

TOLERANCE = 0.01  # excess of changed decisions over the placebo: fewer are no weakness
FEWEST_UNITS = 15  # independent pairs
NO_PAIRS = ("unchanged", "unseen", "unanswered", "undecided")
OTHER = {"female": "male", "male": "female"}
# What a difference is about, the rate it comes from, and of which texts.
BEHIND = {
    MISSED: ("missed", "fnr", "texts annotated 1"),
    "demographic_parity_difference": ("decided positive", "positive_rate", "texts"),
}
Pairs = Mapping[Key, Finding]  # the findings on the same pairs, by measure and wording
_PLACE = by("model", "corpus", "label", "unit")
_MEASURE_AND_WORDING = by("measure", "group")


def gender_headlines(run: Run) -> list[Headline]:
    """Whether decisions or scores change with the gender; of several places the clearest."""
    pairs = judged_pairs(run)
    return [_of_pairs(run, pairs)] if pairs else []


def _of_pairs(run: Run, judged: Sequence[Finding]) -> Headline:
    pairs_by_place = _pairs_by_place(run, judged)

    def clearness(flips: Finding) -> tuple[bool, float, float]:
        same_pairs = pairs_by_place[_PLACE(flips)]
        moves_scores = _score_moved(same_pairs) is not None
        return moves_scores, _certain_excess(same_pairs), flips.value

    # Changed decisions first: they are what happens to people, scores are not.
    by_excess = max(judged, key=lambda flips: clearness(flips)[1:])
    same_pairs = pairs_by_place[_PLACE(by_excess)]
    if _certain_excess(same_pairs) >= TOLERANCE:
        return _flips_headline(run, by_excess, same_pairs)

    clearest = max(judged, key=clearness)
    same_pairs = pairs_by_place[_PLACE(clearest)]
    if _score_moved(same_pairs) is not None:
        return _scores_headline(run, clearest, same_pairs)

    # Nothing is shown anywhere: the place with the most flips is the likeliest objection.
    most = max(judged, key=lambda flips: flips.value)
    return _nothing_shown(run, most, pairs_by_place[_PLACE(most)])


def gender_untested(run: Run) -> list[Headline]:
    """Why no pair could be judged, where the audit asked for pairs."""
    flips = _flips(run)
    if not flips or judged_pairs(run):
        return []
    # One reason, the most frequent: a list of them would not be read.
    main_reason = max(NO_PAIRS, key=lambda name: flips[0].counts.get(name, 0))
    return [
        headline(
            "gender.untested",
            flips[:1],
            why=name_of("no_pairs", main_reason),
        )
    ]


def judged_pairs(run: Run) -> list[Finding]:
    """The tested shares of flipped pairs, one per model, corpus and label."""
    return [flips for flips in _flips(run) if flips.tested]


def _flips(run: Run) -> list[Finding]:
    of_fairness = [f for f in run.findings if f.where.get("audit") == "fairness"]
    return [finding for finding in of_fairness if finding.measure == "flip_rate"]


def _pairs_by_place(run: Run, judged: Sequence[Finding]) -> Mapping[Key, Pairs]:
    """The findings on judged pairs by place, and there by measure and wording."""
    # One pass: a run of many models and corpora has thousands of findings on pairs.
    pairs_by_place: dict[Key, dict[Key, Finding]] = {_PLACE(flips): {} for flips in judged}
    for finding in run.findings:
        pairs = pairs_by_place.get(_PLACE(finding))
        if pairs is not None:
            pairs[_MEASURE_AND_WORDING(finding)] = finding
    return pairs_by_place


def _certain_excess(pairs: Pairs) -> float:
    """The share of texts whose decision certainly changes with the gender and not with the placebo."""
    excess = pairs.get(("flip_excess_among_tests", ""))
    if excess is None or excess.n < least_n("gender.flips"):
        return 0.0
    lowest = min(known_interval(excess), default=0.0)
    return max(lowest, 0.0)


def _flips_headline(run: Run, flips: Finding, pairs: Pairs) -> Headline:
    """Decisions change with the gender, beyond what the placebo does."""
    excess = pairs["flip_excess_among_tests", ""]
    return headline(
        "gender.flips",
        [flips, excess],
        _certain_excess(pairs),
        flips=_rate_of_texts(flips),
        placebo=rate(pairs["placebo_flip_rate", ""], prose=True),
        excess=in_points(excess),
        side=_side(pairs),
        swapped=swapped_words(flips),
        where=where_named(flips, run.findings),
    )


def _side(pairs: Pairs) -> str:
    """Which wording is missed, or else decided positive, more often, if that is significant."""
    for measure, (what, behind, texts) in BEHIND.items():
        test = pairs.get((f"{measure}_p_holm", "female"))
        gap = pairs.get((f"{measure}_among_tests", "female"))
        # A side is named only where test and interval agree on it.
        if gap is None or test is None:
            continue
        if "significant" not in test.flags or not directed(gap):
            continue
        more = "female" if first_has_more(gap) else "male"
        higher = pairs[behind, more]
        lower = pairs[behind, OTHER[more]]
        rates = f"{rate(higher, prose=True)} against {rate(lower, prose=True)}"
        of_texts = f"of {count(higher.n)} {texts}"
        return f"; the {more} wording is {what} more often: {rates} {of_texts}"
    return ""


def _score_moved(pairs: Pairs) -> Finding | None:
    """The mean difference of the scores, if it is significant beyond the placebo and has a direction."""
    moved = pairs.get(("score_difference", "female"))
    test = pairs.get(("score_difference_p_holm", "female"))
    # Of a handful of pairs any mean is extreme.
    if moved is None or test is None or moved.n < least_n("gender.scores"):
        return None
    is_shown = "significant" in test.flags and least(moved)
    return moved if is_shown else None


def _scores_headline(run: Run, flips: Finding, pairs: Pairs) -> Headline:
    moved = pairs["score_difference", "female"]
    return headline(
        "gender.scores",
        [moved, flips],
        direction="higher" if moved.value > 0 else "lower",
        difference=plain(moved, prose=True),
        n=counted(moved.n, "text"),
        flips=_rate_of_texts(flips),
        swapped=swapped_words(flips),
        where=where_named(flips, run.findings),
    )


def _nothing_shown(run: Run, most: Finding, pairs: Pairs) -> Headline:
    """No effect of gender is shown: because there is none to see, or because the pairs show little."""
    values = {
        "flips": _rate_of_texts(most),
        "swapped": swapped_words(most),
        "where": where_named(most, run.findings),
    }
    doubts = _doubts(run, most, pairs)
    if doubts:
        return headline(
            "gender.not_shown",
            [most],
            reasons="; ".join(doubts),
            **values,
        )

    placebo = pairs["placebo_flip_rate", ""]
    # No decision changed at all: simpler to say than a rate of 0.
    if not most.value:
        return headline("gender.none_found", [most, placebo], **values)
    if placebo.value:
        return headline(
            "gender.any_edit",
            [most, placebo],
            placebo=_rate_of_texts(placebo),
            **values,
        )
    return headline("gender.few_flips", [most, placebo], **values)


def _doubts(run: Run, flips: Finding, pairs: Pairs) -> list[str]:
    """Why pairs do not show whether gender makes a difference."""
    doubts = []
    alike = alike_places(run).get(place_of(flips))
    if alike:
        texts = "every text" if alike == "score" else "nearly every text"
        doubts.append(f"the model gives {texts} the same {alike}")

    units = flips.counts.get("units", 0)
    placebo = pairs.get(("placebo_flip_rate", ""))
    placebo_units = 0
    if placebo is not None:
        placebo_units = placebo.counts.get("units", placebo.n)
    if units < FEWEST_UNITS:
        doubts.append(f"only {counted(units, 'independent unit')} could be judged")
    elif placebo_units < FEWEST_UNITS:
        compared = counted(placebo_units, "independent unit")
        doubts.append(f"only {compared} could be compared with an edit that leaves gender alone")

    # A "she" that stays "a mother" is no text about a man.
    only_pronouns = flips.where.get("swap", "pronouns") == "pronouns"
    still_gendered = flips.counts.get("named_besides", 0)
    if only_pronouns and 2 * still_gendered >= flips.n:
        share = f"{count(still_gendered)} of {counted(flips.n, 'text')}"
        doubts.append(f"only pronouns were swapped, and {share} keep a gendered noun or title")
    return doubts


def _rate_of_texts(finding: Finding) -> str:
    return f"{rate(finding, prose=True)} of {counted(finding.n, 'text')}"
