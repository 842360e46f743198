"""What psycheck asks of a model and of an encoder, and what they may declare."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from psycheck.core.arrays import FloatArray, IntArray

MOST_POSTS = 256  # the earliest posts of a history (PsySym, App. B), unless a model says otherwise


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model that talks replied about one item, as it came: the text, and what it cost.

    `logprobs` is JSON, [[token, logprob, [[alternative, logprob], …]], …] of the tokens of `text`, "" if the
    server gave none; `others` are further samples of the same question.
    """

    text: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    finish: str = ""
    seconds: float | None = None
    logprobs: str = ""
    others: tuple[str, ...] = ()


Answer = tuple[int, Reply | Exception]
"""The place of an item among those asked about, with its reply or with what stands in its way."""
Arrival = Answer | list[Answer]
"""One answer, or several that arrived together."""


def answers_in(arrival: Arrival) -> list[Answer]:
    """The answers that arrived together."""
    if isinstance(arrival, list):
        return arrival
    return [arrival]


def ignored(note: str, /) -> None:
    """Ignore a note about how a server was asked."""


def unlimited(again: int, /) -> bool:
    """Allow every request, also those that are sent `again`."""
    return True


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Why a reply answers no label, in a few words, and what a user can change.

    `what` is empty if the reply is an answer all the same, such as that a text states nothing.
    """

    what: str
    do: str = ""


@dataclass(frozen=True, slots=True)
class Expected:
    """What asking some items will take; `cost` is None without a price."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = None


class Fingerprinted(Protocol):
    """Anything whose answers the store keeps under its fingerprint."""

    @property
    def name(self) -> str:
        """A short name for tables."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever an answer could."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a model declares besides its scores; a model that declares nothing has these defaults.

    `batch`: how many items it likes at once; None leaves the choice to the engine.
    `exclusive`: its labels are classes of which each item has exactly one, so the largest score decides.
    `thresholds`: the decision thresholds of its labels, (k,), NaN for those that use the run's; () for none.
    `takes`: "histories" if it scores the posts of an author (`History`), `most_posts` of each at most.
    `remote`: the host that texts leave the machine to, which needs the user's consent; "" if they stay.
    `asks_leave`: it retries its requests itself, and calls `allowed` before each of them (see `Replying`).
    `recheck`: its fingerprint cannot cover everything that its code reads, so a few stored scores are
    computed anew before the others are trusted.
    `trained_on`: the names of the corpora that it was trained on.
    `card`: the folder with the card of its training, "" if there is none; digests of its texts lie beside it.
    `parts`: what its fingerprint is made of (weights, tokenizer, labels …), to explain why it changed.
    `notes`: what its user should know, such as a guessed label.
    """

    batch: int | None = None
    exclusive: bool = False
    thresholds: tuple[float, ...] = ()
    takes: Literal["texts", "histories"] = "texts"
    most_posts: int = MOST_POSTS
    remote: str = ""
    asks_leave: bool = False
    recheck: bool = False
    trained_on: tuple[str, ...] = ()
    card: str = ""
    parts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()


@runtime_checkable
class Capable(Protocol):
    """A model or encoder that declares what it can do."""

    @property
    def capabilities(self) -> Capabilities:
        """What it declares."""


def capabilities_of(model: object) -> Capabilities:
    """What a model or encoder declares, or the defaults where it declares nothing."""
    if isinstance(model, Capable):
        return model.capabilities
    return Capabilities()


@runtime_checkable
class Model(Fingerprinted, Protocol):
    """Anything that gives each text a score for each label.

    `score` returns (n, k) in [0, 1]; NaN means "gave no usable answer", never 0. What else a model can do or
    wants, it declares in `capabilities` (see `Capabilities`); methods beyond these have protocols of their
    own: `Windowed`, `Partial`, `Replying`, `Grounded`.
    """

    @property
    def labels(self) -> tuple[str, ...]:
        """What it scores, in the order of the columns."""

    def score(self, items: Sequence[Any], /) -> FloatArray:
        """Score texts, or other items that it was made for, (n, k) in [0, 1]."""


