"""Direct Bias and its neighbours as findings, from vectors alone (gender paper, sections 2.1.1 and 5)."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from psycheck.audits.direct_bias.ask import Asked, Embedded, Spoken
from psycheck.errors import BadInput
from psycheck.finding import Finding
from psycheck.measures.association import (
    LISTS,
    Centring,
    ListTest,
    carriers,
    cosines,
    direct_bias,
    list_test,
    mean_interval,
    norm_distances,
    paired_axis,
    random_shares,
    share_intervals,
    unit,
    weat,
)
from psycheck.measures.bootstrap import RESAMPLES
from psycheck.measures.intervals import Interval
from psycheck.measures.significance import holm
from psycheck.model import FloatArray, Judgement

Lengths = Literal["unit", "raw"]
FEWEST_PAIRS = 3
FEWEST_RANDOM = 20  # distinct random words with a vector; lists drawn from fewer hardly differ
ALPHA = 0.05
CARRIERS = 10
POOL = 1_000  # random words for the shares of variance by chance
# Ways to make the gender direction; the first is Bolukbasi's.
VARIANTS: tuple[tuple[Centring, Lengths], ...] = (
    ("pairs", "unit"),
    ("pairs", "raw"),
    ("differences", "unit"),
)


@dataclass(frozen=True, slots=True)
class Biasing:
    """How bias is measured.

    `centring` and `lengths` make the gender direction, `strictness` is the c of Direct Bias, `pool` is the
    number of random words per target, `random_lists` the number of lists drawn from them.
    """

    centring: Centring = "pairs"
    lengths: Lengths = "unit"
    strictness: float = 1.0
    pool: int = 200
    random_lists: int = LISTS
    resamples: int = RESAMPLES
    seed: int = 0

    def sizes(self, cosines: FloatArray) -> FloatArray:
        """What Direct Bias is the mean of: |cosine| ** strictness."""
        sizes: FloatArray = np.abs(cosines) ** self.strictness
        return sizes

    def interval(self, values: FloatArray) -> Interval:
        """The bootstrap interval of a mean."""
        return mean_interval(values, resamples=self.resamples, seed=self.seed)

    def test(self, values: FloatArray, pools: FloatArray, *, two_sided: bool) -> ListTest:
        """The mean of a list against the means of random lists."""
        return list_test(values, pools, two_sided=two_sided, lists=self.random_lists, seed=self.seed)


@dataclass(frozen=True, slots=True)
class _Groups:
    """Vectors of the pairs that are known on both sides, and of WEAT's attributes."""

    first: FloatArray
    second: FloatArray
    female: FloatArray
    male: FloatArray

    def sides(self, lengths: Lengths) -> tuple[FloatArray, FloatArray]:
        """Both sides of the pairs, as they are or with length 1."""
        return (self.first, self.second) if lengths == "raw" else (unit(self.first), unit(self.second))

    def axis(self, centring: Centring, lengths: Lengths) -> FloatArray:
        """The gender direction, (d,)."""
        vector = paired_axis(*self.sides(lengths), centring=centring).vector
        if not np.isfinite(vector).all():
            raise BadInput("the gender pairs have the same vectors, so there is no direction between them")
        return vector


def judge(request: Asked, vectors: Embedded, where: Mapping[str, str], how: Biasing) -> Judgement:
    """Measure every list; a list without a known word is an error."""
    groups = _groups(request, vectors)
    axis = groups.axis(how.centring, how.lengths)
    findings: list[Finding] = list(_direction(request, vectors, groups, where, how))
    tables = []
    for name, listed in request.lists.items():
        own = vectors.of(request.own[name])
        values = cosines(own, axis)
        known = ~np.isnan(values)
        if not known.any():
            raise BadInput(
                f"none of the {len(values)} words of list '{name}' is known to the encoder",
                where=where.get("encoder", ""),
                allowed="words of the language and spelling of the vectors",
                do="check the spelling in the list, or choose other vectors",
            )
        here = {**where, "list": name}
        findings += _direct(request, vectors, name, values, axis, here, how)
        findings += _variants(groups, own[known], here, how)
        findings += _neighbours(request, vectors, name, groups, here, how)
        table = {
            "word": [target.word for target in listed.targets],
            "symptom": [target.symptom for target in listed.targets],
            "known": known,
            "cosine": values,
        }
        tables.append(pl.DataFrame(table).select(pl.lit(name).alias("list"), pl.all()))
    findings += _adjusted(findings, how.random_lists)
    return Judgement(
        tuple(findings), {"words": pl.concat(tables).with_columns(pl.col("cosine").fill_nan(None))}
    )


