"""Shipped lists of subreddits, terms and accounts, and ranking of posts by words of emotion (ANGST 3.1).

A post's score is the share of its words that a lexicon lists (ours, Empath's or the NRC's), each word counted
once for each of its categories, so that a long post is not ahead for its length; or their total, as ANGST's
Table 7 adds them up. A word of the NRC's intensity lexicon counts by its intensity. Several lexicons are
joined by the mean of a post's ranks.
"""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import BadInput, library

LISTED = "listed"
WORDS = "words"
EMPATH = "empath"
NRC = "nrc"
Score = Callable[[str], float]
ScoreBy = Literal["share", "total"]
Lexicon = Mapping[str, Mapping[str, float]]
"""The weight of each word, by category."""


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


def rankings(
    names: Sequence[str],
    nrc: Path | None = None,
    *,
    score_by: ScoreBy = "share",
) -> list[Score]:
    """The scores by these lexicons; a lexicon that is not there is an error before any work."""
    scores = []
    for lexicon in _lexicons(names, nrc).values():
        weights = _joined_weights(lexicon)
        scores.append(_score(weights, score_by))
    return scores


def lexicon_scores(
    texts: Sequence[str],
    names: Sequence[str],
    nrc: Path | None = None,
) -> dict[str, list[float]]:
    """Each text by each lexicon: the share of its words, their total, and the totals by emotion for NRC."""
    columns: dict[str, list[float]] = {}
    for name, lexicon in _lexicons(names, nrc).items():
        weights = _joined_weights(lexicon)
        share = _score(weights, "share")
        total = _score(weights, "total")
        columns[f"{name}_share"] = [share(text) for text in texts]
        columns[f"{name}_total"] = [total(text) for text in texts]
        if name != NRC:
            continue
        for emotion, words in lexicon.items():
            total_of_emotion = _score(words, "total")
            columns[f"{name}_{emotion}"] = [total_of_emotion(text) for text in texts]
    return columns


def _lexicons(names: Sequence[str], nrc: Path | None) -> dict[str, Lexicon]:
    """The lexicons of these names."""
    lexicons: Mapping[str, Callable[[], Lexicon]] = {
        WORDS: lambda: _weighing_1(_data("emotions")["words"]),
        EMPATH: lambda: _weighing_1(_empath_words()),
        NRC: lambda: _nrc_words(nrc),
    }
    for name in names:
        if name not in lexicons:
            raise BadInput(
                f"there is no ranking '{name}'",
                code="curate.unknown-ranking",
                allowed=", ".join(lexicons),
            )
    return {name: lexicons[name]() for name in names}


def _weighing_1(categories: Mapping[str, Iterable[str]]) -> Lexicon:
    """Words by category, each counting 1."""
    return {name: dict.fromkeys(words, 1.0) for name, words in categories.items()}


def _joined_weights(lexicon: Lexicon) -> dict[str, float]:
    """The weight of each word: that of all its categories together."""
    weights: dict[str, float] = {}
    for words in lexicon.values():
        for word, weight in words.items():
            weights[word] = weights.get(word, 0.0) + weight
    return weights


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


def _score(weights: Mapping[str, float], score_by: ScoreBy) -> Score:
    """The score by the weights of words: their total in a text, or its share of the words."""
    weight_of = {word.encode(): weight for word, weight in weights.items()}

    def score(text: str) -> float:
        words = words_in(text)
        if not words:
            return 0.0
        total = sum(weight_of[word] for word in words if word in weight_of)
        if score_by == "share":
            return total / len(words)
        return total

    return score


def _empath_words() -> dict[str, list[str]]:
    """The words of the categories of Empath that are emotions."""
    categories = (
        library(
            "empath",
            "ranking by Empath",
            "curate",
        )
        .Empath()
        .cats
    )
    return {name: categories[name] for name in _data("emotions")["empath"]["categories"]}


def _nrc_words(path: Path | None) -> Lexicon:
    """The words of the emotions, from a file of the NRC: word, emotion, and 0 or 1 or the intensity."""
    if path is None:
        raise BadInput(
            what="ranking by NRC needs the file of the lexicon",
            code="curate.no-nrc-file",
            allowed="NRC-Emotion-Lexicon-Wordlevel (word, emotion, 0 or 1, separated by tabs), or that of "
            "intensities",
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
    words: dict[str, dict[str, float]] = {emotion: {} for emotion in emotions}
    for line in lines:
        # Blank lines and a description may stand before the entries.
        fields = line.split("\t")
        if len(fields) != 3:
            continue
        word, emotion, written = fields
        weight = _weight(written)
        if emotion in emotions and weight > 0:
            words[emotion][word.lower()] = weight

    if not any(words.values()):
        raise BadInput(
            what="the NRC lexicon has no word of the emotions used",
            code="curate.no-nrc-words",
            where=str(path),
            allowed=f"lines of word, emotion ({', '.join(sorted(emotions))} …), 0 or 1, separated by tabs",
        )
    return words


def _weight(written: str) -> float:
    """A weight as the lexicon writes it; 0 for a heading."""
    try:
        return float(written)
    except ValueError:
        return 0.0