@runtime_checkable
class Windowed(Protocol):
    """A model that cuts long texts and can say where."""

    def read(self, items: Sequence[Any], /) -> IntArray:
        """How many characters of each text are read, (n,); len(text) where it is read whole."""


@runtime_checkable
class Partial(Protocol):
    """A model that has the scores of some items only, such as a file of scores."""

    def missing(self, items: Sequence[Any], /) -> Sequence[Any]:
        """The items without scores, in their order."""


@runtime_checkable
class Replying(Model, Protocol):
    """A model that replies in words, from which its scores are read.

    The store keeps the replies; scores are read from them whenever they are needed, so `fingerprint` covers
    what decides a reply (weights, prompt, temperature) and not how replies are read. Its `capabilities` name
    its `batch` (items for one `ask`: thousands, so that its connections stay busy) and the host that texts
    leave the machine to (`remote`); it may also be `Forecasting`, `Priced`, `Prompted` or `FewShot`.

    Who retries: exactly one side, by the capability `asks_leave`.

    - A model that declares nothing sends each item once. If that fails for a reason that may pass
      (`TransientFailure`, a time-out, a cut connection), whether yielded or raised, the scoring room waits
      and calls `ask` again with the items that lack an answer.
    - A model with `asks_leave` paces and retries its requests itself: a failure that it yields is final. Its
      `ask` takes `allowed`, which it calls before it sends a request (0) and before it sends one again (1);
      with False it gives the item up, and gives requests that it does not send back (a negative number).
      If it also takes `say`, it calls that with what its user should know about how the server answers.
    """

    def ask(self, items: Sequence[Any], /) -> Iterator[Arrival]:
        """The place of each item with its reply, or with what stands in its way, in the order of arrival.

        Each answer is stored before the next one is drawn; a list of answers that arrived together is stored
        at once. So nothing that was yielded is lost if the process is killed. An error is never a reply; what
        would fail for every item (a wrong key) is raised, as `ModelFailure`.
        """

    def read_reply(self, reply: Reply, /) -> FloatArray:
        """The scores of one reply, (k,): a pure function; NaN for each label that it does not answer."""

    def score(self, items: Sequence[Any], /) -> FloatArray:
        """Scores of items whose replies need not be kept, (n, k)."""
        # What never arrives stays NaN.
        scores = np.full((len(items), len(self.labels)), np.nan)
        for arrival in self.ask(items):
            for place, answer in answers_in(arrival):
                if isinstance(answer, Reply):
                    scores[place] = self.read_reply(answer)
        return scores


@runtime_checkable
class Explaining(Protocol):
    """A model that can say why a reply of its own answers nothing."""

    def why_unanswered(self, reply: Reply, /) -> NoAnswer:
        """Why a reply answers no label: a pure function of the reply."""


@runtime_checkable
class QuoteChecking(Replying, Protocol):
    """A model whose replies may quote the text: scores then depend on both."""

    @property
    def checks_quotes(self) -> bool:
        """Whether replies are read together with the text that was asked about."""

    def read_reply_about(self, reply: Reply, text: Any, /) -> FloatArray:
        """The scores of a reply about a text, (k,): a pure function of both."""


class ReadReply(Protocol):
    """What a reply says: the scores, where they stood or why there are none, and the reason it gives."""

    @property
    def scores(self) -> FloatArray:
        """The score of each label, (k,)."""

    @property
    def how(self) -> str:
        """Where the answer stood, or why there is none."""

    @property
    def rationale(self) -> str:
        """What the reply gives as its reason, "" if nothing."""


@runtime_checkable
class ReplyReader(Replying, Protocol):
    """A model whose questions and replies can be shown to its user."""

    def messages(self, text: str, /) -> Sequence[Mapping[str, str]]:
        """The messages that ask about a text: each has a role and a content."""

    def reading(self, reply: Reply, text: str | None = None, /) -> ReadReply:
        """Everything that a reply says (about a text)."""


