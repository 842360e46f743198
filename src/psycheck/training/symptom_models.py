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

from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import LABEL, Corpus
from psycheck.core.errors import BadInput, PsycheckWarning, nearest
from psycheck.models.opening import open_model
from psycheck.scoring.answers import scores_of
from psycheck.statistics.classification import BoolArray, classes
from psycheck.symptoms.graph import Graph
from psycheck.symptoms.reader import UNCERTAIN
from psycheck.training.fit import Trained, fit, train
from psycheck.training.parts import CONTROL, Progress, cut, held_out
from psycheck.training.recipe import Recipe

Missing = Literal["negative", "masked", "enhanced"]


@dataclass(frozen=True, slots=True)
class Labels:
    """What becomes of the labels that are missing."""

    missing: Missing = "enhanced"


SURE: Final = 0.9
"""The share of sentences annotated 0 that score below the threshold of the teacher."""

DISEASE: Final = "disease"
"""The group column that names the disease whose sentences were annotated; controls have none or "control"."""

# The sentences of dev annotated 0 that a threshold needs; else those of train are added.
_FEWEST = 20
# How similar a label and the name of a symptom are if one is a misspelling.
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
    status = _status(corpus) if UNCERTAIN in labels else ()
    recipe = recipe.with_(labels=[*symptoms, *status])

    learned, dev = cut(corpus, recipe)
    _refuse_unlearnable(learned, symptoms)
    # Before missing labels become 0: a sentence that is only not annotated is no control.
    if recipe.balanced:
        learned = _with_controls_marked(learned, symptoms)

    # The teacher is trained beside the folder, which appears only when complete, and then moved into it.
    # It is kept because the key of the student depends on it (docs/decisions/14-symptom-models.md).
    teacher_beside = folder.with_name(f"{folder.name}.teacher")
    teacher_inside = folder / "teacher"
    not_annotated = np.isnan(learned.targets(symptoms))
    if missing == "negative":
        learned = with_negatives(learned, symptoms, not_annotated)
    elif missing == "enhanced" and not_annotated.any():
        teacher_folder = teacher_inside if teacher_inside.exists() else teacher_beside
        teacher = fit((learned, dev), recipe, teacher_folder, progress=progress)
        learned = enhanced(learned, dev, teacher, symptoms)

    trained = train(
        (learned, dev),
        recipe,
        folder,
        test=held_out(corpus),
        progress=progress,
    )
    if missing == "enhanced" and teacher_beside.exists():
        teacher_beside.replace(teacher_inside)
    return trained


def _with_controls_marked(corpus: Corpus, symptoms: Sequence[str]) -> Corpus:
    """The corpus with a column of controls: sentences annotated 0 for every symptom."""
    control = (corpus.targets(symptoms) == 0).all(axis=1)
    table = corpus.table.with_columns(pl.Series(CONTROL, control))
    return replace(corpus, table=table)


def train_each(
    corpus: Corpus,
    recipe: Recipe,
    folder: Path,
    *,
    missing: Missing = "masked",
    progress: Progress | None = None,
) -> dict[str, Trained]:
    """Train one model per disease, on its own sentences and symptoms, into FOLDER/DISEASE."""
    trained = {}
    for disease, part in subsets(corpus).items():
        requested_labels = recipe.labels or part.labels
        labels = [label for label in requested_labels if _is_annotated(part, label)]
        trained[disease] = train_symptoms(
            part,
            recipe.with_(labels=labels),
            Path(folder) / disease,
            missing=missing,
            progress=progress,
        )
    return trained


def _is_annotated(corpus: Corpus, label: str) -> bool:
    """True if the corpus has the label, and one of its sentences is annotated for it."""
    if label not in corpus.labels:
        return False
    annotations = corpus.table[LABEL + label].drop_nulls()
    return annotations.len() > 0


def subsets(corpus: Corpus) -> dict[str, Corpus]:
    """The sentences annotated for each disease, without controls.

    Diseases are those of the group `disease`; in a corpus without it, sentences annotated for the same
    labels belong together and are numbered; controls are those annotated for all.
    """
    diseases = corpus.group(DISEASE) if DISEASE in corpus.groups else _numbered_diseases(corpus)
    names = {disease for disease in diseases if disease is not None}
    names.discard(CONTROL)
    sentences = {}
    for name in sorted(names):
        sentences[name] = corpus.only([disease == name for disease in diseases])
    return sentences


def _numbered_diseases(corpus: Corpus) -> list[str | None]:
    """A number for each set of labels that sentences are annotated for, None for controls."""
    symptoms = [label for label in corpus.labels if label != UNCERTAIN]
    is_annotated = ~np.isnan(corpus.targets(symptoms))
    annotated_sets = [tuple(row) for row in is_annotated.tolist()]

    # Where every sentence is annotated for all symptoms, this does not mark controls.
    all_complete = all(all(annotated) for annotated in annotated_sets)
    disease_sets = {annotated for annotated in annotated_sets if any(annotated)}
    if not all_complete:
        disease_sets = {annotated for annotated in disease_sets if not all(annotated)}

    # Sorted: the numbers, which name folders, do not depend on the order of the sentences.
    in_order = enumerate(sorted(disease_sets), start=1)
    numbers = {annotated: str(number) for number, annotated in in_order}
    return [numbers.get(annotated) for annotated in annotated_sets]


