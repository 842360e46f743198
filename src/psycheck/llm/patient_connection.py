"""A connection that waits and tries again, in an event loop of its own: what handing over batches needs."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from threading import Thread
from typing import Any, Self, TypeVar

from psycheck.llm.pace import Pace, Unanswered, stopped
from psycheck.llm.providers.provider import Connection, Outcome, Question, connect
from psycheck.llm.server import Server
from psycheck.llm.server_errors import Refused, failure_of_refusal

MOST_BYTES = 2**30  # of the results of one batch

T = TypeVar("T")


class PatientConnection:
    """The batches of a connection. Its loop runs in a thread of its own, which leaves a notebook's free."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.loop = asyncio.new_event_loop()
        self.thread = Thread(
            target=self.loop.run_forever,
            name="psycheck-batches",
            daemon=True,
        )

    def __enter__(self) -> Self:
        self.thread.start()
        try:
            self.connection = self._run(self._connect())
        # Whatever went wrong, also Ctrl+C: the thread must not outlive this.
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self.connection.close())
        self._stop()

    def _stop(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    async def _connect(self) -> Connection:
        # The clients want to be made where they are used.
        return connect(replace(self.server, most_bytes=MOST_BYTES))

    def submit(self, questions: Mapping[str, Question]) -> str:
        """Hand over questions by their ids as one batch; returns its name."""
        return self._patiently(lambda: self.connection.submit(questions))

    def is_finished(self, batch: str) -> bool:
        """Whether a batch has its results."""
        return self._patiently(lambda: self.connection.is_finished(batch))

    def results(self, batch: str, ids: Sequence[str]) -> list[tuple[str, Outcome]]:
        """What became of the questions of a finished batch."""
        return self._patiently(lambda: self.connection.results(batch, ids))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    def _patiently(self, request: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of a request, which is sent again where a failure may pass."""
        return self._run(self._try(request))

    async def _try(self, request: Callable[[], Coroutine[Any, Any, T]]) -> T:
        clock = asyncio.get_running_loop().time
        pace = Pace(1, clock())
        tries = 0
        while True:
            tries += 1
            started = clock()
            try:
                async with asyncio.timeout(self.server.timeout):
                    return await request()
            except Refused as refusal:
                failure = failure_of_refusal(refusal)
            except Unanswered as broken:
                failure = broken
            except TimeoutError:
                failure = Unanswered("timeout")
            await asyncio.sleep(self._wait_after(failure, pace, tries, started, clock()))

    def _wait_after(
        self,
        failure: Unanswered,
        pace: Pace,
        tries: int,
        started: float,
        now: float,
    ) -> float:
        """The seconds before the next try; a failure that will not pass stops the run."""
        try:
            wait = pace.failed(failure, tries, started, now)
        except Unanswered:
            wait = None
        if wait is None:
            names = {"model": self.server.model, "key_env": self.server.key_env}
            raise stopped(failure, self.server.base_url, **names)
        return wait
