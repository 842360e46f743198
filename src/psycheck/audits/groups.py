"""Rates of the groups that a corpus names in a column (gender, age band, source …), and how far they part."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from psycheck.audits.measured import measured, measured_rate
from psycheck.audits.membership import compared_groups
from psycheck.corpus import Corpus
from psycheck.finding import Finding, Interval
from psycheck.measures.classification import BoolArray, gold
from psycheck.measures.clustered import Clusters, effective_share, ratio_interval
from psycheck.measures.fairness import Difference, Rate, fnr_ratio, group_difference
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
    names, answered = members.names, ~np.isnan(decided)
    groups = [str(name) for name in np.unique(names) if name]
    missed, positive = decided == 0, answered & (marks == 1)
    if not groups:
        yield counted_rate("fnr", Rate(0, 0), {**where, "group": ""}, (), members.counts)
    for group in groups:
        here, inside = {**where, "group": group}, (names == group) & answered
        texts = int(np.sum(names == group))
        counts = {"texts": texts, "unanswered": texts - int(inside.sum()), **members.counts}
        counts["units"] = clusters.at(inside).count
        rows = np.flatnonzero(inside & positive & missed)[:EXAMPLES]
        ids = corpus.table["id"].gather(rows).to_list()
        for measure, among, hits, listed in (
            ("fnr", inside & positive, missed, ids),
            ("fpr", inside & (marks == 0), decided == 1, []),
            ("positive_rate", inside, decided == 1, []),
        ):
            interval = ratio_interval(among & hits, among, clusters)
            yield counted_rate(measure, _rate(hits, among), here, listed, counts, interval)
    share = effective_share((names != "") & positive & missed, (names != "") & positive, clusters)
    for group in groups[:1] if len(groups) == 2 else groups if len(groups) > 2 else ():
        second = groups[1] if len(groups) == 2 else ""  # "" stands for all others
        here = {**where, "group": group, "versus": second or REST}
        ours, others = (names == group) & positive, (names != group) & (names != "") & positive
        yield miss_ratio(_rate(missed, ours), _rate(missed, others), here, share=share)
        opportunity = group_difference(decided, names, group, second, clusters, among=marks == 1)
        yield from difference("equal_opportunity_difference", opportunity, here)
        parity = group_difference(decided, names, group, second, clusters)
        yield from difference("demographic_parity_difference", parity, here)


def _rate(hits: BoolArray, among: BoolArray) -> Rate:
    return Rate(int(np.sum(hits & among)), int(among.sum()))


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
