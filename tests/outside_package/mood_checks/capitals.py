"""An audit with an option of its own, and its measure."""

from dataclasses import dataclass

import numpy as np

from psycheck import Corpus, Finding
from psycheck.core.audit import Judgement, Scores
from psycheck.core.measure import Measure

RATE = Measure(
    name="capitals_rate",
    title="Decisions changed by capitals",
    kind="rate",
    better="lower",
    unit="texts",
    sentence="Share of texts whose decision changes when they are written in capitals.",
    keys=("audit", "model", "corpus", "label"),
)
MEASURES = [RATE]


@dataclass(frozen=True)
class Capitals:
    """Writes texts in capitals and counts the decisions that change at `cut`."""

    cut: float = 0.5
    name: str = "capitals"
    title: str = "Does the decision depend on capitals?"
    measures: tuple[str | Measure, ...] = (RATE,)

    def ask(self, corpus: Corpus) -> list[str]:
        """The texts as they are, and in capitals."""
        return [*corpus.texts, *(text.upper() for text in corpus.texts)]

    def judge(self, corpus: Corpus, scores: Scores) -> Judgement:
        """The share of decisions that change."""
        before = scores.of(corpus.texts)[:, 0] >= self.cut
        after = scores.of([text.upper() for text in corpus.texts])[:, 0] >= self.cut
        share = float(np.mean(before != after))
        where = {"label": scores.labels[0]}
        return Judgement((Finding("capitals_rate", share, len(corpus), None, where),))
