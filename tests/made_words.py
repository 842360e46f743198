"""Corpora of made-up words with nothing wrong with them, for tests that plant a fault."""

from random import Random

from psycheck.core.corpus import Corpus
from psycheck.corpora.cautions import Caution

THINGS = [
    f"{a}{b}{c}" for a in "bdfgklm" for b in ("a", "e", "o", "ui") for c in ("lt", "rn", "st", "ng", "p")
]


def sentence(random: Random, words: int = 0) -> str:
    return " ".join(random.choice(THINGS) for _ in range(words or random.randint(10, 20)))


def clean(n: int = 300, seed: int = 1) -> dict[str, list[object]]:
    """Texts of made-up words whose label depends on nothing, each author in one split."""
    random = Random(seed)
    return {
        "text": [sentence(random) for _ in range(n)],
        "author": [f"a{i // 4}" for i in range(n)],
        "split": ["train" if i < n * 2 // 3 else "test" for i in range(n)],
        "label": [i % 2 for i in range(n)],
    }


def corpus(made: dict[str, list[object]]) -> Corpus:
    return Corpus.of(
        "made",
        [str(text) for text in made["text"]],
        author=[str(who) for who in made["author"]],
        split=[str(split) for split in made["split"]],
        labels={"low": [None if mark is None else float(str(mark)) for mark in made["label"]]},
    )


def names(cautions: tuple[Caution, ...]) -> list[str]:
    return [caution.name for caution in cautions]


def without_split(made: dict[str, list[object]]) -> Corpus:
    return Corpus("made", corpus(made).table.drop("split"))


def flipped(marks: list[object], share: float = 0.1) -> list[object]:
    """The labels, a share of them wrong."""
    wrong = set(Random(9).sample(range(len(marks)), round(share * len(marks))))
    return [1 - int(str(mark)) if i in wrong else mark for i, mark in enumerate(marks)]