def _adjusted(findings: Sequence[Finding], lists: int) -> list[Finding]:
    """The p-values of size and side, adjusted by Holm over both and over all lists.

    With m tests on k random lists none falls below m / (k + 1); where that is not below 0.05 it is flagged.
    """
    tests = [f for f in findings if f.measure in ("direct_bias_p", "signed_mean_p")]
    m = sum(f.tested for f in tests)
    needed = math.floor(m / ALPHA + 1e-9)
    counts = {"tests": m, "lists": lists, "lists_needed": needed}
    return [
        replace(
            test,
            measure=f"{test.measure}_holm",
            value=float(p),
            counts=counts,
            flags=("too_few_lists",) if test.tested and lists < needed else (),
        )
        for test, p in zip(tests, holm([test.value for test in tests]), strict=True)
    ]


def known_pairs(request: Asked, vectors: Embedded) -> list[tuple[Spoken, Spoken]]:
    """The pairs of which the encoder knows both words."""
    return [pair for pair in request.pairs if vectors.known(pair).all()]


def _groups(request: Asked, vectors: Embedded) -> _Groups:
    pairs = known_pairs(request, vectors)
    if len(pairs) < FEWEST_PAIRS:
        raise BadInput(
            f"the encoder knows {len(pairs)} of the {len(request.pairs)} gender pairs",
            allowed=f"{FEWEST_PAIRS} pairs or more, such as she and he, woman and man",
            do="use vectors of English words; check that the file is the right one",
        )
    attributes = [_known(vectors.of(words)) for words in (request.female, request.male)]
    return _Groups(vectors.of([a for a, _ in pairs]), vectors.of([b for _, b in pairs]), *attributes)


