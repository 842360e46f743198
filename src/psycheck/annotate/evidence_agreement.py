"""How far annotators mark the same words: character-level F1 and Krippendorff's alpha over characters.

Both look at texts for which two annotators or more answered yes to a label, and at least one of them marked
words: whether the label is there at all is judged by the agreement on labels. F1 is 2 |A ∩ B| / (|A| + |B|)
over all pairs. Alpha takes each character as a unit that each annotator marked or left; it stands in the
place of γ (Mathet et al. 2015), whose alignment of spans has no interval by known means. Intervals are
clustered by text.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from psycheck.annotate.annotator_answers import Answers, Span
from psycheck.statistics.clustered import Clusters, ratio_interval
from psycheck.statistics.intervals import UNKNOWN
from psycheck.statistics.rater_agreement import Agreement, alpha

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text of so many characters with what each annotator said of it."""

    length: int
    answers: tuple[Answers, ...]


@dataclass(frozen=True, slots=True)
class EvidenceAgreed:
    """The agreement on the evidence for one label; `n` of both figures is the number of texts."""

    label: str
    f1: Agreement
    alpha: Agreement


def evidence_agreement(texts: Iterable[MarkedText]) -> Iterator[EvidenceAgreed]:
    """The agreement on the evidence for each label that has any, by label."""
    marked_texts_of: dict[str, list[BoolArray]] = {}
    for text in texts:
        for label, marked in _marked_by_annotators(text).items():
            marked_texts_of.setdefault(label, []).append(marked)

    for label in sorted(marked_texts_of):
        marked_texts = marked_texts_of[label]
        yield EvidenceAgreed(
            label=label,
            f1=_f1(marked_texts),
            alpha=_alpha(marked_texts),
        )


def merged_spans(length: int, label: str, answers: Sequence[Answers]) -> list[Span]:
    """The characters that at least half of those marked who answered yes to a label, as spans."""
    positive = [answer for answer in answers if answer.marks.get(label)]
    if not positive:
        return []

    marked = np.stack([_marked_characters(length, label, answer) for answer in positive])
    votes = marked.sum(axis=0)
    is_kept = 2 * votes >= len(positive)

    # Where the flag changes from one character to the next, a span begins or ends.
    framed = np.concatenate([[False], is_kept, [False]])
    edges = np.flatnonzero(np.diff(framed)).tolist()
    return [
        Span(label=label, start=start, stop=stop) for start, stop in zip(edges[::2], edges[1::2], strict=True)
    ]


def _marked_by_annotators(text: MarkedText) -> Mapping[str, BoolArray]:
    """For each label that counts: which characters each annotator marked, (annotators, characters)."""
    labels = {span.label for answers in text.answers for span in answers.spans}
    marked = {}
    for label in labels:
        positive = [answers for answers in text.answers if answers.marks.get(label)]
        # One annotator alone agrees with nobody.
        if len(positive) < 2:
            continue
        rows = [_marked_characters(text.length, label, answers) for answers in positive]
        marked[label] = np.stack(rows)
    return marked


def _marked_characters(length: int, label: str, answers: Answers) -> BoolArray:
    """Which characters of a text an annotator marked for a label, (length,)."""
    marked = np.zeros(length, np.bool_)
    for span in answers.spans:
        if span.label == label:
            marked[span.start : span.stop] = True
    return marked


def _f1(marked_texts: Sequence[BoolArray]) -> Agreement:
    """F1 over all pairs of annotators of all texts, each (annotators, characters)."""
    n = len(marked_texts)
    shared = np.zeros(n)
    sizes = np.zeros(n)
    for number, marked in enumerate(marked_texts):
        for first, second in combinations(marked, 2):
            shared[number] += 2 * np.count_nonzero(first & second)
            sizes[number] += np.count_nonzero(first)
            sizes[number] += np.count_nonzero(second)

    # The spread between texts needs two of them.
    interval = UNKNOWN
    if n > 1:
        interval = ratio_interval(shared, sizes, Clusters.single(n))
    return Agreement(
        value=float(shared.sum() / sizes.sum()),
        interval=interval,
        n=n,
    )


def _alpha(marked_texts: Sequence[BoolArray]) -> Agreement:
    """Krippendorff's alpha over the characters of all texts, clustered by text."""
    most_annotators = max(len(marked) for marked in marked_texts)
    ratings = []
    text_numbers = []
    for number, marked in enumerate(marked_texts):
        annotators, length = marked.shape
        # A column per annotator; NaN where a text has fewer of them than others.
        ratings_of_text = np.full((length, most_annotators), np.nan)
        ratings_of_text[:, :annotators] = marked.T
        ratings.append(ratings_of_text)
        text_numbers.append(np.full(length, number))

    clusters = Clusters.of(np.concatenate(text_numbers))
    over_characters = alpha(np.concatenate(ratings), clusters=clusters)
    # `n` of alpha counts characters; ours is the number of texts.
    return Agreement(
        value=over_characters.value,
        interval=over_characters.interval,
        n=len(marked_texts),
    )
