"""What is measured between two corpora: words, vectors, and how well a classifier separates them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding
from psycheck.corpora.adversarial import classify_sides
from psycheck.corpora.showable_words import MayShow
from psycheck.corpora.vocabulary import (
    Telling,
    counted,
    divergence,
    profile,
    sides_of,
    telling_words,
    unknown_share,
)
from psycheck.statistics import distance, mmd
from psycheck.statistics.clustered import FEWEST as FEWEST_CLUSTERS
from psycheck.statistics.sides import FEWEST as FEWEST_UNITS
from psycheck.statistics.sides import Figure, Sides

AUDIT = "compare"
WASSERSTEIN = "wasserstein"


@dataclass(frozen=True, slots=True)
class Side:
    """One corpus as it is compared: the texts that are counted, and those that are encoded, with vectors."""

    corpus: Corpus
    counted: Corpus
    encoded: Corpus
    vectors: FloatArray = field(default_factory=lambda: np.empty((0, 0)))


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sides, and which of their words may be shown."""

    first: Side
    second: Side
    may_show: MayShow

    def where(self, part: str, **more: str) -> dict[str, str]:
        """What a finding of a part is about."""
        names = {"first": self.first.corpus.name, "second": self.second.corpus.name}
        return {"audit": AUDIT, **names, **more, "part": part}


def profile_findings(side: Side) -> list[Finding]:
    """Length and variety of one side."""
    where = {
        "audit": AUDIT,
        "part": "profile",
        "corpus": side.corpus.name,
    }
    counts = {"units": len(np.unique(side.counted.units()))}
    findings = []
    for measure, figure in profile(side.counted).items():
        finding = finding_of(
            measure=measure,
            figure=figure,
            where=where,
            counts=counts,
            fewest=FEWEST_CLUSTERS,
        )
        findings.append(finding)
    return findings


def word_findings(pair: Pair, *, most_words: int, seed: int) -> Iterator[Finding]:
    """The divergence of words and word pairs, the words unknown to a side, and the words that tell most."""
    first = pair.first.counted
    second = pair.second.counted
    where = pair.where("words")
    sides = sides_of(first, second)
    counts = _sizes(sides)

    first_words, second_words = counted(first, second, 1)
    figure, chance = divergence(
        first=first_words,
        second=second_words,
        sides=sides,
        seed=seed,
    )
    yield finding_of(
        measure="jsd_unigram",
        figure=figure,
        where=where,
        counts=counts,
    )
    yield Finding(
        measure="jsd_unigram_chance",
        value=chance,
        n=figure.n,
        where=where,
        counts=counts,
    )

    # Both directions: a small corpus knows few of the words of a large one, but not the other way round.
    unknown_in_second = unknown_share(first_words, second_words, sides.units[~sides.first])
    unknown_in_first = unknown_share(second_words, first_words, sides.units[sides.first])
    yield finding_of(
        measure="unknown_in_second",
        figure=unknown_in_second,
        where=where,
        counts=counts,
        fewest=FEWEST_CLUSTERS,
    )
    yield finding_of(
        measure="unknown_in_first",
        figure=unknown_in_first,
        where=where,
        counts=counts,
        fewest=FEWEST_CLUSTERS,
    )

    telling, hidden = telling_words(
        first=first_words,
        second=second_words,
        most=most_words,
        may_show=pair.may_show,
    )
    yield from _telling_findings(
        measure="log_odds_z",
        words=telling,
        hidden=hidden,
        where=where,
    )

    first_pairs, second_pairs = counted(first, second, 2)
    figure, chance = divergence(
        first=first_pairs,
        second=second_pairs,
        sides=sides,
        seed=seed,
    )
    yield finding_of(
        measure="jsd_bigram",
        figure=figure,
        where=where,
        counts=counts,
    )
    yield Finding(
        measure="jsd_bigram_chance",
        value=chance,
        n=figure.n,
        where=where,
        counts=counts,
    )


