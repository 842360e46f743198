"""Learners of the gender study: fitted on each of the four training sets, deciding every pair."""

import json
from collections.abc import Sequence
from contextlib import closing
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.corpus import Corpus
from psycheck.engine import Progress
from psycheck.measures.classification import BoolArray
from psycheck.model import Encoder, FloatArray
from psycheck.models.open import open_model
from psycheck.study.arms import Say, named
from psycheck.study.arrays import Arrays, key_of, vectors_of
from psycheck.study.asking import scored
from psycheck.study.gender_rows import EXPERIMENTS, Decided
from psycheck.study.gender_texts import Gendered
from psycheck.study.gender_training import Training
from psycheck.train.fit import train
from psycheck.train.grids import Features, Grid, search
from psycheck.train.recipe import Recipe

FORMAT = "1"  # raised when the same texts would be decided otherwise
TFIDF = "tfidf"
SAME = 1e-6


class Deciding:
    """Trains and decides; vectors and decisions are remembered in the folder, so nothing is done twice."""

    def __init__(
        self, texts: Gendered, folder: Path, encoder: Encoder | None, progress: Progress, say: Say
    ) -> None:
        self.texts, self.folder, self.encoder = texts, folder, encoder
        self.progress, self.say = progress, say
        self.rows: list[Decided] = []
        self.chosen: dict[str, dict[str, Any]] = {}
        self.notes: list[str] = []
        self._vectors: dict[str, FloatArray] = {}

    @property
    def remembered(self) -> Path:
        """The file of vectors and decisions."""
        return self.folder / "vectors.sqlite"

    def encode(self, texts: Sequence[str]) -> None:
        """Encode every distinct text once."""
        if self.encoder is None:
            return
        self._vectors = vectors_of(self.encoder, texts, self.remembered, self.progress)
        empty = [text for text, vector in self._vectors.items() if np.isnan(vector).any()]
        for text in empty:
            self._vectors[text] = np.zeros_like(self._vectors[text])
        if empty:
            self.notes.append(
                f"{len(empty)} wordings stand as zeros: {self.encoder.name} knows none of their words"
            )

    def learn(self, grid: Grid, training: Training, seed: int) -> None:
        """Search one grid for each experiment, and decide both wordings of every test text."""
        for experiment in EXPERIMENTS:
            texts, marks, folds = training.of(experiment)
            mark = self.encoder.fingerprint if self.encoder else TFIDF
            rest = json.dumps(
                [FORMAT, grid.estimator, grid.fixed, grid.tuned, marks.tolist(), folds.tolist(), seed],
                sort_keys=True,
            )
            every = [*texts, *training.as_female, *training.as_male]
            key = key_of("decided", version("scikit-learn"), mark, rest, *every)
            with closing(Arrays(self.remembered)) as arrays:
                said = arrays.get(key)
                if said is None:
                    found = search(grid, self._features(texts), marks, folds, seed=seed)
                    sides = [
                        found.decide(self._features(side)) for side in (training.as_female, training.as_male)
                    ]
                    head = [grid.points().index(dict(found.chosen)), found.score, found.converged]
                    said = np.concatenate([head, *sides]).astype(np.float32)
                    arrays.add({key: said})
            point, score, converged = grid.points()[int(said[0])], float(said[1]), bool(said[2])
            female, male = np.split(said[3:] >= 0.5, 2)
            unseen = self._unseen(training)
            self._decided(self.vectors_name, grid.title, experiment, seed, training, female, male, unseen)
            name = f"{grid.title}, {experiment}, seed {seed}"
            self.chosen[name] = {**point, "macro_f1_over_folds": round(score, 4)}
            if not converged:
                self.notes.append(f"{name}: the last fit stopped at its bound of iterations")
            self.say(f"{name}: {int((female != male).sum())} of {len(female)} pairs flip")

    def finetune(self, recipe: Recipe, training: Training, seed: int) -> None:
        """Fine-tune an encoder on each experiment; the first fold is dev."""
        title = f"{named(recipe)}, fine-tuned"
        for experiment in EXPERIMENTS:
            texts, marks, folds = training.of(experiment)
            parts = [
                Corpus.of(
                    self.texts.corpus,
                    [text for text, take in zip(texts, rows, strict=True) if take],
                    labels={self.texts.label: marks[rows].astype(np.float64).tolist()},
                )
                for rows in (folds != 0, folds == 0)
            ]
            said = json.dumps(recipe.as_dict(), sort_keys=True) + "".join(
                part.fingerprint() for part in parts
            )
            key = blake2b(said.encode(), digest_size=4).hexdigest()
            place = self.folder / "models" / f"{self.texts.corpus}-{experiment}-{seed}-{key}"
            trained = train((parts[0], parts[1]), recipe, place)
            model = open_model(trained.spec, name=f"{title}, {experiment}-{seed}")
            tests = [Corpus.of(self.texts.corpus, side) for side in (training.as_female, training.as_male)]
            store = self.folder / "scores.sqlite"
            scores = scored(model, tests, self.texts.label, store, self.progress)
            female, male = (side >= 0.5 for side in scores)
            unseen = int((scores[0] == scores[1]).sum())
            self._decided("its own", title, experiment, seed, training, female, male, unseen)
            self.say(f"{title}, {experiment}, seed {seed}: {int((female != male).sum())} pairs flip")

    @property
    def vectors_name(self) -> str:
        """What the learners learn from."""
        return self.encoder.name if self.encoder else "TF–IDF"

    def _unseen(self, training: Training) -> int:
        """The pairs whose wordings have one vector: the window ends before the first gendered word."""
        if self.encoder is None:
            return 0
        sides = zip(training.as_female, training.as_male, strict=True)
        # Vectors of one text differ in the last bits when it is padded to another length.
        return sum(np.allclose(self._vectors[a], self._vectors[b], rtol=0, atol=SAME) for a, b in sides)

    def _features(self, texts: Sequence[str]) -> Features:
        return texts if self.encoder is None else np.stack([self._vectors[text] for text in texts])

    def _decided(
        self,
        encoder: str,
        learner: str,
        experiment: str,
        seed: int,
        training: Training,
        female: BoolArray,
        male: BoolArray,
        unseen: int,
    ) -> None:
        ids = tuple(self.texts.ids[i] for i in training.test)
        row = Decided(
            self.texts.corpus, self.texts.label, encoder, learner, experiment, seed, ids,
            self.texts.marks[training.test], female, male, unseen,
        )  # fmt: skip
        self.rows.append(row)
