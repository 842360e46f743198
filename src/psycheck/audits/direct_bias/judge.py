"""Direct Bias and its neighbours as findings, from vectors alone (gender paper, sections 2.1.1 and 5)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from psycheck.audits.direct_bias.lists import Asked, AskedList, Spoken
from psycheck.errors import BadInput
from psycheck.finding import Finding
from psycheck.measures import association
from psycheck.measures.association import (
    LISTS,
    Centring,
    ListTest,
    carriers,
    cosines,
    list_test,
    paired_axis,
    unit,
    words_interval,
)
from psycheck.measures.intervals import Interval
from psycheck.measures.significance import holm
from psycheck.model import FloatArray, IntArray, Judgement

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
    number of random words per target, `random_lists` the most lists that are made of them.
    """

    centring: Centring = "pairs"
    lengths: Lengths = "unit"
    strictness: float = 1.0
    pool: int = 200
    random_lists: int = LISTS
    seed: int = 0

    def __post_init__(self) -> None:
        if self.strictness <= 0:
            raise BadInput(
                "the strictness c of Direct Bias must be above 0", allowed="above 0; the paper uses 1"
            )
        for name, least in (("pool", 1), ("random_lists", 1), ("seed", 0)):
            if getattr(self, name) < least:
                raise BadInput(f"'{name}' is below {least}", allowed=f"{least} or more")

    def sizes(self, cosines: FloatArray) -> FloatArray:
        """What Direct Bias is the mean of: |cosine| ** strictness."""
        sizes: FloatArray = np.abs(cosines) ** self.strictness
        return sizes


class Embedded:
    """Vectors by word and sentence, (n, d) as they came from an encoder; a row of NaN where it knows none.

    A row of zeros points nowhere, so that its word counts as not known, too.
    """

    def __init__(self, spoken: Sequence[Spoken], vectors: FloatArray) -> None:
        self._vectors = np.asarray(vectors, np.float64)
        self._rows = {one: row for row, one in enumerate(spoken)}

    def of(self, spoken: Sequence[Spoken]) -> FloatArray:
        """The vectors of some words, (n, d)."""
        return self._vectors[[self._rows[one] for one in spoken]] if spoken else self._vectors[:0]

    def known(self, spoken: Sequence[Spoken]) -> NDArray[np.bool_]:
        """Which of them have a direction, (n,)."""
        found: NDArray[np.bool_] = np.linalg.norm(self.of(spoken), axis=1) > 0
        return found

    def of_known(self, spoken: Sequence[Spoken]) -> FloatArray:
        """The vectors of those that have a direction."""
        found: FloatArray = self.of(spoken)[self.known(spoken)]
        return found


def known_pairs(request: Asked, vectors: Embedded) -> list[tuple[Spoken, Spoken]]:
    """The pairs of which the encoder knows both words."""
    return [pair for pair in request.pairs if vectors.known(pair).all()]


def judge(request: Asked, vectors: Embedded, where: Mapping[str, str], how: Biasing) -> Judgement:
    """Measure every list; a list without a known word is an error."""
    pairs = known_pairs(request, vectors)
    if len(pairs) < FEWEST_PAIRS:
        raise BadInput(
            f"the encoder knows {len(pairs)} of the {len(request.pairs)} gender pairs",
            allowed=f"{FEWEST_PAIRS} pairs or more, such as she and he, woman and man",
            do="use vectors of English words; check that the file is the right one",
        )
    judging = _Judging(
        vectors,
        how,
        *(vectors.of([pair[side] for pair in pairs]) for side in (0, 1)),
        *(vectors.of_known(words) for words in (request.female, request.male)),
    )
    axis = judging.axis(how.centring, how.lengths)
    findings: list[Finding] = list(judging.direction(request, where))
    tables = []
    for name, one in request.lists.items():
        own = vectors.of(one.own)
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
        topics = judging.topics(one, int(known.sum()))
        findings += judging.direct(one, values, axis, here, topics)
        # Direct Bias with other gender directions: how much the figure depends on that choice.
        for centring, lengths in VARIANTS:
            varied = cosines(own[known], judging.axis(centring, lengths))
            place = {**here, "centring": centring, "lengths": lengths}
            findings.append(judging.mean_size("direct_bias_variant", varied, place))
        findings += judging.neighbours(one, request.contrast, here, topics)
        table = {
            "list": [name] * len(values),
            "word": [target.word for target in one.listed.targets],
            "symptom": [target.symptom for target in one.listed.targets],
            "known": known,
            "cosine": values,
        }
        tables.append(pl.DataFrame(table))
    findings += _adjusted(findings)
    return Judgement(
        tuple(findings), {"words": pl.concat(tables).with_columns(pl.col("cosine").fill_nan(None))}
    )


