"""Ask an OpenAI-compatible server many questions at once: none lost, none sent twice that was answered.

The requests run in an event loop of their own, in a thread of their own, so that replies are committed while
others are on their way. The retries are ours and not those of the client library: they share one pace.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Thread
from typing import Any, cast

import httpx2
from openai import APIConnectionError, APIStatusError, APITimeoutError, AsyncOpenAI

from psycheck.model import Reply, unlimited
from psycheck.models.llm.completion import completion_of, joined
from psycheck.models.llm.pace import Pace, Unanswered, pause_of, stopped

MOST_BYTES = 8 * 2**20  # of one answer
_STATUS = {401: "key", 403: "forbidden", 404: "unknown", 429: "busy", 503: "busy", 529: "busy"}
_REJECTED = (400, 405, 406, 410, 411, 413, 414, 415, 422)
_NEVER_OPEN = (httpx2.ConnectError, httpx2.ProxyError, httpx2.UnsupportedProtocol, OSError)
# What a server names when it does not know a setting; it is then asked without that setting.
_LACKING = {
    "logprobs": ("logprobs",),
    "response_format": ("response_format", "json_schema", "grammar"),
    "max_tokens": ("max_completion_tokens",),
}

Messages = list[dict[str, str]]
Answer = tuple[int, Reply | Exception]


@dataclass(frozen=True, slots=True)
class Server:
    """Where questions are sent and how; `demanded` settings are not given up if the server lacks them."""

    model: str
    base_url: str
    local: bool
    key: str = field(repr=False)
    key_env: str
    timeout: float
    concurrency: int
    demanded: frozenset[str]


@dataclass(slots=True)
class _Job:
    """A question by its place, its samples so far, and how often the next one was asked for."""

    place: int
    samples: list[Reply] = field(default_factory=list)
    tries: int = 0


def ask_all(
    server: Server,
    count: int,
    question: Callable[[int], Messages],
    settings: Sequence[dict[str, Any]],
    allowed: Callable[[int], bool] = unlimited,
) -> Iterator[Answer]:
    """The place of each of `count` questions with its reply or failure, in the order of arrival.

    A question is sent once with each of the settings; the answers are samples of one reply. `allowed` is
    asked as in `Replying`.
    """
    asking = _Asking(server, count, question, settings, allowed)
    thread = Thread(target=asking.run, name="psycheck-llm", daemon=True)
    thread.start()
    try:
        while (answer := asking.arrived.get()) is not None:
            if isinstance(answer, BaseException):
                raise answer
            yield answer
    finally:
        with suppress(RuntimeError):  # the loop has ended by itself
            asking.loop.call_soon_threadsafe(asking.end)
        thread.join()


class _Asking:
    """The requests under way: a queue of questions, and as many tasks as the pace allows."""

    def __init__(
        self,
        server: Server,
        count: int,
        question: Callable[[int], Messages],
        settings: Sequence[dict[str, Any]],
        allowed: Callable[[int], bool],
    ) -> None:
        self.server, self.question, self.settings, self.allowed = server, question, settings, allowed
        self.arrived: SimpleQueue[Answer | BaseException | None] = SimpleQueue()
        self.loop = asyncio.new_event_loop()
        self.pace = Pace(server.concurrency, self.loop.time())
        self.ready, self.left = deque(map(_Job, range(count))), count
        self.tasks: set[asyncio.Task[None]] = set()
        self.lacking: set[str] = set()  # settings that the server does not support
        self.timer: asyncio.TimerHandle | None = None
        self.ended = self.loop.create_future()
        self.client = _client(server)

    def run(self) -> None:
        """Ask everything, then report the end; the body of the thread."""
        end: BaseException | None = None
        try:
            self.loop.run_until_complete(self._all())
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            end = error
        self.loop.close()
        self.arrived.put(end)

    def end(self) -> None:
        """Stop; what is under way is cancelled."""
        if not self.ended.done():
            self.ended.set_result(None)

    async def _all(self) -> None:
        async with self.client:
            self._start()
            try:
                await self.ended
            finally:
                for task in self.tasks:
                    task.cancel()
                await asyncio.gather(*self.tasks, return_exceptions=True)

    def _start(self) -> None:
        """Start as many requests as the pace allows; called whenever that may have changed."""
        while self.ready and len(self.tasks) < int(self.pace.limit) and not self.ended.done():
            # Replies that nobody has taken yet would be lost with the process: do not run ahead of the store.
            behind = self.arrived.qsize() > self.server.concurrency
            wait = max(self.pace.until - self.loop.time(), 0.005 if behind else 0.0)
            if wait > 0:
                if self.timer:
                    self.timer.cancel()
                self.timer = self.loop.call_later(wait, self._start)
                return
            job = self.ready.popleft()
            if not self.allowed(0):
                self._give_up(job, 0)
                continue
            task = self.loop.create_task(self._ask(job))
            self.tasks.add(task)
            task.add_done_callback(self._done)
        if not self.left:
            self.end()

    def _done(self, task: "asyncio.Task[None]") -> None:
        self.tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) and not self.ended.done():
            self.ended.set_exception(error)
        self._start()

    def _again(self, job: _Job) -> None:
        self.ready.appendleft(job)
        self._start()

    def _deliver(self, job: _Job, answer: Reply | Exception) -> None:
        self.left -= 1
        self.arrived.put((job.place, answer))

    def _give_up(self, job: _Job, sent: int) -> None:
        """Deliver a question that may not be sent as a failure, and give its remaining requests back."""
        self.allowed(len(job.samples) + sent - len(self.settings))
        self._deliver(job, Unanswered("limit"))

    async def _ask(self, job: _Job) -> None:
        """Send one sample of a question; deliver the reply, or send it again later."""
        started = self.loop.time()
        job.tries += 1
        try:
            reply = await self._reply(job, started)
        except Unanswered as failure:
            self._failed(job, failure, started)
            return
        self.pace.answered(self.loop.time())
        job.samples.append(reply)
        job.tries = 0
        if len(job.samples) == len(self.settings):
            self._deliver(job, joined(job.samples))
        else:
            self.ready.appendleft(job)

    def _failed(self, job: _Job, failure: Unanswered, started: float) -> None:
        try:
            wait = self.pace.failed(failure, job.tries, started, self.loop.time())
        except Unanswered:
            names = {"model": self.server.model, "key_env": self.server.key_env}
            raise stopped(failure, self.server.base_url, **names) from None
        if wait is None:
            self._deliver(job, failure)
        elif not self.allowed(1):
            self._give_up(job, 1)
        else:
            self.loop.call_later(wait, self._again, job)

    async def _reply(self, job: _Job, started: float) -> Reply:
        """The reply to one request; whatever goes wrong is raised as `Unanswered`."""
        body = {"model": self.server.model, "messages": self.question(job.place)}
        body |= self.settings[len(job.samples)]
        while True:
            for name in self.lacking:
                _leave_out(name, body)
            try:
                async with asyncio.timeout(self.server.timeout):
                    answer = await self.client.post("/chat/completions", cast_to=httpx2.Response, body=body)
                return completion_of(answer.content, self.loop.time() - started)
            except APIStatusError as error:
                name = self._unsupported(error, body)
                if not name:
                    raise _refused(error) from None
                if name in self.server.demanded:
                    raise Unanswered("feature") from None
                if not self.allowed(1):
                    raise Unanswered("limit") from None
                self.lacking.add(name)
            except (TimeoutError, APITimeoutError):
                raise Unanswered("timeout") from None
            except APIConnectionError as error:
                raise Unanswered(_broken(error.__cause__)) from None

    def _unsupported(self, error: APIStatusError, body: dict[str, Any]) -> str:
        """The setting that the server names in its answer to the first question, or "".

        Only then: the replies of one model should not differ in how they were asked for.
        """
        if self.pace.answers or error.status_code not in (*_REJECTED, 500, 501):
            return ""
        message = error.response.text[:10_000]
        return next(
            (n for n, words in _LACKING.items() if n in body and any(w in message for w in words)), ""
        )


def _leave_out(setting: str, body: dict[str, Any]) -> None:
    """Remove a setting from a request; the limit of tokens goes by its newer name then."""
    value = body.pop(setting, None)
    if setting == "logprobs":
        body.pop("top_logprobs", None)
    if setting == "max_tokens" and value is not None:
        body["max_completion_tokens"] = value


def _refused(error: APIStatusError) -> Unanswered:
    """What an error status means."""
    status, headers = error.status_code, error.response.headers
    if error.code == "insufficient_quota":
        return Unanswered("quota")
    kind = "rejected" if status in _REJECTED else "redirect" if status < 400 else "server"
    pause = pause_of(headers.get("retry-after"), headers.get("retry-after-ms"))
    return Unanswered(_STATUS.get(status, kind), pause)


def _broken(cause: BaseException | None) -> str:
    """The kind of failure that an error of the connection is."""
    if isinstance(cause, httpx2.DecodingError):
        return "large"
    return "unreachable" if isinstance(cause, _NEVER_OPEN) else "cut"


def _client(server: Server) -> AsyncOpenAI:
    """The official client without retries of its own.

    It follows no redirect, and uses no proxy of the environment for a loopback address: texts would leave the
    machine unnoticed.
    """
    http = httpx2.AsyncClient(
        timeout=None,  # one limit for the whole request is set around it
        follow_redirects=False,
        trust_env=not server.local,
        limits=httpx2.Limits(
            max_connections=server.concurrency, max_keepalive_connections=server.concurrency
        ),
        event_hooks={"response": [_bound]},
    )
    return AsyncOpenAI(
        api_key=server.key,
        base_url=server.base_url,
        max_retries=0,
        http_client=http,
        default_headers={"Accept-Encoding": "identity"},
    )


async def _bound(response: httpx2.Response) -> None:
    """Limit the size of an answer; a compressed one, which was not asked for, could unpack to anything."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.DecodingError("compressed", request=response.request)
    response.stream = _Bounded(response)


class _Bounded(httpx2.AsyncByteStream):
    """The body of an answer up to a limit."""

    def __init__(self, response: httpx2.Response) -> None:
        # An asynchronous client never hands out the other kind of stream.
        self.stream, self.request = cast("httpx2.AsyncByteStream", response.stream), response.request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self.stream:
            size += len(piece)
            if size > MOST_BYTES:
                raise httpx2.DecodingError("too large", request=self.request)
            yield piece

    async def aclose(self) -> None:
        """Close the connection's stream."""
        await self.stream.aclose()
