"""Classifiers of the gender study: fitted on each of the four training sets, applied to every test pair.

Where the two wordings of a pair look the same to a classifier, the reason is found, too.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import compress
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from psycheck import (
    Corpus,
    Encoder,
    LearnerGrid,
    Model,
    Recipe,
    compute_once,
    encode_texts,
    open_model,
    score_label,
    search_learner,
    train_model,
    training_folder,
)
from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.item import digest_of
from psycheck.core.model import Windowed
from psycheck.core.progress import Progress, Say
from psycheck.report.studies.gender_tables import EXPERIMENTS
from psycheck.statistics.classification import BoolArray
from psycheck.studies.gender_draws import Training
from psycheck.studies.gender_rows import OWN, Decided

Pair = tuple[str, str]
# Vectors (n, d), or the texts themselves for TF–IDF.
Features = FloatArray | Sequence[str]
# Raised when the same texts would be classified otherwise, or when more is remembered.
FORMAT = "2"
TFIDF = "tfidf"
TFIDF_TITLE = "TF–IDF"
# Vectors of one text differ in the last bits when it is padded to another length.
SAME = 1e-6

# Why the two wordings of a pair look the same to a classifier.
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
        return self.encoder.name if self.encoder else TFIDF_TITLE

    def features(self, texts: Sequence[str]) -> Features:
        """What a learner gets: vectors, or the texts themselves for TF–IDF."""
        if self.encoder is None:
            return texts
        return np.stack([self.vectors[text] for text in texts])


@runtime_checkable
class _Pipelined(Protocol):
    """A model that is a scikit-learn pipeline: what its last step gets can be computed and compared."""

    pipeline: Any


@dataclass(frozen=True, slots=True)
class _SearchResult:
    """What one search remembers: the chosen point of the grid, and both decisions on every pair, (n,)."""

    point: int
    score: float
    converged: bool
    as_female: BoolArray
    as_male: BoolArray
    same_vectors: BoolArray


def title_of(recipe: Recipe) -> str:
    """What is trained, and how: TF–IDF and a frozen encoder are not fine-tuned."""
    how = {"sklearn": "", "frozen": ", frozen", "hf": ", fine-tuned"}
    return recipe.short_name + how[recipe.kind]


def encoded(
    encoder: Encoder | None, texts: Sequence[str], path: Path, progress: Progress
) -> tuple[dict[str, FloatArray], list[str]]:
    """The vector of every distinct text, zeros where no word is known, and a note that counts those."""
    if encoder is None:
        return {}, []
    distinct = list(dict.fromkeys(texts))
    # In 32 bits, whatever the encoder gives: decisions are close to the edge.
    rounded = encode_texts(encoder, distinct, store=path, progress=progress).astype(np.float32)
    vectors = rounded.astype(np.float64)

    empty = np.isnan(vectors).any(axis=1)
    vectors[empty] = 0
    notes = []
    if empty.any():
        count = int(empty.sum())
        notes.append(f"{count} texts without a word that {encoder.name} knows become zero vectors")
    return dict(zip(distinct, vectors, strict=True)), notes


def search_learners(setting: Setting, grids: Iterable[LearnerGrid], training: Training) -> Iterator[Decided]:
    """Search each grid for each experiment, and classify both wordings of every test text."""
    female_features = setting.features(training.as_female)
    male_features = setting.features(training.as_male)
    reasons = None
    if setting.encoder is not None:
        same = same_vectors(female_features, male_features)
        reasons = _reasons_where(same, setting.encoder, training.pairs, setting.store)

    for grid in grids:
        for experiment in EXPERIMENTS:
            result = _searched(setting, grid, training, experiment, (female_features, male_features))
            parameters = {
                **grid.points()[result.point],
                "macro_f1_over_folds": round(result.score, 4),
            }
            # The vocabulary of TF–IDF depends on the training.
            learned_reasons = [NOT_LEARNED if same else "" for same in result.same_vectors]
            row = _row(
                training,
                encoder=setting.vectors_name,
                learner=grid.title,
                experiment=experiment,
                as_female=result.as_female,
                as_male=result.as_male,
                reasons=learned_reasons if reasons is None else reasons,
                parameters=parameters,
                converged=result.converged,
            )
            flipped = int(row.flipped.sum())
            setting.say(f"{row.name}: {flipped} of {len(row.marks)} pairs flip")
            yield row


def _reasons_where(same: BoolArray, encoder: Encoder, pairs: Sequence[Pair], store: Path) -> list[str]:
    """For each pair, why an encoder has the same vector for both wordings; "" where it has not."""
    reasons = [""] * len(pairs)
    same_rows = np.flatnonzero(same).tolist()
    same_pairs = [pairs[row] for row in same_rows]
    for row, reason in zip(same_rows, why_same(encoder, same_pairs, store), strict=True):
        reasons[row] = reason
    return reasons


def _searched(
    setting: Setting,
    grid: LearnerGrid,
    training: Training,
    experiment: str,
    sides: tuple[Features, Features],
) -> _SearchResult:
    """The result of a search, from the store if the same search was done before."""
    texts, marks, folds = training.of(experiment)

    def search_and_decide() -> FloatArray:
        """The point, its score and convergence, then both decisions and sameness of each pair, (3 + 3n,)."""
        result = search_learner(grid, setting.features(texts), marks, folds, seed=training.seed)
        as_female, as_male = (result.decide(side) for side in sides)

        # What a fitted learner learned from: the vectors as they are, or TF–IDF of its training.
        learned_sides: Sequence[Any] = sides
        if setting.encoder is None:
            learned_sides = [result.model[:-1].transform(side) for side in sides]
        same = same_vectors(*learned_sides)

        head = [grid.points().index(dict(result.chosen)), result.score, result.converged]
        return np.concatenate([head, as_female, as_male, same]).astype(np.float64)

    key = _search_key(setting, grid, training, experiment)
    numbers = compute_once(setting.store, key, search_and_decide)
    female, male, same = np.split(numbers[3:] >= 0.5, 3)
    return _SearchResult(
        point=int(numbers[0]),
        score=float(numbers[1]),
        converged=bool(numbers[2]),
        as_female=female,
        as_male=male,
        same_vectors=same,
    )


def _search_key(setting: Setting, grid: LearnerGrid, training: Training, experiment: str) -> bytes:
    """A hash of everything that decides the result of a search."""
    texts, marks, folds = training.of(experiment)
    design = [FORMAT, grid.estimator, grid.fixed, grid.tuned, marks.tolist(), folds.tolist(), training.seed]
    vectors = setting.encoder.fingerprint if setting.encoder else TFIDF
    wordings = [*texts, *training.as_female, *training.as_male]
    parts = ["decided", version("scikit-learn"), vectors, json.dumps(design, sort_keys=True), *wordings]
    return digest_of("\x1d".join(parts))


def finetune(setting: Setting, recipe: Recipe, training: Training) -> Iterator[Decided]:
    """Train a recipe whole on each experiment; the first fold is dev."""
    corpus = training.texts.corpus
    title = title_of(recipe)
    tests = [Corpus.of(corpus, training.as_female), Corpus.of(corpus, training.as_male)]

    for experiment in EXPERIMENTS:
        train_part, dev_part = _train_and_dev(training, experiment)
        name = f"{corpus}-{experiment}-{training.seed}"
        folder = training_folder(setting.folder, name, recipe, train_part, dev_part)
        trained = train_model((train_part, dev_part), recipe, folder)
        model = open_model(trained.spec, name=f"{title}, {experiment}-{training.seed}")

        female_scores, male_scores = score_label(
            model, tests, training.texts.label, setting.store, setting.progress
        )
        row = _row(
            training,
            encoder=OWN,
            learner=title,
            experiment=experiment,
            as_female=female_scores >= 0.5,
            as_male=male_scores >= 0.5,
            reasons=why_same_to(model, training.pairs),
        )
        setting.say(f"{row.name}: {int(row.flipped.sum())} pairs flip")
        yield row


def _train_and_dev(training: Training, experiment: str) -> tuple[Corpus, Corpus]:
    """The texts of an experiment: those of the first fold are dev."""
    texts, marks, folds = training.of(experiment)
    label = training.texts.label

    def part(rows: BoolArray) -> Corpus:
        return Corpus.of(
            training.texts.corpus,
            list(compress(texts, rows)),
            labels={label: marks[rows].astype(np.float64).tolist()},
        )

    return part(folds != 0), part(folds == 0)


def _row(
    training: Training,
    *,
    encoder: str,
    learner: str,
    experiment: str,
    as_female: BoolArray,
    as_male: BoolArray,
    reasons: Sequence[str],
    parameters: Mapping[str, Any] | None = None,
    converged: bool = True,
) -> Decided:
    """The row of a classifier; `reasons` says of each pair why both wordings look the same, if they do."""
    texts = training.texts
    test = training.cut.test
    # A decision on the very edge may flip with the last bits: a pair that flipped was seen.
    reasons_not_flipped = compress(reasons, as_female == as_male)
    return Decided(
        corpus=texts.corpus,
        label=texts.label,
        encoder=encoder,
        learner=learner,
        experiment=experiment,
        seed=training.seed,
        ids=tuple(texts.ids[row] for row in test),
        marks=texts.marks[test],
        as_female=as_female,
        as_male=as_male,
        units=tuple(_unit(training, row) for row in test),
        unseen=Counter(reason for reason in reasons_not_flipped if reason),
        parameters=parameters or {},
        converged=converged,
    )


def _unit(training: Training, row: int) -> str:
    """The author of a text or, where nobody is known, the text itself: copies belong together."""
    texts = training.texts
    has_author = texts.owners[row] != f"id {texts.ids[row]}"
    return texts.owners[row] if has_author else texts.texts[row]


def same_vectors(first: Any, second: Any) -> BoolArray:
    """Which rows of two matrices, dense or sparse, are the same, (n,)."""
    largest = abs(first - second).max(axis=1)
    if hasattr(largest, "todense"):
        largest = largest.todense()
    same: BoolArray = np.asarray(largest).ravel() <= SAME
    return same


def not_read(read: Callable[[Sequence[str]], IntArray], pairs: Sequence[Pair]) -> BoolArray:
    """Whether reading ends before the first character that differs, in both wordings, (n,)."""
    if not pairs:
        return np.zeros(0, bool)
    first_differences = [_first_difference(*pair) for pair in pairs]
    read_of_first = read([first for first, _ in pairs])
    read_of_second = read([second for _, second in pairs])
    unread: BoolArray = np.maximum(read_of_first, read_of_second) <= np.array(first_differences)
    return unread


def _first_difference(first: str, second: str) -> int:
    """The position of the first character that differs; the shorter length if one begins the other."""
    for position, (left, right) in enumerate(zip(first, second, strict=False)):
        if left != right:
            return position
    return min(len(first), len(second))


def why_same(encoder: Encoder, pairs: Sequence[Pair], store: Path | None = None) -> list[str]:
    """Why an encoder has the same vector for both wordings of each of these pairs."""
    beyond_window = np.zeros(len(pairs), bool)
    if isinstance(encoder, Windowed):
        beyond_window = not_read(encoder.read, pairs)

    # The words in which the two wordings differ.
    swapped_words = [set(first.split()) ^ set(second.split()) for first, second in pairs]
    read_words = compress(swapped_words, ~beyond_window)
    words_with_vector = _words_with_vector(encoder, set[str]().union(*read_words), store)

    reasons = []
    for beyond, words in zip(beyond_window, swapped_words, strict=True):
        if beyond:
            reasons.append(WINDOW)
        elif words & words_with_vector:
            reasons.append(NOT_PARTED)
        else:
            reasons.append(NOT_KNOWN)
    return reasons


def _words_with_vector(encoder: Encoder, words: set[str], store: Path | None) -> set[str]:
    """The words for which an encoder has a vector other than zero."""
    if not words:
        return set()
    ordered = sorted(words)
    vectors = np.nan_to_num(encode_texts(encoder, ordered, store=store))
    return {word for word, vector in zip(ordered, vectors, strict=True) if vector.any()}


def why_same_to(model: Model, pairs: Sequence[Pair]) -> list[str]:
    """Why a trained model reads the same in both wordings of a pair; "" where it does not.

    Equal scores are no sign of it: a model may have learned that neither word matters.
    """
    if isinstance(model, _Pipelined):
        features = model.pipeline[:-1]
        first = features.transform([first for first, _ in pairs])
        second = features.transform([second for _, second in pairs])
        return [NOT_LEARNED if same else "" for same in same_vectors(first, second)]
    if isinstance(model, Windowed):
        return [WINDOW if unread else "" for unread in not_read(model.read, pairs)]
    return [""] * len(pairs)
