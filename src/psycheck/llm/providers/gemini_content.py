"""Google's client for the Gemini API: content that is generated, and batches of it."""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import httpx2
from google import genai
from google.genai import errors, types

from psycheck.core.model import Reply
from psycheck.llm.completion import logprob_row, logprobs_text, marked_thought, token_count
from psycheck.llm.connection import failure_of_connection, http_client
from psycheck.llm.pace import Unanswered
from psycheck.llm.providers.provider import Messages, Outcome, Question, Settings
from psycheck.llm.server import Server
from psycheck.llm.server_errors import Refused

_WITHOUT_RESULTS: Final = ("JOB_STATE_FAILED", "JOB_STATE_CANCELLED", "JOB_STATE_EXPIRED")
_WITH_RESULTS: Final = ("JOB_STATE_SUCCEEDED", "JOB_STATE_PARTIALLY_SUCCEEDED")
_FINISHES: Final = {"STOP": "stop", "MAX_TOKENS": "length"}
# Ends of a reply that a filter stopped and that other servers call so.
_FILTERS: Final = ("IMAGE_SAFETY", "MODEL_ARMOR")
# Statuses of the errors that a batch names by the codes of gRPC.
_STATUS_BY_RPC: Final = {
    3: 400,
    5: 404,
    7: 403,
    8: 429,
    9: 400,
    11: 400,
    14: 503,
    16: 401,
}
_DEADLINE: Final = 4  # the code of gRPC for what was not done in time
_RETRY_DELAY: Final = re.compile(r"(\d{1,6}(?:\.\d{1,9})?)s")
# Settings that Gemini calls otherwise.
_OTHER_NAMES: Final = ("max_tokens", "response_format", "logprobs", "top_logprobs", "reasoning_effort")
_KEY_REASON: Final = "API_KEY_INVALID"


class GeminiContent:
    """The official client, which retries nothing unless it is told to."""

    def __init__(self, server: Server, client: genai.Client, http: httpx2.AsyncClient) -> None:
        self.server = server
        self.client = client
        self.http = http

    async def send(self, messages: Messages, settings: Settings) -> Reply:
        """Ask one question."""
        config = _config(messages, settings)
        loop = asyncio.get_running_loop()
        started = loop.time()
        with _errors():
            answer = await self.client.aio.models.generate_content(
                model=self.server.model,
                contents=_contents(messages),
                config=config,
            )
        return reply_of(answer, loop.time() - started)

    async def submit(self, questions: Mapping[str, Question]) -> str:
        """Hand over questions as the requests of one batch."""
        requests = [
            types.InlinedRequest(
                contents=_contents(messages),
                config=_config(messages, settings),
                metadata={"key": question_id},
            )
            for question_id, (messages, settings) in questions.items()
        ]
        with _errors():
            job = await self.client.aio.batches.create(model=self.server.model, src=requests)
        return str(job.name)

    async def is_finished(self, batch: str) -> bool:
        """Whether a batch has its results."""
        with _errors():
            job = await self.client.aio.batches.get(name=batch)
        state = job.state.name if job.state else ""
        if state in _WITHOUT_RESULTS:
            raise Unanswered("batch")
        return state in _WITH_RESULTS

    async def results(self, batch: str, ids: Sequence[str]) -> list[tuple[str, Outcome]]:
        """The answers of a batch, by their keys or else in the order of the questions."""
        with _errors():
            job = await self.client.aio.batches.get(name=batch)
        answers = (job.dest.inlined_responses if job.dest else None) or []
        return [
            ((answer.metadata or {}).get("key", question_id), _outcome(answer))
            for question_id, answer in zip(ids, answers, strict=False)
        ]

    async def close(self) -> None:
        """Close the connections."""
        await self.client.aio.aclose()
        await self.http.aclose()


def _contents(messages: Messages) -> list[types.Content]:
    """The messages but that of the system."""
    return [
        types.Content(role="user", parts=[types.Part(text=message["content"])])
        for message in messages
        if message["role"] != "system"
    ]


def _config(messages: Messages, settings: Settings) -> types.GenerateContentConfig:
    """The message of the system and the settings in Gemini's words; any other setting is a field of it."""
    system = [message["content"] for message in messages if message["role"] == "system"]
    config: dict[str, Any] = {
        **_further(settings),
        **_answer_format(settings),
        **_thinking(settings),
    }
    if system:
        config["system_instruction"] = "\n\n".join(system)
    if "max_tokens" in settings:
        config["max_output_tokens"] = settings["max_tokens"]
    try:
        return types.GenerateContentConfig(**config)
    except ValueError:
        raise Unanswered("rejected") from None


def _further(settings: Settings) -> dict[str, Any]:
    """The settings whose names are the same, those of extra_body among them."""
    return {name: value for name, value in settings.items() if name not in _OTHER_NAMES}


