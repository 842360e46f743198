"""Shipped lists of subreddits, terms and accounts, and ranking of posts by words of emotion (ANGST 3.1).

A post's score is the share of its words that a lexicon lists (ours, Empath's or the NRC's), each word counted
once for each of its categories, so that a long post is not ahead for its length. Several lexicons are joined
by the mean of a post's ranks.
"""

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import BadInput, library

LISTED = "listed"
WORDS = "words"
EMPATH = "empath"
NRC = "nrc"
Score = Callable[[str], float]


def _letters_to_words() -> bytes:
    """A translation of bytes: capitals to small letters, other ASCII marks than apostrophes to spaces."""
    ascii_bytes = []
    for byte in range(128):
        character = chr(byte)
        is_letter = character.isalnum() or character == "'"
        ascii_bytes.append(ord(character.lower()) if is_letter else ord(" "))
    # UTF-8 stays whole: the bytes of other characters are all above 127.
    return bytes([*ascii_bytes, *range(128, 256)])


_TO_WORDS = _letters_to_words()


@cache
def _data(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text("utf-8"))


def words_in(text: str) -> list[bytes]:
    """The words of a text in small letters, as bytes; quick, because every post of a dump passes here."""
    encoded = text.replace("’", "'").encode("utf-8", "replace")
    return encoded.translate(_TO_WORDS).split()


def listed_subreddits() -> frozenset[str]:
    """The subreddits in which people write about mental health, in small letters."""
    return frozenset(_data("listed")["subreddits"])


def subreddits_of(names: Iterable[str]) -> frozenset[str]:
    """The named subreddits in small letters; "listed" stands for the whole list."""
    plain_names = {name.lower().removeprefix("/").removeprefix("r/") for name in names}
    if LISTED in plain_names:
        return frozenset(plain_names - {LISTED}) | listed_subreddits()
    return frozenset(plain_names)


def is_person() -> Callable[[str], bool]:
    """A test of whether an account's name, in small letters, may be a person's."""
    accounts = _data("listed")["accounts"]
    names = frozenset(accounts["names"])
    endings = tuple(accounts["endings"])

    def may_be_person(name: str) -> bool:
        return name not in names and not name.endswith(endings)

    return may_be_person


def holds_term() -> Callable[[list[bytes]], bool]:
    """A test of whether the words of a post hold a listed term."""
    terms = [term.encode() for term in _data("listed")["terms"]]
    single_words = frozenset(term for term in terms if b" " not in term)
    # With a space on either side, so that a phrase is found as whole words only.
    phrases = tuple(b" %b " % term for term in terms if b" " in term)
    first_words = frozenset(phrase.split()[0] for phrase in phrases)

    def holds(words: list[bytes]) -> bool:
        if not single_words.isdisjoint(words):
            return True
        # Joining the words of every post would take most of the time: few have the first word of a phrase.
        if first_words.isdisjoint(words):
            return False
        text = b" %b " % b" ".join(words)
        return any(phrase in text for phrase in phrases)

    return holds


def rankings(names: Sequence[str], nrc: Path | None = None) -> list[Score]:
    """The scores by these lexicons; a lexicon that is not there is an error before any work."""
    lexicons: Mapping[str, Callable[[], Iterable[str]]] = {
        WORDS: lambda: chain(*_data("emotions")["words"].values()),
        EMPATH: _empath_words,
        NRC: lambda: _nrc_words(nrc),
    }
    for name in names:
        if name not in lexicons:
            raise BadInput(
                f"there is no ranking '{name}'",
                code="curate.unknown-ranking",
                allowed=", ".join(lexicons),
            )
    return [_share_of_words(lexicons[name]()) for name in names]


def joined(scores: Sequence[FloatArray]) -> FloatArray:
    """One score for each post from one or several, each (n,): the mean of the ranks, in 0..1."""
    if len(scores) == 1:
        return scores[0]

    # Ranks, because the shares of a large lexicon are higher than those of a small one throughout.
    ranks = []
    for lexicon_scores in scores:
        # The place among the distinct scores: posts with the same score have the same rank.
        _, rank = np.unique(lexicon_scores, return_inverse=True)
        highest_rank = max(1, int(rank.max(initial=0)))
        ranks.append(rank / highest_rank)
    return np.asarray(np.mean(ranks, axis=0), dtype=np.float64)


def _share_of_words(lexicon: Iterable[str]) -> Score:
    """The score by a lexicon that lists a word once for each of its categories."""
    weight_of = Counter(word.encode() for word in lexicon)

    def score(text: str) -> float:
        words = words_in(text)
        if not words:
            return 0.0
        weights = [weight_of[word] for word in words if word in weight_of]
        return sum(weights) / len(words)

    return score


def _empath_words() -> list[str]:
    """The words of the categories of Empath that are emotions, a word once for each of its categories."""
    categories = library("empath", "ranking by Empath", "curate").Empath().cats
    words: list[str] = []
    for name in _data("emotions")["empath"]["categories"]:
        # A set, so that a word counts once per category even if Empath lists it twice.
        words += set(categories[name])
    return words


def _nrc_words(path: Path | None) -> list[str]:
    """The words of the emotions, from the lexicon's own file: word, emotion and 0 or 1, separated by tabs."""
    if path is None:
        raise BadInput(
            what="ranking by NRC needs the file of the lexicon",
            code="curate.no-nrc-file",
            allowed="NRC-Emotion-Lexicon-Wordlevel: word, emotion, 0 or 1, separated by tabs",
            do="ask the National Research Council Canada for it (research use only); then `nrc=FILE`",
        )
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"the NRC lexicon cannot be read ({type(error).__name__})",
            code="curate.unreadable-nrc-file",
            where=str(path),
        ) from error

    emotions = _data("emotions")["nrc"]["emotions"]
    words = []
    for line in lines:
        # Blank lines and a description may stand before the entries.
        fields = line.split("\t")
        if len(fields) != 3:
            continue
        word, emotion, is_associated = fields
        if emotion in emotions and is_associated.strip() == "1":
            words.append(word.lower())

    if not words:
        raise BadInput(
            what="the NRC lexicon has no word of the emotions used",
            code="curate.no-nrc-words",
            where=str(path),
            allowed=f"lines of word, emotion ({', '.join(sorted(emotions))} …), 0 or 1, separated by tabs",
        )
    return words
