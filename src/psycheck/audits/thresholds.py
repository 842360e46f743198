"""Decision thresholds that are chosen on the dev split, and used on the other texts alone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

import numpy as np

from psycheck.audits.figures import thresholds_of
from psycheck.core.arrays import FloatArray
from psycheck.core.audit import Scores
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput, counted
from psycheck.core.finding import Finding
from psycheck.corpora.columns import split_name
from psycheck.corpora.opening import CorpusPlan, open_corpus
from psycheck.io.settings import Limit
from psycheck.statistics.classification import gold, usable
from psycheck.statistics.thresholds import best_threshold

DEV: Final = "dev"
Threshold = Annotated[float, Limit("above 0, below 1", lambda value: 0 < value < 1)] | Literal["dev"]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The threshold of each label of a model, (k,), and how many dev texts it was chosen on."""

    labels: tuple[str, ...]
    values: FloatArray
    texts: tuple[int, ...]
    notes: tuple[str, ...] = ()

    @property
    def by_label(self) -> dict[str, float]:
        """The threshold of each label that was chosen on dev."""
        chosen: dict[str, float] = {}
        for label, value, texts in zip(self.labels, self.values.tolist(), self.texts, strict=True):
            # Without a dev text it is the default, which nobody chose.
            if texts:
                chosen[label] = value
        return chosen

    def findings(self, model: str, corpus: Corpus) -> Iterator[Finding]:
        """The thresholds at which a corpus is judged; n counts the dev texts."""
        where = {
            "audit": "performance",
            "model": model,
            "corpus": corpus.name,
        }
        for label, texts in zip(self.labels, self.texts, strict=True):
            if texts and label in corpus.labels:
                yield Finding("threshold", self.by_label[label], texts, where={**where, "label": label})


def threshold_of(value: object) -> object:
    """A threshold as it is typed: a number if it reads as one, else as it is ("dev")."""
    try:
        if isinstance(value, str):
            return float(value)
        return value
    except ValueError:
        return value


def set_aside(
    corpora: Sequence[Corpus],
    scored: Mapping[str, Sequence[str]],
) -> tuple[tuple[Corpus, ...], tuple[Corpus, ...]]:
    """The corpora without their dev splits, and the dev splits with labels.

    `scored` are the labels of each model; a dev split must have one of them. Everything is checked here,
    before anything is scored.
    """
    judged: list[Corpus] = []
    dev: list[Corpus] = []
    for corpus in corpora:
        is_dev = np.array([split == DEV for split in corpus.strings("split")], bool)
        if len(is_dev) and is_dev.all():
            raise BadInput(
                f"corpus '{corpus.name}' has no texts besides dev, on which the threshold is chosen",
                code="threshold.only-dev",
                key="threshold",
                do="leave out the split, or name another one",
            )
        # A threshold that was chosen on a text fits it better than others: dev is not judged.
        judged.append(corpus.only(~is_dev))
        if corpus.labels and is_dev.any():
            dev.append(corpus.only(is_dev))
    _refuse_useless_dev(dev, scored)
    return tuple(judged), tuple(dev)


def _refuse_useless_dev(dev: Sequence[Corpus], scored: Mapping[str, Sequence[str]]) -> None:
    """Refuse dev splits without labels, or without any label of one of the models."""
    if not dev:
        raise BadInput(
            "no corpus has a dev split with labels to choose the threshold on",
            code="threshold.no-dev",
            key="threshold",
            allowed="a corpus with labels and a split column that says dev, or a number",
            do="make splits with psycheck clean CORPUS --resplit 6:2:2 --out FILE, or set a number",
        )
    # Every model: a run in which some are tuned on dev and others are not compares unequal things.
    annotated = {label for corpus in dev for label in corpus.labels}
    for model, labels in scored.items():
        if not annotated.intersection(labels):
            raise BadInput(
                f"model '{model}' scores no label that a dev split is annotated for",
                code="threshold.no-dev-label",
                key="threshold",
                allowed=f"one of {', '.join(sorted(annotated))}",
                do="set a number",
            )


def open_with_dev(plan: CorpusPlan) -> Corpus:
    """The split that a plan names, and the dev split beside it."""
    return with_dev(open_corpus(replace(plan, split=None)), plan.split)


def with_dev(corpus: Corpus, split: str | None) -> Corpus:
    """One split of a corpus and its dev split; all of it if no split is named."""
    if split is None:
        return corpus
    name = split_name(split)
    corpus.part(name)  # an unknown split is an error
    is_needed = [text_split in (name, DEV) for text_split in corpus.strings("split")]
    return corpus.only(is_needed)


def choose_thresholds(scores: Scores, dev: Sequence[Corpus]) -> Thresholds:
    """The threshold of each label with the highest macro-F1 on the dev texts of all corpora; else 0.5."""
    thresholds = thresholds_of(scores, 0.5)
    texts = [0] * len(scores.labels)
    notes: list[str] = []
    for k, label in enumerate(scores.labels):
        annotated = [corpus for corpus in dev if label in corpus.labels]
        if not annotated:
            continue
        # All corpora together: a run decides at one threshold per label.
        targets_of_corpora = [corpus.targets([label])[:, 0] for corpus in annotated]
        scores_of_corpora = [scores.of(corpus.items)[:, k] for corpus in annotated]
        targets = np.concatenate(targets_of_corpora)
        dev_scores = np.concatenate(scores_of_corpora)
        is_usable = usable(targets, dev_scores)
        texts[k] = int(is_usable.sum())

        classes = np.unique(gold(targets[is_usable]))
        reason = "the default: dev has one class"
        if len(classes) == 2:
            thresholds[k] = best_threshold(targets, dev_scores)
            are = "is" if texts[k] == 1 else "are"
            dev_texts = counted(texts[k], "dev text")
            reason = f"the highest macro-F1 on {dev_texts}, which {are} not judged"
        decision = f"decision threshold of '{label}' {thresholds[k]:.3g} ({reason})"
        notes.append(f"model '{scores.model}': {decision}")
    return Thresholds(
        labels=tuple(scores.labels),
        values=thresholds,
        texts=tuple(texts),
        notes=tuple(notes),
    )
