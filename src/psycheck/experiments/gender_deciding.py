"""Learners of the gender study: fitted on each of the four training sets, deciding every pair."""

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.corpus import Corpus
from psycheck.experiments.arms import Say, named
from psycheck.experiments.asking import scored
from psycheck.experiments.gender_rows import OWN, Decided
from psycheck.experiments.gender_texts import Gendered
from psycheck.experiments.gender_training import Training
from psycheck.experiments.gender_unseen import NOT_LEARNED, Pair, same_vectors, why_same, why_same_to
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

FORMAT = "2"  # raised when the same texts would be decided otherwise, or more of them is remembered
TFIDF = "tfidf"


def title_of(recipe: Recipe) -> str:
    """What is trained, and how: TF–IDF and a frozen encoder are not fine-tuned."""
    if recipe.start == TFIDF_START:
        return named(recipe)
    return f"{named(recipe)}, {'frozen' if recipe.start.partition(':')[0] == FROZEN else 'fine-tuned'}"


class Deciding:
    """Trains and decides; vectors and decisions are stored in the folder, so nothing is done twice."""

    def __init__(
        self, texts: Gendered, folder: Path, encoder: Encoder | None, progress: Progress, say: Say
    ) -> None:
        self.texts, self.folder, self.encoder = texts, folder, encoder
        self.progress, self.say = progress, say
        self.rows: list[Decided] = []
        self.chosen: dict[str, dict[str, Any]] = {}
        self.notes: list[str] = []
        self._vectors: dict[str, FloatArray] = {}
        self._why: dict[Pair, str] = {}

    @property
    def store(self) -> Path:
        """The file of vectors, decisions and scores."""
        return self.folder / "scores.sqlite"

    def take_vectors(self, texts: Sequence[str]) -> None:
        """Encode every distinct text once."""
        if self.encoder is None:
            return
        distinct = list(dict.fromkeys(texts))
        vectors = encode_once(self.encoder, distinct, store=self.store, progress=self.progress)
        # In 32 bits, whatever the encoder gives: decisions are close to the edge.
        rounded = vectors.astype(np.float32).astype(np.float64)
        self._vectors = dict(zip(distinct, rounded, strict=True))
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
            key = digest_of("\x1d".join(["decided", version("scikit-learn"), mark, rest, *every]))
            with closing(Store(self.store)) as store:
                said = store.result(key)
                if said is None:
                    found = search(grid, self._features(texts), marks, folds, seed=seed)
                    sides = [self._features(side) for side in (training.as_female, training.as_male)]
                    decided = [found.decide(side) for side in sides]
                    same = same_vectors(*(_vectors(found, side) for side in sides))
                    head = [grid.points().index(dict(found.chosen)), found.score, found.converged]
                    said = np.concatenate([head, *decided, same]).astype(np.float64)
                    store.add_result(key, said)
            point, score, converged = grid.points()[int(said[0])], float(said[1]), bool(said[2])
            female, male, same = np.split(said[3:] >= 0.5, 3)
            why = self._reasons(training, same)
            self._decided(self.vectors_name, grid.title, experiment, seed, training, female, male, why)
            name = f"{grid.title}, {experiment}, seed {seed}"
            self.chosen[name] = {**point, "macro_f1_over_folds": round(score, 4)}
            if not converged:
                self.notes.append(f"{name}: the last fit stopped at its bound of iterations")
            self.say(f"{name}: {int((female != male).sum())} of {len(female)} pairs flip")

    def finetune(self, recipe: Recipe, training: Training, seed: int) -> None:
        """Train a recipe whole on each experiment; the first fold is dev."""
        title = title_of(recipe)
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
            scores = scored(model, tests, self.texts.label, self.store, self.progress)
            female, male = (side >= 0.5 for side in scores)
            why = why_same_to(model, list(zip(training.as_female, training.as_male, strict=True)))
            self._decided(OWN, title, experiment, seed, training, female, male, why)
            self.say(f"{title}, {experiment}, seed {seed}: {int((female != male).sum())} pairs flip")

    @property
    def vectors_name(self) -> str:
        """What the learners learn from."""
        return self.encoder.name if self.encoder else "TF–IDF"

    def _reasons(self, training: Training, same: BoolArray) -> list[str]:
        """Why both wordings of each test text have one vector; "" where they have two."""
        if self.encoder is None:
            return [NOT_LEARNED if one else "" for one in same]
        pairs = list(zip(training.as_female, training.as_male, strict=True))
        asked = [pair for pair, one in zip(pairs, same, strict=True) if one and pair not in self._why]
        self._why |= dict(zip(asked, why_same(self.encoder, asked, self.store), strict=True))
        return [self._why[pair] if one else "" for pair, one in zip(pairs, same, strict=True)]

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
        why: Sequence[str],
    ) -> None:
        ids = tuple(self.texts.ids[i] for i in training.test)
        # A decision on the very edge may turn with the last bits: what turned was seen.
        unseen = Counter(one for one, turned in zip(why, female != male, strict=True) if one and not turned)
        row = Decided(
            self.texts.corpus, self.texts.label, encoder, learner, experiment, seed, ids,
            self.texts.marks[training.test], female, male, unseen,
        )  # fmt: skip
        self.rows.append(row)


def _vectors(found: Searched, features: Features) -> Any:
    """What a fitted learner learned from: the vectors as they are, or TF–IDF of its training."""
    return features if isinstance(features, np.ndarray) else found.model[:-1].transform(features)
