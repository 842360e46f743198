"""What goes with errors in the texts themselves: their length, and cues such as a past state."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from psycheck.audits.differences import Answered, outcome_names
from psycheck.audits.failure_length import compare_lengths
from psycheck.audits.figures import measured, measured_rate
from psycheck.audits.summary import holm_family
from psycheck.core.finding import Finding
from psycheck.statistics.classification import BoolArray, FloatArray
from psycheck.statistics.clustered import mean_interval, ratio_interval
from psycheck.statistics.group_rates import Rate, group_difference

_GOLD = {"0": 0.0, "1": 1.0}
_TESTS = ("cue_p", "error_length_p")
Texts = tuple[FloatArray, Mapping[str, BoolArray]]  # characters, and which texts have each cue, all (n,)


class _Errors(NamedTuple):
    """Errors and right answers of one model among the texts with one annotation, all (n,)."""

    judged: BoolArray
    errors: BoolArray
    right: BoolArray
    where: dict[str, str]


def error_findings(answered: Sequence[tuple[Answered, Texts]]) -> list[Finding]:
    """Lengths and cues of errors; p-values are adjusted over all of them, models, labels and corpora."""
    findings: list[Finding] = []
    for answers, (characters, cues) in answered:
        findings += outcome_lengths(answers, characters)
        findings += _error_lengths(answers, characters)
        findings += _cue_findings(answers, cues)
    tests = [finding for finding in findings if finding.measure in _TESTS]
    return [*findings, *holm_family(tests)]


def outcome_lengths(answers: Answered, characters: FloatArray) -> Iterator[Finding]:
    """The mean length of texts by annotation and by who of two models is right (ANGST, Table 16)."""
    for first, second in answers.pairs:
        where = answers.where(first, second)
        outcomes = dict(outcome_names(answers, first, second))
        # All texts that both models answered, whoever is right.
        outcomes["all"] = np.logical_or.reduce(list(outcomes.values()))
        for gold, value in _GOLD.items():
            is_of_gold = answers.gold == value
            for outcome, rows in outcomes.items():
                chosen = rows & is_of_gold
                lengths = characters[chosen]
                mean = np.nan
                if len(lengths):
                    mean = float(lengths.mean())
                yield measured(
                    "outcome_length",
                    mean,
                    len(lengths),
                    interval=mean_interval(lengths, answers.clusters.at(chosen), low=0.0),
                    where={**where, "gold": gold, "outcome": outcome},
                )


def _error_lengths(answers: Answered, characters: FloatArray) -> Iterator[Finding]:
    """Whether a model's errors are longer or shorter than its right answers of the same annotation."""
    for judged, errors, right, where in _errors(answers):
        test = compare_lengths(
            characters[judged],
            errors[judged],
            answers.clusters.at(judged),
        )
        counts = {
            "errors": int(errors.sum()),
            "right": int(right.sum()),
            "characters_errors": _rounded_mean(characters[errors]),
            "characters_right": _rounded_mean(characters[right]),
        }
        yield measured(
            "error_length_effect",
            test.effect,
            test.n,
            interval=test.interval,
            where=where,
            counts=counts,
        )
        yield measured(
            "error_length_p",
            test.p,
            test.n,
            interval=None,
            where=where,
            counts=counts,
        )


def _rounded_mean(lengths: FloatArray) -> int:
    """The mean length for a table, 0 where there is no text."""
    if not len(lengths):
        return 0
    return round(float(lengths.mean()))


def _cue_findings(answers: Answered, cues: Mapping[str, BoolArray]) -> Iterator[Finding]:
    """How often a cue stands in a model's errors, and in its right answers of the same annotation."""
    for group in _errors(answers):
        for cue, has_cue in cues.items():
            where = {**group.where, "cue": cue}
            yield from _cue_in_errors(answers, group, has_cue, where)


def _cue_in_errors(
    answers: Answered,
    group: _Errors,
    has_cue: BoolArray,
    where: Mapping[str, str],
) -> Iterator[Finding]:
    """The share of texts with a cue on both sides, and the difference of the shares."""
    counts: dict[str, int] = {}
    sides = {"errors": group.errors, "right": group.right}
    for among, rows in sides.items():
        with_cue = has_cue & rows
        share = Rate(int(with_cue.sum()), int(rows.sum()))
        counts[among] = share.n
        counts[f"{among}_with_cue"] = share.count

        # Whoever follows up a cue wants to read the errors.
        examples: tuple[str, ...] = ()
        if among == "errors":
            examples = answers.examples(with_cue)
        yield measured_rate(
            "cue_rate",
            share,
            {**where, "among": among},
            {},
            examples,
            ratio_interval(with_cue, rows, answers.clusters),
        )

    judged = group.judged
    side = np.where(group.errors, "errors", "right")
    difference = group_difference(
        has_cue[judged],
        side[judged],
        "errors",
        "right",
        answers.clusters.at(judged),
    )
    n = int(judged.sum())
    yield measured(
        "cue_difference", difference.value, n, interval=difference.interval, where=where, counts=counts
    )
    yield measured(
        "cue_p",
        difference.p,
        n,
        interval=None,
        where=where,
        counts=counts,
    )


def _errors(answers: Answered) -> Iterator[_Errors]:
    """The errors and right answers of each model and annotation."""
    for model in range(len(answers.models)):
        right = answers.right[:, model]  # NaN where the text is not annotated or not answered
        is_known = ~np.isnan(right)
        for gold, value in _GOLD.items():
            # By annotation: the two classes may differ in length and cues, whoever is right.
            judged = is_known & (answers.gold == value)
            yield _Errors(
                judged=judged,
                errors=judged & (right == 0),
                right=judged & (right == 1),
                where={**answers.where(model), "gold": gold},
            )
