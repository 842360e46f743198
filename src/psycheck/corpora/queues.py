"""One bounded queue of candidate sentences per symptom (PsySym A.1), filled in one pass."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappush, heapreplace
from itertools import chain, zip_longest

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.corpora.near_duplicates import near_duplicates
from psycheck.text.words import plain_text


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A sentence with its place in the stream, its post and its similarity to each symptom, (k,)."""

    order: int
    text: str
    post: str
    sentence: int
    author: str | None
    time: str | None
    source: int
    similarity: FloatArray

    def best(self, symptoms: Sequence[int]) -> int:
        """The symptom of these that the sentence is most similar to; of equal ones the first."""
        return max(symptoms, key=lambda symptom: self.similarity[symptom])


# Similarity, then the place in the stream negated: the first of equal sentences leaves the heap last.
_Entry = tuple[float, int, Candidate]


@dataclass(frozen=True, slots=True)
class Queue:
    """The most similar sentences to one symptom, of copies the most similar, of equal ones the first.

    `words` has the place in the stream of each sentence in the heap, by its words: copies have the same ones.
    """

    column: int
    size: int
    least: float
    heap: list[_Entry] = field(default_factory=list)
    words: dict[str, int] = field(default_factory=dict)

    @property
    def full(self) -> bool:
        """Whether a sentence has to leave before another one can enter."""
        return len(self.heap) >= self.size

    def places(self, similarity: FloatArray) -> list[int]:
        """The rows that may enter; NaN never does."""
        to_this_symptom = similarity[:, self.column]
        may_enter = to_this_symptom >= self.least
        # A full queue never lets an equal one in: of equal sentences the first in the stream stays.
        if self.full:
            may_enter = to_this_symptom > self._lowest
        return [int(row) for row in np.flatnonzero(may_enter)]

    @property
    def _lowest(self) -> float:
        """The similarity of the sentence that leaves first."""
        return self.heap[0][0]

    def offer(self, candidate: Candidate) -> None:
        """Take the sentence in if it is among the most similar so far."""
        similarity = float(candidate.similarity[self.column])
        entry = (similarity, -candidate.order, candidate)
        words = plain_text(candidate.text)

        # Copies would fill the queue: of each text only the most similar copy stays.
        if words in self.words:
            self._replace_copy(words, entry)
        elif not self.full:
            heappush(self.heap, entry)
            self.words[words] = candidate.order
        elif similarity > self._lowest:
            _, _, removed = heapreplace(self.heap, entry)
            del self.words[plain_text(removed.text)]
            self.words[words] = candidate.order

    def _replace_copy(self, words: str, entry: _Entry) -> None:
        """Put a sentence in the place of its copy in the heap, if it is more similar."""
        # A search through the heap: copies are rare, and an index would change with every push.
        orders = [candidate.order for _, _, candidate in self.heap]
        position = orders.index(self.words[words])
        similarity, _, candidate = entry
        if similarity > self.heap[position][0]:
            self.heap[position] = entry
            # A changed entry in the middle breaks the order that `heappush` relies on.
            heapify(self.heap)
            self.words[words] = candidate.order


def candidates_of(queues: Sequence[Queue], threshold: float) -> list[Candidate]:
    """The sentences of the queues of one disease without near-duplicates, in rounds.

    A round has the next most similar sentence of each symptom, so that whoever stops early has seen all of
    them; a sentence that is in several queues counts for the symptom that it is most similar to.
    """
    symptoms = [queue.column for queue in queues]
    # A sentence that several queues hold is one candidate.
    entries = chain.from_iterable(queue.heap for queue in queues)
    by_order = {candidate.order: candidate for _, _, candidate in entries}

    def rank(candidate: Candidate) -> tuple[float, int]:
        best_similarity = candidate.similarity[candidate.best(symptoms)]
        return -best_similarity, candidate.order

    # Ranked before near-duplicates are dropped, so that the most similar of them is the one that stays.
    ranked = sorted(by_order.values(), key=rank)
    duplicates = _duplicates([candidate.text for candidate in ranked], threshold)
    distinct = [candidate for position, candidate in enumerate(ranked) if position not in duplicates]

    by_symptom: dict[int, list[Candidate]] = {symptom: [] for symptom in symptoms}
    for candidate in distinct:
        by_symptom[candidate.best(symptoms)].append(candidate)
    return list(_in_rounds([*by_symptom.values()]))


def _duplicates(texts: Sequence[str], threshold: float) -> set[int]:
    """The positions of texts that are near-duplicates of an earlier one that stays."""
    dropped: set[int] = set()
    # Pairs come in rising order, so whether the earlier text stays is already decided.
    for earlier, later in near_duplicates(texts, threshold=threshold):
        if earlier not in dropped:
            dropped.add(later)
    return dropped


def _in_rounds(lists: Sequence[Sequence[Candidate]]) -> Iterator[Candidate]:
    """The first of each list, then the second of each, and so on; short lists run out."""
    for candidate in chain.from_iterable(zip_longest(*lists)):
        if candidate is not None:
            yield candidate