def _direction(
    request: Asked, vectors: Embedded, groups: _Groups, where: Mapping[str, str], how: Biasing
) -> Iterator[Finding]:
    """Shares of variance of all components (section 5), and the same for pairs of random words."""
    first, second = groups.sides(how.lengths)
    axis = paired_axis(first, second, centring=how.centring)
    ends = share_intervals(first, second, centring=how.centring)
    drawn = next(iter(request.random_plain.values()))
    few = vectors.distinct_known(drawn) < FEWEST_RANDOM
    some = [] if few else [one for row in drawn for one in row[: max(20, POOL // len(drawn))]]
    pool = _known(vectors.of(some))
    chance = random_shares(unit(pool) if how.lengths == "unit" else pool, len(first), seed=how.seed)
    counts = {"pairs": len(request.pairs), "known": len(first), "agreeing": axis.agreeing}
    for k, (share, interval) in enumerate(zip(axis.shares, ends, strict=True)):
        here = {**where, "component": str(k + 1), "centring": how.centring, "lengths": how.lengths}
        yield Finding("explained_variance", float(share), len(first), _or_none(interval), here, counts)
        if k < len(chance) and math.isfinite(chance[k]):
            yield Finding("explained_variance_chance", float(chance[k]), len(first), None, here)


def _direct(
    request: Asked,
    vectors: Embedded,
    name: str,
    values: FloatArray,
    axis: FloatArray,
    where: Mapping[str, str],
    how: Biasing,
) -> Iterator[Finding]:
    """Direct Bias of a list, its side, its symptoms and its words; values are cosines, (targets,)."""
    targets = request.lists[name].targets
    known = ~np.isnan(values)
    there = values[known]
    n = len(there)
    pools = _pools(request.random[name], vectors, len(targets), lambda rows: cosines(rows, axis))[known]
    ends = how.interval(there)
    unclear = ("direction_unclear",) if not ends[0] * ends[1] > 0 else ()
    words = [target for target, kept in zip(targets, known, strict=True) if kept]
    most = tuple(words[i].word for i in carriers(there, CARRIERS))
    counts = {"words": len(targets), "known": n, "missing": len(targets) - n}
    whole = _mean_size("direct_bias", there, where, how)
    yield replace(whole, counts=counts, examples=most, flags=unclear)
    yield from _chance("direct_bias", how.test(how.sizes(there), how.sizes(pools), two_sided=False), n, where)
    towards = {"towards_female": int((there > 0).sum()), "towards_male": int((there < 0).sum())}
    yield Finding("signed_mean", float(there.mean()), n, ends, whole.where, towards, (), unclear)
    yield from _chance("signed_mean", how.test(there, pools, two_sided=True), n, where)
    for symptom in dict.fromkeys(target.symptom for target in words if target.symptom):
        part = there[[target.symptom == symptom for target in words]]
        yield _mean_size("direct_bias_symptom", part, {**where, "symptom": symptom}, how)
    for i in carriers(there, n):
        named = {"word": words[i].word, "symptom": words[i].symptom}
        here = {**where, **{key: value for key, value in named.items() if value}}
        yield Finding("projection", float(there[i]), 1, None, here)


def _variants(groups: _Groups, own: FloatArray, where: Mapping[str, str], how: Biasing) -> Iterator[Finding]:
    """Direct Bias with other gender directions: how much the figure depends on that choice."""
    for centring, lengths in VARIANTS:
        values = cosines(own, groups.axis(centring, lengths))
        here = {**where, "centring": centring, "lengths": lengths}
        yield _mean_size("direct_bias_variant", values, here, how)


def _mean_size(measure: str, values: FloatArray, where: Mapping[str, str], how: Biasing) -> Finding:
    """Direct Bias of some words, and the side that they lean to."""
    here = {**where, "direction": "F" if values.mean() > 0 else "M"}
    value = direct_bias(values, strictness=how.strictness)
    return Finding(measure, value, len(values), how.interval(how.sizes(values)), here)


def _chance(measure: str, test: ListTest, n: int, where: Mapping[str, str]) -> Iterator[Finding]:
    """What random lists show, and how many of them show as much."""
    yield Finding(f"{measure}_chance", test.chance, n, _or_none(test.spread), where)
    yield Finding(f"{measure}_p", test.p, n, None, where)


def _neighbours(
    request: Asked, vectors: Embedded, name: str, groups: _Groups, where: Mapping[str, str], how: Biasing
) -> Iterator[Finding]:
    """WEAT (SEAT for contextual vectors) against words of bodily illness, and RND; above 0 is female."""
    named = {target.word.casefold() for target in request.lists[name].targets}
    contrast = _known(vectors.of([one for one in request.contrast if one.word.casefold() not in named]))
    plain = vectors.of(request.plain[name])
    own = _known(plain)
    attributes = {"female": len(groups.female), "male": len(groups.male)}
    if not len(own) or not all(attributes.values()):
        return
    drawn = {"permutations": how.random_lists, "resamples": how.resamples, "seed": how.seed}
    found = weat(own, contrast, groups.female, groups.male, **drawn)
    n = len(own) + len(contrast)
    against = {**where, "against": "physical illness"}
    counts = {"targets": len(own), "contrast": len(contrast), **attributes}
    yield Finding("weat_effect", found.effect, n, _or_none(found.interval), against, counts)
    yield Finding("weat_p", found.p_two_sided, n, None, against)

    def distances(rows: FloatArray) -> FloatArray:
        return norm_distances(rows, groups.female, groups.male)

    values = distances(plain)
    known = ~np.isnan(values)
    there = values[known]
    pools = _pools(request.random_plain[name], vectors, len(values), distances)[known]
    yield Finding("rnd", float(there.mean()), len(there), how.interval(there), where, attributes)
    yield from _chance("rnd", how.test(there, pools, two_sided=True), len(there), where)


def _pools(
    rows: tuple[tuple[Spoken, ...], ...],
    vectors: Embedded,
    targets: int,
    measure: Callable[[FloatArray], FloatArray],
) -> FloatArray:
    """What random words show, (targets, m); one row for all is repeated, short rows are filled with NaN.

    NaN everywhere where too few of the words are known.
    """
    widest = max(len(row) for row in rows)
    out = np.full((len(rows), widest), np.nan)
    for i, row in enumerate(rows if vectors.distinct_known(rows) >= FEWEST_RANDOM else ()):
        out[i, : len(row)] = measure(vectors.of(row))
    return np.repeat(out, targets, axis=0) if len(rows) == 1 else out


def _known(rows: FloatArray) -> FloatArray:
    found: FloatArray = rows[~np.isnan(unit(rows)).any(axis=1)]
    return found


def _or_none(interval: Interval) -> Interval | None:
    return None if any(math.isnan(end) for end in interval) else interval
