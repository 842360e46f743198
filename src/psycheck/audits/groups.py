"""Rates of the groups that a corpus names in a column (gender, age band, source …), and how far they part."""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psycheck.audits.measured import measured, measured_rate
from psycheck.corpus import Corpus
from psycheck.finding import Finding, Interval
from psycheck.measures.classification import BoolArray, gold
from psycheck.measures.clustered import Clusters, effective_share, ratio_interval
from psycheck.measures.fairness import Difference, Rate, fnr_ratio, group_difference
from psycheck.model import FloatArray

REST = "the rest"
EXAMPLES = 50
FEWEST = 5  # texts; a smaller group is counted, not compared
MOST = 20  # groups of one column
MOSTLY = 0.8  # of the values of an age column must be numbers
AGES = (18, 25, 35, 45, 55, 65)
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?")


@dataclass(frozen=True, slots=True)
class Membership:
    """The group of each text, (n,), "" where it is not compared, and what was done with the values.

    `unknown` counts the texts without a group, `read_as_not_given` those among them that say so by a word or
    a code; `other_spelling` the texts counted under a commoner spelling; `in_small_groups` and
    `beyond_largest` the texts whose group is left out; `not_banded` the values that keep ages from bands.
    """

    names: NDArray[np.str_]
    counts: Mapping[str, int]


def compared_groups(members: Sequence[str | None], column: str) -> Membership:
    """Read a column's values as groups; a column called age that holds numbers is cut into bands."""
    ages = column.strip().lower() == "age"
    written = ["" if member is None else member.strip() for member in members]
    values = ["" if _not_given(value, ages=ages) else value for value in written]
    # Values that differ in case alone are one group, in their commonest spelling (the first met of equals).
    spelled: dict[str, str] = {}
    for value, _ in Counter(values).most_common():
        spelled.setdefault(value.casefold(), value)
    names = [spelled[value.casefold()] for value in values]
    counts = {
        "unknown": names.count(""),
        "read_as_not_given": names.count("") - written.count(""),
        "other_spelling": sum(one != other for one, other in zip(values, names, strict=True)),
    }
    if ages:
        words = sum(not _is_number(name) for name in names if name)
        known = len(names) - counts["unknown"]
        if known - words >= MOSTLY * known:
            names = [_band(name) if _is_number(name) else name for name in names]
        elif words < known:  # a column of words alone holds bands of its own
            counts["not_banded"] = words
    sizes = Counter(sorted(name for name in names if name)).most_common()
    large = [group for group, size in sizes if size >= FEWEST]
    kept = set(large[:MOST])
    counts["in_small_groups"] = sum(size for _, size in sizes if size < FEWEST)
    counts["beyond_largest"] = sum(size for group, size in sizes if size >= FEWEST and group not in kept)
    return Membership(np.array([name if name in kept else "" for name in names], dtype=np.str_), counts)


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
        own = {**where, "unit": "groups", "column": column}
        members = compared_groups(corpus.group(column), column)
        names, answered = members.names, ~np.isnan(decided)
        groups = [str(name) for name in np.unique(names) if name]
        missed, positive = decided == 0, answered & (marks == 1)
        if not groups:
            yield counted_rate("fnr", Rate(0, 0), {**own, "group": ""}, (), members.counts)
        for group in groups:
            here, inside = {**own, "group": group}, (names == group) & answered
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
            here = {**own, "group": group, "versus": second or REST}
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


def _not_given(value: str, *, ages: bool) -> bool:
    if value.casefold() in _known()["words"]:
        return True
    limits = _known()["age"]
    return ages and _is_number(value) and not limits["youngest"] <= float(value) <= limits["oldest"]


def _is_number(value: str) -> bool:
    return _NUMBER.fullmatch(value) is not None


def _band(age: str) -> str:
    """The band that an age lies in, "18–24"."""
    ends = (0, *AGES)
    k = int(np.searchsorted(AGES, float(age), "right"))
    return f"{ends[k]}–{AGES[k] - 1}" if k < len(AGES) else f"{AGES[-1]}+"


@cache
def _known() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("not_given.toml").read_text("utf-8"))
