"""Train symptom models on sentences, with labels that are missing (PsySym, sections 4.1 and 4.2).

A sentence is annotated for the symptoms of one disease; those of the others are missing. They count as 0
("negative"), are left out of the loss ("masked"), or are 0 where a teacher trained by masking is sure of it
("enhanced"): below the score that 90 % of the sentences annotated 0 stay under.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Final, Literal

import numpy as np
import polars as pl

from psycheck.corpus import LABEL, Corpus
from psycheck.errors import BadInput, PsycheckWarning, nearest
from psycheck.knowledge.graph import Graph
from psycheck.measures.classification import BoolArray, classes
from psycheck.model import FloatArray
from psycheck.models.open import open_model
from psycheck.models.symptoms import UNCERTAIN
from psycheck.scoring.answers import scores_of
from psycheck.train.fit import Trained, fit, train
from psycheck.train.parts import CONTROL, Progress, cut, held_out
from psycheck.train.recipe import Recipe

Missing = Literal["negative", "masked", "enhanced"]


@dataclass(frozen=True, slots=True)
class Labels:
    """What becomes of the labels that are missing."""

    missing: Missing = "enhanced"


SURE: Final = 0.9
"""The share of sentences annotated 0 that score below the threshold of the teacher."""

DISEASE: Final = "disease"
"""The group column that names the disease whose sentences were annotated; controls have none or "control"."""

_FEWEST = 20  # sentences of dev annotated 0 that a threshold needs; else those of train are added
_CLOSE = 0.85


def train_symptoms(
    corpus: Corpus,
    recipe: Recipe,
    folder: Path,
    *,
    missing: Missing = "enhanced",
    progress: Progress | None = None,
) -> Trained:
    """Train one model for all symptoms of a corpus and, where it has the label `uncertain`, for their status.

    Run again after a crash, it resumes, as `train` does. The teacher of "enhanced" is kept in FOLDER/teacher.
    """
    folder = Path(folder)
    labels = recipe.labels or corpus.labels
    symptoms = [label for label in labels if label != UNCERTAIN]
    recipe = recipe.with_(labels=[*symptoms, *(_status(corpus) if UNCERTAIN in labels else ())])
    learned, dev = cut(corpus, recipe)
    _refuse_unlearnable(learned, symptoms)
    if recipe.balanced:
        control = (learned.targets(symptoms) == 0).all(axis=1)
        learned = replace(learned, table=learned.table.with_columns(pl.Series(CONTROL, control)))
    beside = folder.with_name(f"{folder.name}.teacher")
    absent = np.isnan(learned.targets(symptoms))
    if missing == "negative":
        learned = with_negatives(learned, symptoms, absent)
    elif missing == "enhanced" and absent.any():
        inside = folder / "teacher"
        teacher = fit((learned, dev), recipe, inside if inside.exists() else beside, progress=progress)
        learned = enhanced(learned, dev, teacher, symptoms)
    trained = train((learned, dev), recipe, folder, test=held_out(corpus), progress=progress)
    if missing == "enhanced" and beside.exists():
        beside.replace(folder / "teacher")
    return trained


def train_each(
    corpus: Corpus,
    recipe: Recipe,
    folder: Path,
    *,
    missing: Missing = "masked",
    progress: Progress | None = None,
) -> dict[str, Trained]:
    """Train one model per disease, on its own sentences and symptoms, into FOLDER/DISEASE."""
    out = {}
    for disease, part in subsets(corpus).items():
        known = {label for label in part.labels if part.table[LABEL + label].drop_nulls().len()}
        labels = [label for label in recipe.labels or part.labels if label in known]
        own = recipe.with_(labels=labels)
        out[disease] = train_symptoms(part, own, Path(folder) / disease, missing=missing, progress=progress)
    return out


def subsets(corpus: Corpus) -> dict[str, Corpus]:
    """The sentences annotated for each disease, without controls.

    Diseases are those of the group `disease`; in a corpus without it, sentences annotated for the same
    labels belong together and are numbered; controls are those annotated for all.
    """
    symptoms = [label for label in corpus.labels if label != UNCERTAIN]
    if DISEASE in corpus.groups:
        names = corpus.group(DISEASE)
    else:
        known = [tuple(row) for row in (~np.isnan(corpus.targets(symptoms))).tolist()]
        whole = all(map(all, known))
        parts = sorted(one for one in set(known) if any(one) and (whole or not all(one)))
        names = [str(parts.index(one) + 1) if one in parts else None for one in known]
    order = sorted({name for name in names if name is not None and name != CONTROL})
    return {one: corpus.only([name == one for name in names]) for one in order}


def enhanced(learned: Corpus, dev: Corpus, teacher: Trained, symptoms: Sequence[str]) -> Corpus:
    """The sentences with 0 for each missing label that the teacher is sure of."""
    model = open_model(teacher.spec)
    places = [model.labels.index(symptom) for symptom in symptoms]
    scores, dev_scores = (scores_of(model, part.texts)[:, places] for part in (learned, dev))
    cuts = thresholds(dev.targets(symptoms), dev_scores, learned.targets(symptoms), scores)
    return with_negatives(learned, symptoms, scores < cuts)


def thresholds(
    targets: FloatArray, scores: FloatArray, more_targets: FloatArray, more_scores: FloatArray
) -> FloatArray:
    """The score below which 90 % of the sentences annotated 0 stay, for each symptom, (k,).

    Those of dev count, (n, k); where dev has too few, also those that the teacher learned from, (m, k).
    """
    out = np.empty(targets.shape[1])
    for k in range(len(out)):
        negative = scores[classes(targets[:, k])[1], k]
        if len(negative) < _FEWEST:
            negative = np.concatenate([negative, more_scores[classes(more_targets[:, k])[1], k]])
        out[k] = np.quantile(negative, SURE) if len(negative) else -np.inf
    return out


def with_negatives(corpus: Corpus, symptoms: Sequence[str], sure: BoolArray) -> Corpus:
    """The corpus with 0 for each missing label that is surely one, (n, k)."""
    targets = corpus.targets(symptoms)
    targets[np.isnan(targets) & sure] = 0.0
    columns = [
        pl.Series(LABEL + symptom, targets[:, k], nan_to_null=True) for k, symptom in enumerate(symptoms)
    ]
    return replace(corpus, table=corpus.table.with_columns(columns))


def refuse_misfits(labels: Sequence[str], graph: Graph) -> None:
    """Refuse labels of which only some are symptoms of the graph, or one is nearly one: a wrong name.

    A label set that has nothing in common with the graph is one of its own, and fine.
    """
    names = [symptom.name for symptom in graph.symptom]
    others = [label for label in labels if label not in (*names, UNCERTAIN)]
    alike = {label: get_close_matches(_plain(label), names, n=1, cutoff=_CLOSE) for label in others}
    wrong = next((label for label in others if alike[label]), None)
    if others and len(others) < len(set(labels) - {UNCERTAIN}):
        wrong = wrong or others[0]
    if wrong is not None:
        raise BadInput(
            f"label '{wrong}' is not a symptom of the graph, but other labels are or nearly are",
            allowed=nearest(wrong, names),
            do="rename it (`labels=COLUMN=NAME`), or add it to a graph of your own (`graph`)",
        )


def _plain(label: str) -> str:
    return "_".join(label.lower().replace("-", " ").split())


def _status(corpus: Corpus) -> tuple[str, ...]:
    """The label of the status, if there are sentences on both sides of a half to learn it from."""
    positive, negative = classes(corpus.targets([UNCERTAIN]))
    if positive.any() and negative.any():
        return (UNCERTAIN,)
    what = f"no sentences on both sides of 0.5 for '{UNCERTAIN}': the status is not learned"
    warnings.warn(what, PsycheckWarning, stacklevel=3)
    return ()


def _refuse_unlearnable(learned: Corpus, symptoms: Sequence[str]) -> None:
    """Name all symptoms at once that have no annotated sentence, or only one class."""
    sides = classes(learned.targets(symptoms))
    for side, missing in zip(sides, ("annotated 1", "annotated 0"), strict=True):
        if lacking := [symptom for k, symptom in enumerate(symptoms) if not side[:, k].any()]:
            raise BadInput(
                f"train of corpus '{learned.name}' has no sentence {missing} for {', '.join(lacking)}",
                allowed="sentences of both classes for each symptom",
                do="add some, or name only the other symptoms (`labels`)",
            )
