"""OpenAI's client, for every compatible server and for Azure: chat completions, and batches of them."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import httpx2
import openai

from psycheck.core.model import Reply
from psycheck.llm.completion import completion_of
from psycheck.llm.connection import client_errors, http_client
from psycheck.llm.pace import Unanswered
from psycheck.llm.providers.provider import Messages, Outcome, Question, Settings
from psycheck.llm.server import Server
from psycheck.llm.server_errors import Refused

_AZURE_VERSION: Final = "2024-10-21"
_COMPLETIONS: Final = "/chat/completions"
_WITHOUT_RESULTS: Final = ("failed", "cancelled")  # states of a batch
_WITH_RESULTS: Final = ("completed", "expired")  # an expired batch has those that were ready


class OpenAiChat:
    """The official client without retries of its own; nothing but `close` may follow `close`."""

    def __init__(self, server: Server, client: openai.AsyncOpenAI, http: httpx2.AsyncClient) -> None:
        self.server = server
        self.client = client
        self.http = http

    async def send(self, messages: Messages, settings: Settings) -> Reply:
        """Ask one question."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        with client_errors(openai):
            answer = await self.client.post(
                _COMPLETIONS, cast_to=httpx2.Response, body=self._body(messages, settings)
            )
        return completion_of(answer.content, loop.time() - started)

    async def submit(self, questions: Mapping[str, Question]) -> str:
        """Hand over questions as a file with one request per line."""
        endpoint = _COMPLETIONS if self.server.api == "azure" else f"/v1{_COMPLETIONS}"
        lines = []
        for question_id, (messages, settings) in questions.items():
            line = {
                "custom_id": question_id,
                "method": "POST",
                "url": endpoint,
                "body": self._body(messages, settings),
            }
            lines.append(json.dumps(line))

        content = "\n".join(lines).encode()
        with client_errors(openai):
            file = await self.client.files.create(file=("questions.jsonl", content), purpose="batch")
            batch = await self.client.batches.create(
                input_file_id=file.id,
                endpoint=endpoint,  # type: ignore[arg-type]  # Azure calls it without its version
                completion_window="24h",
            )
        return batch.id

    async def is_finished(self, batch: str) -> bool:
        """Whether a batch has its results."""
        with client_errors(openai):
            state = (await self.client.batches.retrieve(batch)).status
        if state in _WITHOUT_RESULTS:
            raise Unanswered("batch")
        return state in _WITH_RESULTS

    async def results(self, batch: str, ids: Sequence[str]) -> list[tuple[str, Outcome]]:
        """The lines of the file of results and of the file of errors."""
        outcomes: list[tuple[str, Outcome]] = []
        with client_errors(openai):
            found = await self.client.batches.retrieve(batch)
            for file in (found.output_file_id, found.error_file_id):
                # A batch without an error has no file of errors.
                if file is not None:
                    content = await self.client.files.content(file)
                    outcomes += [_outcome(line) for line in content.content.splitlines() if line.strip()]
        return outcomes

    async def close(self) -> None:
        """Close the connections."""
        await self.http.aclose()

    def _body(self, messages: Messages, settings: Settings) -> dict[str, Any]:
        return {
            "model": self.server.model,
            "messages": messages,
            **settings,
        }


def _outcome(line: bytes) -> tuple[str, Outcome]:
    """The id of a request of a batch, and what became of it."""
    try:
        row = json.loads(line)
        question_id = str(row["custom_id"])
        response = row.get("response")
        # A request that the batch did not come to has no response.
        if response is None:
            return question_id, Unanswered("expired")
        status = int(response["status_code"])
        body = json.dumps(response["body"])
    except (ValueError, LookupError, TypeError, AttributeError):
        raise Unanswered("garbled") from None

    if status != 200:
        return question_id, Refused(status, body)
    try:
        return question_id, completion_of(body.encode(), 0.0)
    except Unanswered as failure:
        return question_id, failure


def connect(server: Server) -> OpenAiChat:
    """Open the client; the key is sent once, in the header that the server wants."""
    http = http_client(server, drop_authorization=server.key_header is not None)
    key_header = {server.key_header: server.key} if server.key_header else {}
    usual: dict[str, Any] = {
        "api_key": server.key,
        "max_retries": 0,
        "http_client": http,
        "default_headers": {**server.headers, **key_header},
    }
    client: openai.AsyncOpenAI
    if server.api == "azure":
        query = dict(server.query)
        version = query.pop("api-version", _AZURE_VERSION)
        client = openai.AsyncAzureOpenAI(
            azure_endpoint=server.base_url,
            api_version=version,
            default_query=query,
            **usual,
        )
    else:
        client = openai.AsyncOpenAI(base_url=server.base_url, default_query=dict(server.query), **usual)
    return OpenAiChat(server, client, http)
