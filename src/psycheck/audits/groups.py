"""Rates of the groups that a corpus names in a column (gender, age band, source …), and how far they part."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from psycheck.audits.membership import Membership, compared_groups
from psycheck.corpus import Corpus
from psycheck.finding import Finding
from psycheck.measures.classification import gold
from psycheck.measures.fairness import (
    Difference,
    GroupRates,
    Rate,
    Ratio,
    demographic_parity_difference,
    equal_opportunity_difference,
    fnr_ratio,
    rates_by_group,
)
from psycheck.model import FloatArray

REST = "the rest"
EXAMPLES = 50


def group_findings(
    corpus: Corpus, truth: FloatArray, said: FloatArray, where: Mapping[str, str]
) -> Iterator[Finding]:
    """What one label's decisions are in each group of each column; truth and said (n,), NaN where unknown.

    Two groups are compared with each other, more of them each with the rest. Groups below 5 texts and beyond
    the 20 largest are counted as left out, and so are values that say that nothing is known.
    """
    marks = np.where(np.isnan(truth), np.nan, gold(truth))
    for column in corpus.groups:
        members = compared_groups(corpus.group(column), column)
        names = members.names
        rates = rates_by_group(marks, said, names)
        here = {**where, "unit": "groups", "column": column}
        if not rates:
            yield rate("fnr", Rate(0, 0), {**here, "group": ""}, (), members.counts)
        for one in rates:
            yield from _rates(one, corpus, marks, said, members, here)
        if len(rates) == 2:
            yield from _between(rates[0], rates[1].fnr, rates[1].group, marks, said, names, here)
        elif len(rates) > 2:
            for one in rates:
                others = [other.fnr for other in rates if other is not one]
                rest = Rate(sum(r.count for r in others), sum(r.n for r in others))
                yield from _between(one, rest, REST, marks, said, names, here)


def _rates(
    one: GroupRates,
    corpus: Corpus,
    marks: FloatArray,
    said: FloatArray,
    members: Membership,
    where: Mapping[str, str],
) -> Iterator[Finding]:
    here = {**where, "group": one.group}
    counts = {"texts": one.n, "unanswered": one.unanswered, **members.counts}
    missed = np.flatnonzero((members.names == one.group) & (marks == 1) & (said == 0))[:EXAMPLES]
    yield rate("fnr", one.fnr, here, corpus.table["id"].gather(missed).to_list(), counts)
    yield rate("fpr", one.fpr, here, (), counts)
    yield rate("positive_rate", one.positive, here, (), counts)


def _between(
    one: GroupRates,
    other: Rate,
    versus: str,
    marks: FloatArray,
    said: FloatArray,
    names: np.ndarray,
    where: Mapping[str, str],
) -> Iterator[Finding]:
    here = {**where, "group": one.group, "versus": versus}
    found = fnr_ratio(*misses(one.fnr), *misses(other), names=(one.group, versus))
    yield ratio(found, one.fnr, other, here)
    second = "" if versus == REST else versus
    opportunity = equal_opportunity_difference(marks, said, names, one.group, second)
    yield from difference("equal_opportunity_difference", opportunity, here)
    parity = demographic_parity_difference(said, names, one.group, second)
    yield from difference("demographic_parity_difference", parity, here)


def misses(one: Rate) -> tuple[int, int]:
    """A false negative rate as `fnr_ratio` wants it: misses, positives."""
    return one.count, one.n


def rate(
    measure: str,
    one: Rate,
    where: Mapping[str, str],
    examples: Sequence[str] = (),
    counts: Mapping[str, int] | None = None,
) -> Finding:
    """A rate as a finding; without any text it is not tested."""
    flags = () if one.n else ("not_tested",)
    interval = one.interval if one.n else None
    held = {"count": one.count, **(counts or {})}
    return Finding(measure, one.value, one.n, interval, where, held, tuple(examples), flags)


def ratio(found: Ratio, one: Rate, other: Rate, where: Mapping[str, str]) -> Finding:
    """The false negative rate ratio; a flag says which of the two groups is missed less."""
    counts = {"misses": one.count, "positives": one.n, "misses_versus": other.count}
    counts["positives_versus"] = other.n
    if math.isnan(found.value):
        return Finding("fnr_ratio", found.value, found.n, None, where, counts, flags=("not_tested",))
    towards = (f"favours_{'_'.join(found.favoured.split()) or 'neither'}",)
    return Finding("fnr_ratio", found.value, found.n, found.interval, where, counts, flags=towards)


def difference(
    measure: str, found: Difference, where: Mapping[str, str], counts: Mapping[str, int] | None = None
) -> Iterator[Finding]:
    """A difference of two rates, and its p-value."""
    held = {"texts": found.n[0], "texts_versus": found.n[1], **(counts or {})}
    n = found.n[0] if where["unit"] == "pairs" else sum(found.n)
    known = not math.isnan(found.value)
    flags = () if known else ("not_tested",)
    yield Finding(measure, found.value, n, found.interval if known else None, where, held, flags=flags)
    yield Finding(f"{measure}_p", found.p, n, None, where, held, flags=flags)
