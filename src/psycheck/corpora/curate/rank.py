"""Ranking of posts by words of emotion: ours, Empath's, or those of the NRC lexicon (ANGST 3.1).

A score is the share of a post's words that a lexicon lists, each word counted once for each of its
categories, so that a long post is not ahead for its length. Several lexicons are joined by the mean of a
post's ranks.
"""

import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.corpora.curate.listed import words_in
from psycheck.errors import BadInput, MissingExtra
from psycheck.model import FloatArray

WORDS, EMPATH, NRC = "words", "empath", "nrc"
RANKINGS = (WORDS, EMPATH, NRC)
Score = Callable[[str], float]


def rankings(names: Sequence[str], nrc: Path | None = None) -> list[Score]:
    """The scores by these lexicons; a lexicon that is not there is an error before any work."""
    out = []
    for name in names:
        if name == WORDS:
            out.append(_share(Counter(word for some in _data()["words"].values() for word in some)))
        elif name == EMPATH:
            out.append(_share(_empath()))
        elif name == NRC:
            out.append(_share(_nrc(nrc)))
        else:
            raise BadInput(f"there is no ranking '{name}'", allowed=", ".join(RANKINGS))
    return out


def joined(scores: Sequence[FloatArray]) -> FloatArray:
    """One score for each post from one or several, each (n,): the mean of the ranks, in 0..1."""
    if len(scores) == 1:
        return scores[0]
    ranks = []
    for one in scores:
        _, place = np.unique(one, return_inverse=True)
        ranks.append(place / max(1, int(place.max(initial=0))))
    return np.asarray(np.mean(ranks, axis=0), dtype=np.float64)


def _share(weights: Mapping[str, int]) -> Score:
    found = {word.encode(): weight for word, weight in weights.items()}.get

    def score(text: str) -> float:
        words = words_in(text)
        return sum(weight for word in words if (weight := found(word))) / len(words) if words else 0.0

    return score


def _empath() -> Counter[str]:
    try:
        from empath import Empath
    except ImportError as error:
        raise MissingExtra("ranking by Empath", "curate") from error
    held = Empath().cats
    return Counter(word for name in _data()["empath"]["categories"] for word in set(held[name]))


def _nrc(path: Path | None) -> Counter[str]:
    """The words of the emotions, from the lexicon's own file: word, emotion and 0 or 1, separated by tabs."""
    if path is None:
        raise BadInput(
            "ranking by NRC needs the file of the lexicon",
            allowed="NRC-Emotion-Lexicon-Wordlevel: word, emotion, 0 or 1, separated by tabs",
            do="ask the National Research Council Canada for it (research use only); then --nrc FILE",
        )
    weights: Counter[str] = Counter()
    emotions = frozenset(_data()["nrc"]["emotions"])
    try:
        for line in path.read_text("utf-8").splitlines():
            cells = line.split("\t")
            if len(cells) == 3 and cells[1] in emotions and cells[2].strip() == "1":
                weights[cells[0].lower()] += 1
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"the NRC lexicon cannot be read ({type(error).__name__})", where=str(path)) from error
    if not weights:
        raise BadInput(
            "the NRC lexicon has no word of the emotions used",
            where=str(path),
            allowed=f"lines of word, emotion ({', '.join(sorted(emotions))} …), 0 or 1, separated by tabs",
        )
    return weights


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "emotions.toml").read_text("utf-8"))
