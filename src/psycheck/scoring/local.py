"""The local engine: batch after batch in this process, beside other processes that share the store.

A failure that may pass (a time-out, a rate limit) is waited for and never halves a batch. A batch that fails
for another reason is halved until the items at fault stand alone.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.errors import ModelFailure, PsycheckError
from psycheck.core.item import Item, sizes_of
from psycheck.core.model import AnswersOf, Encoder, Grounded, Model, Partial, Replying, Staged
from psycheck.models.output import checked_scores
from psycheck.scoring.asking import ask_each
from psycheck.scoring.engine import Piece, score_once
from psycheck.scoring.remembered import RememberedScores, reason_of
from psycheck.scoring.retries import patiently
from psycheck.scoring.tally import Tally
from psycheck.scoring.task import ScoringTask
from psycheck.scoring.todo import Todo, unknown
from psycheck.scoring.vectors import stored_vectors

_BROKEN_SAMPLE = 16  # items of all sizes that a model must fail on before it counts as broken
_CLAIMED_SECONDS = 1.0  # about how much work a process claims at once, so that others find some
_MOST_CLAIMED = 64  # batches claimed at once
_POLL_SECONDS = 0.2  # between looks at what other processes have claimed


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """Scores in this process; what it keeps is of models that others rest on, by fingerprint."""

    needed_scores: dict[str, RememberedScores] = field(default_factory=dict, repr=False)
    needed_tallies: dict[str, dict[str, Tally]] = field(default_factory=dict, repr=False)

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
                ask_each(task, task.model, batch)
                return
            scores = self._scores(task, batch.items)
            has_needs = self._have_needs(task, batch.items, scores)
            complete_rows = np.flatnonzero(has_needs)
            complete = batch.take(complete_rows)
            task.view.add(complete.items, scores[has_needs], complete.hashes)
            task.tally.scored += len(complete.items)
            task.tally.failed += len(batch.items) - len(complete.items)
        except (PsycheckError, KeyboardInterrupt, MemoryError):
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's model may raise anything
            self._score_halves(task, batch, error)

    def _scores(self, task: ScoringTask, items: Sequence[Item]) -> FloatArray:
        """The checked scores of items, (n, k)."""
        model = task.model
        score: Callable[[], FloatArray] = partial(model.score, items)
        if isinstance(model, Grounded):
            answers = self._answers_of_needs(task, model, items)
            score = partial(model.score_from, items, answers)

        scores = patiently(score, model.name, task.sleep)
        return checked_scores(
            scores,
            len(items),
            model.labels,
            model=model.name,
        )

    def _score_halves(self, task: ScoringTask, batch: Todo, error: BaseException) -> None:
        """Try a failed batch again in halves; an item that fails alone is counted with the reason."""
        unscored = unknown(task.view, batch.items)  # some may have got a reply before the failure
        is_alone = len(batch.items) == 1
        if unscored.items and is_alone:
            reason = reason_of(error)
            task.view.complaints[reason] += 1
            task.tally.failed += 1
            return

        all_rows = np.arange(len(unscored.items))
        middle = len(all_rows) // 2
        first_half, second_half = np.split(all_rows, [middle])
        self._score_batch(task, unscored.take(first_half))
        self._score_batch(task, unscored.take(second_half))

    def _answers_of_needs(
        self,
        task: ScoringTask,
        model: Grounded,
        items: Sequence[Item],
    ) -> list[AnswersOf]:
        """What the models and encoders that a model rests on answer, scored first, through the same store."""
        needed_texts = model.needed(items)
        texts = list(dict.fromkeys(needed_texts))

        all_answers: list[AnswersOf] = []
        for need in model.needs:
            if all_answers and isinstance(model, Staged):
                next_texts = model.needed_next(items, all_answers)
                texts = list(dict.fromkeys(next_texts))
            if isinstance(need, Model):
                answers = self._needed_scores(task, need, texts)
            else:
                answers = _needed_vectors(task, need, texts)
            all_answers.append(answers)
        return all_answers

    def _have_needs(self, task: ScoringTask, items: Sequence[Item], scores: FloatArray) -> NDArray[np.bool_]:
        """Which items have all answers that their scores rest on, (n,).

        What an LLM failed to answer, because of a limit or a cut connection, is tried again by the next run.
        """
        has_needs = np.ones(len(items), bool)
        model = task.model
        if not isinstance(model, Staged):
            return has_needs

        answers: list[AnswersOf] = []
        for need in model.needs:
            view = self.needed_scores.get(need.fingerprint)
            if view is None:
                continue
            texts = model.needed_next(items, answers) if answers else model.needed(items)
            asked = list(texts)
            unstored = view.find(view.digests(asked)) < 0
            missing = {text for text, is_missing in zip(asked, unstored.tolist(), strict=True) if is_missing}
            has_needs &= [item not in missing for item in items]
            if missing:
                # A text may stand for an item of another kind, such as a history: its score is missing then.
                has_needs &= ~np.isnan(scores).all(axis=1)
            # The larger count of each reason: the need's own counter goes on from batch to batch.
            task.view.complaints |= view.complaints
            answers.append(view.of)
        return has_needs

    def _needed_scores(self, task: ScoringTask, need: Model, texts: Sequence[str]) -> AnswersOf:
        """The scores of a needed model, looked up by text."""
        view = self.needed_scores.get(need.fingerprint)
        if view is None:
            view = RememberedScores(task.view.store, need, need.labels)
            self.needed_scores[need.fingerprint] = view

        everything: Piece = (1.0, texts)
        # One tally for the whole run: limits on requests and cost hold for all batches together.
        tallies = self.needed_tallies.setdefault(need.fingerprint, {need.name: Tally()})
        score_once(
            [(need, view)],
            [everything],
            sleep=task.sleep,
            engine=self,
            limits=task.limits,
            tallies=tallies,
        )
        if isinstance(need, Replying):
            task.tally.take_requests_of(tallies[need.name])
        return view.of


def _needed_vectors(task: ScoringTask, encoder: Encoder, texts: Sequence[str]) -> AnswersOf:
    """The vectors of a needed encoder, looked up by text."""
    vectors = stored_vectors(task.view.store, encoder, texts)
    row_of_text = {text: row for row, text in enumerate(texts)}

    def vectors_of_posts(posts: Sequence[str]) -> FloatArray:
        rows = [row_of_text[post] for post in posts]
        return vectors[rows]

    return vectors_of_posts


def _without_missing(task: ScoringTask, batch: Todo) -> Todo:
    """A batch without the items that the model, a file of scores, does not hold; these count as failed."""
    if not isinstance(task.model, Partial):
        return batch

    missing = set(task.model.missing(batch.items))
    task.tally.failed += len(missing)
    has_scores = [item not in missing for item in batch.items]
    return batch.take(np.flatnonzero(has_scores))


def _batches(task: ScoringTask, todo: Todo) -> Iterator[Todo]:
    """Longest first, so that a batch too large for the memory shows at once and padding stays small.

    If the model fails on the whole first batch and has scored nothing before, a sample of all sizes comes
    next; if it fails on these too, the run stops. What other processes have claimed comes last.
    """
    view = task.view
    sizes = sizes_of(todo.items)
    order = np.argsort(-sizes, kind="stable")
    sample_size = 0  # above 0 while the sample of all sizes is tried
    batches_per_claim = 1
    while len(order):
        batch_size = sample_size or task.batch_size
        claim_size = sample_size or batches_per_claim * batch_size
        waiting = len(order)
        begun = time.monotonic()

        claimed, order, met = view.claim(
            todo.items,
            todo.hashes,
            left=order,
            most=claim_size,
        )
        task.tally.remembered += met
        if not len(claimed):
            # Others claim all that is left; without news from them, look again in a while.
            if len(order) == waiting:
                task.sleep(_POLL_SECONDS)
            continue

        for start in range(0, len(claimed), batch_size):
            batch_rows = claimed[start : start + batch_size]
            yield todo.take(batch_rows)

        batch_count = len(claimed) / batch_size
        seconds = time.monotonic() - begun
        batches_per_claim = _batches_in_a_second(batch_count, seconds)

        has_scored_none = len(view) == 0
        has_failed_on_all = has_scored_none and bool(view.complaints)
        was_last_try = sample_size > 0 or not len(order)
        if not has_failed_on_all:
            sample_size = 0
        elif was_last_try:
            raise fails_on_every_text(task)
        else:
            order, sample_size = _sample_first(order)


def _batches_in_a_second(batch_count: float, seconds: float) -> int:
    """How many batches to claim at once, by how long the last ones took."""
    batches_per_second = batch_count / (seconds + 1e-9)
    affordable = 1 + _CLAIMED_SECONDS * batches_per_second
    return int(min(_MOST_CLAIMED, affordable))


def _sample_first(order: IntArray) -> tuple[IntArray, int]:
    """Rows with a sample of all sizes in front, and the size of the sample."""
    last_place = len(order) - 1
    even_places = np.linspace(0, last_place, _BROKEN_SAMPLE)
    places = np.unique(even_places.astype(np.int64))

    sample = order[places]
    later = np.delete(order, places)
    return np.concatenate([sample, later]), len(sample)


def fails_on_every_text(task: ScoringTask) -> ModelFailure:
    """The error for the user when a model has scored nothing at all."""
    reasons = "; ".join(task.view.complaints)
    return ModelFailure(
        f"model '{task.model.name}' fails on every text: {reasons}",
        code="model.fails-on-every-text",
        do="call its score on one short text in a Python shell",
    )
