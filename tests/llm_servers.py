"""Servers of ours that speak the OpenAI protocol on loopback, in a thread: one answers, one misbehaves."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

YES = '{"depression": "yes"}'
_POST = re.compile(r"<post-(\w+)>\n(.*)\n</post-\1>", re.DOTALL)


def completion(text: str | None, finish: str = "stop", **message: Any) -> bytes:
    """A chat completion as servers send it, with 100 tokens sent and 7 received."""
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}
    said = {"role": "assistant", "content": text, **message}
    choice = {"index": 0, "message": said, "finish_reason": finish}
    return json.dumps({"object": "chat.completion", "choices": [choice], "usage": usage}).encode()


@dataclass
class Asked:
    """One request as the server saw it: the post, the body, the headers, and the path with its query."""

    post: str
    body: dict[str, Any]
    headers: dict[str, str]
    target: str = ""


@dataclass
class Exchange:
    """The open connection of one request; `send` writes an answer, `cut` closes without one."""

    writer: asyncio.StreamWriter

    async def send(self, body: bytes, status: str = "200 OK", *headers: str) -> None:
        lines = [
            f"HTTP/1.1 {status}",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
            *headers,
        ]
        self.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        await self.writer.drain()

    def cut(self, after: bytes = b"") -> None:
        self.writer.write(after)
        self.writer.transport.abort() if not after else self.writer.close()


Behaviour = Callable[[Exchange, Asked, int], Awaitable[None]]
"""What a server does with a request; the number is how often it has got this post before."""


@dataclass
class Server:
    """A running server: every request it got, and how many were under way at once."""

    behaviour: Behaviour
    port: int = 0
    loop: asyncio.AbstractEventLoop = field(init=False)
    stop: asyncio.Event = field(init=False)
    asked: list[Asked] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                request, *lines = head.decode("latin-1").split("\r\n")[:-2]
                headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
                body = json.loads(await reader.readexactly(int(headers["content-length"])))
                found = _POST.search(body["messages"][-1]["content"])
                asked = Asked(
                    found[2] if found else body["messages"][-1]["content"], body, headers, request.split()[1]
                )
                before = sum(one.post == asked.post for one in self.asked)
                self.asked.append(asked)
                self.at_once += 1
                self.most_at_once = max(self.most_at_once, self.at_once)
                try:
                    await self.behaviour(Exchange(writer), asked, before)
                finally:
                    self.at_once -= 1
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@contextmanager
def serving(behaviour: Behaviour) -> Iterator[Server]:
    """Serve on a free port of the loopback address, in a thread, until the block ends."""
    server, ready = Server(behaviour), Event()

    async def main() -> None:
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, limit=2**24)
        server.port = listening.sockets[0].getsockname()[1]
        server.loop, server.stop = asyncio.get_running_loop(), asyncio.Event()
        ready.set()
        await server.stop.wait()

    thread = Thread(target=asyncio.run, args=[main()], daemon=True)
    thread.start()
    ready.wait()
    try:
        yield server
    finally:
        server.loop.call_soon_threadsafe(server.stop.set)
        thread.join()


async def answer_yes(exchange: Exchange, asked: Asked, before: int) -> None:
    await exchange.send(completion(YES))
