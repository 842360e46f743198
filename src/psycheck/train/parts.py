"""What every kind of training gets and returns: the parts of a corpus, its callbacks, its result."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psycheck.corpora.split import split_corpus
from psycheck.corpus import Corpus
from psycheck.errors import BadInput
from psycheck.measures.classification import firm, gold
from psycheck.model import FloatArray
from psycheck.train.recipe import Recipe

Data = Corpus | tuple[Corpus, Corpus]  # a corpus with its splits, or train and dev
Progress = Callable[[int, int], None]
AfterEpoch = Callable[[float, Mapping[str, float]], None]
ONE_CLASS = {
    "train": (
        "a model cannot learn from one class, even with class weights",
        "add texts of the other class; if there are any, check the label column (`labels`, `positive`)",
    ),
    "dev": ("F1 on one class cannot choose a model", "choose by the loss on dev: `criterion=dev_loss`"),
}
CONTROL = "control"  # a column of a corpus in memory
DEV_NAMES = ("dev", "valid", "validation", "val")


@dataclass(frozen=True, slots=True)
class Part:
    """Texts and their annotations, (n, k) in 0..1; NaN means not annotated.

    `control` (n,) marks the control texts, where that is known.
    """

    texts: list[str]
    targets: FloatArray
    control: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def fingerprint(self) -> str:
        """A hash of the training input: texts, their order and their annotations."""
        digest = blake2b("\x1e".join(self.texts).encode("utf-8", "surrogatepass"), digest_size=16)
        digest.update(np.ascontiguousarray(self.targets).tobytes())
        digest.update(b"" if self.control is None else self.control.tobytes())
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Parts:
    """One corpus, ready to train on; `left_out` counts the texts without any annotation."""

    name: str
    corpus: str
    labels: tuple[str, ...]
    train: Part
    dev: Part
    left_out: int


@dataclass(frozen=True, slots=True)
class Fitted:
    """A trained model in memory: dev figures, their curve, its window in tokens, and how to save it."""

    dev: dict[str, float]
    curve: tuple[dict[str, float], ...]
    window: int | None
    save: Callable[[Path], None]


def parts_of(corpus: Data, recipe: Recipe) -> Parts:
    """Train and dev of a corpus (by its split column) or of a pair; refuses what cannot be learned."""
    if isinstance(corpus, tuple):
        train, dev = corpus
        name = train.name
        mark = blake2b(f"{train.fingerprint()} {dev.fingerprint()}".encode(), digest_size=16).hexdigest()
    else:
        name, mark = corpus.name, corpus.fingerprint()
        train, dev = cut(corpus, recipe)
    labels = recipe.labels or train.labels
    if not labels:
        raise BadInput(f"corpus '{name}' has no labels to learn", do="name the label column", key="labels")
    learned, empty = part_of(train, labels)
    measured, also_empty = part_of(dev, labels)
    for k, label in enumerate(labels):
        for split, part in (("train", learned), ("dev", measured)):
            known = part.targets[~np.isnan(firm(part.targets[:, k])), k]
            if not len(known):
                raise BadInput(f"{split} of corpus '{name}' has no text annotated for '{label}'")
            positive = int(gold(known).sum())
            if positive in (0, len(known)) and (split == "train" or recipe.criterion == "dev_f1"):
                why, do = ONE_CLASS[split]
                raise BadInput(
                    f"{split} of corpus '{name}' has one class for '{label}': {positive} of {len(known)} "
                    "annotated texts are positive",
                    allowed=f"texts of both classes: {why}",
                    do=do,
                )
    control = learned.control
    if recipe.balanced and (control is None or control.all() or not control.any()):
        many = "no" if control is None or not control.any() else "only"
        raise BadInput(
            f"train of corpus '{name}' has {many} control texts, so its batches cannot be balanced",
            allowed="sentences that are annotated 0 for every symptom, and others",
            do="add control sentences, or leave `balanced` out",
        )
    return Parts(name, mark, labels, learned, measured, empty + also_empty)


def part_of(corpus: Corpus, labels: tuple[str, ...]) -> tuple[Part, int]:
    """The texts with at least one annotation, and how many have none."""
    targets = corpus.targets(labels)
    known = np.asarray(~np.isnan(targets).all(axis=1))
    texts = [text for text, keep in zip(corpus.texts, known, strict=True) if keep]
    control = corpus.table[CONTROL].to_numpy()[known] if CONTROL in corpus.table else None
    return Part(texts, targets[known], control), int((~known).sum())


def held_out(corpus: Data) -> Corpus | None:
    """The test split of a corpus, or None."""
    return None if isinstance(corpus, tuple) or "test" not in corpus.strings("split") else corpus.part("test")


def cut(corpus: Corpus, recipe: Recipe) -> tuple[Corpus, Corpus]:
    """Train and dev of a corpus by its split column; dev is taken from train where the recipe says so."""
    splits = {name for name in corpus.strings("split") if name is not None}
    if "train" not in splits and splits:
        raise BadInput(f"corpus '{corpus.name}' has no split 'train'", allowed=", ".join(sorted(splits)))
    train = corpus.part("train") if splits else corpus
    if dev := dev_name(corpus):
        return train, corpus.part(dev)
    if not recipe.dev_share:
        raise BadInput(
            f"corpus '{corpus.name}' has no dev split",
            allowed="a split column with 'train' and 'dev'",
            do="name the split column (`columns.split`), or take dev from train: `dev_share=0.1`",
        )
    picked = dev_rows(train, recipe)
    return train.only(~picked), train.only(picked)


def dev_name(corpus: Corpus) -> str | None:
    """The name of the dev split, or None."""
    splits = set(corpus.strings("split"))
    return next((name for name in DEV_NAMES if name in splits), None)


def dev_rows(corpus: Corpus, recipe: Recipe) -> NDArray[np.bool_]:
    """A seeded share of the texts, (n,), stratified by labels and grouped by author."""
    shares = {"train": 1 - recipe.dev_share, "dev": recipe.dev_share}
    split = split_corpus(corpus, shares, stratify=recipe.labels or None, seed=recipe.seed)
    picked: NDArray[np.bool_] = split.table["split"].to_numpy() == "dev"
    if not picked.any() or picked.all():
        raise BadInput(
            f"cannot take dev from corpus '{corpus.name}' ({len(corpus)} texts)",
            do="use a corpus with a dev split",
        )
    return picked


def balancing_weights(targets: FloatArray) -> FloatArray:
    """Weights (2, k) that balance both classes of each label: n / (2 n_class), soft targets in part."""
    n = (~np.isnan(targets)).sum(axis=0)
    positive = np.nansum(targets, axis=0)
    return np.asarray([n / (2 * (n - positive)), n / (2 * positive)], dtype=np.float64)