def _answer_format(settings: Settings) -> dict[str, Any]:
    """The schema of the answer, and the wish for token probabilities."""
    fields: dict[str, Any] = {}
    if "response_format" in settings:
        fields["response_mime_type"] = "application/json"
        fields["response_json_schema"] = settings["response_format"]["json_schema"]["schema"]
    if settings.get("logprobs"):
        fields["response_logprobs"] = True
        fields["logprobs"] = settings["top_logprobs"]
    return fields


def _thinking(settings: Settings) -> dict[str, Any]:
    """How much the model should think."""
    effort = settings.get("reasoning_effort")
    if effort is None:
        return {}
    how = {"thinking_budget": 0} if effort == "none" else {"thinking_level": effort.upper()}
    return {"thinking_config": how}


def reply_of(answer: types.GenerateContentResponse, seconds: float) -> Reply:
    """The reply in an answer; one that was stopped before it began is a failure."""
    if not answer.candidates:
        feedback = answer.prompt_feedback
        raise Unanswered("filter" if feedback and feedback.block_reason else "garbled")
    candidate = answer.candidates[0]
    finish = candidate.finish_reason.name if candidate.finish_reason else ""
    usage = answer.usage_metadata or types.GenerateContentResponseUsageMetadata()
    written = token_count(usage.candidates_token_count)
    return Reply(
        text=_text(candidate),
        prompt_tokens=token_count(usage.prompt_token_count),
        # Thoughts are paid for as what is written.
        completion_tokens=None if written is None else written + (usage.thoughts_token_count or 0),
        finish="content_filter" if finish in _FILTERS else _FINISHES.get(finish, finish.lower()),
        seconds=seconds,
        logprobs=_logprobs(candidate.logprobs_result),
    )


def _text(candidate: types.Candidate) -> str:
    """What a candidate says, with the arguments of its calls; else what it thought, marked as such."""
    content = candidate.content or types.Content()
    parts = content.parts or []
    answers = [part.text or "" for part in parts if not part.thought]
    answers += [json.dumps(part.function_call.args) for part in parts if part.function_call]
    text = "".join(answers)
    if text.strip():
        return text

    thoughts = "".join(part.text or "" for part in parts if part.thought)
    if thoughts:
        return marked_thought(thoughts)
    return text


def _logprobs(result: types.LogprobsResult | None) -> str:
    """The log probabilities of tokens and their alternatives as `Reply` keeps them."""
    if result is None:
        return ""
    chosen_tokens = result.chosen_candidates or []
    positions = result.top_candidates or []
    rows = []
    for place, chosen in enumerate(chosen_tokens):
        position = positions[place] if place < len(positions) else types.LogprobsResultTopCandidates()
        alternatives = []
        for candidate in position.candidates or []:
            alternatives.append((candidate.token or "", candidate.log_probability))
        row = logprob_row(chosen.token or "", chosen.log_probability, alternatives)
        rows.append(row)
    return logprobs_text(rows)


def _outcome(answer: types.InlinedResponse) -> Outcome:
    """What became of one question of a batch."""
    if answer.error is not None and answer.error.code == _DEADLINE:
        return Unanswered("expired")
    if answer.error is not None:
        return Refused(_STATUS_BY_RPC.get(answer.error.code or 0, 500), answer.error.message or "")
    if answer.response is None:
        return Unanswered("expired")
    try:
        return reply_of(answer.response, 0.0)
    except Unanswered as failure:
        return failure


@contextmanager
def _errors() -> Iterator[None]:
    """What the client raises, as ours."""
    try:
        yield
    except errors.APIError as error:
        raise _refused(error) from None
    except httpx2.HTTPError as error:
        raise Unanswered(failure_of_connection(error)) from None
    except (ValueError, TypeError, AttributeError, LookupError):
        # An answer that is not JSON, or not as the client expects it.
        raise Unanswered("garbled") from None


def _refused(error: errors.APIError) -> Refused:
    """An error status; the pause that it asks for stands in its details, and a wrong key is a bad request."""
    message = json.dumps(error.details, default=str)
    headers = dict(getattr(error.response, "headers", None) or {})
    _, _, after_name = message.partition("retryDelay")
    delay = _RETRY_DELAY.search(after_name)
    if delay:
        headers = {"retry-after": delay[1]}

    status = 401 if _KEY_REASON in message else error.code
    return Refused(status, message, headers=headers)


def connect(server: Server) -> GeminiContent:
    """Open the client on the Gemini API, whatever the environment says of other platforms."""
    http = http_client(server)
    options = types.HttpOptions(
        base_url=server.base_url,
        headers=dict(server.headers),
        httpx_async_client=http,
    )
    client = genai.Client(
        enterprise=False,
        api_key=server.key,
        http_options=options,
    )
    return GeminiContent(server, client, http)
