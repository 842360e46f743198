"""Ask a server many questions at once: none lost, none sent twice that was answered.

The requests run in an event loop of their own, in a thread of their own, so that replies are stored while
others are on their way. This is the only place that retries a request and the only queue of replies: the
client library retries nothing, and whoever takes the answers need not.

A question holds its place until its answer has been taken and stored. So at most `concurrency` questions are
ever sent whose replies are not stored, which is all that a killed process can lose.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Thread

from psycheck.core.model import Answer, Reply, ignored, unlimited
from psycheck.llm.completion import joined
from psycheck.llm.pace import Pace, Unanswered, stopped
from psycheck.llm.providers.provider import Connection, Messages, Settings, connect
from psycheck.llm.server import Server
from psycheck.llm.server_errors import Refused, failure_of_refusal, missing_setting

LEFT_OUT = "the server does not accept the setting '{setting}', which was left out of all requests"
HARD_SCORES = "scores are 0 or 1, unless samples= asks each question several times"
NO_LOGPROBS = f"the server returns no token probabilities: {HARD_SCORES}"


def ask_all(
    server: Server,
    count: int,
    question: Callable[[int], Messages],
    settings: Sequence[Settings],
    allowed: Callable[[int], bool] = unlimited,
    say: Callable[[str], None] = ignored,
) -> Iterator[list[Answer]]:
    """The place of each of `count` questions with its reply or failure, in groups that arrived together.

    A question is sent once with each of the settings; the answers are samples of one reply. `allowed` is
    called as in `Replying`, and so is `say`, from the thread of the requests. Drawing the next group tells
    that the last one is stored.
    """
    requests = _Requests(
        server=server,
        count=count,
        question=question,
        settings=settings,
        allowed=allowed,
        say=say,
    )
    thread = Thread(
        target=requests.run,
        name="psycheck-llm",
        daemon=True,
    )
    thread.start()

    end: _End | None = None
    try:
        while end is None:
            answers, end = requests.next_group()
            if answers:
                yield answers
                requests.call_in_loop(requests.stored, len(answers))
    finally:
        requests.call_in_loop(requests.end)
        thread.join()

    if end.error is not None:
        raise end.error


@dataclass(slots=True)
class _Question:
    """A question by its place, its samples so far, and how often the next sample was requested."""

    place: int
    samples: list[Reply] = field(default_factory=list)
    tries: int = 0


@dataclass(frozen=True, slots=True)
class _End:
    """What comes after the last answer: the error that stopped the requests, or None."""

    error: BaseException | None


class _Requests:
    """The requests under way: a queue of questions, and as many tasks as the pace allows.

    Everything but `next_group` and `call_in_loop` runs in the thread of the event loop.
    """

    def __init__(
        self,
        *,
        server: Server,
        count: int,
        question: Callable[[int], Messages],
        settings: Sequence[Settings],
        allowed: Callable[[int], bool],
        say: Callable[[str], None],
    ) -> None:
        self.server = server
        self.question = question
        self.settings = settings
        self.allowed = allowed
        self.say = say
        self.loop = asyncio.new_event_loop()
        self.pace = Pace(server.concurrency, self.loop.time())
        self.connection: Connection = connect(server)

        self.ready = deque(_Question(place) for place in range(count))
        self.undelivered = count
        self.unstored = 0  # answers that were delivered, but are not known to be stored
        self.tasks: set[asyncio.Task[None]] = set()
        self.arrived: SimpleQueue[Answer | _End] = SimpleQueue()

        self.unsupported: set[str] = set()  # settings that the server does not know
        self.timer: asyncio.TimerHandle | None = None
        self.ended = self.loop.create_future()

    # Called from the thread that takes the answers.

    def next_group(self) -> tuple[list[Answer], _End | None]:
        """Wait for the next answer; returns all that have arrived by then, and the end if it has come."""
        answers: list[Answer] = []
        arrival = self.arrived.get()
        while not isinstance(arrival, _End):
            answers.append(arrival)
            try:
                arrival = self.arrived.get_nowait()
            except Empty:
                return answers, None
        return answers, arrival

    def call_in_loop(self, function: Callable[..., None], *arguments: int) -> None:
        """Call a function in the thread of the event loop, unless the loop has ended."""
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(function, *arguments)

    # The event loop.

    def run(self) -> None:
        """Ask everything, then report the end; the body of the thread."""
        error: BaseException | None = None
        try:
            self.loop.run_until_complete(self._ask_everything())
        except BaseException as raised:  # noqa: BLE001 - raised again in the thread that takes the answers
            error = raised
        self.loop.close()
        self.arrived.put(_End(error))

    def end(self) -> None:
        """Stop; requests under way are cancelled."""
        if not self.ended.done():
            self.ended.set_result(None)

    def stored(self, count: int) -> None:
        """Free the places of answers that are stored now."""
        self.unstored -= count
        self._send_more()

    async def _ask_everything(self) -> None:
        self._send_more()
        try:
            await self.ended
        finally:
            for task in self.tasks:
                task.cancel()
            await asyncio.gather(*self.tasks, return_exceptions=True)
            await self.connection.close()

    def _send_more(self) -> None:
        """Send as many questions as the pace allows; called whenever that may have changed."""
        while self.ready and self._has_free_place():
            pause = self.pace.until - self.loop.time()
            if pause > 0:
                self._send_more_after(pause)
                return

            question = self.ready.popleft()
            if self.allowed(0):
                self._start(question)
            else:
                self._give_up(question, requests_sent=0)

        if not self.undelivered:
            self.end()

    def _has_free_place(self) -> bool:
        taken = len(self.tasks) + self.unstored
        return taken < int(self.pace.limit) and not self.ended.done()

    def _send_more_after(self, seconds: float) -> None:
        if self.timer:
            self.timer.cancel()
        self.timer = self.loop.call_later(seconds, self._send_more)

    def _start(self, question: _Question) -> None:
        task = self.loop.create_task(self._ask(question))
        self.tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: "asyncio.Task[None]") -> None:
        self.tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error and not self.ended.done():
            self.ended.set_exception(error)
        self._send_more()

    # One question.

    async def _ask(self, question: _Question) -> None:
        """Request one sample; deliver the reply when it is the last one, or try again later."""
        started = self.loop.time()
        question.tries += 1
        try:
            sample = await self._request(question)
        except Unanswered as failure:
            self._failed(question, failure, started)
            return

        self.pace.answered(self.loop.time())
        question.samples.append(sample)
        question.tries = 0
        if len(question.samples) == len(self.settings):
            self._deliver(question, joined(question.samples))
        else:
            self.ready.appendleft(question)

    def _failed(self, question: _Question, failure: Unanswered, started: float) -> None:
        """Send the question again later, give it up, or stop everything: as the pace decides."""
        try:
            wait = self.pace.failed(failure, question.tries, started, self.loop.time())
        except Unanswered:
            names = {"model": self.server.model, "key_env": self.server.key_env}
            raise stopped(failure, self.server.base_url, **names) from None

        if wait is None:
            self._deliver(question, failure)
        elif not self.allowed(1):
            self._give_up(question, requests_sent=1)
        else:
            self.loop.call_later(wait, self._send_again, question)

    def _send_again(self, question: _Question) -> None:
        self.ready.appendleft(question)
        self._send_more()

    def _give_up(self, question: _Question, *, requests_sent: int) -> None:
        """Deliver a question that may not be sent as a failure, and give its remaining requests back."""
        requests_left = len(self.settings) - len(question.samples) - requests_sent
        self.allowed(-requests_left)
        self._deliver(question, Unanswered("limit"))

    def _deliver(self, question: _Question, answer: Reply | Exception) -> None:
        self.undelivered -= 1
        self.unstored += 1
        self.arrived.put((question.place, answer))

    async def _request(self, question: _Question) -> Reply:
        """The reply to one request; whatever goes wrong is raised as `Unanswered`."""
        messages = self.question(question.place)
        settings = self.settings[len(question.samples)]
        while True:
            accepted = without(settings, self.unsupported)
            try:
                async with asyncio.timeout(self.server.timeout):
                    reply = await self.connection.send(messages, accepted)
            except Refused as refusal:
                self._adapt_to(refusal, accepted)  # raises unless the request is worth another try
            except TimeoutError:
                raise Unanswered("timeout") from None
            else:
                self._note_missing_logprobs(reply, accepted)
                return reply

    def _adapt_to(self, refusal: Refused, settings: Settings) -> None:
        """Leave out a setting that the server does not know, from now on; any other error is raised."""
        # Only before the first answer: the replies of one model should not differ in how they were asked for.
        setting = "" if self.pace.answers else missing_setting(refusal, settings)
        if not setting:
            raise failure_of_refusal(refusal) from None
        if setting in self.server.demanded:
            raise Unanswered("feature") from None
        if not self.allowed(1):
            raise Unanswered("limit") from None
        self.unsupported.add(setting)
        self.say(note_on(setting))

    def _note_missing_logprobs(self, reply: Reply, settings: Settings) -> None:
        """Say so if a server ignores the wish for token probabilities: every score is 0 or 1 then."""
        if "logprobs" in settings and reply.text and not reply.logprobs:
            self.say(NO_LOGPROBS)


def note_on(setting: str) -> str:
    """What the user is told about a setting that is left out."""
    note = LEFT_OUT.format(setting=setting)
    if setting == "logprobs":
        return f"{note}: {HARD_SCORES}"
    return note


def without(settings: Settings, unsupported: Collection[str]) -> Settings:
    """Settings without those that a server does not know; the limit of tokens goes by its newer name then."""
    accepted = {name: value for name, value in settings.items() if name not in unsupported}
    if "logprobs" in unsupported:
        accepted.pop("top_logprobs", None)
    if "max_tokens" in unsupported and "max_tokens" in settings:
        accepted["max_completion_tokens"] = settings["max_tokens"]
    return accepted
