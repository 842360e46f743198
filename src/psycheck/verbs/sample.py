"""A budget of model calls: which cases are asked, in an order that a larger budget only continues.

The texts of a corpus are in one random order, and every check takes cases from its start, so that checks
share the unedited texts. All checks begin with `START` cases. Then those that may be the weakest grow, by
`GROWTH` a round; where they are told apart, or far ahead, the others do. What is asked next depends on the
answers so far and on nothing else: a budget only says where to stop.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from psycheck.audits.behaviour import Behaviour, Sampled
from psycheck.audits.standing import Standing, contenders, standings
from psycheck.corpus import Corpus
from psycheck.errors import BadInput, counted
from psycheck.model import Audit, Item, Scores
from psycheck.scoring.engine import Piece

START, GROWTH = 20, 1.5  # cases of each check in the first round, and how many times as many in the next
RIVALS = 3  # checks that may be the weakest and grow first
AHEAD = 8  # rounds by which a check that may be the weakest can be ahead of the others

Case = tuple[int, list[Any]]


@dataclass(slots=True, eq=False)
class _Stream:
    """The cases of one check, or of an audit without checks (`check` None), as far as they are asked.

    `size` counts cases, `texts` the texts from the start of the corpus that it has been through.
    """

    audit: Audit
    corpus: Corpus
    check: int | None
    cases: Iterator[Case]
    size: int = 0
    texts: int = 0
    rounds: int = 0
    done: bool = False

    @property
    def part(self) -> int:
        """By how much the 5 % of its interval are divided: k (k + 1) in the k-th size, which adds up to 1."""
        k = 1
        while _size(k) < self.size:
            k += 1
        return k * (k + 1)


class Sample:
    """The sample of one model: at most `calls` distinct items, or fewer where all intervals are narrow.

    `until` is the half-width of an interval at which a check stops.
    """

    def __init__(self, jobs: Iterable[tuple[Audit, Corpus]], calls: int, until: float | None = None) -> None:
        self._jobs, self.calls, self._until = list(jobs), calls, until
        self._asked: set[Item] = set()
        self._streams = [stream for audit, corpus in self._jobs for stream in _streams(audit, corpus)]
        self._spent = False

    def pieces(self, scores: Scores | None) -> Iterator[Piece]:
        """The items of each round, and the share of the budget that is spent; scored before the next.

        Without scores all checks grow alike.
        """
        while not self._spent and (growing := self._next(scores)):
            items = self._grown(growing)
            if items:
                yield len(self._asked) / self.calls, items

    def jobs(self) -> list[tuple[Audit, Corpus]]:
        """The audits of what was asked: checks on their own samples, others on the first texts."""
        out: list[tuple[Audit, Corpus]] = []
        for audit, corpus in self._jobs:
            mine = [one for one in self._streams if one.audit is audit and one.corpus is corpus]
            texts = tuple(one.texts for one in mine)
            if isinstance(audit, Behaviour):
                sampled = Sampled(texts, tuple(one.part for one in mine), min(texts, default=0))
                out.append((replace(audit, sampled=sampled), corpus))
            else:
                out.append((audit, corpus.head(*texts)))
        return out

    def standings(self, scores: Scores) -> list[Standing]:
        """Where each check stands, in the order of the jobs."""
        jobs = [(audit, corpus) for audit, corpus in self.jobs() if isinstance(audit, Behaviour)]
        return [
            one for audit, corpus in jobs for one in standings(audit, corpus, audit.cases(corpus, scores))
        ]

    def _next(self, scores: Scores | None) -> list[_Stream]:
        """The streams that grow next: of the checks that may be the weakest, or of all, the smallest."""
        checks = [one for one in self._streams if one.check is not None]
        others = [one for one in self._streams if one.check is None and not one.done]
        growing, rivals = [one for one in checks if not one.done], list[_Stream]()
        if scores and any(one.rounds for one in checks):
            stand = self.standings(scores)
            rivals = [checks[k] for k in contenders(stand)]
            wide = [
                one for one, now in zip(checks, stand, strict=True) if not now.width <= (self._until or 0)
            ]
            growing = [one for one in wide if not one.done]
        if checks and not growing:
            return []
        least = min((one.rounds for one in growing or others), default=0)
        near = [one for one in rivals if one in growing and one.rounds < least + AHEAD]
        chosen = near[:RIVALS] if len(rivals) > 1 and near else growing
        fewest = min((one.rounds for one in chosen), default=least)
        chosen = [one for one in chosen if one.rounds == fewest]
        # Audits without checks keep pace with the smallest sample.
        after = min((one.rounds + (one in chosen) for one in growing), default=least + 1)
        return [*chosen, *(one for one in others if one.rounds < after)]

    def _grown(self, growing: Sequence[_Stream]) -> list[Item]:
        """Add a case of each stream in turn, until all have grown or the calls are spent; the new items."""
        items: dict[Item, None] = {}
        goals = {one: _size(one.rounds + 1) for one in growing}
        while waiting := [one for one, goal in goals.items() if one.size < goal and not one.done]:
            for stream in waiting:
                row, wanted = next(stream.cases, (len(stream.corpus) - 1, None))
                fresh = dict.fromkeys(item for item in wanted or () if item not in self._asked)
                if len(self._asked) + len(fresh) > self.calls:
                    self._spent = True
                    return list(items)
                self._asked.update(fresh)
                items |= fresh
                stream.texts, stream.size = row + 1, stream.size + (wanted is not None)
                stream.done = wanted is None
        for stream in growing:
            stream.rounds += 1
        return list(items)


def _size(k: int) -> int:
    """The k-th size of a sample: 20, 30, 45, 68 … cases."""
    return math.ceil(START * GROWTH ** (k - 1))


def refuse_too_few(jobs: Iterable[tuple[Audit, Corpus]], calls: int) -> None:
    """Refuse a budget that is too small for one case of each check."""
    first = [next(one.cases, (0, []))[1] for job in jobs for one in _streams(*job)]
    least = len({item for items in first for item in items})
    if calls < least:
        what = f"a budget of {counted(calls, 'call')} is too small: one case of each check takes {least:,}"
        raise BadInput(what, key="budget", allowed=f"{least:,} or more; 30 cases of each take {30 * least:,}")


def _streams(audit: Audit, corpus: Corpus) -> Iterator[_Stream]:
    if isinstance(audit, Behaviour):
        for number, check in enumerate(audit.suite.checks):
            yield _Stream(audit, corpus, number, audit.cases_of(check, corpus))
    else:
        yield _Stream(audit, corpus, None, _asked_by_text(audit, corpus))


def _asked_by_text(audit: Audit, corpus: Corpus) -> Iterator[Case]:
    """The texts for which an audit without checks asks anything, and what it asks for."""
    for row in range(len(corpus)):
        if items := list(audit.ask(replace(corpus, table=corpus.table.slice(row, 1)))):
            yield row, items
