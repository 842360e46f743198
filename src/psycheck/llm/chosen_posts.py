"""Histories for LLMs: the posts that are evidence of symptoms, whole and in order, as one text.

A history that is longer than the window is never cut at random: per symptom the posts with the largest
weights are chosen, the strongest first, until the window is full. What is left out is counted by its reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import History
from psycheck.core.model import AnswersOf, Capabilities, Encoder, Model
from psycheck.llm.model import LlmModel
from psycheck.models.fingerprint import hashed_parts
from psycheck.symptoms.post_weights import PostSymptoms

MOST_POSTS = 4096  # of a history; the symptom model reads them all


@dataclass(frozen=True, slots=True)
class Choice:
    """The places of the posts that are sent, in order, and how many are left out for which reason."""

    places: tuple[int, ...]
    left_out: Mapping[str, int]


def choose_posts(
    posts: Sequence[str],
    weights: FloatArray,
    *,
    per_symptom: int,
    window: int,
) -> Choice:
    """Choose posts of at most `window` characters together, from their symptom weights, (n, k).

    All posts if they fit. Else every symptom names its `per_symptom` strongest posts, and these are taken by
    their largest weight, as long as there is room; posts of equal weight in their order.
    """
    sizes = [len(post) for post in posts]
    if sum(sizes) <= window:
        return Choice(tuple(range(len(posts))), {})

    named: set[int] = set()
    for column in weights.T:
        strongest = np.argsort(-column, kind="stable")[:per_symptom]
        # A post without any weight of a symptom is no evidence of it, however few posts have some.
        named.update(place for place in strongest.tolist() if column[place] > 0)

    largest = weights.max(axis=1, initial=0.0)
    chosen: list[int] = []
    room = window
    for place in sorted(named, key=lambda place: (-largest[place], place)):
        # A post is sent whole or not at all: a cut one could end before "not".
        if sizes[place] <= room:
            chosen.append(place)
            room -= sizes[place]

    without_symptom = int((largest == 0).sum())
    left_out = {
        "without_symptom": without_symptom,
        "weaker": len(posts) - without_symptom - len(named),
        "no_room": len(named) - len(chosen),
    }
    # Chosen by weight, but read in the order in which they were written.
    return Choice(tuple(sorted(chosen)), left_out)


@dataclass(
    frozen=True,
    slots=True,
    weakref_slot=True,
    kw_only=True,
)
class HistoryLlm:
    """An LLM that is asked about the chosen posts of a history as one text."""

    llm: LlmModel = field(repr=False)
    symptoms: PostSymptoms = field(repr=False)
    per_symptom: int
    window: int

    @property
    def name(self) -> str:
        """That of the LLM."""
        return self.llm.name

    @property
    def labels(self) -> tuple[str, ...]:
        """Those of the prompt."""
        return self.llm.labels

    @property
    def parts(self) -> Mapping[str, str]:
        """What decides a score: the LLM, and how posts are chosen."""
        return {
            **self.llm.capabilities.parts,
            "symptoms": self.symptoms.fingerprint,
            "chosen": f"{self.per_symptom} per symptom, {self.window} characters",
        }

    @property
    def fingerprint(self) -> str:
        """Changes with the LLM, the symptom model and how posts are chosen."""
        return hashed_parts(dict(self.parts))

    @property
    def capabilities(self) -> Capabilities:
        """It takes histories; texts leave the machine if the LLM is elsewhere."""
        return Capabilities(
            batch=self.llm.capabilities.batch,
            takes="histories",
            most_posts=MOST_POSTS,
            remote=self.llm.capabilities.remote,
            parts=self.parts,
            notes=self.llm.capabilities.notes,
        )

    @property
    def needs(self) -> tuple[Model | Encoder, ...]:
        """The symptom model of posts, then the LLM."""
        return (self.symptoms, self.llm)

    def needed(self, histories: Sequence[History], /) -> list[str]:
        """All posts, whose symptoms are weighed first."""
        return [post for history in histories for post in history.posts]

    def needed_next(self, histories: Sequence[History], answers: Sequence[AnswersOf], /) -> list[str]:
        """The chosen posts of each history, as one text."""
        (weights,) = answers
        return [self.text(history, weights) for history in histories if history.posts]

    def choice(self, history: History, weights: AnswersOf) -> Choice:
        """The posts of a history that are sent."""
        return choose_posts(
            history.posts,
            weights(history.posts),
            per_symptom=self.per_symptom,
            window=self.window,
        )

    def text(self, history: History, weights: AnswersOf) -> str:
        """The chosen posts with their numbers, so that gaps show."""
        total = len(history.posts)
        numbered_posts = []
        for place in self.choice(history, weights).places:
            number = f"[post {place + 1} of {total}]"
            numbered_posts.append(f"{number}\n{history.posts[place]}")
        return "\n\n".join(numbered_posts)

    def score_from(self, histories: Sequence[History], answers: Sequence[AnswersOf], /) -> FloatArray:
        """The LLM's scores of the chosen posts, (n, k); NaN for a history without posts."""
        weights, replies = answers
        scores = np.full((len(histories), len(self.labels)), np.nan)
        with_posts = [row for row, history in enumerate(histories) if history.posts]
        if with_posts:
            texts = [self.text(histories[row], weights) for row in with_posts]
            scores[with_posts] = replies(texts)
        return scores

    def score(self, histories: Sequence[History], /) -> FloatArray:
        """Score histories without a store, (n, k)."""
        return self.score_from(histories, [self.symptoms.score, self.llm.score])
