"""How far an arm moved the pass rates of checks against the plain model, on the texts that both judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from psycheck.audits.figures import measured
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding
from psycheck.report.sections import by, grouped
from psycheck.report.studies.improve_tables import TRAINED_ON
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.group_rates import paired_difference

# (arm, seed, suite, check) → id of a text → passed
Passed = dict[tuple[str, str, str, str], dict[str, bool]]

PLAIN = "plain"
RATE = "sentence_check_pass_rate"


@dataclass(frozen=True, slots=True)
class Texts:
    """The place of each text by its id, and which texts belong together."""

    places: Mapping[str, int]
    clusters: Clusters

    @classmethod
    def of(cls, corpus: Corpus) -> "Texts":
        """The texts of a corpus: those of one author, and copies, belong together."""
        places = {text_id: place for place, text_id in enumerate(corpus.ids)}
        return cls(places, Clusters.of(corpus.units(), corpus.copies()))

    def clusters_of(self, text_ids: Sequence[str]) -> Clusters:
        """The clusters of cases by the ids of their texts; a text may have several cases."""
        rows = [self.places[text_id] for text_id in text_ids]
        return self.clusters.at(np.array(rows, np.intp))


def rate_changes(
    rates: Sequence[Finding],
    passed: Passed,
    texts: Texts,
) -> list[Finding]:
    """How far the pass rate of each check, and of each symptom and polarity, moved; seeds are pooled.

    A case is one text with one check and seed, as both arms judged it: `counts` has passed and n before and
    after, and the `texts` that the cases are of. A check that training used is marked, and left out of the
    figures of its symptom, which only cover sentences that the model has not seen.
    """
    pass_rates = [rate for rate in rates if rate.measure == RATE]
    changes: list[Finding] = []

    for suite_rates in grouped(pass_rates, by("suite")).values():
        checks = grouped(suite_rates, by("check"))
        with_symptom = [rate for rate in suite_rates if rate.where.get("symptom")]
        symptoms = grouped(with_symptom, by("symptom", "polarity"))

        # In the order of training; a set would have none.
        arm_names = dict.fromkeys(rate.where["arm"] for rate in suite_rates)
        arm_names.pop(PLAIN, None)
        for arm in arm_names:
            for check_rates in checks.values():
                changes += _rate_change(check_rates, passed, texts, arm, "check")

            learned_checks = _learned_checks(suite_rates, arm)
            for symptom_rates in symptoms.values():
                unseen = [rate for rate in symptom_rates if rate.where["check"] not in learned_checks]
                changes += _rate_change(unseen, passed, texts, arm, "symptom")
    return changes


def _learned_checks(rates: Sequence[Finding], arm: str) -> set[str]:
    """The checks whose sentences an arm has seen in training."""
    rates_of_arm = [rate for rate in rates if rate.where["arm"] == arm]
    return {rate.where["check"] for rate in rates_of_arm if TRAINED_ON in rate.flags}


def _rate_change(
    rates: Sequence[Finding],
    passed: Passed,
    texts: Texts,
    arm: str,
    level: str,
) -> list[Finding]:
    """The change over the cases that both arms judged.

    All checks and seeds use the same texts, so pooling them gives no more texts: cases are clustered.
    """
    rates_of_arm = [rate for rate in rates if rate.where["arm"] == arm]
    text_ids, before, after = _cases_of_both(rates_of_arm, passed, arm)
    n = len(text_ids)
    if not n:
        return []

    clusters = texts.clusters_of(text_ids)
    difference = paired_difference(after, before, clusters)
    counts = {
        "passed_before": sum(before),
        "n_before": n,
        "passed_after": sum(after),
        "n_after": n,
        "texts": len(set(text_ids)),
        "units": clusters.count,
    }
    # What training saw can only show that it was learned, not that it carries over.
    trained_on = any(TRAINED_ON in rate.flags for rate in rates_of_arm)
    return [
        measured(
            "pass_rate_change",
            difference.value,
            n,
            interval=difference.interval,
            where=_place_of_change(rates[0], arm, level),
            counts=counts,
            flags=(TRAINED_ON,) if trained_on else (),
        )
    ]


def _cases_of_both(
    rates_of_arm: Sequence[Finding], passed: Passed, arm: str
) -> tuple[list[str], list[bool], list[bool]]:
    """The texts that the plain model and the arm judged, and whether each passed before and after."""
    text_ids: list[str] = []
    before: list[bool] = []
    after: list[bool] = []
    for rate in rates_of_arm:
        place = (rate.where["seed"], rate.where["suite"], rate.where["check"])
        passed_before = passed.get((PLAIN, *place), {})
        passed_after = passed.get((arm, *place), {})
        # A text without a usable answer of one model says nothing about the change.
        shared_ids = [text_id for text_id in passed_before if text_id in passed_after]

        text_ids += shared_ids
        before += [passed_before[text_id] for text_id in shared_ids]
        after += [passed_after[text_id] for text_id in shared_ids]
    return text_ids, before, after


def _place_of_change(rate: Finding, arm: str, level: str) -> dict[str, str]:
    # Without the seed: it is pooled.
    keys = ("audit", "corpus", "suite", "label", "symptom", "category", "polarity")
    where = {key: rate.where[key] for key in keys if key in rate.where}
    where |= {"arm": arm, "by": level}
    if level == "check":
        where |= {"check": rate.where["check"], "title": rate.where.get("title", "")}
    return where
