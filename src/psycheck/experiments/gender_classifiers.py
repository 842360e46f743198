"""Classifiers of the gender study: fitted on each of the four training sets, applied to every test pair."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.corpus import Corpus
from psycheck.experiments.arms import Say, named, training_folder
from psycheck.experiments.asking import scored
from psycheck.experiments.gender_rows import OWN, Decided
from psycheck.experiments.gender_texts import Gendered
from psycheck.experiments.gender_training import Training
from psycheck.experiments.gender_unseen import NOT_LEARNED, same_vectors, why_same, why_same_to
from psycheck.measures.classification import BoolArray
from psycheck.model import Encoder, FloatArray, digest_of
from psycheck.models.open import open_model
from psycheck.report.studies.gender import EXPERIMENTS
from psycheck.scoring.answers import encode_once
from psycheck.scoring.engine import Progress
from psycheck.scoring.store import Store
from psycheck.train.fit import train
from psycheck.train.grids import Features, Grid, Searched, search
from psycheck.train.recipe import FROZEN, Recipe
from psycheck.train.recipe import TFIDF as TFIDF_START

FORMAT = "2"  # raised when the same texts would be classified otherwise, or when more is remembered
TFIDF = "tfidf"


@dataclass(frozen=True, slots=True)
class Setting:
    """What all classifiers share; vectors and decisions are remembered in the folder and reused."""

    texts: Gendered
    folder: Path
    encoder: Encoder | None
    progress: Progress
    say: Say
    vectors: Mapping[str, FloatArray] = field(default_factory=dict)

    @property
    def store(self) -> Path:
        """The file of vectors, decisions and scores."""
        return self.folder / "scores.sqlite"

    @property
    def vectors_name(self) -> str:
        """What the learners learn from."""
        return self.encoder.name if self.encoder else "TF–IDF"

    def features(self, texts: Sequence[str]) -> Features:
        """What a learner gets: vectors, or the texts themselves for TF–IDF."""
        return texts if self.encoder is None else np.stack([self.vectors[text] for text in texts])


@dataclass(frozen=True, slots=True)
class Classified:
    """One classifier on all test pairs, with the parameters that its search found."""

    row: Decided
    parameters: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The learner, the experiment and the seed."""
        return f"{self.row.learner}, {self.row.experiment}, seed {self.row.seed}"


def title_of(recipe: Recipe) -> str:
    """What is trained, and how: TF–IDF and a frozen encoder are not fine-tuned."""
    if recipe.start == TFIDF_START:
        return named(recipe)
    return f"{named(recipe)}, {'frozen' if recipe.start.partition(':')[0] == FROZEN else 'fine-tuned'}"


def encoded(
    encoder: Encoder | None, texts: Sequence[str], path: Path, progress: Progress
) -> tuple[dict[str, FloatArray], list[str]]:
    """The vector of every distinct text, zeros where no word is known, and a note that counts those."""
    if encoder is None:
        return {}, []
    distinct = list(dict.fromkeys(texts))
    # In 32 bits, whatever the encoder gives: decisions are close to the edge.
    found = encode_once(encoder, distinct, store=path, progress=progress).astype(np.float32)
    vectors = dict(zip(distinct, found.astype(np.float64), strict=True))
    empty = [text for text, vector in vectors.items() if np.isnan(vector).any()]
    vectors |= {text: np.zeros_like(vectors[text]) for text in empty}
    note = f"{len(empty)} texts without a word that {encoder.name} knows become zero vectors"
    return vectors, [note] if empty else []


def search_learners(
    setting: Setting, grids: Iterable[Grid], training: Training, seed: int
) -> list[Classified]:
    """Search each grid for each experiment, and classify both wordings of every test text."""
    sides = [setting.features(side) for side in (training.as_female, training.as_male)]
    reasons: list[str] = []
    if setting.encoder is not None:
        reasons = _reasons(setting.encoder, training, same_vectors(*sides), setting.store)
    out = []
    for grid in grids:
        for experiment in EXPERIMENTS:
            found = _searched(setting, grid, training, experiment, seed, sides)
            point, score, converged = grid.points()[int(found[0])], float(found[1]), bool(found[2])
            female, male, same = np.split(found[3:] >= 0.5, 3)
            why = reasons or [NOT_LEARNED if one else "" for one in same]
            row = _row(
                setting, setting.vectors_name, grid.title, experiment, seed, training, (female, male), why
            )
            done = Classified(row, {**point, "macro_f1_over_folds": round(score, 4)})
            if not converged:
                done = replace(done, notes=(f"{done.name}: the last fit reached its iteration limit",))
            out.append(done)
            setting.say(f"{done.name}: {int(row.flipped.sum())} of {len(female)} pairs flip")
    return out


