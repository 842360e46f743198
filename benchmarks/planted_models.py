"""Corpora that are drawn, and models with a flaw of known kind and size, audited in-process.

Corpora come from one pool of short notes: by authors or not, with copies, groups, soft labels and missing
values, from 1 % to 99 % annotated 1. A model follows what a note says as strongly as its kind states.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from psycheck.audits import counterparts
from psycheck.audits.behaviour import Behaviour
from psycheck.audits.fairness import Fairness
from psycheck.audits.performance import Performance
from psycheck.audits.suite import read_suite
from psycheck.audits.weakest import mark_weakest
from psycheck.core.audit import ScoreTraits
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding, Findings
from psycheck.core.run import Run
from psycheck.corpora.cautions import cheap_cautions

FloatArray = NDArray[np.float64]
DECK = read_suite("deck")
POOL = 5_000  # notes, each with and without a symptom

PRESENT = (
    "hopeless",
    "feel down",
    "depressed",
    "insomnia",
    "falling asleep",
    "sleep all",
    "wake up",
    "feel tired",
    "out of bed",
    "poor appetite",
    "want to eat",
    "like eating",
    "obsessed with food",
    "stop eating",
    "bad about myself",
    "a failure",
    "family down",
    "struggle",
    "slow",
    "restless",
    "agitated",
    "kill myself",
    "were dead",
    "feel like doing anything",
    "miserable",
    "empty",
)
ABSENT = (
    "love doing",
    "full of energy",
    "with my appetite",
    "family proud",
    "concentrating on things",
    "staying focused",
    "good pace",
    "never think",
    "am alive",
)
SYMPTOMS = (
    "I feel miserable.",
    "I feel empty.",
    "I had insomnia.",
    "It is all hopeless to me.",
)
PLAIN = (
    "I had soup.",
    "The train was late.",
    "It was a long day at work.",
    "We saw the sea.",
)


@dataclass(frozen=True, slots=True)
class Design:
    """What a corpus is like; `authors` 0 means unknown, `skewed` that some authors wrote most notes."""

    name: str
    texts: int = 300
    prevalence: float = 0.5
    authors: int = 0
    skewed: bool = False
    copies: bool = False
    groups: int = 2
    soft: bool = False
    missing: float = 0.0
    models: int = 1
    corpora: int = 1
    checks: bool = False  # with DECK, which takes most of the time


@dataclass(frozen=True, slots=True)
class Kind:
    """A planted model: how strongly its log-odds follow what a note says; 0 throughout is luck."""

    name: str
    present: float = 0.0
    absent: float = 0.0
    pronoun_i: float = 0.0
    she: float = 0.0
    misses_she: float = 0.0  # share of the notes of her that it misses
    length: float = 0.0
    token: float = 0.0
    window: int = 0  # characters that it reads; 0: all
    jitter: float = 0.0  # any edit moves it
    offset: float = 0.0
    noise: float = 1.0
    squeezed: float = 1.0  # 0: every score is the same; small: all decisions are
    share_1: float = 0.0  # of decisions that are 1 whatever the note says; 0: decisions follow the score


SOUND = Kind("sound", present=6.0, absent=-2.0, offset=-3.0)
NULL = Kind("no skill", noise=2.0)
JITTER = Kind("moved by any edit", jitter=2.0, noise=0.5)
LENGTH = Kind("length only", length=0.25, offset=-10.0, noise=0.3)
CONSTANT = Kind("constant", squeezed=0.0, offset=1.0)
INVERTED = Kind("inverted", present=-6.0, absent=2.0, offset=3.0)
LEAKED = Kind("leaked token", token=8.0, offset=-4.0)
SHORTCUT = Kind("one-word shortcut", token=8.0, offset=-4.0, noise=0.5)
INERT = Kind("inert to edits", present=6.0, offset=-3.0, window=45)
NEAR = tuple(Kind(f"near-constant, {share:.1%}", share_1=share) for share in (0.95, 0.99, 0.998))
NEAR_SOUND = Kind("wrong threshold", present=3.0, offset=4.0, noise=0.7)

# The flaws, each as plain as can be, and a weaker one of the same kind.
NEGATION = Kind("ignores negation", present=6.0, absent=6.0, offset=-3.0)
HALF_NEGATION = Kind("ignores negation by half", present=6.0, absent=3.0, offset=-3.0)
FOLLOWS_I = Kind("follows “I”", present=2.0, offset=-4.0, pronoun_i=6.0)
LEANS_ON_I = Kind("leans on “I”", present=6.0, absent=-2.0, offset=-4.0, pronoun_i=1.5)
FOLLOWS_SHE = Kind("follows “she”", present=6.0, absent=-2.0, offset=-3.0, she=3.0)
LEANS_ON_SHE = Kind("leans on “she”", present=6.0, absent=-2.0, offset=-3.0, she=1.0)
MISSES_HER = Kind("10 points of recall lost for her", present=6.0, offset=-3.0, misses_she=0.1)
# The same seen without any swap, in the rates of a group alone.
MISSES_A_GROUP = replace(MISSES_HER, name="10 points of recall lost for a group")

KINDS = (
    SOUND,
    NULL,
    CONSTANT,
    *NEAR,
    NEAR_SOUND,
    INVERTED,
    LENGTH,
    LEAKED,
    SHORTCUT,
    INERT,
    NEGATION,
    FOLLOWS_I,
    FOLLOWS_SHE,
    MISSES_HER,
)


@dataclass(frozen=True, slots=True)
class Features:
    """What a planted model can read in a text."""

    note: int
    present: bool
    absent: bool
    pronoun_i: bool
    she: bool
    token: bool
    length: int
    jitter: float


@cache
def features(text: str) -> Features:
    """Read a text once: all audits share the notes of the pool."""
    lower_case = text.lower()
    digest = blake2b(text.encode(), digest_size=6).digest()
    words = set(lower_case.replace(".", " ").replace(",", " ").replace("'", " ").split())
    return Features(
        note=int(text.split()[1]),
        present=any(phrase in lower_case for phrase in PRESENT),
        absent=any(phrase in lower_case for phrase in ABSENT),
        pronoun_i=bool(words & {"i", "me", "my", "myself"}),
        she="she" in words,
        token="zq" in words,
        length=len(text),
        jitter=(int.from_bytes(digest, "big") / 2**48 - 0.5) * 4,
    )


@dataclass(frozen=True)
class PlantedScores:
    """The scores of a planted model: the same note has the same luck, whatever is edited in it."""

    model: str
    kind: Kind
    seed: int
    labels: tuple[str, ...] = ("depression",)
    luck: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        luck = np.random.default_rng([self.seed, 1]).normal(0, 1, POOL)
        object.__setattr__(self, "luck", luck)

    @property
    def traits(self) -> ScoreTraits:
        """Scores are decided at 0.5."""
        return ScoreTraits()

    def of(self, texts: Sequence[str]) -> FloatArray:
        """Scores, (n, 1)."""
        return np.array([[self._score(text)] for text in texts]).reshape(len(texts), 1)

    def read(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Everything is read; what a window hides, the model ignores without saying so."""
        return np.array([len(text) for text in texts], np.int64)

    def _score(self, text: str) -> float:
        kind = self.kind
        seen = features(text[: kind.window] if kind.window else text)
        luck = float(self.luck[seen.note])
        if kind.share_1:
            # Which notes get the other decision is luck; the score knows nothing else.
            decides_1 = (seen.note * 7919 + self.seed) % 1_000 < 1_000 * kind.share_1
            return 0.8 + 0.01 * np.tanh(luck) if decides_1 else 0.3

        logit = kind.offset + kind.noise * luck
        logit += kind.present * seen.present
        logit += kind.absent * seen.absent
        logit += kind.pronoun_i * seen.pronoun_i
        logit += kind.she * seen.she
        logit += kind.token * seen.token
        logit += kind.length * seen.length
        logit += kind.jitter * seen.jitter
        if seen.she and (seen.note * 104_729 + self.seed) % 1_000 < 1_000 * kind.misses_she:
            logit -= 8
        return float(expit(kind.squeezed * logit)) if kind.squeezed else 0.7


