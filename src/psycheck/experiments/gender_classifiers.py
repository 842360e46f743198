"""Classifiers of the gender study: fitted on each of the four training sets, applied to every test pair.

Where the two wordings of a pair look the same to a classifier, the reason is found, too.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.corpus import Corpus
from psycheck.experiments.arms import Say, named, scored, training_folder
from psycheck.experiments.gender_rows import OWN, Decided
from psycheck.experiments.gender_texts import Training
from psycheck.measures.classification import BoolArray
from psycheck.model import Encoder, FloatArray, IntArray, Model, Windowed, digest_of
from psycheck.models.hf import HfEncoder
from psycheck.models.hf_folder import characters_read
from psycheck.models.open import open_model
from psycheck.models.sklearn_file import SklearnModel
from psycheck.report.studies.gender import EXPERIMENTS
from psycheck.scoring.answers import encode_once
from psycheck.scoring.engine import Progress
from psycheck.scoring.store import Store
from psycheck.train.fit import train
from psycheck.train.grids import Features, Grid, search
from psycheck.train.recipe import Recipe, kind_of

Pair = tuple[str, str]
FORMAT = "2"  # raised when the same texts would be classified otherwise, or when more is remembered
TFIDF = "tfidf"
SAME = 1e-6
WINDOW = "the window ends before the gendered word"
NOT_KNOWN = "the vectors have no word for what was swapped"
NOT_LEARNED = "TF–IDF of that training has no word for what was swapped"
NOT_PARTED = "the vectors do not tell the swapped words apart"


@dataclass(frozen=True, slots=True)
class Setting:
    """What all classifiers share; vectors and decisions are remembered in the folder and reused."""

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


def title_of(recipe: Recipe) -> str:
    """What is trained, and how: TF–IDF and a frozen encoder are not fine-tuned."""
    how = {"sklearn": "", "frozen": ", frozen", "hf": ", fine-tuned"}
    return named(recipe) + how[kind_of(recipe)]


def encoded(
    encoder: Encoder | None, texts: Sequence[str], path: Path, progress: Progress
) -> tuple[dict[str, FloatArray], list[str]]:
    """The vector of every distinct text, zeros where no word is known, and a note that counts those."""
    if encoder is None:
        return {}, []
    distinct = list(dict.fromkeys(texts))
    # In 32 bits, whatever the encoder gives: decisions are close to the edge.
    found = encode_once(encoder, distinct, store=path, progress=progress).astype(np.float32)
    vectors = found.astype(np.float64)
    empty = np.isnan(vectors).any(axis=1)
    vectors[empty] = 0
    note = f"{int(empty.sum())} texts without a word that {encoder.name} knows become zero vectors"
    return dict(zip(distinct, vectors, strict=True)), [note] if empty.any() else []


def search_learners(setting: Setting, grids: Iterable[Grid], training: Training) -> Iterator[Decided]:
    """Search each grid for each experiment, and classify both wordings of every test text."""
    sides = [setting.features(side) for side in (training.as_female, training.as_male)]
    reasons: list[str] = []
    if setting.encoder is not None:
        alike = same_vectors(*sides)
        found = iter(why_same(setting.encoder, list(compress(training.pairs, alike)), setting.store))
        reasons = [next(found) if one else "" for one in alike]
    for grid in grids:
        for experiment in EXPERIMENTS:
            known = _searched(setting, grid, training, experiment, sides)
            female, male, same = np.split(known[3:] >= 0.5, 3)
            parameters = grid.points()[int(known[0])] | {"macro_f1_over_folds": round(float(known[1]), 4)}
            why = reasons or [NOT_LEARNED if one else "" for one in same]
            by = (setting.vectors_name, grid.title, experiment)
            row = _row(training, by, (female, male), why, parameters, bool(known[2]))
            setting.say(f"{row.name}: {int(row.flipped.sum())} of {len(female)} pairs flip")
            yield row


def _searched(
    setting: Setting, grid: Grid, training: Training, experiment: str, sides: Sequence[Features]
) -> FloatArray:
    """The chosen point, its score and convergence, then both decisions and equal vectors of every pair."""
    texts, marks, folds = training.of(experiment)
    rest = json.dumps(
        [FORMAT, grid.estimator, grid.fixed, grid.tuned, marks.tolist(), folds.tolist(), training.seed],
        sort_keys=True,
    )
    vectors = setting.encoder.fingerprint if setting.encoder else TFIDF
    wordings = [*texts, *training.as_female, *training.as_male]
    key = digest_of("\x1d".join(["decided", version("scikit-learn"), vectors, rest, *wordings]))
    with closing(Store(setting.store)) as store:
        known = store.result(key)
        if known is None:
            found = search(grid, setting.features(texts), marks, folds, seed=training.seed)
            decided = [found.decide(side) for side in sides]
            # What a fitted learner learned from: the vectors as they are, or TF–IDF of its training.
            learned = sides if setting.encoder else [found.model[:-1].transform(side) for side in sides]
            head = [grid.points().index(dict(found.chosen)), found.score, found.converged]
            known = np.concatenate([head, *decided, same_vectors(*learned)]).astype(np.float64)
            store.add_result(key, known)
    return known


def finetune(setting: Setting, recipe: Recipe, training: Training) -> Iterator[Decided]:
    """Train a recipe whole on each experiment; the first fold is dev."""
    label, corpus, title = training.texts.label, training.texts.corpus, title_of(recipe)
    tests = [Corpus.of(corpus, side) for side in (training.as_female, training.as_male)]
    for experiment in EXPERIMENTS:
        texts, marks, folds = training.of(experiment)
        train_part, dev_part = (
            Corpus.of(
                corpus,
                list(compress(texts, rows)),
                labels={label: marks[rows].astype(np.float64).tolist()},
            )
            for rows in (folds != 0, folds == 0)
        )
        name = f"{corpus}-{experiment}-{training.seed}"
        place = training_folder(setting.folder, name, recipe, train_part, dev_part)
        trained = train((train_part, dev_part), recipe, place)
        model = open_model(trained.spec, name=f"{title}, {experiment}-{training.seed}")
        female, male = (
            scores >= 0.5 for scores in scored(model, tests, label, setting.store, setting.progress)
        )
        row = _row(training, (OWN, title, experiment), (female, male), why_same_to(model, training.pairs))
        setting.say(f"{row.name}: {int(row.flipped.sum())} pairs flip")
        yield row


def _row(
    training: Training,
    by: tuple[str, str, str],
    decisions: tuple[BoolArray, BoolArray],
    why: Sequence[str],
    parameters: Mapping[str, Any] | None = None,
    converged: bool = True,
) -> Decided:
    """The row of a classifier, given its vectors, learner and experiment."""
    texts, test, (female, male) = training.texts, training.cut.test, decisions
    ids = tuple(texts.ids[i] for i in test)
    # A decision on the very edge may flip with the last bits: a pair that flipped was seen.
    unseen = Counter(filter(None, compress(why, female == male)))
    place = (texts.corpus, texts.label, *by, training.seed, ids)
    # Without an author, copies of a text belong together.
    units = tuple(
        texts.texts[i] if texts.owners[i] == f"id {texts.ids[i]}" else texts.owners[i] for i in test
    )
    return Decided(*place, texts.marks[test], female, male, units, unseen, parameters or {}, converged)


def same_vectors(first: Any, second: Any) -> BoolArray:
    """Which rows of two matrices, dense or sparse, are the same, (n,)."""
    # Vectors of one text differ in the last bits when it is padded to another length.
    apart = abs(first - second).max(axis=1)
    out: BoolArray = np.asarray(apart.todense() if hasattr(apart, "todense") else apart).ravel() <= SAME
    return out


def not_read(read: Callable[[Sequence[str]], IntArray], pairs: Sequence[Pair]) -> BoolArray:
    """Whether reading ends before the first character that differs, in both wordings, (n,)."""
    if not pairs:
        return np.zeros(0, bool)
    parts = [
        next((k for k, (x, y) in enumerate(zip(*pair, strict=False)) if x != y), min(map(len, pair)))
        for pair in pairs
    ]
    first, second = (read([pair[k] for pair in pairs]) for k in (0, 1))
    out: BoolArray = np.maximum(first, second) <= np.array(parts)
    return out


def why_same(encoder: Encoder, pairs: Sequence[Pair], store: Path | None = None) -> list[str]:
    """Why an encoder has the same vector for both wordings of each of these pairs."""
    beyond = np.zeros(len(pairs), bool)
    if isinstance(encoder, HfEncoder):
        tokenizer, window = encoder.tokenizer, encoder.max_length
        beyond = not_read(lambda texts: characters_read(tokenizer, texts, window), pairs)
    parted = [set(a.split()) ^ set(b.split()) for a, b in compress(pairs, ~beyond)]
    words = sorted(set[str]().union(*parted))
    vectors = np.nan_to_num(encode_once(encoder, words, store=store)) if words else np.zeros((0, 1))
    known = {word for word, vector in zip(words, vectors, strict=True) if vector.any()}
    reasons = iter([NOT_PARTED if some & known else NOT_KNOWN for some in parted])
    return [WINDOW if cut else next(reasons) for cut in beyond]


def why_same_to(model: Model, pairs: Sequence[Pair]) -> list[str]:
    """Why a trained model reads the same in both wordings of a pair; "" where it does not.

    Equal scores are no sign of it: a model may have learned that neither word matters.
    """
    same, why = np.zeros(len(pairs), bool), ""
    if isinstance(model, SklearnModel):
        sides = [model.pipeline[:-1].transform([pair[k] for pair in pairs]) for k in (0, 1)]
        same, why = same_vectors(*sides), NOT_LEARNED
    elif isinstance(model, Windowed):
        same, why = not_read(model.read, pairs), WINDOW
    return [why if one else "" for one in same]