def vector_findings(
    pair: Pair,
    *,
    encoder: str,
    permutations: int,
    repeats: int,
    seed: int,
) -> Iterator[Finding]:
    """MMD and Wasserstein distances of the vectors; without the extra 'compare', no exact Wasserstein."""
    clouds = (pair.first.vectors, pair.second.vectors)
    where = pair.where("vectors", encoder=encoder)
    sides = sides_of(pair.first.encoded, pair.second.encoded)
    counts = _sizes(sides)
    n = len(sides.units)
    # A value without an interval: a p-value, or what chance alone gives.
    bare_finding = partial(
        Finding,
        n=n,
        interval=None,
        where=where,
    )

    test = mmd.mmd_test(
        *clouds,
        sides=sides,
        permutations=permutations,
        seed=seed,
    )
    discrepancy = Figure(
        value=test.value,
        interval=test.interval,
        n=n,
    )
    yield finding_of(
        measure="mmd2",
        figure=discrepancy,
        where=where,
        counts=counts,
    )
    yield bare_finding("mmd2_p", test.p, counts={**counts, "permutations": permutations})
    yield bare_finding("mmd2_chance", test.chance, counts=counts)
    yield bare_finding("mmd2_biased", test.biased, counts=counts)

    # With the bandwidth of the test, so that the figures can be compared.
    mean, median = mmd.pair_mmd(
        *clouds,
        bandwidth=test.bandwidth,
        sides=sides,
        seed=seed,
    )
    yield finding_of(
        measure="mmd2_pair_mean",
        figure=mean,
        where=where,
        counts=counts,
    )
    yield finding_of(
        measure="mmd2_pair_median",
        figure=median,
        where=where,
        counts=counts,
    )

    try:
        exact, chance = distance.wasserstein(
            *clouds,
            sides=sides,
            repeats=repeats,
            seed=seed,
        )
    except ImportError:
        pass  # `compare` notes that the finding is missing
    else:
        sampled = {**counts, "sample": exact.n // 2, "repeats": repeats}
        yield finding_of(
            measure=WASSERSTEIN,
            figure=exact,
            where=where,
            counts=sampled,
        )
        yield bare_finding(
            "wasserstein_chance",
            chance,
            n=exact.n,
            counts=sampled,
        )

    sliced, chance = distance.sliced_wasserstein(*clouds, sides=sides, seed=seed)
    yield finding_of(
        measure="wasserstein_sliced",
        figure=sliced,
        where=where,
        counts=counts,
    )
    yield bare_finding("wasserstein_sliced_chance", chance, counts=counts)


def adversarial_findings(pair: Pair, *, most_words: int, seed: int) -> Iterator[Finding]:
    """How well a classifier tells which side a text is from, and by which words."""
    first = pair.first.counted
    second = pair.second.counted
    where = pair.where("adversarial")
    result = classify_sides(
        first=first,
        second=second,
        most=most_words,
        may_show=pair.may_show,
        seed=seed,
    )

    confusion = result.confusion
    cells = {
        "tp": confusion.tp,
        "fp": confusion.fp,
        "fn": confusion.fn,
        "tn": confusion.tn,
    }
    counts = {**_sizes(sides_of(first, second)), **cells}
    for measure, value in result.values.items():
        figure = Figure(
            value=value,
            interval=result.intervals[measure],
            n=confusion.n,
        )
        yield finding_of(
            measure=f"adversarial_{measure}",
            figure=figure,
            where=where,
            counts=counts,
            fewest=FEWEST_CLUSTERS,
        )
    yield from _telling_findings(
        measure="adversarial_weight",
        words=result.words,
        hidden=result.hidden,
        where=where,
    )


def _telling_findings(
    measure: str,
    words: Sequence[Telling],
    hidden: int,
    where: Mapping[str, str],
) -> Iterator[Finding]:
    """One finding per word, and one that counts the hidden words if there are any."""
    for telling in words:
        side = "first" if telling.weight > 0 else "second"
        yield Finding(
            measure=measure,
            value=telling.weight,
            n=telling.first + telling.second,
            where={**where, "word": telling.word, "speaks_for": where[side]},
            counts={"texts_first": telling.first, "texts_second": telling.second},
        )
    if hidden:
        yield Finding(
            measure=f"{measure}_hidden",
            value=float(hidden),
            n=hidden + len(words),
            where=where,
        )


def _sizes(sides: Sides) -> dict[str, int]:
    """The number of texts of each side, and of units (authors, else distinct texts)."""
    first_units, second_units = sides.counts()
    first_texts = int(sides.first.sum())
    return {
        "first": first_texts,
        "second": len(sides.first) - first_texts,
        "units_first": first_units,
        "units_second": second_units,
    }


def finding_of(
    measure: str,
    figure: Figure,
    where: Mapping[str, str],
    counts: Mapping[str, int],
    *,
    fewest: int = FEWEST_UNITS,
) -> Finding:
    """A finding; without an interval where there are too few units for one, or nothing varies in them."""
    if figure.interval is None or not np.isnan(figure.interval[0]):
        return Finding(
            measure=measure,
            value=figure.value,
            n=figure.n,
            interval=figure.interval,
            where=where,
            counts=counts,
        )

    # The interval is not known: the flag tells whether more texts would help.
    unit_counts = [number for name, number in counts.items() if name.startswith("units")]
    units = unit_counts or [figure.n]
    too_few = np.isnan(figure.value) or min(units) < fewest
    flag = "too_few" if too_few else "no_spread"
    return Finding(
        measure=measure,
        value=figure.value,
        n=figure.n,
        where=where,
        counts=counts,
        flags=(flag,),
    )
