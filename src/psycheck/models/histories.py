"""Models of histories: how likely an author is annotated with each condition, from the posts in time order.

Their folder holds history.json and the weights: convolutions or a logistic regression as safetensors, or a
scikit-learn pipeline of tf-idf as skops. The symptom model and the encoder are named, not copied.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from psycheck.corpora.histories import HISTORIES, MOST
from psycheck.corpus import History
from psycheck.errors import UNREADABLE, BadInput, ModelFailure, explained
from psycheck.model import FloatArray
from psycheck.models.fingerprint import file_hash, hashed_parts
from psycheck.models.open import open_encoder
from psycheck.models.options import ModelOptions, parsed_switch, query_of
from psycheck.models.posts import DESCRIBED, Features, PostFeatures, open_post_symptoms
from psycheck.models.sklearn_file import SklearnModel, open_sklearn
from psycheck.settings.reader import AT_LEAST_1, NOT_BLANK, read_settings

KIND = "history"
HISTORY_FILE, WEIGHTS_FILE = "history.json", "history.safetensors"
BATCH = 64
_SCORING = "1"  # increase it whenever the same weights and posts would give another score
BETWEEN = "\n\n"
Of = Callable[[Sequence[History]], FloatArray]
Heads = Callable[[Sequence[Features]], FloatArray]


@dataclass(frozen=True, slots=True)
class HistorySettings:
    """What a model of histories reads: "history:FEATURES?key=value" as the start of a training.

    With "+lr" a logistic regression reads the features of all posts together: the mean vector, the mean and
    the largest weight of each symptom, or the words. `status` and `subject` switch factors of formula (1).
    With `controls` each label is learned against authors without any condition (PsySym, section 5.4), else
    against all others.
    """

    features: Literal["symptoms", "embeddings", "both", "symptoms+lr", "embeddings+lr", "tfidf+lr"]
    symptoms: Annotated[str, NOT_BLANK] = DESCRIBED
    encoder: Annotated[str, NOT_BLANK] = "minilm"
    most: Annotated[int, AT_LEAST_1] = MOST
    status: bool = True
    subject: bool = True
    controls: bool = True

    @property
    def linear(self) -> bool:
        """Whether the posts are read together, by a logistic regression."""
        return self.features.endswith("+lr")

    @property
    def words(self) -> bool:
        """Whether the words are read, and not the features of posts."""
        return self.features == "tfidf+lr"

    def open_features(self) -> PostFeatures:
        """The features of posts; nothing is computed yet."""
        weighs, encodes = (self.features.startswith((name, "both")) for name in ("symptoms", "embeddings"))
        switches = {"status": self.status, "subject": self.subject}
        symptoms = open_post_symptoms(self.symptoms, **switches) if weighs else None
        return PostFeatures(symptoms, open_encoder(self.encoder) if encodes else None)


def history_settings(start: str) -> HistorySettings:
    """The settings of a start such as "history:symptoms?most=100&status=no"."""
    target, _, query = start.removeprefix(f"{KIND}:").partition("?")
    values: dict[str, Any] = {**query_of(query, start), "features": target if target != KIND else "symptoms"}
    if str(values.get("most", "")).isdigit():
        values["most"] = int(values["most"])
    values |= {key: parsed_switch(values[key]) for key in ("status", "subject", "controls") if key in values}
    return read_settings(HistorySettings, values, start)


@dataclass(frozen=True, slots=True)
class HistoryModel:
    """A trained model of histories."""

    takes: ClassVar = HISTORIES
    name: str
    labels: tuple[str, ...]
    fingerprint: str
    parts: Mapping[str, str]
    most: int
    batch: int
    of: Of = field(repr=False)

    def score(self, histories: Sequence[History], /) -> FloatArray:
        """Score histories by their earliest posts, (n, k) in [0, 1]; NaN for one without posts."""
        scores = np.full((len(histories), len(self.labels)), np.nan)  # nothing was written: no answer
        written = [row for row, one in enumerate(histories) if one.posts]
        if written:
            scores[written] = self.of([History(histories[row].posts[: self.most]) for row in written])
        return scores


def open_history(target: str, options: ModelOptions) -> HistoryModel:
    """Open a folder that training on histories wrote; another symptom model or encoder is refused."""
    folder = Path(target).expanduser()
    what, allowed = "the folder does not hold a model of histories", "a folder that training on them wrote"
    with explained(what, *UNREADABLE, kind=ModelFailure, where=str(folder), allowed=allowed):
        record = json.loads((folder / HISTORY_FILE).read_text("utf-8"))
        settings = HistorySettings(**record["settings"])
        labels, known = tuple(record["labels"]), dict(record["features"])
    parts = {"settings": json.dumps(asdict(settings), sort_keys=True), "scoring": _SCORING, **known}
    of: Of
    if settings.words:
        pipeline = open_sklearn(str(folder), ModelOptions())
        parts["words"], of = pipeline.fingerprint, partial(_by_words, pipeline)
    else:
        features = settings.open_features()
        for part, mark in features.fingerprints.items():
            if known.get(part) != mark:
                what = f"'{getattr(settings, part)}' is not the one that this model was trained with"
                raise ModelFailure(what, where=target, do="restore the original, or train again")
        of = partial(_by_posts, features, _heads(folder, settings, labels))
        parts["weights"] = file_hash(folder / WEIGHTS_FILE)
    names = tuple(options.label.split(",")) if options.label else labels
    if len(names) != len(labels):
        raise BadInput("the labels do not fit the model", where=target, allowed=", ".join(labels))
    return HistoryModel(
        name=options.name or folder.resolve().name,
        labels=names,
        fingerprint=hashed_parts(parts),
        parts=parts,
        most=settings.most,
        batch=options.batch or BATCH,
        of=of,
    )


def features_by_history(
    histories: Sequence[History], of: Callable[[Sequence[str]], Features]
) -> list[Features]:
    """The features of the posts of each history, each (posts, d)."""
    posts = [post for one in histories for post in one.posts]
    rows = of(posts or [""])
    ends = np.cumsum([len(one.posts) for one in histories])
    return np.split(rows[: len(posts)], ends[:-1])


def pooled(settings: HistorySettings, posts: Sequence[Features]) -> FloatArray:
    """All posts of each history together, (n, d) or (n, 2 d): means and, of symptoms, the largest weights."""
    parts = [np.stack([one.mean(axis=0) if len(one) else np.zeros(one.shape[1]) for one in posts])]
    if settings.features == "symptoms+lr":
        parts.append(np.stack([one.max(axis=0, initial=0.0) for one in posts]))
    return np.hstack(parts).astype(np.float64)


def _heads(folder: Path, settings: HistorySettings, labels: Sequence[str]) -> Heads:
    """What the weights of a folder make of the features of histories, (n, k)."""
    from safetensors import SafetensorError

    what, file = "the weights cannot be read", folder / WEIGHTS_FILE
    broken = (*UNREADABLE, SafetensorError, RuntimeError)
    with explained(what, *broken, kind=ModelFailure, where=str(file), do="train again"):
        if settings.linear:
            from safetensors.numpy import load_file

            head = load_file(file)
            weights, intercepts = head["weights"], head["intercepts"]
            return lambda posts: 1 / (1 + np.exp(-pooled(settings, posts) @ weights.T - intercepts))
        from safetensors.torch import load_file as load_tensors

        from psycheck.models.history_network import PostConvolutions, probabilities

        tensors, networks = load_tensors(file), []
        for k in range(len(labels)):
            mine = {n.removeprefix(f"{k}."): t for n, t in tensors.items() if n.startswith(f"{k}.")}
            network = PostConvolutions(mine["convolutions.0.weight"].shape[1])
            network.load_state_dict(mine)
            networks.append(network)
        return lambda posts: probabilities(networks, posts)


def _by_words(pipeline: SklearnModel, histories: Sequence[History]) -> FloatArray:
    return pipeline.score([BETWEEN.join(one.posts) for one in histories])


def _by_posts(features: PostFeatures, heads: Heads, histories: Sequence[History]) -> FloatArray:
    return heads(features_by_history(histories, features.of))
