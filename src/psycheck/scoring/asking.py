"""Asking models that reply in words: what arrives is committed before more is drawn from the model.

A killed process loses only the requests under way. Exactly one side retries (`Replying` says which): a model
that asks leave retries its own requests, every other model is asked again from here. What would fail for
every item is raised by the model and stops the run, with the replies so far stored.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from inspect import Parameter, signature

import numpy as np

from psycheck.core.errors import ModelFailure, NothingAnswered
from psycheck.core.model import Answer, Arrival, Reply, Replying, answers_in, capabilities_of
from psycheck.scoring.limits import Allowance
from psycheck.scoring.remembered import RememberedScores, reason_of
from psycheck.scoring.retries import TRANSIENT, Sleep, gave_no_answer, patiently
from psycheck.scoring.tally import Tally
from psycheck.scoring.task import ScoringTask
from psycheck.scoring.todo import Todo

_FIRST_REPLIES = 30  # of a model, after which it is asked on only if one of them answers a label


def ask_each(task: ScoringTask, model: Replying, batch: Todo, *, counts_as_scored: bool = True) -> None:
    """Commit a reply of the task's model for each item that gets one, and count why others get none.

    If only the smaller part of a batch never gets an answer, the run goes on without it. Items that have an
    older reply already do not count as scored or failed (`counts_as_scored`).
    """
    # A run that stopped because nothing was answered is not resumed by paying for the next replies.
    if counts_as_scored and len(task.view) >= _FIRST_REPLIES:
        refuse_unanswering(model, task.view)
    questions = _Questions(
        model=model,
        view=task.view,
        tally=task.tally,
        allowance=task.allowance,
        report=task.report,
        todo=batch,
        counts_as_scored=counts_as_scored,
    )
    if capabilities_of(model).asks_leave:
        questions.ask_once()
    else:
        questions.ask_until_answered(task.sleep)

    task.view.complaints.update(map(reason_of, questions.failures))
    if counts_as_scored:
        task.tally.failed += len(questions.failures)


def refuse_unanswering(model: Replying, view: RememberedScores) -> None:
    """Stop a run if no stored reply of its model answers any label; the reasons are in the message."""
    if not view.answers_nothing:
        return
    reasons = view.all_no_answers()
    (most_common, _), *_ = reasons.most_common(1)
    listed = ", ".join(f"{count:,} {reason.what}" for reason, count in reasons.most_common())
    raise NothingAnswered(
        f"model '{model.name}' answers nothing: of its first {len(view):,} replies, {listed}",
        code="model.answers-nothing",
        do=most_common.do or "look at a reply, and change how the model is asked",
    )


@dataclass(slots=True, kw_only=True)
class _Questions:
    """The items of a batch that have no answer yet (`todo`), and what became of the others."""

    model: Replying
    view: RememberedScores
    tally: Tally
    allowance: Allowance
    report: Callable[[], None]
    todo: Todo
    counts_as_scored: bool
    answered: int = 0
    failures: list[BaseException] = field(default_factory=list)  # of items that are not asked again

    def ask_once(self) -> None:
        """Ask a model that retries by itself: whatever it answers is final."""
        allowed = partial(self.allowance.allows, self.tally)
        self.allowance.spend(self.model, self.todo.items, self.tally)
        with redirect_stdout(sys.stderr):  # what a model prints is not our output
            # Only a model that asks leave takes these arguments, so the protocol does not name them.
            further = {"say": self.tally.say} if _takes_notes(self.model) else {}
            arrivals = self.model.ask(self.todo.items, allowed=allowed, **further)  # type: ignore[call-arg]
            try:
                self._take(arrivals, may_pass=())
            except TRANSIENT as error:
                raise gave_no_answer(self.model.name, error, times=1) from error

    def ask_until_answered(self, sleep: Sleep) -> None:
        """Ask a model that sends each item once; wait and ask again where a failure may pass."""
        try:
            patiently(self._ask_unanswered, self.model.name, sleep)
        except ModelFailure as error:
            lasting = error.__cause__
            is_minority = len(self.todo.items) <= self.answered
            if not isinstance(lasting, TRANSIENT) or not is_minority:
                raise
            self.failures += [lasting] * len(self.todo.items)

    def _ask_unanswered(self) -> None:
        """Ask about the items without an answer; raises the failure that asks for the longest pause."""
        if not self.todo.items:
            return
        self.allowance.spend(self.model, self.todo.items, self.tally)
        passing = self._take(self.model.ask(self.todo.items), may_pass=TRANSIENT)
        if passing:
            raise max(passing, key=lambda failure: getattr(failure, "after", 0.0))

    def _take(self, arrivals: Iterable[Arrival], may_pass: tuple[type[Exception], ...]) -> list[Exception]:
        """Commit answers as they arrive; returns the failures of items that should be asked again."""
        unanswered = dict.fromkeys(range(len(self.todo.items)))
        passing: list[Exception] = []
        try:
            for arrival in arrivals:
                replies: dict[int, Reply] = {}
                for answer in answers_in(arrival):
                    place, content = self._checked(answer, unanswered)
                    if isinstance(content, may_pass):
                        passing.append(content)
                        continue
                    del unanswered[place]
                    if isinstance(content, Reply):
                        replies[place] = content
                    else:
                        self.failures.append(content)

                self._commit(replies)
                self.report()
                # A model that asks leave stops by itself; any other is stopped from here.
                if may_pass and unanswered:
                    self.allowance.refuse_cost()
        finally:
            # Also after an error: what has its reply is not asked about again.
            self.todo = self.todo.take(np.array(list(unanswered), np.int64))

        if unanswered and not passing:
            raise self._malformed()
        return passing

    def _checked(self, answer: Answer, unanswered: dict[int, None]) -> Answer:
        """An answer as the protocol wants it; a model of another maker may give anything."""
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise self._malformed()
        place, content = answer
        if place not in unanswered or not isinstance(content, Reply | Exception):
            raise self._malformed()
        return place, content

    def _commit(self, replies: Mapping[int, Reply]) -> None:
        """Store replies by their places in `todo`, then count and pay for them."""
        if not replies:
            return
        replied = self.todo.take(np.array(list(replies)))
        self.view.add(replied.items, list(replies.values()), replied.hashes)

        self.tally.count(replies.values())
        self.allowance.pay(self.model, self.tally)
        self.answered += len(replies)
        if self.answered >= _FIRST_REPLIES:
            refuse_unanswering(self.model, self.view)
        if self.counts_as_scored:
            self.tally.scored += len(replies)

    def _malformed(self) -> ModelFailure:
        return ModelFailure(
            f"model '{self.model.name}' does not give one answer to each item",
            code="model.malformed-answers",
            allowed="the place of each item with a Reply, or with the exception that stands in its way, once",
        )


def _takes_notes(model: Replying) -> bool:
    """Whether the `ask` of a model takes `say`; one of another maker may have nothing to say."""
    parameters = signature(model.ask).parameters.values()
    return any(each.name == "say" or each.kind is Parameter.VAR_KEYWORD for each in parameters)
