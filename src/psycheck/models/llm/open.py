"""LLMs behind an OpenAI-compatible address: llm:NAME?base_url=…&prompt=…"""

import ipaddress
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

import numpy as np

from psycheck.errors import BadInput, library
from psycheck.knowledge.prompts import Prompt, move_cutoff, read_prompt, shipped_prompts
from psycheck.knowledge.reading import read_reply
from psycheck.model import Expected, FloatArray, Reply, unlimited
from psycheck.models.fingerprint import hashed_parts
from psycheck.models.labels import column_names
from psycheck.models.llm.cost import Price, estimated_tokens, price_of
from psycheck.models.options import ModelOptions

if TYPE_CHECKING:
    from psycheck.models.llm.examples import ExamplePool

BATCH = 4096  # items for one `ask`: connections stay busy, and another process finds something to do
_OPENAI = "https://api.openai.com/v1"
_KEY = "OPENAI_API_KEY"
_TOP_P = 0.95  # ANGST, appendix A.3
_MOST_TOKENS = {"yes_no": 64, "scale": 512, "open": 512}  # of a reply, by the kind of answer
_ALTERNATIVES = 8  # for each token: "yes", "Yes", " no" …
_SAMPLE = 64  # questions that are written out to estimate the tokens of all
_KEY_SHAPE = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True)
class LlmModel:
    """A model that is asked one question per text; `remote` is the host that gets the texts, "" if local."""

    asks_leave: ClassVar[bool] = True
    name: str
    labels: tuple[str, ...]
    fingerprint: str
    parts: Mapping[str, str]
    notes: tuple[str, ...]
    batch: int
    remote: str
    prompt: Prompt = field(repr=False)
    price: Price | None = field(repr=False)
    pool: "ExamplePool | None" = field(repr=False)
    settings: tuple[Mapping[str, Any], ...] = field(repr=False)
    model: str = field(repr=False)
    base_url: str = field(repr=False)
    options: ModelOptions = field(repr=False)

    def ask(
        self, texts: Sequence[str], /, *, allowed: Callable[[int], bool] = unlimited
    ) -> Iterator[tuple[int, Reply | Exception]]:
        """The place of each text with its reply or failure, in the order of arrival."""
        library("openai", "a model behind an API", "llm")
        from psycheck.models.llm.client import Server, ask_all

        options, demanded = (
            self.options,
            {"response_format": self.options.schema, "logprobs": self.options.logprobs},
        )
        server = Server(
            self.model,
            self.base_url,
            local=not self.remote,
            key=_key(options.key_env, self.base_url, self.remote),
            key_env=options.key_env or _KEY,
            timeout=options.timeout,
            concurrency=options.concurrency,
            demanded=frozenset(setting for setting, wanted in demanded.items() if wanted),
        )
        examples = self.pool.examples(texts) if self.pool else [()] * len(texts)
        settings = [dict(one) for one in self.settings]

        def question(place: int) -> list[dict[str, str]]:
            return self._question(texts[place], examples[place])

        return ask_all(server, len(texts), question, settings, allowed)

    def read_reply(self, reply: Reply, /) -> FloatArray:
        """The scores of one reply, (k,); NaN for each label that it does not answer."""
        return read_reply(reply, self.prompt).scores

    @property
    def thresholds(self) -> FloatArray | None:
        """An item that is rated in points counts as present from one point on; NaN for the verdict."""
        scale = self.prompt.scale
        if scale is None or self.prompt.items != "points":
            return None
        return np.array([np.nan, *[0.5 / scale.points[1]] * len(scale.item)])

    def rationale(self, reply: Reply, /) -> str:
        """What a reply gives as its reason, "" if nothing."""
        return read_reply(reply, self.prompt).rationale

    def score(self, texts: Sequence[str], /) -> FloatArray:
        """Scores of texts whose replies are not kept, (n, k); NaN without a readable reply."""
        scores = np.full((len(texts), len(self.labels)), np.nan)
        for place, answer in self.ask(texts):
            if isinstance(answer, Reply):
                scores[place] = self.read_reply(answer)
        return scores

    def expected(self, texts: Sequence[str], /) -> Expected:
        """An estimate of what asking takes: tokens sent from the texts' bytes, tokens received at most."""
        ordered, most = sorted(texts, key=len), max(1, len(texts) // _SAMPLE)
        some = ordered[::most]  # of all lengths: longer posts may have other examples
        examples = self.pool.examples(some) if self.pool else [()] * len(some)
        around = [
            estimated_tokens(self._question(text, shown)) - estimated_tokens([{"content": text}])
            for text, shown in zip(some, examples, strict=True)
        ]
        own = sum(estimated_tokens([{"content": text}]) for text in texts)
        samples = len(self.settings)
        sent = samples * (own + round(len(texts) * sum(around) / max(1, len(around))))
        received = samples * len(texts) * int(self.settings[0]["max_tokens"])
        return Expected(samples * len(texts), sent, received, self.cost(sent, received))

    def cost(self, prompt_tokens: int, completion_tokens: int, /) -> float | None:
        """What tokens cost, None without a price."""
        return self.price.of(prompt_tokens, completion_tokens) if self.price else None

    def _question(self, text: str, examples: Sequence[tuple[str, Mapping[str, int]]]) -> list[dict[str, str]]:
        """The messages of one request; half a surrogate pair cannot be sent and becomes a question mark."""
        messages = self.prompt.messages(text, examples)
        return [one | {"content": one["content"].encode("utf-8", "replace").decode()} for one in messages]


def open_llm(target: str, options: ModelOptions) -> LlmModel:
    """Open NAME at `base_url` with a prompt; nothing is sent before the model is asked."""
    base_url = (options.base_url or _OPENAI).rstrip("/")
    host = _host(base_url)
    if options.prompt is None:
        allowed = f"a shipped prompt ({', '.join(shipped_prompts())}) or a TOML file"
        raise BadInput(
            "the spec names no prompt", where=f"llm:{target}", allowed=allowed, do="add prompt=NAME"
        )
    prompt = read_prompt(options.prompt)
    if options.cutoff is not None:
        prompt = move_cutoff(prompt, options.cutoff)
    pool = _pool(prompt, options)
    settings = _settings(prompt, options)
    parts = {
        "model": target,
        # Another server may serve another model, or another quantisation of it, under the same name.
        "base_url": base_url,
        "prompt": prompt.fingerprint,
        "decoding": _decoding(settings),
        # What is asked for: a server that lacks it always lacks it.
        "schema": _switch(options.schema),
        "logprobs": _switch(options.logprobs),
        "examples": pool.fingerprint if pool else "none",
    }
    return LlmModel(
        name=options.name or f"{target.rpartition('/')[2]}-{prompt.name}",
        labels=column_names(prompt.labels, options.label, where=f"llm:{target}"),
        fingerprint=hashed_parts(parts),
        parts=parts,
        notes=pool.notes if pool else (),
        batch=options.batch or BATCH,
        remote="" if _is_loopback(host) else host,
        prompt=prompt,
        price=price_of(target, options.prices),
        pool=pool,
        settings=settings,
        model=target,
        base_url=base_url,
        options=options,
    )


def _settings(prompt: Prompt, options: ModelOptions) -> tuple[Mapping[str, Any], ...]:
    """What is sent with a question besides its messages, one mapping per sample; samples differ by seed."""
    shared: dict[str, Any] = {"max_tokens": options.max_tokens or _MOST_TOKENS[prompt.answer]}
    top_p = options.top_p or (1.0 if options.temperature is not None else _TOP_P)
    if options.temperature is not None:
        shared["temperature"] = options.temperature
    if top_p < 1:  # 1 is every server's default, and some models refuse the setting
        shared["top_p"] = top_p
    if options.schema is not False:
        schema = {"name": "answer", "strict": True, "schema": prompt.schema()}
        shared["response_format"] = {"type": "json_schema", "json_schema": schema}
    # Who asks for several samples wants their share as the confidence.
    if options.logprobs or (options.logprobs is None and options.samples == 1):
        shared |= {"logprobs": True, "top_logprobs": _ALTERNATIVES}
    if options.seed is None and options.samples == 1:
        return (shared,)
    return tuple({**shared, "seed": (options.seed or 0) + k} for k in range(options.samples))


def _decoding(settings: Sequence[Mapping[str, Any]]) -> str:
    named = ("max_tokens", "temperature", "top_p", "seed")
    one = ", ".join(f"{name} {settings[0][name]}" for name in named if name in settings[0])
    return f"{one}, samples {len(settings)}"


def _switch(wanted: bool | None) -> str:
    return {None: "if supported", True: "yes", False: "no"}[wanted]


def _pool(prompt: Prompt, options: ModelOptions) -> "ExamplePool | None":
    """The pool that examples are drawn from; a prompt that shows examples needs one."""
    if bool(prompt.examples) != bool(options.pool):
        what = f"prompt '{prompt.name}' shows {'' if prompt.examples else 'no '}examples"
        do = "add pool=CORPUS to the spec" if prompt.examples else "leave out pool, or name a few-shot prompt"
        raise BadInput(f"{what}, and the spec names {'a' if options.pool else 'no'} pool", do=do)
    if options.pool is None:
        return None
    from psycheck.models.llm.examples import Choice, open_pool

    return open_pool(
        options.pool,
        prompt.labels,
        Choice(
            shots=options.shots or prompt.examples,
            order=options.order,
            balance=options.balance,
            encoder=options.encoder,
            seed=options.seed or 0,
            split=options.pool_split,
            authors=options.authors,
        ),
    )


def _host(base_url: str) -> str:
    """The host of an address; one that carries a password or no host is refused, without being quoted."""
    allowed = "such as http://127.0.0.1:8000/v1 or https://api.example.org/v1"
    try:
        parts = urlsplit(base_url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise BadInput("base_url is not an address", allowed=allowed) from None
    if parts.username is not None or parts.query or parts.fragment:
        do = f"put the key into the environment variable {_KEY}, or name another one with key_env=NAME"
        raise BadInput("base_url holds more than an address", allowed=allowed, do=do)
    if parts.scheme not in ("http", "https") or not host or not base_url.isprintable() or " " in base_url:
        raise BadInput("base_url is not an address", allowed=allowed)
    return host


def _is_loopback(host: str) -> bool:
    """True if an address stays on this machine by its form; no name but "localhost" is resolved."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _key(variable: str | None, base_url: str, remote: str) -> str:
    """The API key, from an environment variable; a server on this machine may need none.

    Over plain HTTP everyone on the way can read it, so the usual variable is then not used unasked.
    """
    readable = remote and base_url.startswith("http://")
    key = os.environ.get(variable or ("" if readable else _KEY), "").strip()
    if key and not _KEY_SHAPE.fullmatch(key):
        raise BadInput(f"the environment variable {variable or _KEY} does not hold an API key")
    if not key and (variable or (remote and not readable)):
        raise BadInput(
            f"the environment variable {variable or _KEY} is not set",
            where=base_url,
            allowed="the API key of this server",
            do=f"export {variable or _KEY}=…, or name another variable with key_env=NAME in the spec",
        )
    return key or "none"
