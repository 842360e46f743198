"""Models of histories: how likely an author is annotated with each condition, from the posts in time order.

Their folder holds history.json and the weights: convolutions or a logistic regression as safetensors, or a
scikit-learn pipeline of tf-idf. The symptom model and the encoder are named, not copied.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import History
from psycheck.core.errors import UNREADABLE, BadInput, ModelFailure, explained
from psycheck.core.model import AnswersOf, Capabilities, Encoder, Model, ModelKind
from psycheck.models.fingerprint import file_hash, hashed_parts
from psycheck.models.options import ModelOptions
from psycheck.models.sklearn_file import SklearnModel, SklearnOptions, open_sklearn
from psycheck.models.training_card import with_card
from psycheck.symptoms.history_settings import PLAIN_NETWORK, HistorySettings
from psycheck.symptoms.post_weights import Features, PostFeatures

if TYPE_CHECKING:
    from psycheck.symptoms.history_network import PostNetwork

HISTORY_FILE = "history.json"
WEIGHTS_FILE = "history.safetensors"
BATCH = 64
BETWEEN = "\n\n"  # posts, where they are read as one text
_SCORING = "1"  # increase it whenever the same weights and posts would give another score
_POSTS_AT_ONCE = 512  # so that the sentences of very many posts are never held together

Score = Callable[[Sequence[History], Sequence[AnswersOf]], FloatArray]
Heads = Callable[[Sequence[Features]], FloatArray]
Attention = Callable[[Sequence[Features]], list[FloatArray]]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryOptions(ModelOptions):
    """Options of a model of histories: those that every kind has."""


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class HistoryModel:
    """A trained model of histories.

    `needs` are the symptom model of posts and the encoder, as far as it reads them; `scores_of` scores
    histories of at least one post from their answers. `attention_of` tells what its attention gives the posts
    of each history, (posts, k), from their features; None for a network without.
    """

    name: str
    labels: tuple[str, ...]
    fingerprint: str
    capabilities: Capabilities = field(repr=False)
    needs: tuple[Model | Encoder, ...] = field(repr=False)
    scores_of: Score = field(repr=False)
    attention_of: Attention | None = field(default=None, repr=False)

    def needed(self, histories: Sequence[History], /) -> list[str]:
        """The posts that are read, whose features are computed first."""
        posts: list[str] = []
        # A model of words reads no features of posts.
        if self.needs:
            for history in histories:
                posts.extend(self._earliest(history).posts)
        return posts

    def score_from(self, histories: Sequence[History], answers: Sequence[AnswersOf], /) -> FloatArray:
        """Score histories from the features of their posts, (n, k) in [0, 1]; NaN for one without posts."""
        scores = np.full((len(histories), len(self.labels)), np.nan)
        with_posts = [row for row, history in enumerate(histories) if history.posts]
        if with_posts:
            earliest = [self._earliest(histories[row]) for row in with_posts]
            scores[with_posts] = self.scores_of(earliest, answers)
        return scores

    def score(self, histories: Sequence[History], /) -> FloatArray:
        """Score histories by their earliest posts, (n, k); the features of posts are computed here."""
        return self.score_from(histories, [_each_post_once(need) for need in self.needs])

    def attention_from(
        self, histories: Sequence[History], answers: Sequence[AnswersOf], /
    ) -> list[FloatArray] | None:
        """What attention gives the posts of each history, (posts, k), in all 1 per label; None without any.

        Posts beyond those that are read have 0.
        """
        if self.attention_of is None:
            return None
        earliest = [self._earliest(history) for history in histories]
        weights = self.attention_of(_features(earliest, answers))
        of_histories = []
        for history, of_read in zip(histories, weights, strict=True):
            of_posts = np.zeros((len(history.posts), len(self.labels)))
            of_posts[: len(of_read)] = of_read
            of_histories.append(of_posts)
        return of_histories

    def _earliest(self, history: History) -> History:
        return History(history.posts[: self.capabilities.most_posts])


def _each_post_once(need: Model | Encoder) -> AnswersOf:
    """The answers of a model or encoder, each distinct post computed once, some hundred at a time."""
    compute = need.encode if isinstance(need, Encoder) else need.score

    def answers(posts: Sequence[str]) -> FloatArray:
        # Edits of a history share nearly all of its posts.
        distinct = list(dict.fromkeys(posts))
        slices = []
        for start in range(0, len(distinct), _POSTS_AT_ONCE):
            posts_at_once = distinct[start : start + _POSTS_AT_ONCE]
            slices.append(compute(posts_at_once))

        row_of = {post: row for row, post in enumerate(distinct)}
        rows = [row_of[post] for post in posts]
        return np.concatenate(slices)[rows]

    return answers


def open_history(target: str, options: HistoryOptions) -> HistoryModel:
    """Open a folder that training on histories wrote; another symptom model or encoder is refused."""
    folder = Path(target).expanduser()
    settings, labels, trained_with = _read_record(folder)
    parts = {
        "settings": json.dumps(_as_before(settings), sort_keys=True),
        "scoring": _SCORING,
        **trained_with,
    }

    # Words are read by a pipeline of their own, features of posts by convolutions or a regression.
    scores_of: Score
    attention_of: Attention | None = None
    needs: tuple[Model | Encoder, ...] = ()
    if settings.words:
        pipeline = open_sklearn(str(folder), SklearnOptions())
        parts["words"] = pipeline.fingerprint
        scores_of = partial(_scores_by_words, pipeline)
    else:
        features = settings.open_features()
        _check_unchanged(features, trained_with, settings, where=target)
        parts["weights"] = file_hash(folder / WEIGHTS_FILE)
        needs = features.models
        heads, attention_of = _heads(folder, settings, labels)
        scores_of = partial(_scores_by_posts, heads)

    names = _label_names(options.label, labels, where=target)
    declared = Capabilities(
        batch=options.batch or BATCH,
        takes="histories",
        most_posts=settings.most,
        parts=parts,
    )
    return HistoryModel(
        name=options.name or folder.resolve().name,
        labels=names,
        fingerprint=hashed_parts(parts),
        capabilities=with_card(declared, folder, names),
        needs=needs,
        scores_of=scores_of,
        attention_of=attention_of,
    )


def _as_before(settings: HistorySettings) -> dict[str, Any]:
    """The settings without those of a plain network, which older models do not have."""
    values = asdict(settings)
    if settings.shape:
        return values
    return {name: value for name, value in values.items() if name not in PLAIN_NETWORK}


def _read_record(folder: Path) -> tuple[HistorySettings, tuple[str, ...], dict[str, str]]:
    """The settings, the labels, and the fingerprints of what computed the features in training."""
    with explained(
        "the folder does not hold a model of histories",
        *UNREADABLE,
        kind=ModelFailure,
        code="model.not-of-histories",
        where=str(folder),
        allowed="a folder that training on them wrote",
    ):
        record = json.loads((folder / HISTORY_FILE).read_text("utf-8"))
        settings = HistorySettings(**record["settings"])
        return settings, tuple(record["labels"]), dict(record["features"])


def _check_unchanged(
    features: PostFeatures, trained_with: Mapping[str, str], settings: HistorySettings, *, where: str
) -> None:
    """Refuse another symptom model or encoder than that of the training."""
    for part, fingerprint in features.fingerprints.items():
        if trained_with.get(part) != fingerprint:
            raise ModelFailure(
                f"'{getattr(settings, part)}' is not the one that this model was trained with",
                code="model.other-features",
                where=where,
                do="restore the original, or train again",
            )


def _label_names(label: str | None, labels: tuple[str, ...], *, where: str) -> tuple[str, ...]:
    names = tuple(label.split(",")) if label else labels
    if len(names) != len(labels):
        raise BadInput(
            "the labels do not fit the model",
            code="model.label-count",
            where=where,
            allowed=", ".join(labels),
        )
    return names


def features_by_history(
    histories: Sequence[History], features_of: Callable[[Sequence[str]], Features]
) -> list[Features]:
    """The features of the posts of each history, each (posts, d)."""
    posts = list(chain.from_iterable(history.posts for history in histories))
    rows = features_of(posts or [""])  # without any post, an empty one tells the width
    # All posts of a batch are computed at once, then given back to their histories.
    counts = [len(history.posts) for history in histories]
    ends = np.cumsum(counts)
    return np.split(rows[: len(posts)], ends[:-1])


def pooled(settings: HistorySettings, histories: Sequence[Features]) -> FloatArray:
    """All posts of each history together, (n, d) or (n, 2 d): means and, of symptoms, the largest weights."""
    means = [_mean(posts) for posts in histories]
    columns = [np.stack(means)]
    if settings.features == "symptoms+lr":
        # One post about a symptom tells much, and its mean over hundreds of others little.
        largest = [posts.max(axis=0, initial=0.0) for posts in histories]
        columns.append(np.stack(largest))
    return np.hstack(columns).astype(np.float64)


def _mean(posts: Features) -> Features:
    """The mean features of posts, (d,); zeros without any."""
    return posts.mean(axis=0) if len(posts) else np.zeros(posts.shape[1])  # type: ignore[return-value]  # hstack makes them one type


def _heads(folder: Path, settings: HistorySettings, labels: Sequence[str]) -> tuple[Heads, Attention | None]:
    """What the weights of a folder make of the features of histories, (n, k), and their attention."""
    from safetensors import SafetensorError

    file = folder / WEIGHTS_FILE
    with explained(
        "the weights cannot be read",
        *UNREADABLE,
        SafetensorError,
        RuntimeError,
        kind=ModelFailure,
        code="model.weights-unreadable",
        where=str(file),
        do="train again",
    ):
        if settings.linear:
            return _linear_heads(file, settings), None
        networks = _networks(file, settings, labels)

    from psycheck.symptoms.history_network import attention, probabilities

    attention_of = partial(attention, networks) if settings.pool == "attention" else None
    return partial(probabilities, networks), attention_of


def _linear_heads(file: Path, settings: HistorySettings) -> Heads:
    """A logistic regression on the pooled features."""
    from safetensors.numpy import load_file

    head = load_file(file)
    weights = head["weights"]
    intercepts = head["intercepts"]

    def heads(histories: Sequence[Features]) -> FloatArray:
        logits = pooled(settings, histories) @ weights.T + intercepts
        return np.asarray(1 / (1 + np.exp(-logits)))

    return heads


def _networks(file: Path, settings: HistorySettings, labels: Sequence[str]) -> "list[PostNetwork]":
    """One network per label; "0.out.weight" is a weight of the first."""
    from safetensors.torch import load_file

    from psycheck.symptoms.history_network import made

    # One file holds the networks of all labels; each name begins with the place of its label.
    weights: list[dict[str, Any]] = [{} for _ in labels]
    for name, tensor in load_file(file).items():
        place, _, weight_name = name.partition(".")
        if int(place) < len(labels):
            weights[int(place)][weight_name] = tensor

    networks: list[PostNetwork] = []
    for state in weights:
        # The first weights of either network have a column for each feature of a post.
        first = state["convolutions.0.weight" if settings.network == "convolutions" else "embed.weight"]
        network = made(
            first.shape[1],
            network=settings.network,
            widths=settings.window_sizes,
            filters=settings.filters,
            layers=settings.layers,
            pool=settings.pool,
        )
        network.load_state_dict(state)
        networks.append(network)
    return networks


def _scores_by_words(
    pipeline: SklearnModel, histories: Sequence[History], _answers: Sequence[AnswersOf]
) -> FloatArray:
    return pipeline.score([BETWEEN.join(history.posts) for history in histories])


def _scores_by_posts(heads: Heads, histories: Sequence[History], answers: Sequence[AnswersOf]) -> FloatArray:
    return heads(_features(histories, answers))


def _features(histories: Sequence[History], answers: Sequence[AnswersOf]) -> list[Features]:
    """The features of the posts of each history, (posts, d), from what the models of posts answered."""

    def features_of(posts: Sequence[str]) -> Features:
        return np.hstack([answer(posts).astype(np.float32) for answer in answers])

    return features_by_history(histories, features_of)


KIND = ModelKind(open=open_history, options=HistoryOptions, target="path", markers=(HISTORY_FILE,))