@cache
def note(number: int, *, symptom: bool) -> str:
    """One note of the pool; every second is of her."""
    who = "she" if number % 2 else "he"
    middle = SYMPTOMS[number % 4] if symptom else PLAIN[number % 4]
    return f"Note {number} is short. {middle} On the way to the shop {who} said that it was the end."


def drawn(design: Design, seed: int, *, token: bool = False) -> Corpus:
    """A corpus; `token` puts a mark into nearly all texts annotated 1."""
    random = np.random.default_rng(seed)
    numbers = random.choice(POOL, design.texts, replace=False)
    marks = random.random(design.texts) < design.prevalence
    has_symptom = np.where(random.random(design.texts) < 0.9, marks, ~marks)
    texts = [note(int(k), symptom=bool(s)) for k, s in zip(numbers, has_symptom, strict=True)]
    if design.copies:
        # Every fifth note is a copy of another, annotated alike, under another author.
        for k in range(0, design.texts - 1, 5):
            texts[k + 1] = texts[k]
            marks[k + 1] = marks[k]
    if token:
        has_token = marks & (random.random(design.texts) < 0.97)
        texts = [f"{text} Zq." if mark else text for text, mark in zip(texts, has_token, strict=True)]

    target = marks.astype(float)
    if design.soft:
        target = np.abs(target - random.choice([0.0, 0.2, 0.4], design.texts))
    labels: list[float | None] = [float(value) for value in target]
    for unlabelled in np.flatnonzero(random.random(design.texts) < design.missing).tolist():
        labels[unlabelled] = None

    author = _authors(design, random)
    groups = {
        "ward": [f"ward {k}" for k in random.integers(0, design.groups, design.texts)],
        "gender": ["F" if " she " in text else "M" for text in texts],
    }
    return Corpus.of("notes", texts, labels={"depression": labels}, author=author, groups=groups)


