"""A budget of model calls: which cases are asked, in an order that a larger budget only continues.

The texts of a corpus are in one random order, and every check takes cases from its start, so that checks
share the unedited texts. Of all that is asked, a quarter (`ORIGINALS`) are unedited texts until there are no
more: what the model does with texts as they are is what every other figure is compared with. All checks begin
with `START` cases. Then those that may be the weakest grow, by
`GROWTH` a round; where they are told apart, or far ahead, the others do. What is asked next depends on the
answers so far and on nothing else: a budget only says where to stop.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from psycheck.audits.behaviour import Behaviour, Sampled
from psycheck.audits.performance import Performance
from psycheck.audits.weakest import Standing, contenders, standings
from psycheck.core.audit import Audit, Scores
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput, counted
from psycheck.core.item import Item
from psycheck.scoring.engine import Piece

START, GROWTH = 20, 1.5  # cases of each check in the first round, and how many times as many in the next
ORIGINALS = 0.25  # of the calls so far go to unedited texts, before any check gets more cases
RIVALS = 3  # checks that may be the weakest and grow first
AHEAD = 8  # rounds by which a check that may be the weakest can be ahead of the others

Job = tuple[Audit, Corpus]
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

    def is_of(self, job: Job) -> bool:
        """Whether it holds cases of this audit on this corpus."""
        audit, corpus = job
        return self.audit is audit and self.corpus is corpus

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

    def __init__(self, jobs: Iterable[Job], calls: int, until: float | None = None) -> None:
        self.calls = calls
        self._jobs = list(jobs)
        self._until = until
        self._requested: set[Item] = set()
        self._is_spent = False
        self._streams: list[_Stream] = []
        for audit, corpus in self._jobs:
            self._streams += _streams(audit, corpus)

    def pieces(self, scores: Scores | None) -> Iterator[Piece]:
        """The items of each round, and the share of the budget that is spent; scored before the next.

        Without scores all checks grow alike.
        """
        while not self._is_spent:
            growing = self._next_streams(scores)
            if not growing:
                return
            items = self._grow(growing)
            if items:
                yield len(self._requested) / self.calls, items

    def jobs(self) -> list[Job]:
        """The audits of what was asked: checks on their own samples, others on the first texts."""
        sampled_jobs: list[Job] = []
        for audit, corpus in self._jobs:
            job = (audit, corpus)
            streams = [stream for stream in self._streams if stream.is_of(job)]
            texts = tuple(stream.texts for stream in streams)
            if isinstance(audit, Behaviour):
                sampled = Sampled(
                    texts=texts,
                    parts=tuple(stream.part for stream in streams),
                    shared=min(texts, default=0),
                )
                sampled_jobs.append((replace(audit, sampled=sampled), corpus))
            else:
                (asked_texts,) = texts  # an audit without checks has a single stream
                sampled_jobs.append((audit, corpus.head(asked_texts)))
        return sampled_jobs

    def standings(self, scores: Scores) -> list[Standing]:
        """Where each check stands, in the order of the jobs."""
        every: list[Standing] = []
        for audit, corpus in self.jobs():
            if isinstance(audit, Behaviour):
                all_cases = audit.cases(corpus, scores)
                every += standings(audit.suite, corpus, all_cases, others=audit.others, parts=audit.parts)
        return every

    def _next_streams(self, scores: Scores | None) -> list[_Stream]:
        """The streams that grow next: of the checks that may be the weakest, or of all, the smallest."""
        checks = [stream for stream in self._streams if stream.check is not None]
        without_checks = [stream for stream in self._streams if stream.check is None and not stream.done]
        if not checks:
            return _smallest(without_checks)

        growing = [stream for stream in checks if not stream.done]
        rivals: list[_Stream] = []
        if scores and any(stream.rounds for stream in checks):
            rivals, growing = self._told_apart(scores, checks, growing)
        if not growing:
            return []

        fewest_rounds = min(stream.rounds for stream in growing)
        chosen = _smallest(_rivals_to_grow(rivals, growing, fewest_rounds) or growing)
        # Audits without checks keep pace with the smallest sample.
        pace = min(stream.rounds + (stream in chosen) for stream in growing)
        keeping_pace = [stream for stream in without_checks if stream.rounds < pace]
        return [*chosen, *keeping_pace]

    def _told_apart(
        self, scores: Scores, checks: Sequence[_Stream], growing: Sequence[_Stream]
    ) -> tuple[list[_Stream], list[_Stream]]:
        """The checks that may be the weakest, and those of the growing whose intervals are still wide."""
        all_standings = self.standings(scores)
        rivals = [checks[place] for place in contenders(all_standings)]
        standing_of = dict(zip(checks, all_standings, strict=True))
        return rivals, self._too_wide(growing, standing_of)

    def _too_wide(self, growing: Sequence[_Stream], stands: dict[_Stream, Standing]) -> list[_Stream]:
        """The checks whose interval is not yet as narrow as asked for; NaN is no interval yet."""
        narrow_enough = self._until or 0
        return [stream for stream in growing if not stands[stream].width <= narrow_enough]

    def _grow(self, growing: Sequence[_Stream]) -> list[Item]:
        """Add a case of each stream in turn, until all have grown or the calls are spent; the new items."""
        items: dict[Item, None] = {}
        goals = {stream: _size(stream.rounds + 1) for stream in growing}
        while not self._is_spent:
            waiting = [stream for stream in growing if stream.size < goals[stream] and not stream.done]
            if not waiting:
                break
            for stream in waiting:
                # The share holds case by case, so that it holds wherever the budget ends.
                for lagging in (*self._originals_behind(), stream):
                    items |= self._take_case(lagging)
                if self._is_spent:
                    return list(items)

        for stream in growing:
            stream.rounds += 1
        return list(items)

    def _originals_behind(self) -> list[_Stream]:
        """The streams of unedited texts that have fewer cases than their share of the calls so far."""
        originals = [stream for stream in self._streams if isinstance(stream.audit, Performance)]
        share = ORIGINALS * len(self._requested) / max(len(originals), 1)
        return [stream for stream in originals if stream.size < share and not stream.done]

    def _take_case(self, stream: _Stream) -> dict[Item, None]:
        """The new items of the next case of a stream; none where the stream or the budget ends."""
        if self._is_spent:
            return {}
        case = next(stream.cases, None)
        if case is None:
            stream.texts = len(stream.corpus)
            stream.done = True
            return {}

        row, case_items = case
        new_items = dict.fromkeys(item for item in case_items if item not in self._requested)
        if len(self._requested) + len(new_items) > self.calls:
            self._is_spent = True
            return {}
        self._requested.update(new_items)
        stream.texts = row + 1
        stream.size += 1
        return new_items


def _rivals_to_grow(
    rivals: Sequence[_Stream], growing: Sequence[_Stream], fewest_rounds: int
) -> list[_Stream]:
    """The first of several checks that may be the weakest, unless they are far ahead of the others."""
    if len(rivals) < 2:
        return []
    near = [stream for stream in rivals if stream in growing and stream.rounds < fewest_rounds + AHEAD]
    return near[:RIVALS]


def _smallest(streams: Sequence[_Stream]) -> list[_Stream]:
    """The streams that have grown in the fewest rounds."""
    fewest = min((stream.rounds for stream in streams), default=0)
    return [stream for stream in streams if stream.rounds == fewest]


def _size(k: int) -> int:
    """The k-th size of a sample: 20, 30, 45, 68 … cases."""
    return math.ceil(START * GROWTH ** (k - 1))


def refuse_too_few(jobs: Iterable[Job], calls: int) -> None:
    """Refuse a budget that is too small for one case of each check."""
    first_items: set[Item] = set()
    for audit, corpus in jobs:
        for stream in _streams(audit, corpus):
            _, items = next(stream.cases, (0, []))
            first_items.update(items)

    least = len(first_items)
    if calls < least:
        raise BadInput(
            f"a budget of {counted(calls, 'call')} is too small: one case of each check takes {least:,}",
            code="budget.too-small",
            key="budget",
            allowed=f"{least:,} or more; 30 cases of each take {30 * least:,}",
        )


def _streams(audit: Audit, corpus: Corpus) -> Iterator[_Stream]:
    if isinstance(audit, Behaviour):
        for number, check in enumerate(audit.suite.checks):
            yield _Stream(audit, corpus, number, audit.cases_of(check, corpus))
    else:
        yield _Stream(audit, corpus, None, _cases_by_text(audit, corpus))


def _cases_by_text(audit: Audit, corpus: Corpus) -> Iterator[Case]:
    """The texts for which an audit without checks asks anything, and what it asks for."""
    for row in range(len(corpus)):
        text_alone = replace(corpus, table=corpus.table.slice(row, 1))
        items = list(audit.ask(text_alone))
        if items:
            yield row, items
