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
FEWEST_RANDOM = (
    20  # different random words that are known; lists of fewer are much the same, so they show nothing
)
ALPHA = 0.05
CARRIERS = 10
POOL = 1_000  # random words for the shares of variance by chance
# How the gender direction could be made otherwise; the first is Bolukbasi's.
VARIANTS: tuple[tuple[Centring, Lengths], ...] = (
    ("pairs", "unit"),
    ("pairs", "raw"),
    ("differences", "unit"),
)


@dataclass(frozen=True, slots=True)
class Biasing:
    """How bias is measured.

    `centring` and `lengths` make the gender direction, `strictness` is the c of Direct Bias, `pool` says how
    many random words stand for a target, `random_lists` how many lists are drawn from them.
    """

    centring: Centring = "pairs"
    lengths: Lengths = "unit"
    strictness: float = 1.0
    pool: int = 200
    random_lists: int = LISTS
    resamples: int = RESAMPLES
    seed: int = 0


@dataclass(frozen=True, slots=True)
class _Groups:
    """Vectors of the pairs that are known on both sides, and of WEAT's attributes."""

    first: FloatArray
    second: FloatArray
    female: FloatArray
    male: FloatArray


def judge(asked: Asked, vectors: Embedded, where: Mapping[str, str], how: Biasing) -> Judgement:
    """Measure every list; a list of which no word is known is a mistake that is said."""
    groups = _groups(asked, vectors)
    axis = _axis(groups, how.centring, how.lengths)
    findings: list[Finding] = list(_direction(asked, vectors, groups, where, how))
    rows: list[dict[str, object]] = []
    for name in asked.lists:
        own = vectors.of(asked.own[name])
        values = cosines(own, axis)
        known = ~np.isnan(values)
        if not known.any():
            raise BadInput(
                f"none of the {len(values)} words of list '{name}' is known to the encoder",
                where=where.get("encoder", ""),
                allowed="words of the language and spelling of the vectors",
                do="look at the list's spelling, or choose other vectors",
            )
        here = {**where, "list": name}
        findings += _direct(asked, vectors, name, values, axis, here, how)
        findings += _variants(groups, own[known], here, how)
        findings += _neighbours(asked, vectors, name, groups, here, how)
        rows += [
            {
                "list": name,
                "word": target.word,
                "symptom": target.symptom,
                "known": bool(there),
                "cosine": None if math.isnan(value) else float(value),
            }
            for target, value, there in zip(asked.lists[name].targets, values, known, strict=True)
        ]
    schema = {
        "list": pl.String,
        "word": pl.String,
        "symptom": pl.String,
        "known": pl.Boolean,
        "cosine": pl.Float64,
    }
    findings += _adjusted(findings, how.random_lists)
    return Judgement(tuple(findings), {"words": pl.DataFrame(rows, schema=schema)})


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


def known_pairs(asked: Asked, vectors: Embedded) -> list[tuple[Spoken, Spoken]]:
    """The pairs of which the encoder knows both words."""
    return [pair for pair in asked.pairs if vectors.known(pair).all()]


def _groups(asked: Asked, vectors: Embedded) -> _Groups:
    pairs = known_pairs(asked, vectors)
    if len(pairs) < FEWEST_PAIRS:
        raise BadInput(
            f"the encoder knows {len(pairs)} of the {len(asked.pairs)} pairs that give the gender direction",
            allowed=f"{FEWEST_PAIRS} pairs or more, such as she and he, woman and man",
            do="use vectors of English words; is the file the right one?",
        )
    attributes = [_known(vectors.of(words)) for words in (asked.female, asked.male)]
    return _Groups(vectors.of([a for a, _ in pairs]), vectors.of([b for _, b in pairs]), *attributes)


def _axis(groups: _Groups, centring: Centring, lengths: Lengths) -> FloatArray:
    made = paired_axis(*_sides(groups, lengths), centring=centring)
    if not np.isfinite(made.vector).all():
        raise BadInput("the pairs of gender have the same vectors, so there is no direction between them")
    return made.vector


def _sides(groups: _Groups, lengths: Lengths) -> tuple[FloatArray, FloatArray]:
    if lengths == "raw":
        return groups.first, groups.second
    return unit(groups.first), unit(groups.second)


