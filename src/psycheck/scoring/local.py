"""The local engine: batch after batch in this process, beside other processes that share the store.

A failure that may pass (a time-out, a rate limit) is waited for and never halves a batch. A batch that fails
for another reason is halved until the items at fault stand alone.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import ModelFailure, PsycheckError
from psycheck.core.item import Item, sizes_of
from psycheck.core.model import AnswersOf, Encoder, Grounded, Model, Partial, Replying
from psycheck.models.output import checked_scores
from psycheck.scoring.asking import ask_each
from psycheck.scoring.engine import ScoringTask, score_once
from psycheck.scoring.remembered import RememberedScores, Todo, reason_of, unknown
from psycheck.scoring.retries import patiently
from psycheck.scoring.vectors import stored_vectors

_BROKEN_SAMPLE = 16  # items of all sizes that a model must fail on before it counts as broken
_CLAIMED_SECONDS = 1.0  # about how much work a process claims at once, so that others find some
_MOST_CLAIMED = 64  # batches claimed at once
_POLL_SECONDS = 0.2  # between looks at what other processes have claimed


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """Scores in this process; `needed_scores` are those of models that others rest on, by fingerprint."""

    needed_scores: dict[str, RememberedScores] = field(default_factory=dict, repr=False)

    def score(self, task: ScoringTask, todo: Todo, /) -> None:
        """Score and commit the items batch by batch, the longest first."""
        with task.view.claims():
            for batch in _batches(task, todo):
                self._score_batch(task, batch)
                task.report()

    def _score_batch(self, task: ScoringTask, batch: Todo) -> None:
        """Score and commit a batch, and count what has scores and what could not be scored."""
        batch = _without_missing(task, batch)
        if not batch.items:
            return

        try:
            if isinstance(task.model, Replying):
                ask_each(
                    task.model,
                    task.view,
                    batch,
                    task.tally,
                    task.allowance,
                    task.sleep,
                    task.report,
                )
                return
            scores = self._scores(task, batch.items)
            task.view.add(batch.items, scores, batch.hashes)
            task.tally.scored += len(batch.items)
        except (PsycheckError, KeyboardInterrupt, MemoryError):
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's model may raise anything
            self._score_halves(task, batch, error)

    def _scores(self, task: ScoringTask, items: Sequence[Item]) -> FloatArray:
        """The checked scores of items, (n, k)."""
        model = task.model
        if isinstance(model, Grounded):
            answers = self._answers_of_needs(task, model, items)
            scores = patiently(lambda: model.score_from(items, answers), model.name, task.sleep)
        else:
            scores = patiently(lambda: model.score(items), model.name, task.sleep)
        return checked_scores(scores, len(items), model.labels, model=model.name)

    def _score_halves(self, task: ScoringTask, batch: Todo, error: BaseException) -> None:
        """Try a failed batch again in halves; an item that fails alone is counted with the reason."""
        unscored = unknown(task.view, batch.items)  # some may have got a reply before the failure
        if unscored.items and len(batch.items) == 1:
            task.view.complaints[reason_of(error)] += 1
            task.tally.failed += 1
            return
        middle = len(unscored.items) // 2
        for rows in np.array_split(np.arange(len(unscored.items)), [middle]):
            self._score_batch(task, unscored.take(rows))

    def _answers_of_needs(self, task: ScoringTask, model: Grounded, items: Sequence[Item]) -> list[AnswersOf]:
        """What the models and encoders that a model rests on answer, scored first, through the same store."""
        texts = list(dict.fromkeys(model.needed(items)))
        answers: list[AnswersOf] = []
        for need in model.needs:
            if isinstance(need, Model):
                answers.append(self._needed_scores(task, need, texts))
            else:
                answers.append(_needed_vectors(task, need, texts))
        return answers

    def _needed_scores(self, task: ScoringTask, need: Model, texts: Sequence[str]) -> AnswersOf:
        """The scores of a needed model, looked up by text."""
        view = self.needed_scores.get(need.fingerprint)
        if view is None:
            view = RememberedScores(task.view.store, need, need.labels)
            self.needed_scores[need.fingerprint] = view
        score_once([(need, view)], [(1.0, texts)], sleep=task.sleep, engine=self)
        return view.of


def _needed_vectors(task: ScoringTask, encoder: Encoder, texts: Sequence[str]) -> AnswersOf:
    """The vectors of a needed encoder, looked up by text."""
    vectors = stored_vectors(task.view.store, encoder, texts)
    rows = {text: row for row, text in enumerate(texts)}
    return lambda posts: vectors[[rows[post] for post in posts]]


def _without_missing(task: ScoringTask, batch: Todo) -> Todo:
    """A batch without the items that the model, a file of scores, does not hold; these count as failed."""
    if not isinstance(task.model, Partial):
        return batch
    missing = set(task.model.missing(batch.items))
    task.tally.failed += len(missing)
    return batch.take(np.flatnonzero([item not in missing for item in batch.items]))


def _batches(task: ScoringTask, todo: Todo) -> Iterator[Todo]:
    """Longest first, so that a batch too large for the memory shows at once and padding stays small.

    If the model fails on the whole first batch and has scored nothing before, a sample of all sizes comes
    next; if it fails on these too, the run stops. What other processes have claimed comes last.
    """
    view = task.view
    order = np.argsort(-sizes_of(todo.items), kind="stable")
    sample_size = 0  # above 0 while the sample of all sizes is tried
    batches_per_claim = 1
    while len(order):
        batch_size = sample_size or task.batch_size
        waiting = len(order)
        begun = time.monotonic()

        claim_size = sample_size or batches_per_claim * batch_size
        claimed, order, met = view.claim(todo.items, todo.hashes, order, claim_size)
        task.tally.remembered += met
        if not len(claimed):
            if len(order) == waiting:
                task.sleep(_POLL_SECONDS)
            continue

        for start in range(0, len(claimed), batch_size):
            yield todo.take(claimed[start : start + batch_size])

        batches_per_second = len(claimed) / batch_size / (time.monotonic() - begun + 1e-9)
        batches_per_claim = int(min(_MOST_CLAIMED, 1 + _CLAIMED_SECONDS * batches_per_second))

        has_failed_on_all = not len(view) and bool(view.complaints)
        if not has_failed_on_all:
            sample_size = 0
        elif sample_size or not len(order):
            raise ModelFailure(
                f"model '{task.model.name}' fails on every text: {'; '.join(view.complaints)}",
                code="model.fails-on-every-text",
                do="call its score on one short text in a Python shell",
            )
        else:
            places = np.unique(np.linspace(0, len(order) - 1, _BROKEN_SAMPLE).astype(np.int64))
            order = np.concatenate([order[places], np.delete(order, places)])
            sample_size = len(places)
