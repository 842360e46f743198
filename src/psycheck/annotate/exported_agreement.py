"""How far annotators agree, as records for a file."""

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from psycheck.annotate.annotator_agreement import (
    Agreed,
    between,
    by_day,
    by_label,
    by_version,
    in_queues,
    pace,
)
from psycheck.annotate.answered_items import answered_items
from psycheck.annotate.database import Database
from psycheck.annotate.evidence_agreement import MarkedText, evidence_agreement
from psycheck.annotate.export import judgements
from psycheck.annotate.membership import Person
from psycheck.statistics.rater_agreement import Agreement


def agreed(db: Database, who: Person | None, project_id: int) -> Iterator[dict[str, Any]]:
    """The agreement by label, evidence, day, version and pair of annotators, and how long each takes.

    Flagged posts count: no figure quotes them.
    """
    # One table for all figures: they are of the same answers, even while people work.
    table = in_queues(judgements(db, who, project_id, flagged=True))
    for agreement in by_label(table):
        yield {"of": "label", **_agreement_record(agreement)}
    for on_evidence in evidence_agreement(marked_texts(db, who, project_id)):
        yield {
            "of": "evidence",
            "label": on_evidence.label,
            "f1": _figure(on_evidence.f1),
            "alpha": _figure(on_evidence.alpha),
        }
    # By day and by version show drift: an agreement over all hides that it fell.
    for day, agreement in by_day(table):
        yield {"of": "day", "day": day, **_agreement_record(agreement)}
    for version, agreement in by_version(table):
        yield {"of": "version", "version": version, **_agreement_record(agreement)}
    for pair in between(table):
        yield {"of": "pair", "first": pair.first, "second": pair.second, "kappa": _figure(pair.kappa)}
    # Somebody who takes two seconds a text has not read it.
    for annotator_pace in pace(table):
        yield {"of": "annotator", **asdict(annotator_pace)}


def marked_texts(db: Database, who: Person | None, project_id: int) -> Iterator[MarkedText]:
    """Each text with what its annotators said, for the agreement on evidence."""
    for answered in answered_items(db, who, project_id, flagged=True):
        yield MarkedText(length=len(answered.text), answers=answered.answers_by("annotator"))


def _agreement_record(agreement: Agreed) -> dict[str, Any]:
    return {
        "label": agreement.label,
        "alpha": _figure(agreement.alpha),
        "fleiss_kappa": _figure(agreement.fleiss),
        "agreement": _figure(agreement.percent),
        "share": agreement.share,
        "annotators": agreement.annotators,
    }


def _figure(agreement: Agreement) -> dict[str, Any]:
    """A figure with its interval for JSON."""
    low, high = agreement.interval
    return {
        "value": _or_null(agreement.value),
        "low": _or_null(low),
        "high": _or_null(high),
        "n": agreement.n,
    }


def _or_null(value: float) -> float | None:
    """A number for JSON, which has no NaN."""
    return None if math.isnan(value) else value
