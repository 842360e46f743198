"""Decision thresholds that are chosen on the dev split, and used on the other texts alone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

import numpy as np

from psycheck.audits.measured import thresholds_of
from psycheck.corpora.columns import split_name
from psycheck.corpora.open import CorpusPlan, open_corpus
from psycheck.corpus import Corpus
from psycheck.errors import BadInput, counted
from psycheck.finding import Finding
from psycheck.measures.classification import gold, usable
from psycheck.model import FloatArray, Scores
from psycheck.settings.reader import Limit
from psycheck.train.figures import best_threshold

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
        return {label: float(self.values[k]) for k, label in enumerate(self.labels) if self.texts[k]}

    def findings(self, model: str, corpus: Corpus) -> Iterator[Finding]:
        """The thresholds at which a corpus is judged; n counts the dev texts."""
        where = {"audit": "performance", "model": model, "corpus": corpus.name}
        for label, texts in zip(self.labels, self.texts, strict=True):
            if texts and label in corpus.labels:
                yield Finding("threshold", self.by_label[label], texts, where={**where, "label": label})


def threshold_of(value: object) -> object:
    """A threshold as it is typed: a number if it reads as one, else as it is ("dev")."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def set_aside(
    corpora: Sequence[Corpus], scored: Mapping[str, Sequence[str]]
) -> tuple[list[Corpus], list[Corpus]]:
    """The corpora without their dev splits, and the dev splits with labels.

    `scored` are the labels of each model; a dev split must have one of them. Everything is checked here,
    before anything is scored.
    """
    rest, dev = [], []
    for corpus in corpora:
        held = np.array([split == DEV for split in corpus.strings("split")], bool)
        if held.all() and len(held):
            what = f"corpus '{corpus.name}' has no texts besides dev, on which the threshold is chosen"
            raise BadInput(what, key="threshold", do="leave out the split, or name another one")
        rest.append(corpus.only(~held))
        dev += [corpus.only(held)] if held.any() and corpus.labels else []
    if not dev:
        raise BadInput(
            "no corpus has a dev split with labels to choose the threshold on",
            key="threshold",
            allowed="a corpus with labels and a split column that says dev, or a number",
            do="make splits with psycheck clean CORPUS --resplit 6:2:2 --out FILE, or set a number",
        )
    annotated = {label for corpus in dev for label in corpus.labels}
    for model, labels in scored.items():
        if not annotated.intersection(labels):
            what = f"model '{model}' scores no label that a dev split is annotated for"
            allowed = f"one of {', '.join(sorted(annotated))}"
            raise BadInput(what, key="threshold", allowed=allowed, do="set a number")
    return rest, dev


def open_with_dev(plan: CorpusPlan) -> Corpus:
    """The split that a plan names, and the dev split beside it."""
    return with_dev(open_corpus(replace(plan, split=None)), plan.split)


def with_dev(corpus: Corpus, split: str | None) -> Corpus:
    """One split of a corpus and its dev split; all of it if no split is named."""
    if split is None:
        return corpus
    name = split_name(split)
    corpus.part(name)  # an unknown split is an error
    return corpus.only([one in (name, DEV) for one in corpus.strings("split")])


def choose_thresholds(scores: Scores, dev: Sequence[Corpus]) -> Thresholds:
    """The threshold of each label with the highest macro-F1 on the dev texts of all corpora; else 0.5."""
    labels, who = scores.labels, f"model '{scores.model}'"
    values, texts, notes = thresholds_of(scores, 0.5), [0] * len(labels), []
    for k, label in enumerate(labels):
        mine = [corpus for corpus in dev if label in corpus.labels]
        if not mine:
            continue
        targets = np.concatenate([corpus.targets([label])[:, 0] for corpus in mine])
        values_on_dev = np.concatenate([scores.of(corpus.items)[:, k] for corpus in mine])
        known = usable(targets, values_on_dev)
        if len(set(gold(targets[known]).tolist())) == 2:
            values[k] = best_threshold(targets, values_on_dev)
        texts[k] = int(known.sum())
        on = f"{counted(texts[k], 'dev text')}, which {'is' if texts[k] == 1 else 'are'} not judged"
        only = len(set(gold(targets[known]).tolist())) < 2
        why = "the default: dev has one class" if only else f"the highest macro-F1 on {on}"
        notes.append(f"{who}: decision threshold of '{label}' {values[k]:.3g} ({why})")
    return Thresholds(tuple(labels), values, tuple(texts), tuple(notes))
