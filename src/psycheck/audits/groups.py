"""Rates of the groups that a corpus names in a column (gender, age band, source …), and how far they part."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from psycheck.audits.measured import measured, measured_rate
from psycheck.audits.membership import compared_groups
from psycheck.corpus import Corpus
from psycheck.finding import Finding
from psycheck.measures.classification import gold
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
    for column in corpus.groups:
        here = {**where, "unit": "groups", "column": column}
        yield from _column(corpus, column, marks, decided, here)


def _column(
    corpus: Corpus, column: str, marks: FloatArray, decided: FloatArray, where: Mapping[str, str]
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
        missed = np.flatnonzero((names == one.group) & (marks == 1) & (decided == 0))[:EXAMPLES]
        yield counted_rate("fnr", one.fnr, here, corpus.table["id"].gather(missed).to_list(), counts)
        yield counted_rate("fpr", one.fpr, here, (), counts)
        yield counted_rate("positive_rate", one.positive, here, (), counts)
    for one in rates[:1] if len(rates) == 2 else rates if len(rates) > 2 else ():
        others = [other for other in rates if other is not one]
        second = others[0].group if len(others) == 1 else ""  # "" stands for all others
        rest = Rate(sum(other.fnr.count for other in others), sum(other.fnr.n for other in others))
        here = {**where, "group": one.group, "versus": second or REST}
        yield miss_ratio(one.fnr, rest, here)
        opportunity = equal_opportunity_difference(marks, decided, names, one.group, second)
        yield from difference("equal_opportunity_difference", opportunity, here)
        parity = demographic_parity_difference(decided, names, one.group, second)
        yield from difference("demographic_parity_difference", parity, here)


def counted_rate(
    measure: str,
    rate: Rate,
    where: Mapping[str, str],
    examples: Sequence[str] = (),
    counts: Mapping[str, int] | None = None,
) -> Finding:
    """A rate with its numerator among the counts."""
    return measured_rate(measure, rate, where, {"count": rate.count, **(counts or {})}, examples)


def miss_ratio(one: Rate, other: Rate, where: Mapping[str, str], *, both: int | None = None) -> Finding:
    """The ratio of two false negative rates; a flag names the group that is missed less.

    `both` is for pairs: how many texts are missed in both wordings.
    """
    names = (where["group"], where["versus"])
    found = fnr_ratio(one.count, one.n, other.count, other.n, both=both, names=names)
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
