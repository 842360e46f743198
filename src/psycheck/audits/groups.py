"""Rates of the groups that a corpus names in a column (gender, age band, source …), and how far they part."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from psycheck.audits.measured import measured, measured_rate
from psycheck.audits.membership import compared_groups
from psycheck.corpus import Corpus
from psycheck.finding import Finding, Interval
from psycheck.measures.classification import gold
from psycheck.measures.clustered import Clusters, effective_share, ratio_interval
from psycheck.measures.fairness import (
    Difference,
    Rate,
    demographic_parity_difference,
    equal_opportunity_difference,
    fnr_ratio,
    rates_by_group,
)
from psycheck.model import FloatArray

REST = "the rest"
EXAMPLES = 50


def group_findings(
    corpus: Corpus, truth: FloatArray, decided: FloatArray, where: Mapping[str, str]
) -> Iterator[Finding]:
    """What one label's decisions are in each group of each column; truth and decided (n,), NaN where unknown.

    Two groups are compared with each other, more of them each with the rest. Groups below 5 texts and beyond
    the 20 largest are counted as left out, and so are values that say that nothing is known.
    """
    marks = np.where(np.isnan(truth), np.nan, gold(truth))
    clusters = Clusters.of(corpus.units())
    for column in corpus.groups:
        here = {**where, "unit": "groups", "column": column}
        yield from _column(corpus, column, marks, decided, clusters, here)


def _column(
    corpus: Corpus,
    column: str,
    marks: FloatArray,
    decided: FloatArray,
    clusters: Clusters,
    where: Mapping[str, str],
) -> Iterator[Finding]:
    """The rates of each group of one column, and the comparisons between them."""
    members = compared_groups(corpus.group(column), column)
    names = members.names
    rates = rates_by_group(marks, decided, names)
    if not rates:
        yield counted_rate("fnr", Rate(0, 0), {**where, "group": ""}, (), members.counts)
    for one in rates:
        here = {**where, "group": one.group}
        counts = {"texts": one.n, "unanswered": one.unanswered, **members.counts}
        inside = (names == one.group) & ~np.isnan(decided)
        counts["units"] = clusters.at(inside).count
        missed = np.flatnonzero(inside & (marks == 1) & (decided == 0))[:EXAMPLES]
        ids = corpus.table["id"].gather(missed).to_list()
        for measure, rate, among, hits, listed in (
            ("fnr", one.fnr, inside & (marks == 1), decided == 0, ids),
            ("fpr", one.fpr, inside & (marks == 0), decided == 1, []),
            ("positive_rate", one.positive, inside, decided == 1, []),
        ):
            interval = ratio_interval(among & hits, among, clusters)
            yield counted_rate(measure, rate, here, listed, counts, interval)
    for one in rates[:1] if len(rates) == 2 else rates if len(rates) > 2 else ():
        others = [other for other in rates if other is not one]
        second = others[0].group if len(others) == 1 else ""  # "" stands for all others
        rest = Rate(sum(other.fnr.count for other in others), sum(other.fnr.n for other in others))
        here = {**where, "group": one.group, "versus": second or REST}
        positive = (names != "") & (marks == 1) & ~np.isnan(decided)
        share = effective_share(positive & (decided == 0), positive, clusters)
        yield miss_ratio(one.fnr, rest, here, share=share)
        opportunity = equal_opportunity_difference(marks, decided, names, one.group, second, clusters)
        yield from difference("equal_opportunity_difference", opportunity, here)
        parity = demographic_parity_difference(decided, names, one.group, second, clusters)
        yield from difference("demographic_parity_difference", parity, here)


def counted_rate(
    measure: str,
    rate: Rate,
    where: Mapping[str, str],
    examples: Sequence[str] = (),
    counts: Mapping[str, int] | None = None,
    interval: Interval | None = None,
) -> Finding:
    """A rate with its numerator among the counts."""
    held = {"count": rate.count, **(counts or {})}
    return measured_rate(measure, rate, where, held, examples, interval)


def miss_ratio(
    one: Rate, other: Rate, where: Mapping[str, str], *, both: int | None = None, share: float = 1.0
) -> Finding:
    """The ratio of two false negative rates; a flag names the group that is missed less.

    `both` is for pairs: how many texts are missed in both wordings; `share` is the effective share.
    """
    names = (where["group"], where["versus"])
    found = fnr_ratio(one.count, one.n, other.count, other.n, both=both, names=names, share=share)
    counts = {"misses": one.count, "positives": one.n, "misses_versus": other.count}
    counts["positives_versus"] = other.n
    favours = (f"favours_{'_'.join(found.favoured.split()) or 'neither'}",)
    flags = () if math.isnan(found.value) else favours
    return measured("fnr_ratio", found.value, found.n, found.interval, where, counts, (), flags)


def difference(
    measure: str, found: Difference, where: Mapping[str, str], counts: Mapping[str, int] | None = None
) -> Iterator[Finding]:
    """A difference of two rates, and its p-value."""
    held = {"texts": found.n[0], "texts_versus": found.n[1], **(counts or {})}
    n = found.n[0] if where["unit"] == "pairs" else sum(found.n)
    value = measured(measure, found.value, n, found.interval, where, held)
    yield value
    yield Finding(f"{measure}_p", found.p, n, None, where, held, flags=value.flags)