@runtime_checkable
class Forecasting(Protocol):
    """A model that can say what asking takes before it is asked."""

    def expected(self, items: Sequence[Any], /) -> Expected:
        """The requests and tokens that asking these items will take."""


@runtime_checkable
class Priced(Protocol):
    """A model that knows what its replies cost."""

    def cost(self, prompt_tokens: int, completion_tokens: int, /) -> float | None:
        """What tokens cost, None without a price."""


class ShownPosts(Protocol):
    """The labelled posts from which the examples of a question are drawn."""

    def check(self, corpus: str, posts: Sequence[str], /) -> list[str]:
        """Notes if it holds some of the posts of a corpus; holding many of them is an error."""


@runtime_checkable
class FewShot(Protocol):
    """A model that may show examples with a question."""

    @property
    def pool(self) -> ShownPosts | None:
        """Where its examples come from, None if it shows none."""


class AskedScale(Protocol):
    """The rating scale that a prompt asks about."""

    @property
    def title(self) -> str:
        """Its short name, a comma, and what it rates."""


class AskedPrompt(Protocol):
    """What a prompt tells about the questions that are written from it."""

    @property
    def scale(self) -> AskedScale | None:
        """The scale whose items it asks about, None if it asks for a label."""

    @property
    def examples(self) -> int:
        """How many examples it shows."""


@runtime_checkable
class Prompted(Protocol):
    """A model whose questions are written from a prompt."""

    @property
    def prompt(self) -> AskedPrompt | None:
        """The prompt, None if its questions have none."""


@runtime_checkable
class Grounded(Model, Protocol):
    """A model that reads other models' answers and not the items alone, such as symptom weights of posts.

    It names these models or encoders in `needs`. What they answer is scored first, through the same store,
    and handed to `score_from`: so it exists once, whoever needs it. `score` does the same without a store,
    for a model that is still being trained.
    """

    @property
    def needs(self) -> "tuple[Model | Encoder, ...]":
        """The models and encoders whose answers it reads."""

    def needed(self, items: Sequence[Any], /) -> Sequence[str]:
        """What these are asked about, repeats allowed: the posts of histories, or the texts themselves."""

    def score_from(self, items: Sequence[Any], answers: "Sequence[AnswersOf]", /) -> FloatArray:
        """Score items from the answers of `needs`, in their order, (n, k) in [0, 1]."""


@runtime_checkable
class Staged(Grounded, Protocol):
    """A grounded model that asks each further need only about what the earlier ones leave open."""

    def needed_next(self, items: Sequence[Any], answers: "Sequence[AnswersOf]", /) -> Sequence[str]:
        """What the next need is asked about, from the answers of those before it."""


AnswersOf = Callable[[Sequence[str]], FloatArray]
"""The answers of one needed model or encoder, looked up by text: (n, k) scores or (n, d) vectors."""


@runtime_checkable
class Encoder(Fingerprinted, Protocol):
    """Anything that gives each text, or each of some spans in it, a vector."""

    def encode(self, texts: Sequence[str], /) -> FloatArray:
        """Vectors of whole texts, (n, d)."""

    def encode_spans(self, texts: Sequence[str], spans: Sequence[tuple[int, int]], /) -> FloatArray:
        """The contextual vector of one span of characters in each text, (n, d): its word pieces averaged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelKind:
    """How models of one kind are opened: the object that a `psycheck.models` entry point names.

    `open` takes the part of the spec after "KIND:" and an instance of `options`, a frozen dataclass whose
    fields are the options after "?" (`KIND:TARGET?key=value`); types, choices and limits come from its
    annotations. `target` tells what the part after the colon is: a path is found relative to a plan file, and
    so are the options named in `files`; a target in `names` is never a path. A folder that holds one of
    `markers`, or a file with one of `endings`, is opened as this kind without its name; folders of the kinds
    in `also_in` hold its markers, too, and are theirs. Options in `objects` may also be objects made in
    Python, which `open` takes as keywords.
    """

    open: Callable[[str, Any], Any]
    options: type
    target: Literal["path", "module", "name"] = "name"
    files: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    markers: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    also_in: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