def enhanced(
    learned: Corpus,
    dev: Corpus,
    teacher: Trained,
    symptoms: Sequence[str],
) -> Corpus:
    """The sentences with 0 for each missing label that the teacher is sure of."""
    model = open_model(teacher.spec)
    columns = [model.labels.index(symptom) for symptom in symptoms]
    scores = scores_of(model, learned.texts)[:, columns]
    dev_scores = scores_of(model, dev.texts)[:, columns]
    # On train, which the teacher has learned, a threshold would be far too low.
    surely_below = thresholds(
        dev.targets(symptoms),
        dev_scores,
        learned.targets(symptoms),
        scores,
    )
    return with_negatives(learned, symptoms, scores < surely_below)


def thresholds(
    targets: FloatArray,
    scores: FloatArray,
    more_targets: FloatArray,
    more_scores: FloatArray,
) -> FloatArray:
    """The score below which 90 % of the sentences annotated 0 stay, for each symptom, (k,).

    Those of dev count, (n, k); where dev has too few, also those that the teacher learned from, (m, k).
    """
    symptoms = targets.shape[1]
    # Without any sentence annotated 0 nothing is sure: no score is below minus infinity.
    cuts = np.full(symptoms, -np.inf)
    for column in range(symptoms):
        negative_scores = _scores_of_negatives(targets[:, column], scores[:, column])
        if len(negative_scores) < _FEWEST:
            more = _scores_of_negatives(more_targets[:, column], more_scores[:, column])
            negative_scores = np.concatenate([negative_scores, more])
        if len(negative_scores):
            cuts[column] = np.quantile(negative_scores, SURE)
    return cuts


def _scores_of_negatives(targets: FloatArray, scores: FloatArray) -> FloatArray:
    _, negative = classes(targets)
    return scores[negative]


def with_negatives(corpus: Corpus, symptoms: Sequence[str], sure: BoolArray) -> Corpus:
    """The corpus with 0 for each missing label that is surely one, (n, k)."""
    targets = corpus.targets(symptoms)
    missing = np.isnan(targets)
    targets[missing & sure] = 0.0

    columns = []
    for number, symptom in enumerate(symptoms):
        column = pl.Series(LABEL + symptom, targets[:, number], nan_to_null=True)
        columns.append(column)
    return replace(corpus, table=corpus.table.with_columns(columns))


def refuse_misfits(labels: Sequence[str], graph: Graph) -> None:
    """Refuse labels of which only some are symptoms of the graph, or one is nearly one: a wrong name.

    A label set that has nothing in common with the graph is one of its own, and fine.
    """
    symptom_names = [symptom.name for symptom in graph.symptom]
    usable_names = {*symptom_names, UNCERTAIN}
    unknown_labels = [label for label in labels if label not in usable_names]
    if not unknown_labels:
        return

    misspelt = [label for label in unknown_labels if _is_nearly_one_of(label, symptom_names)]
    only_some_unknown = len(unknown_labels) < len(set(labels) - {UNCERTAIN})
    if misspelt or only_some_unknown:
        wrong = (misspelt or unknown_labels)[0]
        raise BadInput(
            f"label '{wrong}' is not a symptom of the graph, but other labels are or nearly are",
            code="symptoms.label-not-in-graph",
            allowed=nearest(wrong, symptom_names),
            do="rename it (`labels=COLUMN=NAME`), or add it to a graph of your own (`graph`)",
        )


def _is_nearly_one_of(label: str, names: Sequence[str]) -> bool:
    close_names = get_close_matches(_plain(label), names, n=1, cutoff=_CLOSE)
    return bool(close_names)


def _plain(label: str) -> str:
    words = label.lower().replace("-", " ").split()
    return "_".join(words)


def _status(corpus: Corpus) -> tuple[str, ...]:
    """The label of the status, if there are sentences on both sides of a half to learn it from."""
    positive, negative = classes(corpus.targets([UNCERTAIN]))
    if positive.any() and negative.any():
        return (UNCERTAIN,)
    what = f"no sentences on both sides of 0.5 for '{UNCERTAIN}': the status is not learned"
    warnings.warn(what, PsycheckWarning, stacklevel=3)
    return ()


def learnable(corpus: Corpus, recipe: Recipe) -> tuple[str, ...]:
    """The labels that train has both classes of, and dev too where F1 on dev chooses.

    Annotators are asked about all symptoms of a disease, and some occur in no sentence of an export.
    """
    needs_both_on_dev = recipe.criterion == "dev_f1"
    learned, dev = cut(corpus, recipe)
    labels = []
    for label in corpus.labels:
        yes_and_no = classes(learned.targets([label]))
        dev_yes_and_no = classes(dev.targets([label]))
        both_on_train = all(side.any() for side in yes_and_no)
        sides_on_dev = sum(bool(side.any()) for side in dev_yes_and_no)
        if both_on_train and sides_on_dev >= (2 if needs_both_on_dev else 1):
            labels.append(label)
    return tuple(labels)


def _refuse_unlearnable(learned: Corpus, symptoms: Sequence[str]) -> None:
    """Name all symptoms at once that have no annotated sentence, or only one class."""
    positive, negative = classes(learned.targets(symptoms))
    for side, missing in ((positive, "annotated 1"), (negative, "annotated 0")):
        lacking = []
        for symptom, marks in zip(symptoms, side.T, strict=True):
            if not marks.any():
                lacking.append(symptom)
        if lacking:
            raise BadInput(
                f"train of corpus '{learned.name}' has no sentence {missing} for {', '.join(lacking)}",
                code="train.one-class",
                allowed="sentences of both classes for each symptom",
                do="add some, or name only the other symptoms (`labels`)",
            )
