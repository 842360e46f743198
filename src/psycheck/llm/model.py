"""LLMs behind an OpenAI-compatible address or a provider's own: llm:NAME?base_url=…&prompt=…"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import counted
from psycheck.core.model import (
    Answer,
    Capabilities,
    Expected,
    ModelKind,
    NoAnswer,
    Reply,
    ignored,
    unlimited,
)
from psycheck.llm.cost import Price, estimated_tokens, price_of
from psycheck.llm.decoding import Settings, demanded_settings, described, settings_of
from psycheck.llm.options import FILES, LlmOptions, pair_of, pairs_of
from psycheck.llm.parsing import NO_ANSWERS, Reading, read_reply
from psycheck.llm.prompts import NO_COLUMNS, NOT_KNOWN, Example, Prompt, PromptLike, read_prompt
from psycheck.llm.providers.provider import PROVIDERS
from psycheck.llm.server import Server
from psycheck.llm.server_address import api_key, remote_host
from psycheck.llm.spec_parts import (
    check_api,
    columns_of,
    notes_of,
    pool_of,
    prompt_of,
    thresholds_of,
)
from psycheck.models.fingerprint import hashed_parts
from psycheck.models.label_names import column_names
from psycheck.statistics.recalibration import Platt

if TYPE_CHECKING:
    from psycheck.llm.chosen_posts import HistoryLlm
    from psycheck.llm.few_shot import ExamplePool
    from psycheck.llm.post_columns import PostColumns

BATCH = 4096  # items for one `ask`: connections stay busy, and another process finds something to do
BATCH_OF_BATCHES = 20_000  # items for one `ask` where the provider answers them together, hours later
_SAMPLE = 64  # questions that are written out to estimate the tokens of all
_SWITCH = {None: "if supported", True: "yes", False: "no"}


@dataclass(frozen=True, slots=True, weakref_slot=True)
class LlmModel:
    """A model that is asked one question per text; it retries and paces its requests itself.

    `settings` are sent with each question, once per sample.
    """

    name: str
    labels: tuple[str, ...]
    fingerprint: str
    capabilities: Capabilities
    prompt: Prompt = field(repr=False)
    price: Price | None = field(repr=False)
    pool: "ExamplePool | None" = field(repr=False)
    columns: "PostColumns | None" = field(repr=False)
    settings: tuple[Settings, ...] = field(repr=False)
    model: str = field(repr=False)
    base_url: str = field(repr=False)
    options: LlmOptions = field(repr=False)

    def ask(
        self,
        texts: Sequence[str],
        /,
        *,
        allowed: Callable[[int], bool] = unlimited,
        say: Callable[[str], None] = ignored,
    ) -> Iterator[list[Answer]]:
        """The place of each text with its reply or final failure, in groups that arrived together."""
        from psycheck.llm.batch_api import ask_in_batches
        from psycheck.llm.client import ask_all

        ask = ask_in_batches if self.options.batch_api else ask_all
        examples = self._examples(texts)
        columns = self._columns(texts)
        self._note_unknown(columns, say)

        def question(place: int) -> list[dict[str, str]]:
            return self._question(texts[place], examples[place], columns[place])

        return ask(
            server=self._server(),
            count=len(texts),
            question=question,
            settings=[dict(sample) for sample in self.settings],
            allowed=allowed,
            say=say,
        )

    def _server(self) -> Server:
        """Where questions are sent; the key is read now, from the environment."""
        options = self.options
        usual_variable = PROVIDERS[options.api].key_env
        is_remote = bool(self.capabilities.remote)
        return Server(
            model=self.model,
            base_url=self.base_url,
            local=not is_remote,
            key=api_key(options.key_env, usual_variable, self.base_url, remote=is_remote),
            key_env=options.key_env or usual_variable,
            timeout=options.timeout,
            concurrency=options.concurrency,
            key_header=options.key_header,
            headers=pairs_of(options.headers),
            query=pairs_of(options.query),
            demanded=demanded_settings(options),
            api=options.api,
        )

    def messages(self, text: str, /) -> list[dict[str, str]]:
        """The messages that ask about a text."""
        (examples,) = self._examples([text])
        (columns,) = self._columns([text])
        return self._question(text, examples, columns)

    def why_unanswered(self, reply: Reply, /) -> NoAnswer:
        """Why a reply answers no label, and what the user can change."""
        reading = self.reading(reply)
        if reading.evidence and reading.how not in NO_ANSWERS:
            return NoAnswer("")  # it says that the text states nothing
        return NO_ANSWERS.get(reading.how, NO_ANSWERS["unreadable"])

    @property
    def checks_quotes(self) -> bool:
        """Whether replies are read together with the text that was asked about."""
        return self.prompt.evidence

    def read_reply_about(self, reply: Reply, text: str, /) -> FloatArray:
        """The scores of a reply about a text, (k,): a quote that is not in it voids its item."""
        return self.reading(reply, text).scores

    def reading(self, reply: Reply, text: str | None = None, /) -> Reading:
        """Everything that a reply (about a text) says: one call gives the scores and the rationale."""
        reading = read_reply(reply, self.prompt, text)
        if self.options.platt is None:
            return reading
        calibrate = Platt(*pair_of(self.options.platt))
        return replace(reading, scores=calibrate(reading.scores))

    def read_reply(self, reply: Reply, /) -> FloatArray:
        """The scores of one reply, (k,); NaN for each label that it does not answer."""
        return self.reading(reply).scores

    def rationale(self, reply: Reply, /) -> str:
        """What a reply gives as its reason, "" if nothing."""
        return self.reading(reply).rationale

    def named_disorder(self, reply: Reply, /) -> str:
        """The disorder that an open-ended reply names, in its own words; "" if none."""
        return self.reading(reply).disorder

    def score(self, texts: Sequence[str], /) -> FloatArray:
        """Scores of texts whose replies are not kept, (n, k); NaN without a readable reply."""
        scores = np.full((len(texts), len(self.labels)), np.nan)
        for answers in self.ask(texts):
            for place, answer in answers:
                if isinstance(answer, Reply):
                    scores[place] = self.read_reply_about(answer, texts[place])
        return scores

    def expected(self, texts: Sequence[str], /) -> Expected:
        """An estimate of what asking takes: tokens sent from the texts' bytes, tokens received at most."""
        requests = len(self.settings) * len(texts)
        tokens_of_texts = sum(_tokens(text) for text in texts)
        tokens_around = round(len(texts) * self._tokens_around_a_text(texts))
        sent = len(self.settings) * (tokens_of_texts + tokens_around)
        received = requests * int(self.settings[0]["max_tokens"])
        return Expected(
            requests=requests,
            prompt_tokens=sent,
            completion_tokens=received,
            cost=self.cost(sent, received),
        )

    def cost(self, prompt_tokens: int, completion_tokens: int, /) -> float | None:
        """What tokens cost, None without a price."""
        if self.price is None:
            return None
        cost = self.price.of(prompt_tokens, completion_tokens)
        if self.options.batch_api:
            return cost * self.price.batch
        return cost

    def _tokens_around_a_text(self, texts: Sequence[str]) -> float:
        """The mean number of tokens that the instructions and examples of a question have."""
        by_length = sorted(texts, key=len)
        sample = by_length[:: max(1, len(texts) // _SAMPLE)]  # longer posts may have other examples
        around = [
            estimated_tokens(self._question(text, examples, columns)) - _tokens(text)
            for text, examples, columns in zip(
                sample, self._examples(sample), self._columns(sample), strict=True
            )
        ]
        return sum(around) / max(1, len(around))

    def _examples(self, texts: Sequence[str]) -> Sequence[Sequence[Example]]:
        """The examples that are shown with each text."""
        if self.pool:
            return self.pool.examples(texts)
        return [()] * len(texts)

    def _columns(self, texts: Sequence[str]) -> Sequence[Mapping[str, str]]:
        """The values of other columns for each text."""
        if self.columns:
            return self.columns.of(texts)
        return [NO_COLUMNS] * len(texts)

    def _note_unknown(self, columns: Sequence[Mapping[str, str]], say: Callable[[str], None]) -> None:
        unknown = sum(set(values.values()) == {NOT_KNOWN} for values in columns)
        if unknown:
            say(f"{counted(unknown, 'text')} without a row in the file of columns: asked with '{NOT_KNOWN}'")

    def _question(
        self, text: str, examples: Sequence[Example], columns: Mapping[str, str]
    ) -> list[dict[str, str]]:
        """The messages of one request; half a surrogate pair cannot be sent and becomes a question mark."""
        return [
            {"role": message["role"], "content": message["content"].encode("utf-8", "replace").decode()}
            for message in self.prompt.messages(text, examples, columns)
        ]


def _tokens(text: str) -> int:
    return estimated_tokens([{"content": text}])


def open_llm(target: str, options: LlmOptions, prompt: Prompt | None = None) -> LlmModel:
    """Open NAME at `base_url` with a prompt, that of the options or a Prompt; nothing is sent yet."""
    provider = PROVIDERS[options.api]
    base_url = (options.base_url or provider.base_url).rstrip("/")
    check_api(target, options, base_url)
    remote = remote_host(base_url)
    if prompt is None:
        prompt = prompt_of(target, options)
    pool = pool_of(prompt, options)
    columns = columns_of(prompt, options)
    settings = settings_of(prompt, options)
    parts = {
        "model": target,
        # Another server may serve another model, or another quantisation of it, under the same name.
        "base_url": base_url,
        "prompt": prompt.fingerprint,
        "decoding": described(settings),
        # What is asked for: a server that lacks it always lacks it.
        "schema": _SWITCH[options.schema],
        "logprobs": _SWITCH[options.logprobs],
        "examples": pool.fingerprint if pool else "none",
    }
    # Only where they are set: other models keep the fingerprints that they have.
    further = {
        "columns": columns.fingerprint if columns else None,
        "api": options.api,
        "extra_body": options.extra_body,
        "query": options.query,
    }
    parts |= {name: value for name, value in further.items() if value not in (None, "openai")}
    return LlmModel(
        name=options.name or f"{target.rpartition('/')[2]}-{prompt.name}",
        labels=column_names(prompt.labels, options.label, where=f"llm:{target}"),
        fingerprint=hashed_parts(parts),
        capabilities=Capabilities(
            batch=options.batch or (BATCH_OF_BATCHES if options.batch_api else BATCH),
            thresholds=thresholds_of(prompt),
            remote=remote,
            asks_leave=True,
            parts=parts,
            notes=notes_of(prompt, options, pool),
        ),
        prompt=prompt,
        price=price_of(target, options.prices),
        pool=pool,
        columns=columns,
        settings=settings,
        model=target,
        base_url=base_url,
        options=options,
    )


def open_text_or_history_llm(
    target: str, options: LlmOptions, prompt: PromptLike | None = None
) -> "LlmModel | HistoryLlm":
    """An LLM that is asked about texts or, with `history`, about the chosen posts of histories.

    A `prompt` that was made in Python comes instead of the one that the options name.
    """
    model = open_llm(target, options, None if prompt is None else read_prompt(prompt))
    if options.history is None:
        return model

    from psycheck.llm.chosen_posts import HistoryLlm
    from psycheck.symptoms.post_weights import open_post_symptoms

    return HistoryLlm(
        llm=model,
        symptoms=open_post_symptoms(options.history),
        per_symptom=options.posts_per_symptom,
        window=options.window,
    )


KIND = ModelKind(
    open=open_text_or_history_llm, options=LlmOptions, target="name", files=FILES, objects=("prompt",)
)