def _direction(
    asked: Asked, vectors: Embedded, groups: _Groups, where: Mapping[str, str], how: Biasing
) -> Iterator[Finding]:
    """Shares of variance of all components (section 5), and the same for pairs of random words."""
    first, second = _sides(groups, how.lengths)
    axis = paired_axis(first, second, centring=how.centring)
    ends = share_intervals(first, second, centring=how.centring)
    drawn = next(iter(asked.random_plain.values()))
    few = vectors.distinct_known(drawn) < FEWEST_RANDOM
    some = [] if few else [one for row in drawn for one in row[: max(20, POOL // len(drawn))]]
    pool = _known(vectors.of(some))
    chance = random_shares(unit(pool) if how.lengths == "unit" else pool, len(first), seed=how.seed)
    counts = {"pairs": len(asked.pairs), "known": len(first), "agreeing": axis.agreeing}
    for k, (share, interval) in enumerate(zip(axis.shares, ends, strict=True)):
        here = {**where, "component": str(k + 1), "centring": how.centring, "lengths": how.lengths}
        yield Finding("explained_variance", float(share), len(first), _or_none(interval), here, counts)
        if k < len(chance) and math.isfinite(chance[k]):
            yield Finding("explained_variance_chance", float(chance[k]), len(first), None, here)


def _direct(
    asked: Asked,
    vectors: Embedded,
    name: str,
    values: FloatArray,
    axis: FloatArray,
    where: Mapping[str, str],
    how: Biasing,
) -> Iterator[Finding]:
    targets = asked.lists[name].targets
    known = ~np.isnan(values)
    there = values[known]
    sizes = np.abs(there) ** how.strictness
    n = len(there)
    pools = _pools(asked.random[name], vectors, len(targets), lambda rows: cosines(rows, axis))[known]
    by_size = list_test(sizes, np.abs(pools) ** how.strictness, lists=how.random_lists, seed=how.seed)
    by_sign = list_test(there, pools, two_sided=True, lists=how.random_lists, seed=how.seed)
    ends = mean_interval(there, resamples=how.resamples, seed=how.seed)
    here = {**where, "direction": "F" if there.mean() > 0 else "M"}
    unclear = ("direction_unclear",) if not ends[0] * ends[1] > 0 else ()
    spoken = [target for target, kept in zip(targets, known, strict=True) if kept]
    most = tuple(spoken[i].word for i in carriers(there, CARRIERS))
    yield Finding(
        "direct_bias",
        direct_bias(there, strictness=how.strictness),
        n,
        mean_interval(sizes, resamples=how.resamples, seed=how.seed),
        here,
        {"words": len(targets), "known": n, "missing": len(targets) - n},
        most,
        unclear,
    )
    yield Finding("direct_bias_chance", by_size.chance, n, _or_none(by_size.spread), where)
    yield Finding("direct_bias_p", by_size.p, n, None, where)
    towards = {"towards_female": int((there > 0).sum()), "towards_male": int((there < 0).sum())}
    yield Finding("signed_mean", float(there.mean()), n, ends, here, towards, (), unclear)
    yield Finding("signed_mean_chance", by_sign.chance, n, _or_none(by_sign.spread), where)
    yield Finding("signed_mean_p", by_sign.p, n, None, where)
    for symptom in dict.fromkeys(target.symptom for target in spoken if target.symptom):
        part = there[[target.symptom == symptom for target in spoken]]
        yield Finding(
            "direct_bias_symptom",
            direct_bias(part, strictness=how.strictness),
            len(part),
            mean_interval(np.abs(part) ** how.strictness, resamples=how.resamples, seed=how.seed),
            {**where, "symptom": symptom, "direction": "F" if part.mean() > 0 else "M"},
        )
    for i in carriers(there, n):
        yield Finding(
            "projection",
            float(there[i]),
            1,
            None,
            {
                **where,
                "word": spoken[i].word,
                **({"symptom": spoken[i].symptom} if spoken[i].symptom else {}),
            },
        )


def _variants(groups: _Groups, own: FloatArray, where: Mapping[str, str], how: Biasing) -> Iterator[Finding]:
    """Direct Bias with the gender direction made otherwise: how much the figure hangs on that choice."""
    for centring, lengths in VARIANTS:
        values = cosines(own, _axis(groups, centring, lengths))
        sizes = np.abs(values) ** how.strictness
        yield Finding(
            "direct_bias_variant",
            float(sizes.mean()),
            len(values),
            mean_interval(sizes, resamples=how.resamples, seed=how.seed),
            {
                **where,
                "centring": centring,
                "lengths": lengths,
                "direction": "F" if values.mean() > 0 else "M",
            },
        )


def _neighbours(
    asked: Asked, vectors: Embedded, name: str, groups: _Groups, where: Mapping[str, str], how: Biasing
) -> Iterator[Finding]:
    """WEAT (SEAT for contextual vectors) against words of bodily illness, and RND; above 0 is female."""
    named = {target.word.casefold() for target in asked.lists[name].targets}
    contrast = _known(vectors.of([one for one in asked.contrast if one.word.casefold() not in named]))
    plain = vectors.of(asked.plain[name])
    own = _known(plain)
    attributes = {"female": len(groups.female), "male": len(groups.male)}
    if not len(own) or not all(attributes.values()):
        return
    found = weat(
        own,
        contrast,
        groups.female,
        groups.male,
        permutations=how.random_lists,
        resamples=how.resamples,
        seed=how.seed,
    )
    n = len(own) + len(contrast)
    against = {**where, "against": "physical illness"}
    counts = {"targets": len(own), "contrast": len(contrast), **attributes}
    yield Finding("weat_effect", found.effect, n, _or_none(found.interval), against, counts)
    yield Finding("weat_p", found.p_two_sided, n, None, against)

    def distances(rows: FloatArray) -> FloatArray:
        return norm_distances(rows, groups.female, groups.male)

    values = distances(plain)
    there = ~np.isnan(values)
    pools = _pools(asked.random_plain[name], vectors, len(values), distances)
    test = list_test(values[there], pools[there], two_sided=True, lists=how.random_lists, seed=how.seed)
    m = int(there.sum())
    ends = mean_interval(values[there], resamples=how.resamples, seed=how.seed)
    yield Finding("rnd", float(values[there].mean()), m, ends, where, attributes)
    yield Finding("rnd_chance", test.chance, m, _or_none(test.spread), where)
    yield Finding("rnd_p", test.p, m, None, where)


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
