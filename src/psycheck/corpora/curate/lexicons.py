"""Shipped lists of subreddits, terms and accounts, and ranking of posts by words of emotion (ANGST 3.1).

A post's score is the share of its words that a lexicon lists (ours, Empath's or the NRC's), each word counted
once for each of its categories, so that a long post is not ahead for its length. Several lexicons are joined
by the mean of a post's ranks.
"""

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.errors import BadInput, library
from psycheck.model import FloatArray

LISTED = "listed"
WORDS, EMPATH, NRC = "words", "empath", "nrc"
Score = Callable[[str], float]
# Capitals to small letters, apostrophes kept, every other ASCII mark to a space; UTF-8 stays whole.
_WORDS = bytes(
    ord(chr(byte).lower()) if chr(byte).isalnum() or byte == 39 else 32 for byte in range(128)
) + bytes(range(128, 256))


@cache
def _data(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text("utf-8"))


def words_in(text: str) -> list[bytes]:
    """The words of a text in small letters, as bytes; quick, because every post of a dump passes here."""
    return text.replace("’", "'").encode("utf-8", "replace").translate(_WORDS).split()


def listed_subreddits() -> frozenset[str]:
    """The subreddits in which people write about mental health, in small letters."""
    return frozenset(_data("listed")["subreddits"])


def subreddits_of(names: Iterable[str]) -> frozenset[str]:
    """The named subreddits in small letters; "listed" stands for the whole list."""
    plain = {name.lower().removeprefix("/").removeprefix("r/") for name in names}
    return frozenset((plain - {LISTED}) | (listed_subreddits() if LISTED in plain else set()))


def is_person() -> Callable[[str], bool]:
    """A test of whether an account's name, in small letters, may be a person's."""
    accounts = _data("listed")["accounts"]
    names, endings = frozenset(accounts["names"]), tuple(accounts["endings"])
    return lambda name: name not in names and not name.endswith(endings)


def holds_term() -> Callable[[list[bytes]], bool]:
    """A test of whether the words of a post hold a listed term."""
    terms = [term.encode() for term in _data("listed")["terms"]]
    single = frozenset(term for term in terms if b" " not in term)
    phrases = tuple(b" %b " % term for term in terms if b" " in term)
    begins = frozenset(term.split()[0] for term in phrases)

    def holds(words: list[bytes]) -> bool:
        if not single.isdisjoint(words):
            return True
        if begins.isdisjoint(words):
            return False
        whole = b" %b " % b" ".join(words)
        return any(phrase in whole for phrase in phrases)

    return holds


def rankings(names: Sequence[str], nrc: Path | None = None) -> list[Score]:
    """The scores by these lexicons; a lexicon that is not there is an error before any work."""
    lexicons: dict[str, Callable[[], Iterable[str]]] = {
        WORDS: lambda: chain(*_data("emotions")["words"].values()),
        EMPATH: _empath,
        NRC: lambda: _nrc(nrc),
    }
    for name in names:
        if name not in lexicons:
            raise BadInput(f"there is no ranking '{name}'", allowed=", ".join(lexicons))
    return [_share(lexicons[name]()) for name in names]


def joined(scores: Sequence[FloatArray]) -> FloatArray:
    """One score for each post from one or several, each (n,): the mean of the ranks, in 0..1."""
    if len(scores) == 1:
        return scores[0]
    places = [np.unique(one, return_inverse=True)[1] for one in scores]
    ranks = [place / max(1, int(place.max(initial=0))) for place in places]
    return np.asarray(np.mean(ranks, axis=0), dtype=np.float64)


def _share(lexicon: Iterable[str]) -> Score:
    """The score by a lexicon that lists a word once for each of its categories."""
    found = Counter(word.encode() for word in lexicon).get

    def score(text: str) -> float:
        words = words_in(text)
        return sum(weight for word in words if (weight := found(word))) / len(words) if words else 0.0

    return score


def _empath() -> Iterable[str]:
    held = library("empath", "ranking by Empath", "curate").Empath().cats
    return (word for name in _data("emotions")["empath"]["categories"] for word in set(held[name]))


def _nrc(path: Path | None) -> list[str]:
    """The words of the emotions, from the lexicon's own file: word, emotion and 0 or 1, separated by tabs."""
    if path is None:
        allowed = "NRC-Emotion-Lexicon-Wordlevel: word, emotion, 0 or 1, separated by tabs"
        do = "ask the National Research Council Canada for it (research use only); then `nrc=FILE`"
        raise BadInput("ranking by NRC needs the file of the lexicon", allowed=allowed, do=do)
    emotions = _data("emotions")["nrc"]["emotions"]
    try:
        rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"the NRC lexicon cannot be read ({type(error).__name__})", where=str(path)) from error
    found = [row[0].lower() for row in rows if len(row) == 3 and row[1] in emotions and row[2].strip() == "1"]
    if not found:
        allowed = f"lines of word, emotion ({', '.join(sorted(emotions))} …), 0 or 1, separated by tabs"
        raise BadInput("the NRC lexicon has no word of the emotions used", where=str(path), allowed=allowed)
    return found
