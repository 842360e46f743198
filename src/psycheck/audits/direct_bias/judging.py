"""Direct Bias and its neighbours of all lists of a run, and their p-values as one family."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from psycheck.audits.direct_bias.embedded import Embedded, known_pairs
from psycheck.audits.direct_bias.findings import Biasing, Judging, Lengths
from psycheck.audits.direct_bias.word_lists import Asked, AskedList
from psycheck.core.arrays import FloatArray
from psycheck.core.audit import Judgement
from psycheck.core.errors import BadInput
from psycheck.core.finding import Finding
from psycheck.statistics.significance import holm
from psycheck.statistics.word_association import Centring, cosines

FEWEST_PAIRS = 3
ALPHA = 0.05
# Ways to make the gender direction; the first is Bolukbasi's.
VARIANTS: tuple[tuple[Centring, Lengths], ...] = (
    ("pairs", "unit"),
    ("pairs", "raw"),
    ("differences", "unit"),
)


def judge(
    request: Asked,
    vectors: Embedded,
    where: Mapping[str, str],
    how: Biasing,
) -> Judgement:
    """Measure every list; a list without a known word is an error."""
    pairs = known_pairs(request, vectors)
    if len(pairs) < FEWEST_PAIRS:
        raise BadInput(
            f"the encoder knows {len(pairs)} of the {len(request.pairs)} gender pairs",
            code="bias.too-few-pairs",
            allowed=f"{FEWEST_PAIRS} pairs or more, such as she and he, woman and man",
            do="use vectors of English words; check that the file is the right one",
        )
    first_words, second_words = zip(*pairs, strict=True)
    judging = Judging(
        vectors=vectors,
        how=how,
        first=vectors.of(first_words),
        second=vectors.of(second_words),
        female=vectors.of_known(request.female),
        male=vectors.of_known(request.male),
    )
    # One direction for all lists, so that their figures can be compared.
    axis = judging.axis(how.centring, how.lengths)

    findings: list[Finding] = list(judging.direction(request, where))
    tables: list[pl.DataFrame] = []
    for name, asked_list in request.lists.items():
        values = cosines(vectors.of(asked_list.own), axis)
        if np.isnan(values).all():
            raise BadInput(
                f"none of the {len(values)} words of list '{name}' is known to the encoder",
                code="bias.no-known-word",
                where=where.get("encoder", ""),
                allowed="words of the language and spelling of the vectors",
                do="check the spelling in the list, or choose other vectors",
            )
        findings += _list_findings(
            judging,
            asked_list,
            values,
            axis,
            request,
            where={**where, "list": name},
        )
        tables.append(_word_table(name, asked_list, values))

    # Over all lists, so only now.
    findings += _adjusted(findings)
    all_words = pl.concat(tables)
    words = all_words.with_columns(pl.col("cosine").fill_nan(None))
    return Judgement(tuple(findings), {"words": words})


def _list_findings(
    judging: Judging,
    asked_list: AskedList,
    values: FloatArray,
    axis: FloatArray,
    request: Asked,
    where: Mapping[str, str],
) -> Iterator[Finding]:
    """The findings of one list; values are the cosines of its words with the axis, (targets,)."""
    is_known = ~np.isnan(values)
    topics = judging.topics(asked_list, int(is_known.sum()))
    yield from judging.direct(asked_list, values, axis, where, topics)

    # Direct Bias with other gender directions: how much the figure depends on that choice.
    known_vectors = judging.vectors.of(asked_list.own)[is_known]
    for centring, lengths in VARIANTS:
        variant_axis = judging.axis(centring, lengths)
        variant_cosines = cosines(known_vectors, variant_axis)
        where_of_variant = {**where, "centring": centring, "lengths": lengths}
        yield judging.mean_size("direct_bias_variant", variant_cosines, where_of_variant)

    yield from judging.neighbours(asked_list, request.contrast, where, topics)


def _word_table(name: str, asked_list: AskedList, values: FloatArray) -> pl.DataFrame:
    """The words of a list with their cosines; NaN where the encoder does not know a word."""
    targets = asked_list.listed.targets
    return pl.DataFrame(
        {
            "list": [name] * len(values),
            "word": [target.word for target in targets],
            "symptom": [target.symptom for target in targets],
            "known": ~np.isnan(values),
            "cosine": values,
        }
    )


def _adjusted(findings: Sequence[Finding]) -> list[Finding]:
    """The p-values of size and side, adjusted by Holm over both and over all lists.

    With m tests on k random lists none falls below m / (k + 1); where that is not below 0.05 it is flagged.
    """
    tests = [finding for finding in findings if finding.measure in ("direct_bias_p", "signed_mean_p")]
    tested = sum(test.tested for test in tests)
    lists_needed = math.floor(tested / ALPHA + 1e-9)

    adjusted: list[Finding] = []
    p_values = holm([test.value for test in tests])
    for test, p in zip(tests, p_values, strict=True):
        has_too_few = test.tested and test.counts["lists"] < lists_needed
        adjusted.append(
            replace(
                test,
                measure=f"{test.measure}_holm",
                value=float(p),
                counts={
                    "tests": tested,
                    **test.counts,
                    "lists_needed": lists_needed,
                },
                flags=("too_few_lists",) if has_too_few else (),
            )
        )
    return adjusted