def _searched(
    setting: Setting,
    grid: Grid,
    training: Training,
    experiment: str,
    seed: int,
    sides: Sequence[Features],
) -> FloatArray:
    """The chosen point, its score and convergence, then both decisions and equal vectors of every pair."""
    texts, marks, folds = training.of(experiment)
    rest = json.dumps(
        [FORMAT, grid.estimator, grid.fixed, grid.tuned, marks.tolist(), folds.tolist(), seed],
        sort_keys=True,
    )
    vectors = setting.encoder.fingerprint if setting.encoder else TFIDF
    wordings = [*texts, *training.as_female, *training.as_male]
    key = digest_of("\x1d".join(["decided", version("scikit-learn"), vectors, rest, *wordings]))
    with closing(Store(setting.store)) as store:
        known = store.result(key)
        if known is None:
            found = search(grid, setting.features(texts), marks, folds, seed=seed)
            decided = [found.decide(side) for side in sides]
            same = same_vectors(*(_vectors(found, side) for side in sides))
            head = [grid.points().index(dict(found.chosen)), found.score, found.converged]
            known = np.concatenate([head, *decided, same]).astype(np.float64)
            store.add_result(key, known)
    return known


def finetune(setting: Setting, recipe: Recipe, training: Training, seed: int) -> list[Classified]:
    """Train a recipe whole on each experiment; the first fold is dev."""
    label, corpus, title = setting.texts.label, setting.texts.corpus, title_of(recipe)
    out = []
    for experiment in EXPERIMENTS:
        texts, marks, folds = training.of(experiment)
        train_part, dev_part = (
            Corpus.of(
                corpus,
                [text for text, take in zip(texts, rows, strict=True) if take],
                labels={label: marks[rows].astype(np.float64).tolist()},
            )
            for rows in (folds != 0, folds == 0)
        )
        name = f"{corpus}-{experiment}-{seed}"
        place = training_folder(setting.folder, name, recipe, train_part, dev_part)
        trained = train((train_part, dev_part), recipe, place)
        model = open_model(trained.spec, name=f"{title}, {experiment}-{seed}")
        tests = [Corpus.of(corpus, side) for side in (training.as_female, training.as_male)]
        scores = scored(model, tests, label, setting.store, setting.progress)
        why = why_same_to(model, training.pairs)
        female, male = (side >= 0.5 for side in scores)
        done = Classified(_row(setting, OWN, title, experiment, seed, training, (female, male), why))
        out.append(done)
        setting.say(f"{done.name}: {int(done.row.flipped.sum())} pairs flip")
    return out


def _reasons(encoder: Encoder, training: Training, same: BoolArray, store: Path) -> list[str]:
    """Why both wordings of each test text have the same vector; "" where they do not."""
    alike = [pair for pair, one in zip(training.pairs, same, strict=True) if one]
    reasons = iter(why_same(encoder, alike, store))
    return [next(reasons) if one else "" for one in same]


def _row(
    setting: Setting,
    encoder: str,
    learner: str,
    experiment: str,
    seed: int,
    training: Training,
    decisions: tuple[BoolArray, BoolArray],
    why: Sequence[str],
) -> Decided:
    texts, (female, male) = setting.texts, decisions
    ids = tuple(texts.ids[i] for i in training.test)
    # A decision on the very edge may flip with the last bits: a pair that flipped was seen.
    unseen = Counter(one for one, flipped in zip(why, female != male, strict=True) if one and not flipped)
    marks = texts.marks[training.test]
    return Decided(
        texts.corpus, texts.label, encoder, learner, experiment, seed, ids, marks, female, male, unseen
    )


def _vectors(found: Searched, features: Features) -> Any:
    """What a fitted learner learned from: the vectors as they are, or TF–IDF of its training."""
    return features if isinstance(features, np.ndarray) else found.model[:-1].transform(features)
