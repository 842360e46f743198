"""The figures of a gender direction and of a word list, from vectors alone (gender paper, 2.1.1 and 5)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from psycheck.audits.direct_bias.embedded import Embedded
from psycheck.audits.direct_bias.word_lists import Asked, AskedList, Spoken, Target
from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.errors import BadInput
from psycheck.core.finding import Finding
from psycheck.statistics import word_association as association
from psycheck.statistics.intervals import Interval
from psycheck.statistics.random_topics import (
    LISTS,
    ListTest,
    RandomTopics,
    as_tight,
    list_test,
    neighbourhoods,
)
from psycheck.statistics.word_association import (
    Centring,
    carriers,
    cosines,
    paired_axis,
    unit,
    words_interval,
)

Lengths = Literal["unit", "raw"]
FEWEST_RANDOM = 20  # distinct random words with a vector; lists drawn from fewer hardly differ
CARRIERS = 10
POOL = 1_000  # random words for the shares of variance by chance


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
                "the strictness c of Direct Bias must be above 0",
                code="bias.strictness-not-positive",
                allowed="above 0; the paper uses 1",
            )
        least_numbers = {"pool": 1, "random_lists": 1, "seed": 0}
        for name, least in least_numbers.items():
            if getattr(self, name) < least:
                raise BadInput(
                    f"'{name}' is below {least}",
                    code="bias.number-too-small",
                    allowed=f"{least} or more",
                )

    def sizes(self, cosines: FloatArray) -> FloatArray:
        """What Direct Bias is the mean of: |cosine| ** strictness."""
        sizes: FloatArray = np.abs(cosines) ** self.strictness
        return sizes


@dataclass(frozen=True, slots=True)
class Topics:
    """Random lists, (k, n), by index into the random words that are known, which `rows` (m,) gives."""

    rows: IntArray
    lists: IntArray


@dataclass(frozen=True, slots=True)
class Judging:
    """Vectors, those of the pairs known on both sides and of WEAT's attributes, and how they are measured."""

    vectors: Embedded
    how: Biasing
    first: FloatArray
    second: FloatArray
    female: FloatArray
    male: FloatArray

    def sides(self, lengths: Lengths) -> tuple[FloatArray, FloatArray]:
        """Both sides of the pairs, as they are or with length 1."""
        if lengths == "raw":
            return self.first, self.second
        return unit(self.first), unit(self.second)

    def axis(self, centring: Centring, lengths: Lengths) -> FloatArray:
        """The gender direction, (d,)."""
        first, second = self.sides(lengths)
        vector = paired_axis(first, second, centring=centring).vector
        if not np.isfinite(vector).all():
            raise BadInput(
                "the gender pairs have the same vectors, so there is no direction between them",
                code="bias.no-direction",
            )
        return vector

    def direction(self, request: Asked, where: Mapping[str, str]) -> Iterator[Finding]:
        """Shares of variance of all components (section 5), and the same for pairs of random words."""
        how = self.how
        n = len(self.first)
        first, second = self.sides(how.lengths)
        axis = paired_axis(first, second, centring=how.centring)
        random_shares = self._random_shares(request, n)
        counts = {
            "pairs": len(request.pairs),
            "known": n,
            "agreeing": axis.agreeing,
        }
        for component, share in enumerate(axis.shares, start=1):
            where_of_component = {
                **where,
                "component": str(component),
                "centring": how.centring,
                "lengths": how.lengths,
            }
            yield Finding(
                "explained_variance",
                float(share),
                n,
                where=where_of_component,
                counts=counts,
            )

            # Too few random words give fewer components, or none.
            random_share = random_shares[component - 1 : component]
            if np.isfinite(random_share).any():
                chance = float(random_share[0])
                yield Finding("explained_variance_chance", chance, n, where=where_of_component)

    def _random_shares(self, request: Asked, pairs: int) -> FloatArray:
        """The shares of variance of as many pairs of random words, from the words of the first list."""
        first_list = next(iter(request.lists.values()))
        pool = self.vectors.of_known(first_list.random_plain[:POOL])
        if len(pool) < FEWEST_RANDOM:
            pool = pool[:0]
        if self.how.lengths == "unit":
            pool = unit(pool)
        return association.random_shares(pool, pairs, seed=self.how.seed)

    def direct(
        self,
        asked_list: AskedList,
        values: FloatArray,
        axis: FloatArray,
        where: Mapping[str, str],
        topics: Topics,
    ) -> Iterator[Finding]:
        """Direct Bias of a list, its side, its symptoms and its words; values are cosines, (targets,)."""
        how = self.how
        is_known = ~np.isnan(values)
        projections = values[is_known]
        n = len(projections)
        targets = [asked_list.listed.targets[k] for k in np.flatnonzero(is_known)]
        random_cosines = cosines(self.vectors.of(asked_list.random), axis)
        random_topics = self.as_tight(asked_list.own, asked_list.random, topics)
        random_lists = random_topics.values(random_cosines[topics.rows])  # (lists, n)

        # An interval with 0 inside leaves open which gender the words are closer to.
        ends = _or_none(words_interval(projections))
        # Both ends on one side of 0 have a product above 0.
        is_direction_clear = ends is not None and ends[0] * ends[1] > 0
        flags = () if is_direction_clear else ("direction_unclear",)

        size = self.mean_size("direct_bias", projections, where)
        counts = {
            "words": len(values),
            "known": n,
            "missing": len(values) - n,
        }
        examples = tuple(targets[k].word for k in carriers(projections, CARRIERS))
        yield replace(
            size,
            counts=counts,
            examples=examples,
            flags=flags,
        )

        mean_size = float(how.sizes(projections).mean())
        random_sizes = how.sizes(random_lists).mean(axis=1)
        size_test = list_test(mean_size, random_sizes)
        yield from _chance("direct_bias", size_test, n, where)

        mean = float(projections.mean())
        sides = {
            "towards_female": int((projections > 0).sum()),
            "towards_male": int((projections < 0).sum()),
        }
        yield Finding(
            "signed_mean",
            mean,
            n,
            interval=ends,
            where=size.where,
            counts=sides,
            flags=flags,
        )
        side_test = list_test(mean, random_lists.mean(axis=1), two_sided=True)
        yield from _chance("signed_mean", side_test, n, where)

        yield from self._by_symptom(targets, projections, where)
        yield from _words_of_list(targets, projections, where)

    def _by_symptom(
        self,
        targets: Sequence[Target],
        projections: FloatArray,
        where: Mapping[str, str],
    ) -> Iterator[Finding]:
        """Direct Bias of the words of each symptom."""
        symptoms = [target.symptom for target in targets]
        for symptom in dict.fromkeys(symptoms):
            if not symptom:
                continue
            is_of_symptom = [name == symptom for name in symptoms]
            where_of_symptom = {**where, "symptom": symptom}
            yield self.mean_size(
                "direct_bias_symptom",
                projections[is_of_symptom],
                where_of_symptom,
            )

    def neighbours(
        self,
        asked_list: AskedList,
        contrast: Sequence[Spoken],
        where: Mapping[str, str],
        topics: Topics,
    ) -> Iterator[Finding]:
        """WEAT (SEAT for contextual vectors) against words of bodily illness, and RND; above 0 is female."""
        # In SEAT's plain sentence: both sides of the comparison stand in the same one.
        targets = self.vectors.of_known(asked_list.plain)
        attributes = {"female": len(self.female), "male": len(self.male)}
        if not len(targets) or not all(attributes.values()):
            return
        yield from self._weat(asked_list, targets, contrast, where, attributes)

        distances = self._norm_distances(asked_list.plain)
        distances = distances[~np.isnan(distances)]
        n = len(distances)
        mean = float(distances.mean())
        ends = _or_none(words_interval(distances))
        yield Finding(
            "rnd",
            mean,
            n,
            interval=ends,
            where=where,
            counts=attributes,
        )

        random_distances = self._norm_distances(asked_list.random_plain)
        random_topics = self.as_tight(asked_list.plain, asked_list.random_plain, topics)
        # Nearly linear in the vectors: the attributes are far away from most words.
        random_means = random_topics.values(random_distances[topics.rows]).mean(axis=1)
        side_test = list_test(mean, random_means, two_sided=True)
        yield from _chance("rnd", side_test, n, where)

    def _weat(
        self,
        asked_list: AskedList,
        targets: FloatArray,
        contrast: Sequence[Spoken],
        where: Mapping[str, str],
        attributes: Mapping[str, int],
    ) -> Iterator[Finding]:
        """WEAT of the targets, (n, d), against the words of the contrast that the list does not hold."""
        # A word on both sides would pull them together.
        listed_words = {target.word.casefold() for target in asked_list.listed.targets}
        contrast_words = [word for word in contrast if word.word.casefold() not in listed_words]
        contrast_vectors = self.vectors.of_known(contrast_words)
        weat = association.weat(
            targets,
            contrast_vectors,
            self.female,
            self.male,
            permutations=self.how.random_lists,
            seed=self.how.seed,
        )
        n = len(targets) + len(contrast_vectors)
        where_of_contrast = {**where, "against": "physical illness"}
        counts = {
            "targets": len(targets),
            "contrast": len(contrast_vectors),
            **attributes,
        }
        ends = _or_none(weat.interval)
        yield Finding(
            "weat_effect",
            weat.effect,
            n,
            interval=ends,
            where=where_of_contrast,
            counts=counts,
        )
        yield Finding("weat_p", weat.p_two_sided, n, where=where_of_contrast)

    def _norm_distances(self, words: Sequence[Spoken]) -> FloatArray:
        """The relative norm distance of each word, (n,); NaN where it is not known."""
        vectors = self.vectors.of(words)
        return association.norm_distances(vectors, self.female, self.male)

    def mean_size(self, measure: str, values: FloatArray, where: Mapping[str, str]) -> Finding:
        """Direct Bias of some words, and the side that they lean to."""
        direction = "F" if values.mean() > 0 else "M"
        value = association.direct_bias(values, strictness=self.how.strictness)
        ends = _or_none(words_interval(self.how.sizes(values)))
        where_with_side = {**where, "direction": direction}
        return Finding(measure, value, len(values), interval=ends, where=where_with_side)

    def topics(self, asked_list: AskedList, size: int) -> Topics:
        """Random lists of as many words; none where too few of the random words are known."""
        # Known both ways, so that all tests of a list use the same random lists.
        has_sentence = self.vectors.known(asked_list.random)
        has_word = self.vectors.known(asked_list.random_plain)
        rows = np.flatnonzero(has_sentence & has_word)
        if len(rows) < FEWEST_RANDOM:
            rows = rows[:0]

        known_words = [asked_list.random[row] for row in rows]
        lists = neighbourhoods(
            self.vectors.of(known_words),
            size,
            lists=self.how.random_lists,
            seed=self.how.seed,
        )
        return Topics(rows, lists)

    def as_tight(
        self,
        words: Sequence[Spoken],
        random_words: Sequence[Spoken],
        topics: Topics,
    ) -> RandomTopics:
        """The random lists, as much alike as the words of the list are."""
        pool = self.vectors.of([random_words[row] for row in topics.rows])
        return as_tight(topics.lists, pool, self.vectors.of_known(words))


def _words_of_list(
    targets: Sequence[Target],
    projections: FloatArray,
    where: Mapping[str, str],
) -> Iterator[Finding]:
    """The cosine of each word, those that carry most of Direct Bias first."""
    for place in carriers(projections, len(projections)):
        target = targets[place]
        where_of_word = {**where, "word": target.word}
        if target.symptom:
            where_of_word["symptom"] = target.symptom
        yield Finding("projection", float(projections[place]), 1, where=where_of_word)


def _chance(
    measure: str,
    test: ListTest,
    n: int,
    where: Mapping[str, str],
) -> Iterator[Finding]:
    """What random lists show, and how many of them show as much."""
    yield Finding(
        f"{measure}_chance",
        test.chance,
        n,
        interval=_or_none(test.spread),
        where=where,
    )
    yield Finding(
        f"{measure}_p",
        test.p,
        n,
        where=where,
        counts={"lists": test.lists},
    )


def _or_none(interval: Interval) -> Interval | None:
    """The interval, None where one of its ends is not known."""
    is_unknown = any(math.isnan(end) for end in interval)
    return None if is_unknown else interval
