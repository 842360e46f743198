"""One bounded queue of candidate sentences per symptom (PsySym A.1), filled in one pass."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappush, heapreplace
from itertools import chain, zip_longest

import numpy as np

from psycheck.corpora.near import near_duplicates
from psycheck.model import FloatArray
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
        return max(symptoms, key=lambda k: self.similarity[k])


@dataclass(frozen=True, slots=True)
class Queue:
    """The most similar sentences to one symptom, of copies the most similar, of equal ones the first."""

    column: int
    size: int
    least: float
    heap: list[tuple[float, int, Candidate]] = field(default_factory=list)
    words: dict[str, int] = field(default_factory=dict)  # of each sentence held, with its place in the stream

    @property
    def full(self) -> bool:
        """Whether a sentence has to leave before another one can enter."""
        return len(self.heap) >= self.size

    def places(self, similarity: FloatArray) -> list[int]:
        """The rows that may enter; NaN never does."""
        near = similarity[:, self.column]
        may = near > self.heap[0][0] if self.full else near >= self.least
        return [int(i) for i in np.flatnonzero(may)]

    def offer(self, candidate: Candidate) -> None:
        """Take the sentence in if it is among the most similar so far."""
        near, words = float(candidate.similarity[self.column]), plain_text(candidate.text)
        entry = (near, -candidate.order, candidate)
        if words in self.words:
            at = next(i for i, one in enumerate(self.heap) if one[2].order == self.words[words])
            if near > self.heap[at][0]:
                self.heap[at] = entry
                heapify(self.heap)
                self.words[words] = candidate.order
        elif not self.full:
            heappush(self.heap, entry)
            self.words[words] = candidate.order
        elif near > self.heap[0][0]:
            del self.words[plain_text(heapreplace(self.heap, entry)[2].text)]
            self.words[words] = candidate.order


def candidates_of(queues: Sequence[Queue], threshold: float) -> list[Candidate]:
    """The sentences of the queues of one disease without near-duplicates, in rounds.

    A round has the next most similar sentence of each symptom, so that whoever stops early has seen all of
    them; a sentence that is in several queues counts for the symptom that it is most similar to.
    """
    columns = [queue.column for queue in queues]
    held = {one.order: one for queue in queues for _, _, one in queue.heap}
    ranked = sorted(held.values(), key=lambda one: (-one.similarity[one.best(columns)], one.order))
    dropped: set[int] = set()
    for a, b in near_duplicates([one.text for one in ranked], threshold=threshold):
        if a not in dropped:
            dropped.add(b)
    left = [one for i, one in enumerate(ranked) if i not in dropped]
    lists = [[one for one in left if one.best(columns) == column] for column in columns]
    return list(_in_rounds(lists))


def _in_rounds(lists: Sequence[Sequence[Candidate]]) -> Iterator[Candidate]:
    return (one for one in chain.from_iterable(zip_longest(*lists)) if one is not None)
