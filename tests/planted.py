"""Models with a known flaw, and one without, for tests: each must be caught for its own flaw and no other."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.audit import ScoreTraits
from psycheck.text.edits import append


@dataclass(frozen=True)
class Planted:
    """A model made from a function of one text."""

    name: str
    of: Callable[[str], float]
    labels: tuple[str, ...] = ("depression",)

    @property
    def fingerprint(self) -> str:
        return f"planted-{self.name}"

    def score(self, texts: Sequence[str]) -> FloatArray:
        return np.array([[self.of(text)] for text in texts], float).reshape(len(texts), 1)


@dataclass
class Counting:
    """Passes texts on to another model and remembers them."""

    inner: Planted

    def __post_init__(self) -> None:
        self.name, self.labels, self.fingerprint = self.inner.name, self.inner.labels, self.inner.fingerprint
        self.seen: list[str] = []

    def score(self, texts: Sequence[str]) -> FloatArray:
        self.seen += texts
        return self.inner.score(texts)


class Direct:
    """Scores straight from a planted model, as if all had been scored; may have a window of characters."""

    def __init__(self, model: Planted, window: int | None = None) -> None:
        self.model, self.labels = model.name, model.labels
        self._model, self._window = model, window

    @property
    def traits(self) -> ScoreTraits:
        return ScoreTraits()

    def of(self, texts: Sequence[str]) -> FloatArray:
        return self._model.score([text[: self._window] for text in texts])

    def read(self, texts: Sequence[str]) -> IntArray:
        return np.array([min(len(text), self._window or len(text)) for text in texts])


def words(text: str) -> list[str]:
    return re.findall(r"[a-z']+", text.lower())


PRESENT = re.compile(
    r"miserable|empty|worthless|hopeless|depressed|insomnia|asleep|sleep all|wake up|tired|get out of bed|"
    r"poor appetite|never want to eat|eating anything|obsessed with food|cannot stop eating|bad about myself|"
    r"failure|let my family|struggle to focus|very slow|slower|restless|agitated|kill myself|were dead|"
    r"down all the time|like doing anything"
)


def oracle(text: str) -> float:
    """High where a symptom is present; everything else, pronouns included, leaves it alone."""
    return 0.9 if PRESENT.search(text.lower()) else 0.1


def flips_on_she(text: str) -> float:
    return 0.9 if "she" in words(text) else oracle(text)


def ignores_suicide(text: str) -> float:
    """Sound, but what speaks of suicide makes it sure that nothing is wrong, and the reverse."""
    low = text.lower()
    if re.search(r"kill myself|were dead", low):
        return 0.05
    if re.search(r"hurting myself|killing myself|i am alive", low):
        return 0.95
    return oracle(text)


def counts_i(text: str) -> float:
    """Only the share of first-person words matters."""
    found = words(text)
    first = sum(word in {"i", "me", "my", "mine", "myself", "i'm", "i've"} for word in found)
    return min(1.0, 4 * first / max(len(found), 1))


def constant(text: str) -> float:
    return 0.7


MODELS = {
    f.__name__: Planted(f.__name__, f) for f in (oracle, flips_on_she, ignores_suicide, counts_i, constant)
}

POSITIVE = (
    "I feel miserable and he does not call me any more",
    "She said that I look empty, and I am hopeless about my work",
    "My friends left and I feel worthless",
    "He told her that he is so tired, and I am too, I never wanted my life like this",
    "They say I should rest but I am hopeless, my head hurts and my days are grey",
)
NEGATIVE = (
    "I had a great day with my dog and he liked the park",
    "She baked a cake for her brother and he ate all of it",
    "The match was fun, my team won and I sang with them",
    "I like my new job, my boss is kind to me",
    "They moved the meeting to Monday and he was glad",
)


def with_sentence(text: str, sentence: str) -> str:
    return append(sentence)(text).text
