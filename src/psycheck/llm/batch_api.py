"""Ask through a provider's batch API: half the price, and answers within a day.

Questions are handed over together and collected when the provider has answered them. Each batch is noted in
a file (its name and hashes of its questions, never a text), so a killed process loses none: the next one
collects what was handed over, and hands over only what is missing.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, product

from psycheck.core.errors import ModelFailure
from psycheck.core.model import Answer, Reply, ignored, unlimited
from psycheck.llm.client import NO_LOGPROBS, note_on, without
from psycheck.llm.completion import joined
from psycheck.llm.handed_over import Batch, forget, noted_batches, question_id, remember, size_of
from psycheck.llm.pace import Unanswered
from psycheck.llm.patient_connection import PatientConnection
from psycheck.llm.providers.provider import PROVIDERS, Messages, Outcome, Question, Settings
from psycheck.llm.server import Server
from psycheck.llm.server_errors import Refused, failure_of_refusal, missing_setting

MOST_QUESTIONS = 10_000  # of one batch
FIRST_POLL = 2.0  # seconds between two looks at a batch; each pause is longer
_LONGEST_POLL = 60.0
_LONGER = 1.5
_ROUNDS = 6  # of batches, if the server refuses one setting after the other
_GONE = ("llm.batch", "llm.unknown")  # failures after which a batch will never have results

Place = tuple[int, int]
"""A question and one of its samples."""


def ask_in_batches(
    server: Server,
    count: int,
    question: Callable[[int], Messages],
    settings: Sequence[Settings],
    allowed: Callable[[int], bool] = unlimited,
    say: Callable[[str], None] = ignored,
) -> Iterator[list[Answer]]:
    """The place of each of `count` questions with its reply or failure, as `client.ask_all`."""
    # Every question once for each of its samples.
    places = [*product(range(count), range(len(settings)))]
    with PatientConnection(server) as connection:
        asking = _Asking(
            server=server,
            connection=connection,
            question=question,
            settings=settings,
            allowed=allowed,
            say=say,
            waiting=dict.fromkeys(places),
        )
        for _ in range(_ROUNDS):
            yield from asking.round()
            if not asking.waiting:
                return
        yield asking.given_up()


@dataclass(slots=True, kw_only=True)
class _Asking:
    """Questions that wait for an answer, sample by sample, and the samples that came."""

    server: Server
    connection: PatientConnection
    question: Callable[[int], Messages]
    settings: Sequence[Settings]
    allowed: Callable[[int], bool]
    say: Callable[[str], None]
    waiting: dict[Place, None]
    samples: dict[Place, Reply] = field(default_factory=dict)
    unsupported: set[str] = field(default_factory=set)
    handed_over: set[Place] = field(default_factory=set)

    def round(self) -> Iterator[list[Answer]]:
        """Collect what was handed over before, and hand over and collect the rest."""
        questions = {place: self._question(place) for place in self.waiting}
        # A batch comes back with the ids of its questions, in any order.
        places: dict[str, Place] = {}
        for place, asked_question in questions.items():
            places[question_id(self.server, asked_question)] = place
        earlier, left = self._noted_before(places)

        denied, affordable = self._affordable(left)
        if denied:
            yield denied
        portions = portions_of(
            {key: questions[place] for key, place in affordable.items()},
            PROVIDERS[self.server.api].batch_bytes,
        )
        batches = [*earlier, *[self._hand_over(portion) for portion in portions]]

        refused_settings: set[str] = set()
        for batch in batches:
            outcomes = self._collect(batch)
            answers = self._take(outcomes, places, refused_settings)
            if answers:
                yield answers
            # Drawing the next group tells that this one is stored.
            forget(self.server, batch)

        for setting in sorted(refused_settings - self.unsupported):
            self.say(note_on(setting))
        self.unsupported |= refused_settings

    def given_up(self) -> list[Answer]:
        """The questions that are left after the last round, as failures."""
        return [(number, Unanswered("rejected")) for number, _ in groupby(self.waiting, key=_number)]

    def _question(self, place: Place) -> Question:
        number, sample = place
        return self.question(number), without(self.settings[sample], self.unsupported)

    def _noted_before(self, places: Mapping[str, Place]) -> tuple[list[Batch], dict[str, Place]]:
        """The batches of earlier runs that hold some of the questions, and the questions in none of them."""
        left = dict(places)
        batches = []
        for batch in noted_batches(self.server):
            shared = left.keys() & set(batch.ids)
            if shared:
                batches.append(batch)
                self.handed_over |= {left.pop(key) for key in shared}
                # The run that handed them over counted them.
                self.allowed(-len(shared))
        return batches, left

    def _affordable(self, left: Mapping[str, Place]) -> tuple[list[Answer], dict[str, Place]]:
        """The questions that may not be sent, as failures, and those that may."""
        affordable: dict[str, Place] = {}
        denied: set[int] = set()
        for key, place in left.items():
            # What was handed over once already is sent again.
            if self.allowed(1 if place in self.handed_over else 0):
                affordable[key] = place
            else:
                denied.add(place[0])
        for number in denied:
            self._drop(number)
        self.handed_over |= set(affordable.values())
        return [(number, Unanswered("limit")) for number in sorted(denied)], affordable

    def _hand_over(self, portion: Mapping[str, Question]) -> Batch:
        name = self.connection.submit(portion)
        batch = Batch(name=name, ids=tuple(portion))
        remember(self.server, batch)
        return batch

    def _collect(self, batch: Batch) -> Sequence[tuple[str, Outcome]]:
        """Wait for the results of a batch; one that is gone has none, so its questions are asked anew."""
        pause = FIRST_POLL
        try:
            while not self.connection.is_finished(batch.name):
                time.sleep(pause)
                pause = min(_LONGEST_POLL, pause * _LONGER)
            return self.connection.results(batch.name, batch.ids)
        except ModelFailure as failure:
            if failure.code not in _GONE:
                raise
            forget(self.server, batch)
            if failure.code == "llm.batch":
                raise  # with another try it would be given up again
            return []

    def _take(
        self,
        outcomes: Sequence[tuple[str, Outcome]],
        places: Mapping[str, Place],
        refused_settings: set[str],
    ) -> list[Answer]:
        """The questions that have all their samples now, or a failure; the others wait on."""
        answers: list[Answer] = []
        for key, outcome in outcomes:
            place = places.get(key)
            if place is None or place not in self.waiting:
                continue  # a question of another run, or of one whose other sample failed

            if isinstance(outcome, Reply):
                answers += self._sample(place, outcome)
                continue
            failure = outcome
            if isinstance(outcome, Refused):
                setting = missing_setting(outcome, self._question(place)[1])
                if setting and setting not in self.server.demanded:
                    refused_settings.add(setting)
                    continue
                failure = Unanswered("feature") if setting else failure_of_refusal(outcome)
            answers.append((place[0], failure))
            self._drop(place[0])
        return answers

    def _sample(self, place: Place, reply: Reply) -> list[Answer]:
        """The question with its joined reply, if this was the last sample that it waited for."""
        number = place[0]
        del self.waiting[place]
        self.samples[place] = reply
        _, settings = self._question(place)
        lacks_logprobs = "logprobs" in settings and not reply.logprobs
        if lacks_logprobs and reply.text:
            self.say(NO_LOGPROBS)

        all_places = [(number, each) for each in range(len(self.settings))]
        if not all(each in self.samples for each in all_places):
            return []
        return [(number, joined([self.samples.pop(each) for each in all_places]))]

    def _drop(self, number: int) -> None:
        """Wait no longer for any sample of a question."""
        for sample in range(len(self.settings)):
            self.waiting.pop((number, sample), None)


def _number(place: Place) -> int:
    return place[0]


def portions_of(questions: Mapping[str, Question], most_bytes: int) -> Iterator[dict[str, Question]]:
    """Questions in portions that a batch may hold, by their number and size."""
    portion: dict[str, Question] = {}
    size = 0
    for key, asked in questions.items():
        added = size_of(asked)
        is_full = len(portion) == MOST_QUESTIONS or size + added > most_bytes
        if portion and is_full:
            yield portion
            portion, size = {}, 0
        portion[key] = asked
        size += added
    if portion:
        yield portion
