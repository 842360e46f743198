"""What every kind of training gets and returns: the parts of a corpus, its callbacks, its result."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.core.item import digest_of
from psycheck.corpora.fixed_order import in_fixed_order
from psycheck.corpora.split import split_corpus
from psycheck.statistics.classification import firm, gold
from psycheck.training.recipe import Recipe

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
# A column of a corpus in memory.
CONTROL = "control"
DEV_SHARE = 0.2  # of the texts, held out as dev where a corpus has none and nobody said how much
DEV_NAMES = ("dev", "valid", "validation", "val")


@dataclass(frozen=True, slots=True)
class Part:
    """Texts, or histories, and their annotations, (n, k) in 0..1; NaN means not annotated.

    `control` (n,) marks the control texts, where that is known. `owners` are the authors, or the texts
    themselves where a text has none: what belongs to one owner belongs in one fold.
    """

    texts: list[Any]
    targets: FloatArray
    control: NDArray[np.bool_] | None = None
    owners: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.texts)

    def fingerprint(self) -> str:
        """A hash of the training input: texts, their order and their annotations."""
        # Histories are known by their digests, texts by themselves.
        marks = [item if isinstance(item, str) else digest_of(item).hex() for item in self.texts]
        digest = blake2b("\x1e".join(marks).encode("utf-8", "surrogatepass"), digest_size=16)
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
        train, dev = map(in_fixed_order, corpus)
        name = train.name
        both = f"{train.fingerprint()} {dev.fingerprint()}"
        fingerprint = blake2b(both.encode(), digest_size=16).hexdigest()
    else:
        corpus = in_fixed_order(corpus)
        name = corpus.name
        fingerprint = corpus.fingerprint()
        train, dev = cut(corpus, recipe)

    labels = recipe.labels or train.labels
    if not labels:
        raise BadInput(
            f"corpus '{name}' has no labels to learn",
            code="corpus.no-labels",
            do="name the label column",
            key="labels",
        )
    train_part, train_left_out = part_of(train, labels)
    dev_part, dev_left_out = part_of(dev, labels)
    for column, label in enumerate(labels):
        _refuse_one_class(train_part.targets[:, column], "train", name, label)
        # A loss can also be measured on one class.
        chooses_by_f1 = recipe.criterion == "dev_f1"
        _refuse_one_class(dev_part.targets[:, column], "dev", name, label, allow_one=not chooses_by_f1)
    if recipe.balanced:
        _refuse_without_controls(train_part.control, name)

    return Parts(
        name=name,
        corpus=fingerprint,
        labels=labels,
        train=train_part,
        dev=dev_part,
        left_out=train_left_out + dev_left_out,
    )


def _refuse_one_class(
    targets: FloatArray, split: str, corpus: str, label: str, *, allow_one: bool = False
) -> None:
    """Refuse a label, targets (n,), without annotations or, unless `allow_one`, with one class only."""
    annotated = targets[~np.isnan(firm(targets))]
    if not len(annotated):
        raise BadInput(
            f"{split} of corpus '{corpus}' has no text annotated for '{label}'",
            code="train.no-annotation",
        )
    positive = int(gold(annotated).sum())
    if positive in (0, len(annotated)) and not allow_one:
        why, do = ONE_CLASS[split]
        raise BadInput(
            f"{split} of corpus '{corpus}' has one class for '{label}': {positive} of {len(annotated)} "
            "annotated texts are positive",
            code="train.one-class",
            allowed=f"texts of both classes: {why}",
            do=do,
        )


def _refuse_without_controls(control: NDArray[np.bool_] | None, corpus: str) -> None:
    """Refuse texts, `control` (n,), of which batches with controls and others cannot be made."""
    has_controls = control is not None and bool(control.any())
    if control is None or not has_controls or control.all():
        quantity = "only" if has_controls else "no"
        raise BadInput(
            f"train of corpus '{corpus}' has {quantity} control texts, so its batches cannot be balanced",
            code="train.no-controls",
            allowed="sentences that are annotated 0 for every symptom, and others",
            do="add control sentences, or leave `balanced` out",
        )


def part_of(corpus: Corpus, labels: tuple[str, ...]) -> tuple[Part, int]:
    """The texts with at least one annotation, and how many have none."""
    targets = corpus.targets(labels)
    annotated = np.asarray(~np.isnan(targets).all(axis=1))
    control = None
    if CONTROL in corpus.table:
        control = corpus.table[CONTROL].to_numpy()[annotated]
    owners = [
        author if author is not None else text
        for author, text in zip(corpus.strings("author"), corpus.texts, strict=True)
    ]
    part = Part(
        texts=list(compress(corpus.items, annotated)),
        targets=targets[annotated],
        control=control,
        owners=tuple(compress(owners, annotated)),
    )
    return part, int((~annotated).sum())


def held_out(corpus: Data) -> Corpus | None:
    """The test split of a corpus, or None."""
    if isinstance(corpus, tuple) or "test" not in corpus.strings("split"):
        return None
    return corpus.part("test")


def cut(corpus: Corpus, recipe: Recipe) -> tuple[Corpus, Corpus]:
    """Train and dev of a corpus by its split column; dev is taken from train where the recipe says so."""
    splits = {name for name in corpus.strings("split") if name is not None}
    if splits and "train" not in splits:
        raise BadInput(
            f"corpus '{corpus.name}' has no split 'train'",
            code="corpus.no-train-split",
            allowed=", ".join(sorted(splits)),
        )
    train = corpus.part("train") if splits else corpus
    dev = dev_name(corpus)
    if dev is not None:
        return train, corpus.part(dev)

    if not recipe.dev_share:
        raise BadInput(
            f"corpus '{corpus.name}' has no dev split",
            code="corpus.no-dev-split",
            allowed="a split column with 'train' and 'dev'",
            do="name the split column (`columns.split`), or take dev from train: `dev_share=0.1`",
        )
    is_dev = dev_rows(train, recipe)
    return train.only(~is_dev), train.only(is_dev)


def dev_name(corpus: Corpus) -> str | None:
    """The name of the dev split, or None."""
    splits = set(corpus.strings("split"))
    return next((name for name in DEV_NAMES if name in splits), None)


def dev_rows(corpus: Corpus, recipe: Recipe) -> NDArray[np.bool_]:
    """A seeded share of the texts, (n,), stratified by labels and grouped by author."""
    shares = {"train": 1 - recipe.dev_share, "dev": recipe.dev_share}
    split = split_corpus(
        corpus,
        shares,
        stratify=recipe.labels or None,
        seed=recipe.seed,
    )
    is_dev: NDArray[np.bool_] = split.table["split"].to_numpy() == "dev"
    if not is_dev.any() or is_dev.all():
        raise BadInput(
            f"cannot take dev from corpus '{corpus.name}' ({len(corpus)} texts)",
            code="train.cannot-cut-dev",
            do="use a corpus with a dev split",
        )
    return is_dev


def balancing_weights(targets: FloatArray) -> FloatArray:
    """Weights (2, k) that balance both classes of each label: n / (2 n_class), soft targets in part."""
    annotated = (~np.isnan(targets)).sum(axis=0)
    positive = np.nansum(targets, axis=0)
    # A text of 0.3 is 0.3 of a positive and 0.7 of a negative one.
    negative = annotated - positive
    weights = [annotated / (2 * negative), annotated / (2 * positive)]
    return np.asarray(weights, dtype=np.float64)
