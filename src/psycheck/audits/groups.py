"""Rates of the groups that a corpus names in a column (gender, age band, source …), and how far they part."""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psycheck.audits.figures import measured, measured_rate
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding, Interval
from psycheck.statistics.classification import BoolArray, gold
from psycheck.statistics.clustered import Clusters, difference_interval, effective_share, ratio_interval
from psycheck.statistics.group_rates import Difference, Rate, fnr_ratio, group_difference
from psycheck.statistics.intervals import UNKNOWN

AMONG = "_among_tests"
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


def compared_groups(members: Sequence[str | None], column: str) -> Membership:
    """Read a column's values as groups; a column called age that holds numbers is cut into bands."""
    are_ages = column.strip().lower() == "age"
    written = ["" if member is None else member.strip() for member in members]
    values = ["" if _not_given(value, are_ages=are_ages) else value for value in written]
    names = _in_commonest_spelling(values)
    counts = {
        "unknown": names.count(""),
        "read_as_not_given": names.count("") - written.count(""),
        "other_spelling": sum(value != name for value, name in zip(values, names, strict=True)),
    }

    if are_ages:
        names, words = _in_age_bands(names)
        if words:
            counts["not_banded"] = words

    # Sorted first: of groups of equal size the first in the alphabet are compared.
    sizes = Counter(sorted(name for name in names if name)).most_common()
    large_groups = [group for group, size in sizes if size >= FEWEST]
    compared = set(large_groups[:MOST])
    size_of = dict(sizes)
    counts["in_small_groups"] = sum(size for size in size_of.values() if size < FEWEST)
    counts["beyond_largest"] = sum(size_of[group] for group in large_groups[MOST:])
    compared_names = [name if name in compared else "" for name in names]
    return Membership(np.array(compared_names, dtype=np.str_), counts)


def _in_commonest_spelling(values: Sequence[str]) -> list[str]:
    """The values; those that differ in case alone are one group, in their commonest spelling.

    Of equally common spellings it is the first.
    """
    spelling: dict[str, str] = {}
    for value, _ in Counter(values).most_common():
        spelling.setdefault(value.casefold(), value)
    return [spelling[value.casefold()] for value in values]


def _in_age_bands(names: list[str]) -> tuple[list[str], int]:
    """Ages as bands where most are numbers, else as they are; how many values keep numbers from bands."""
    ages = [name for name in names if name]
    words = sum(not _is_number(age) for age in ages)
    if len(ages) - words >= MOSTLY * len(ages):
        return [_band(name) if _is_number(name) else name for name in names], 0
    # A column of words alone holds bands of its own.
    return names, words if words < len(ages) else 0


def group_findings(
    corpus: Corpus, truth: FloatArray, decided: FloatArray, where: Mapping[str, str], *, among: int = 1
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
        groups = [str(name) for name in np.unique(members.names) if name]
        if not groups:
            yield counted_rate("fnr", Rate(0, 0), {**place, "group": ""}, (), members.counts)

        for group in groups:
            in_group = members.names == group
            missed = in_group & decisions.positive & decisions.missed
            examples = ids.gather(np.flatnonzero(missed)[:EXAMPLES]).to_list()
            here = {**place, "group": group}
            yield from _group_rates(decisions, in_group, here, examples, members.counts)

        yield from _comparisons(decisions, members.names, groups, place, among=among)


def comparisons(corpus: Corpus) -> int:
    """How many pairs of groups are compared, over all columns."""
    pairs = 0
    for column in corpus.groups:
        members = compared_groups(corpus.group(column), column)
        pairs += len(_compared_pairs([str(name) for name in np.unique(members.names) if name]))
    return pairs


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
    for measure, among, hits, listed in (
        ("fnr", inside & decisions.positive, decisions.missed, examples),
        ("fpr", inside & (decisions.annotated == 0), decided_1, ()),
        ("positive_rate", inside, decided_1, ()),
    ):
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
    share = effective_share(positive & missed, positive, clusters)
    for group, second in _compared_pairs(groups):
        here = {**place, "group": group, "versus": second or REST}
        inside = positive & (names == group)
        outside = positive & (names != group)
        yield miss_ratio(_rate(missed, inside), _rate(missed, outside), here, share=share)
        versus = names == second if second else (names != "") & (names != group)
        for measure, texts in (
            ("equal_opportunity_difference", decisions.positive),
            ("demographic_parity_difference", decisions.answered),
        ):
            rates = group_difference(decided, names, group, second, clusters, among=texts)
            sides = (names == group) & texts, versus & texts
            gap = _gap_interval(decided == 1, *sides, clusters, among=among)
            yield from difference(measure, rates, here, gap=gap)


def _gap_interval(
    yes: BoolArray, first: BoolArray, second: BoolArray, clusters: Clusters, *, among: int
) -> Interval:
    """The interval of the difference of two groups' rates that holds together with `among` others."""
    rows = first | second
    if not first.any() or not second.any():
        return UNKNOWN
    both = [(yes & side)[rows] for side in (first, second)]
    return difference_interval(
        (both[0], first[rows]),
        (both[1], second[rows]),
        clusters.at(rows),
        among=among,
    )


def _compared_pairs(groups: Sequence[str]) -> list[tuple[str, str]]:
    """Each group with the one it is compared with; "" stands for all others."""
    if len(groups) < 2:
        return []
    if len(groups) == 2:
        return [(groups[0], groups[1])]
    return [(group, "") for group in groups]


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
    all_counts = {"count": rate.count, **(counts or {})}
    return measured_rate(measure, rate, where, all_counts, examples, interval)


def miss_ratio(
    group: Rate, versus: Rate, where: Mapping[str, str], *, both: int | None = None, share: float = 1.0
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
    flags: tuple[str, ...] = ()
    if not math.isnan(ratio.value):
        favoured = "_".join(ratio.favoured.split()) or "neither"
        flags = (f"favours_{favoured}",)
    return measured("fnr_ratio", ratio.value, ratio.n, ratio.interval, where, counts, (), flags)


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
    all_counts = {"texts": texts, "texts_versus": texts_versus, **(counts or {})}
    # Both wordings of a pair are one text.
    n = texts if where["unit"] == "pairs" else texts + texts_versus
    value = measured(measure, rates.value, n, rates.interval, where, all_counts)
    yield value
    yield Finding(f"{measure}_p", rates.p, n, None, where, all_counts, flags=value.flags)
    yield measured(f"{measure}{AMONG}", rates.value, n, gap, where, all_counts)


def _not_given(value: str, *, are_ages: bool) -> bool:
    """Whether a value says that nothing is known: by a word, or by an age that nobody has."""
    not_given = _not_given_values()
    if value.casefold() in not_given["words"]:
        return True
    if not (are_ages and _is_number(value)):
        return False
    limits = not_given["age"]
    return not limits["youngest"] <= float(value) <= limits["oldest"]


def _is_number(value: str) -> bool:
    return _NUMBER.fullmatch(value) is not None


def _band(age: str) -> str:
    """The band that an age lies in, "18–24"."""
    starts = (0, *AGES)
    k = int(np.searchsorted(AGES, float(age), "right"))
    if k == len(AGES):
        return f"{AGES[-1]}+"
    return f"{starts[k]}–{AGES[k] - 1}"


@cache
def _not_given_values() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("not_given.toml").read_text("utf-8"))
