"""What the card that `psycheck train` writes beside a model says of it to whoever opens the model."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from psycheck.core.errors import UNREADABLE
from psycheck.core.model import Capabilities

RECORD = "training.json"
THRESHOLDS = "thresholds"


def with_card(declared: Capabilities, folder: Path, labels: Sequence[str]) -> Capabilities:
    """What a model declares, and what its card adds: its corpus, its folder and its decision thresholds."""
    record = card_in(folder)
    if not record:
        return declared

    thresholds = _thresholds(record, labels)
    notes = [
        f"decision threshold of '{label}' {threshold:.3g}, as the model's card says"
        for label, threshold in zip(labels, thresholds, strict=False)
        if not math.isnan(threshold)
    ]
    return replace(
        declared,
        card=str(folder),
        trained_on=declared.trained_on or _trained_on(record),
        thresholds=declared.thresholds or thresholds,
        notes=(*declared.notes, *notes),
    )


def card_in(folder: Path) -> Mapping[str, Any]:
    """The card in the folder of a model; empty where there is none that can be read."""
    try:
        record = json.loads((folder / RECORD).read_text("utf-8"))
    except UNREADABLE:
        # A model does not need its card: one that was damaged only leaves these facts out.
        return {}
    return record if isinstance(record, dict) else {}


def _trained_on(record: Mapping[str, Any]) -> tuple[str, ...]:
    """The corpus that the card names."""
    data = record.get("trained_on")
    corpus = data.get("corpus") if isinstance(data, dict) else None
    return (corpus,) if isinstance(corpus, str) else ()


def _thresholds(record: Mapping[str, Any], labels: Sequence[str]) -> tuple[float, ...]:
    """The decision threshold of each label, (k,), NaN for those of the run; () where the card has none."""
    by_label = record.get(THRESHOLDS)
    if not isinstance(by_label, dict):
        return ()

    thresholds: list[float] = []
    for label in labels:
        threshold = by_label.get(label)
        if isinstance(threshold, float) and 0 < threshold < 1:
            thresholds.append(threshold)
        else:
            thresholds.append(math.nan)
    if all(map(math.isnan, thresholds)):
        return ()
    return tuple(thresholds)