@dataclass(frozen=True, slots=True)
class _Judging:
    """Vectors, those of the pairs known on both sides and of WEAT's attributes, and how they are measured."""

    vectors: Embedded
    how: Biasing
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

    def direction(self, request: Asked, where: Mapping[str, str]) -> Iterator[Finding]:
        """Shares of variance of all components (section 5), and the same for pairs of random words."""
        how, n, sides = self.how, len(self.first), self.sides(self.how.lengths)
        axis = paired_axis(*sides, centring=how.centring)
        drawn = next(iter(request.lists.values())).random_plain
        pool = self.vectors.of_known(drawn[:POOL])
        pool = pool if len(pool) >= FEWEST_RANDOM else pool[:0]
        chance = association.random_shares(unit(pool) if how.lengths == "unit" else pool, n, seed=how.seed)
        counts = {"pairs": len(request.pairs), "known": n, "agreeing": axis.agreeing}
        for k, share in enumerate(axis.shares):
            here = {**where, "component": str(k + 1), "centring": how.centring, "lengths": how.lengths}
            yield Finding("explained_variance", float(share), n, None, here, counts)
            if k < len(chance) and math.isfinite(chance[k]):
                yield Finding("explained_variance_chance", float(chance[k]), n, None, here)

    def direct(
        self,
        one: AskedList,
        values: FloatArray,
        axis: FloatArray,
        where: Mapping[str, str],
        topics: IntArray,
    ) -> Iterator[Finding]:
        """Direct Bias of a list, its side, its symptoms and its words; values are cosines, (targets,)."""
        how, known = self.how, ~np.isnan(values)
        there = values[known]
        n = len(there)
        words = [target for target, kept in zip(one.listed.targets, known, strict=True) if kept]
        random = cosines(self.vectors.of(one.random), axis)[topics]
        ends = _or_none(words_interval(there))
        unclear = () if ends and ends[0] * ends[1] > 0 else ("direction_unclear",)
        most = tuple(words[i].word for i in carriers(there, CARRIERS))
        counts = {"words": len(values), "known": n, "missing": len(values) - n}
        whole = self.mean_size("direct_bias", there, where)
        yield replace(whole, counts=counts, examples=most, flags=unclear)
        size_test = list_test(float(how.sizes(there).mean()), how.sizes(random).mean(axis=1))
        yield from _chance("direct_bias", size_test, n, where)
        towards = {"towards_female": int((there > 0).sum()), "towards_male": int((there < 0).sum())}
        yield Finding("signed_mean", float(there.mean()), n, ends, whole.where, towards, (), unclear)
        side_test = list_test(float(there.mean()), random.mean(axis=1), two_sided=True)
        yield from _chance("signed_mean", side_test, n, where)
        for symptom in dict.fromkeys(target.symptom for target in words if target.symptom):
            part = there[[target.symptom == symptom for target in words]]
            yield self.mean_size("direct_bias_symptom", part, {**where, "symptom": symptom})
        for i in carriers(there, n):
            named = {"word": words[i].word, "symptom": words[i].symptom}
            here = {**where, **{key: value for key, value in named.items() if value}}
            yield Finding("projection", float(there[i]), 1, None, here)

    def neighbours(
        self, one: AskedList, contrast: Sequence[Spoken], where: Mapping[str, str], topics: IntArray
    ) -> Iterator[Finding]:
        """WEAT (SEAT for contextual vectors) against words of bodily illness, and RND; above 0 is female."""
        how = self.how
        named = {target.word.casefold() for target in one.listed.targets}
        against = self.vectors.of_known([other for other in contrast if other.word.casefold() not in named])
        own = self.vectors.of_known(one.plain)
        attributes = {"female": len(self.female), "male": len(self.male)}
        if not len(own) or not all(attributes.values()):
            return
        drawn = {"permutations": how.random_lists, "seed": how.seed}
        found = association.weat(own, against, self.female, self.male, **drawn)
        n = len(own) + len(against)
        place = {**where, "against": "physical illness"}
        counts = {"targets": len(own), "contrast": len(against), **attributes}
        yield Finding("weat_effect", found.effect, n, _or_none(found.interval), place, counts)
        yield Finding("weat_p", found.p_two_sided, n, None, place)

        def distances(rows: FloatArray) -> FloatArray:
            return association.norm_distances(rows, self.female, self.male)

        values = distances(self.vectors.of(one.plain))
        there = values[~np.isnan(values)]
        random = distances(self.vectors.of(one.random_plain))[topics].mean(axis=1)
        yield Finding(
            "rnd", float(there.mean()), len(there), _or_none(words_interval(there)), where, attributes
        )
        test = list_test(float(there.mean()), random, two_sided=True)
        yield from _chance("rnd", test, len(there), where)

    def mean_size(self, measure: str, values: FloatArray, where: Mapping[str, str]) -> Finding:
        """Direct Bias of some words, and the side that they lean to."""
        here = {**where, "direction": "F" if values.mean() > 0 else "M"}
        value = association.direct_bias(values, strictness=self.how.strictness)
        ends = _or_none(words_interval(self.how.sizes(values)))
        return Finding(measure, value, len(values), ends, here)

    def topics(self, one: AskedList, size: int) -> IntArray:
        """Random lists as rows of its random words, (k, size); none where too few of the words are known."""
        known = self.vectors.known(one.random) & self.vectors.known(one.random_plain)
        rows = np.flatnonzero(known)
        rows = rows if len(rows) >= FEWEST_RANDOM else rows[:0]
        drawn = {"lists": self.how.random_lists, "seed": self.how.seed}
        pool = self.vectors.of([one.random[row] for row in rows])
        return rows[association.neighbourhoods(pool, size, **drawn)]


def _chance(measure: str, test: ListTest, n: int, where: Mapping[str, str]) -> Iterator[Finding]:
    """What random lists show, and how many of them show as much."""
    yield Finding(f"{measure}_chance", test.chance, n, _or_none(test.spread), where)
    yield Finding(f"{measure}_p", test.p, n, None, where, {"lists": test.lists})


def _adjusted(findings: Sequence[Finding]) -> list[Finding]:
    """The p-values of size and side, adjusted by Holm over both and over all lists.

    With m tests on k random lists none falls below m / (k + 1); where that is not below 0.05 it is flagged.
    """
    tests = [f for f in findings if f.measure in ("direct_bias_p", "signed_mean_p")]
    m = sum(f.tested for f in tests)
    needed = math.floor(m / ALPHA + 1e-9)
    return [
        replace(
            test,
            measure=f"{test.measure}_holm",
            value=float(p),
            counts={"tests": m, **test.counts, "lists_needed": needed},
            flags=("too_few_lists",) if test.tested and test.counts["lists"] < needed else (),
        )
        for test, p in zip(tests, holm([test.value for test in tests]), strict=True)
    ]


def _or_none(interval: Interval) -> Interval | None:
    return None if any(math.isnan(end) for end in interval) else interval
