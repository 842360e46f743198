import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from psycheck.corpora.queues import Candidate, Queue, candidates_of


def _candidate(order: int, text: str, *similarity: float) -> Candidate:
    return Candidate(order, text, f"p{order}", 1, None, None, 0, np.array(similarity))


def _fill(queue: Queue, candidates: list[Candidate], chunk: int = 2) -> list[int]:
    """The orders that a queue holds, the most similar first."""
    for start in range(0, len(candidates), chunk):
        some = candidates[start : start + chunk]
        for i in queue.places(np.array([one.similarity for one in some])):
            queue.offer(some[i])
    return [one.order for _, _, one in sorted(queue.heap, reverse=True, key=lambda entry: entry[:2])]


@given(
    st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 4)), max_size=40),
    st.integers(1, 4),
    st.integers(1, 7),
)
def test_a_queue_holds_what_exact_search_finds(said: list[tuple[str, int]], size: int, chunk: int) -> None:
    candidates = [_candidate(i, text, near / 4) for i, (text, near) in enumerate(said)]
    best: dict[str, Candidate] = {}
    for one in candidates:  # of copies the most similar, of equal ones the first
        if one.text not in best or one.similarity[0] > best[one.text].similarity[0]:
            best[one.text] = one
    ranked = sorted(best.values(), key=lambda one: (-one.similarity[0], one.order))[:size]
    assert _fill(Queue(0, size, -1.0), candidates, chunk) == [one.order for one in ranked]


def test_what_is_not_similar_enough_or_has_no_similarity_never_enters() -> None:
    queue = Queue(0, 3, 0.5)
    offered = [_candidate(0, "a", 0.49), _candidate(1, "b", np.nan), _candidate(2, "c", 0.5)]
    assert _fill(queue, offered) == [2]


def test_candidates_come_in_rounds_without_near_duplicates() -> None:
    long = "one two three four five six seven eight nine ten"
    candidates = [
        _candidate(0, "alpha beta", 0.9, 0.1),
        _candidate(1, long, 0.8, 0.2),
        _candidate(2, f"{long}!", 0.7, 0.3),  # a copy, in the queue of the second symptom alone
        _candidate(3, "gamma delta", 0.1, 0.6),
        _candidate(4, "epsilon zeta", 0.4, 0.5),
    ]
    queues = [Queue(0, 3, 0.45), Queue(1, 3, 0.25)]
    _fill(queues[0], candidates[:2])
    _fill(queues[1], candidates[2:])
    # The copy leaves; then by rounds: 0 and 3, then 1 and 4.
    assert [one.order for one in candidates_of(queues, 0.8)] == [0, 3, 1, 4]
    assert [one.order for one in candidates_of(queues[1:], 0.8)] == [3, 4, 2]
