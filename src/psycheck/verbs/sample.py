"""A budget of model calls: which cases are asked, in an order that a larger budget only continues.

All texts of a corpus are in one random order, and every check takes cases from its start, so that checks share
the unedited texts. Checks grow in rounds, from size to size (`SIZES`). What is asked next depends on the answers
so far and on nothing else: a budget only says where to stop.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, takewhile
from typing import Any

from psycheck.audits.behaviour import Behaviour, Sampled
from psycheck.audits.standing import Standing, contenders, standings
from psycheck.corpus import Corpus
from psycheck.errors import BadInput, counted
from psycheck.model import Audit, Item, Scores
from psycheck.scoring.engine import Piece

START, GROWTH = 16, 2  # cases of each check in the first round, and how many times as many in the next
AHEAD = 3  # rounds by which a check that may be the weakest can be ahead of the others

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


class Sample:
    """The sample of one model: at most `calls` distinct items, or fewer where all intervals are narrow.

    `until` is the half-width of an interval at which a check stops.
    """

    def __init__(self, jobs: Iterable[tuple[Audit, Corpus]], calls: int, until: float | None = None) -> None:
        self._jobs, self._calls, self._until = list(jobs), calls, until
        self._asked: set[Item] = set()
        self._streams = [stream for audit, corpus in self._jobs for stream in _streams(audit, corpus)]
        self._spent = False

    def pieces(self, scores: Scores) -> Iterator[Piece]:
        """The items of each round, and the share of the budget that is spent; scored before the next."""
        while not self._spent and (growing := self._next(scores)):
            items = self._grown(growing)
            if items:
                yield len(self._asked) / self._calls, items

    def jobs(self) -> list[tuple[Audit, Corpus]]:
        """The audits of what was asked: checks on their own samples, others on the first texts."""
        out: list[tuple[Audit, Corpus]] = []
        for audit, corpus in self._jobs:
            texts = [one.texts for one in self._streams if one.audit is audit and one.corpus is corpus]
            if isinstance(audit, Behaviour):
                sampled = Sampled(tuple(texts), min(texts, default=0), self.looks)
                out.append((replace(audit, sampled=sampled), corpus))
            else:
                out.append((audit, corpus.head(*texts)))
        return out

    @property
    def looks(self) -> int:
        """The number of sizes at which the sample of a check may end, the last one cut short included."""
        most = min(self._calls, max((len(corpus) for _, corpus in self._jobs), default=0))
        return 1 + len([*takewhile(lambda size: size < most, (START * GROWTH**k for k in count()))])

    def standings(self, scores: Scores) -> list[Standing]:
        """Where each check stands, in the order of the jobs."""
        jobs = [(audit, corpus) for audit, corpus in self.jobs() if isinstance(audit, Behaviour)]
        return [one for audit, corpus in jobs for one in standings(audit, corpus, scores)]

    def _next(self, scores: Scores) -> list[_Stream]:
        """The streams that grow next: of the checks that may be the weakest, or of all, the smallest."""
        checks = [one for one in self._streams if one.check is not None]
        others = [one for one in self._streams if one.check is None and not one.done]
        growing, rivals = [one for one in checks if not one.done], list[_Stream]()
        if any(one.rounds for one in checks):
            stand = self.standings(scores)
            rivals = [checks[k] for k in contenders(stand)]
            wide = [one for one, now in zip(checks, stand, strict=True) if not now.width <= (self._until or 0)]
            growing = [one for one in wide if not one.done]
        if checks and not growing:
            return []
        least = min((one.rounds for one in growing or others), default=0)
        near = [one for one in rivals if one in growing and one.rounds < least + AHEAD]
        chosen = near if len(rivals) > 1 and near else growing
        fewest = min((one.rounds for one in chosen), default=least)
        chosen = [one for one in chosen if one.rounds == fewest]
        # Audits without checks keep pace with the smallest sample.
        after = min((one.rounds + (one in chosen) for one in growing), default=least + 1)
        return [*chosen, *(one for one in others if one.rounds < after)]

    def _grown(self, growing: Sequence[_Stream]) -> list[Item]:
        """Add cases, one of each stream in turn, until all have grown or the budget is spent; the new items."""
        items: dict[Item, None] = {}
        goals = {one: START * GROWTH**one.rounds for one in growing}
        while waiting := [one for one, goal in goals.items() if one.size < goal and not one.done]:
            for stream in waiting:
                row, wanted = next(stream.cases, (len(stream.corpus) - 1, None))
                fresh = dict.fromkeys(item for item in wanted or () if item not in self._asked)
                if len(self._asked) + len(fresh) > self._calls:
                    self._spent = True
                    return list(items)
                self._asked.update(fresh)
                items |= fresh
                stream.texts, stream.size = row + 1, stream.size + (wanted is not None)
                stream.done = wanted is None
        for stream in growing:
            stream.rounds += 1
        return list(items)


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
