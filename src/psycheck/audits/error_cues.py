"""What goes with errors in the texts themselves: their length, and cues such as a past state."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from psycheck.audits.differences import Answered, outcome_names
from psycheck.audits.length import compared
from psycheck.audits.measured import measured, measured_rate
from psycheck.audits.summary import holm_family
from psycheck.finding import Finding
from psycheck.measures.classification import BoolArray, FloatArray
from psycheck.measures.clustered import mean_interval, ratio_interval
from psycheck.measures.fairness import Rate, group_difference

_GOLD = {"0": 0.0, "1": 1.0}
_TESTS = ("cue_p", "error_length_p")
Texts = tuple[FloatArray, Mapping[str, BoolArray]]  # characters, and which texts have each cue, all (n,)


def error_findings(answered: Sequence[tuple[Answered, Texts]]) -> list[Finding]:
    """Lengths and cues of errors; p-values are adjusted over all of them, models, labels and corpora."""
    found: list[Finding] = []
    for one, (characters, cues) in answered:
        found += [*outcome_lengths(one, characters), *_error_lengths(one, characters), *_cues(one, cues)]
    return [*found, *holm_family([f for f in found if f.measure in _TESTS])]


def outcome_lengths(one: Answered, characters: FloatArray) -> Iterator[Finding]:
    """The mean length of texts by annotation and by who of two models is right (ANGST, Table 16)."""
    for first, second in one.pairs:
        outcomes = dict(outcome_names(one, first, second))
        outcomes["all"] = np.logical_or.reduce(list(outcomes.values()))
        for gold, value in _GOLD.items():
            for outcome, rows in outcomes.items():
                here = rows & (one.gold == value)
                length = float(characters[here].mean()) if here.any() else np.nan
                interval = mean_interval(characters[here], one.clusters.at(here), low=0.0)
                where = {**one.where(first, second), "gold": gold, "outcome": outcome}
                yield measured("outcome_length", length, int(here.sum()), interval, where)


def _error_lengths(one: Answered, characters: FloatArray) -> Iterator[Finding]:
    """Whether a model's errors are longer or shorter than its right answers of the same annotation."""
    for wrong, here, where in _errors(one):
        p, effect, interval, n = compared(characters[here], wrong[here], one.clusters.at(here))
        means = [characters[here & side].mean() if (here & side).any() else 0 for side in (wrong, ~wrong)]
        counts = {
            "errors": int((here & wrong).sum()),
            "right": int((here & ~wrong).sum()),
            "characters_errors": round(float(means[0])),
            "characters_right": round(float(means[1])),
        }
        yield measured("error_length_effect", effect, n, interval, where, counts)
        yield measured("error_length_p", p, n, None, where, counts)


def _cues(one: Answered, cues: Mapping[str, BoolArray]) -> Iterator[Finding]:
    """How often a cue stands in a model's errors, and in its right answers of the same annotation."""
    for wrong, here, where in _errors(one):
        sides = {"errors": here & wrong, "right": here & ~wrong}
        for cue, has in cues.items():
            place = {**where, "cue": cue}
            for among, rows in sides.items():
                share = Rate(int((has & rows).sum()), int(rows.sum()))
                interval = ratio_interval(has & rows, rows, one.clusters)
                ids = one.examples(has & rows) if among == "errors" else ()
                yield measured_rate("cue_rate", share, {**place, "among": among}, {}, ids, interval)
            counts = {
                f"{among}{part}": int((rows & mask).sum())
                for among, rows in sides.items()
                for part, mask in (("", rows), ("_with_cue", has))
            }
            group = np.where(wrong, "errors", "right")
            found = group_difference(has[here], group[here], "errors", "right", one.clusters.at(here))
            n = int(here.sum())
            yield measured("cue_difference", found.value, n, found.interval, place, counts)
            yield measured("cue_p", found.p, n, None, place, counts)


def _errors(one: Answered) -> Iterator[tuple[BoolArray, BoolArray, dict[str, str]]]:
    """Of each model and annotation: which texts are errors, which count at all, and the `where` of both."""
    for model in range(len(one.models)):
        right = one.right[:, model]
        for gold, value in _GOLD.items():
            here = ~np.isnan(right) & (one.gold == value)
            yield right == 0, here, {**one.where(model), "gold": gold}
