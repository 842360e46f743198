"""Rates of the groups that a corpus names in a column (gender, age band, source …), and how far they part."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psycheck.audits.figures import measured, measured_rate
from psycheck.audits.group_columns import Membership, compared_groups
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding, Interval
from psycheck.statistics.classification import BoolArray, gold
from psycheck.statistics.clustered import Clusters, difference_interval, effective_share, ratio_interval
from psycheck.statistics.group_rates import Difference, Rate, group_difference
from psycheck.statistics.intervals import UNKNOWN
from psycheck.statistics.miss_ratio import fnr_ratio

AMONG = "_among_tests"
REST = "the rest"
EXAMPLES = 50


class _Decisions(NamedTuple):
    """Decisions of a model and annotations, (n,) of 1, 0 or NaN, and which texts belong together."""

    decided: FloatArray
    annotated: FloatArray
    clusters: Clusters

    @property
    def answered(self) -> BoolArray:
        return ~np.isnan(self.decided)

    @property
    def positive(self) -> BoolArray:
        """The answered texts annotated 1."""
        positive: BoolArray = self.answered & (self.annotated == 1)
        return positive

    @property
    def missed(self) -> BoolArray:
        missed: BoolArray = self.decided == 0
        return missed


def group_findings(
    corpus: Corpus,
    truth: FloatArray,
    decided: FloatArray,
    where: Mapping[str, str],
    *,
    among: int = 1,
) -> Iterator[Finding]:
    """What one label's decisions are in each group of each column; truth and decided (n,), NaN where unknown.

    `among` is the number of differences that the run tests, for which the gaps that a verdict names allow.

    Two groups are compared with each other, more of them each with the rest. Groups below 5 texts and beyond
    the 20 largest are counted as left out, and so are values that say that nothing is known.
    """
    decisions = _Decisions(
        decided=decided,
        annotated=np.where(np.isnan(truth), np.nan, gold(truth)),
        clusters=Clusters.of(corpus.units(), corpus.copies()),
    )
    ids = corpus.table["id"]
    for column in corpus.groups:
        place = {**where, "unit": "groups", "column": column}
        members = compared_groups(corpus.group(column), column)
        groups = _group_names(members)
        if not groups:
            # What was left out is told also of a column that has nothing to compare.
            yield counted_rate("fnr", Rate(0, 0), {**place, "group": ""}, (), members.counts)

        for group in groups:
            in_group = members.names == group
            missed = in_group & decisions.positive & decisions.missed
            missed_rows = np.flatnonzero(missed)
            examples = ids.gather(missed_rows[:EXAMPLES]).to_list()
            here = {**place, "group": group}
            yield from _group_rates(decisions, in_group, here, examples, members.counts)

        yield from _comparisons(decisions, members.names, groups, place, among=among)


def comparisons(corpus: Corpus) -> int:
    """How many pairs of groups are compared, over all columns."""
    pairs = 0
    for column in corpus.groups:
        members = compared_groups(corpus.group(column), column)
        groups = _group_names(members)
        pairs += len(_compared_pairs(groups))
    return pairs


def _group_names(members: Membership) -> list[str]:
    """The groups that are compared, in the order of the alphabet."""
    return [str(name) for name in np.unique(members.names) if name]


def _group_rates(
    decisions: _Decisions,
    in_group: BoolArray,
    where: Mapping[str, str],
    examples: Sequence[str],
    column_counts: Mapping[str, int],
) -> Iterator[Finding]:
    """False negatives, false positives and positives of one group; the examples are its missed texts."""
    inside = in_group & decisions.answered
    texts = int(np.sum(in_group))
    counts = {
        "texts": texts,
        "unanswered": texts - int(inside.sum()),
        **column_counts,
        "units": decisions.clusters.at(inside).count,
    }
    decided_1 = decisions.decided == 1
    annotated_0 = decisions.annotated == 0
    rates: tuple[tuple[str, BoolArray, BoolArray, Sequence[str]], ...] = (
        ("fnr", inside & decisions.positive, decisions.missed, examples),
        ("fpr", inside & annotated_0, decided_1, ()),
        ("positive_rate", inside, decided_1, ()),
    )
    for measure, among, hits, listed in rates:
        interval = ratio_interval(among & hits, among, decisions.clusters)
        yield counted_rate(measure, _rate(hits, among), where, listed, counts, interval)


def _comparisons(
    decisions: _Decisions,
    names: NDArray[np.str_],
    groups: Sequence[str],
    place: Mapping[str, str],
    *,
    among: int,
) -> Iterator[Finding]:
    """The ratio of misses and the differences: of the first of two groups, or of each with the rest."""
    decided = decisions.decided
    clusters = decisions.clusters
    missed = decisions.missed
    positive = (names != "") & decisions.positive
    # Of all groups together, because the misses of one of them say little about their clusters.
    share = effective_share(positive & missed, positive, clusters)
    for group, second in _compared_pairs(groups):
        here = {**place, "group": group, "versus": second or REST}
        is_first = names == group
        misses = _rate(missed, positive & is_first)
        misses_versus = _rate(missed, positive & ~is_first)
        yield miss_ratio(misses, misses_versus, here, share=share)

        # Texts without a group are not among the rest.
        versus = names == second if second else (names != "") & ~is_first
        for measure, texts in (
            ("equal_opportunity_difference", decisions.positive),
            ("demographic_parity_difference", decisions.answered),
        ):
            rates = group_difference(decided, names, group, second, clusters, among=texts)
            gap = _gap_interval(
                decided == 1,
                is_first & texts,
                versus & texts,
                clusters,
                among=among,
            )
            yield from difference(measure, rates, here, gap=gap)


def _gap_interval(
    yes: BoolArray,
    first: BoolArray,
    second: BoolArray,
    clusters: Clusters,
    *,
    among: int,
) -> Interval:
    """The interval of the difference of two groups' rates that holds together with `among` others."""
    if not first.any() or not second.any():
        return UNKNOWN
    rows = first | second
    first_hits = yes & first
    second_hits = yes & second
    return difference_interval(
        (first_hits[rows], first[rows]),
        (second_hits[rows], second[rows]),
        clusters.at(rows),
        among=among,
    )