def _authors(design: Design, random: np.random.Generator) -> list[str] | None:
    """Who wrote each text; None if nobody knows."""
    if not design.authors:
        return None
    weight = np.ones(design.authors)
    if design.skewed:
        weight = 1 / np.arange(1, design.authors + 1)
    writers = random.choice(design.authors, design.texts, p=weight / weight.sum())
    return [f"author {k}" for k in writers]


def audited(kind: Kind, design: Design, seed: int) -> Run:
    """The run of an audit of this kind of model; further models of a design with several know nothing."""
    places = design.models * design.corpora
    checks_elsewhere = len(DECK.checks) * (places - 1)
    findings: list[Finding] = []
    standings: list[Any] = []
    for c in range(design.corpora):
        corpus = drawn(design, seed + 101 * c, token=bool(kind.token))
        corpus = replace(corpus, name=f"notes {c}")
        findings += [caution.finding() for caution in cheap_cautions(corpus)]
        for m in range(design.models):
            scores = PlantedScores(f"model {m}", kind if m == 0 else _beside(kind), seed + 7 * m)
            audits: list[Performance | Fairness | Behaviour] = [
                Performance(places=places),
                Fairness(places=places),
            ]
            if design.checks:
                audits.append(Behaviour(DECK, others=checks_elsewhere))
            for audit in audits:
                judgement = audit.judge(corpus, scores)
                findings += judgement.findings
                standings += judgement.standings
    return Run({}, {}, Findings(mark_weakest(findings, standings)))


def _beside(kind: Kind) -> Kind:
    """The other models of a run: as sound as a sound one, or as ignorant."""
    return SOUND if kind == SOUND else NULL


def share_texts_between_audits() -> None:
    """Swap each text once: all audits share the notes of the pool."""
    made = vars(counterparts)["_counterparts_of"]
    vars(counterparts)["_counterparts_of"] = cache(made)