def _compared_pairs(groups: Sequence[str]) -> list[tuple[str, str]]:
    """Each group with the one it is compared with; "" stands for all others."""
    if len(groups) < 2:
        return []
    if len(groups) == 2:
        first, second = groups
        return [(first, second)]
    # Each with the rest: all pairs of 20 groups would be 190 comparisons.
    return [(group, "") for group in groups]


def _rate(hits: BoolArray, among: BoolArray) -> Rate:
    count = int(np.sum(hits & among))
    return Rate(count, int(among.sum()))


def counted_rate(
    measure: str,
    rate: Rate,
    where: Mapping[str, str],
    examples: Sequence[str] = (),
    counts: Mapping[str, int] | None = None,
    interval: Interval | None = None,
) -> Finding:
    """A rate with its numerator among the counts."""
    all_counts = {"count": rate.count, **(counts or {})}
    return measured_rate(measure, rate, where, all_counts, examples, interval)


def miss_ratio(
    group: Rate,
    versus: Rate,
    where: Mapping[str, str],
    *,
    both: int | None = None,
    share: float = 1.0,
) -> Finding:
    """The ratio of two false negative rates; a flag names the group that is missed less.

    `both` is for pairs: how many texts are missed in both wordings; `share` is the effective share.
    """
    ratio = fnr_ratio(
        group.count,
        group.n,
        versus.count,
        versus.n,
        both=both,
        names=(where["group"], where["versus"]),
        share=share,
    )
    counts = {
        "misses": group.count,
        "positives": group.n,
        "misses_versus": versus.count,
        "positives_versus": versus.n,
    }
    # Flags are single words.
    flags: tuple[str, ...] = ()
    if not math.isnan(ratio.value):
        favoured = "_".join(ratio.favoured.split()) or "neither"
        flags = (f"favours_{favoured}",)
    return measured(
        "fnr_ratio", ratio.value, ratio.n, interval=ratio.interval, where=where, counts=counts, flags=flags
    )


def difference(
    measure: str,
    rates: Difference,
    where: Mapping[str, str],
    counts: Mapping[str, int] | None = None,
    *,
    gap: Interval,
) -> Iterator[Finding]:
    """A difference of two rates, its p-value, and again with `gap`, an interval for the choice among all."""
    texts, texts_versus = rates.n
    all_counts = {
        "texts": texts,
        "texts_versus": texts_versus,
        **(counts or {}),
    }
    # Both wordings of a pair are one text.
    n = texts if where["unit"] == "pairs" else texts + texts_versus
    value = measured(
        measure,
        rates.value,
        n,
        interval=rates.interval,
        where=where,
        counts=all_counts,
    )
    yield value
    yield Finding(
        f"{measure}_p",
        rates.p,
        n,
        where=where,
        counts=all_counts,
        flags=value.flags,
    )
    yield measured(
        f"{measure}{AMONG}",
        rates.value,
        n,
        interval=gap,
        where=where,
        counts=all_counts,
    )
