"""Noise as people type it: slips, case, drawn-out words, hashtags. None of it changes the meaning.

Where only some words change, the text itself seeds the choice: the same text always gives the same noise,
in any order of a corpus. Web addresses, handles and hashtags are left alone.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import Final, Literal
from zlib import crc32

from psycheck.text.edits import Change, Edit, Edited, address_spans, append, apply, replace_words
from psycheck.text.word_lists import read_toml

Noise = Literal[
    "typos",
    "lower",
    "upper",
    "emoji",
    "elongation",
    "hashtags",
    "punctuation",
    "spaces",
    "abbreviations",
]

_DATA: Final = read_toml("noise.toml")
_EMOJI: Final[tuple[str, ...]] = tuple(_DATA["emoji"]["neutral"].split())
_TOKEN: Final = re.compile(r"\S+")
# A whole word of at least four letters; no part of a handle, hashtag, contraction or hyphenated word.
_WORD: Final = re.compile(r"(?<![\w@#'’-])[^\W\d_]{4,}(?![\w'’-]|[@/]\w)")
_SPACE: Final = re.compile(r"(?<=\S) (?=\S)")
# A mirrored face opens with the first of its brackets, so that a long row of brackets is read once.
_EMOTICON: Final = re.compile(r"[:;=]['’^o-]?[()\[\]DPpOo/\\|*3]+|(?<![()\[\]])[()\[\]]+['’^o-]?[:;=]|<3+")
# Marks at the edge of a word, or alone; those between letters or digits (3.5, 10:30) belong to it.
_MARKS: Final = re.compile(r"(?<!\w)[.,;:!?…\"“”()\[\]–—]+|[.,;:!?…\"“”()\[\]–—]+(?!\w)")
_TYPOS, _HASHTAGS, _SPACES = 6, 5, 3  # one in N places changes


def noise(name: Noise) -> Edit:
    """The edit of that name.

    typos: adjacent letters swapped, or one dropped, in about a sixth of the words of four letters or more;
    lower, upper: the case of all letters; emoji: one of a neutral thing at the end; elongation: "soooo";
    hashtags: a # before about a fifth of those words; punctuation: dropped, emoticons stay; spaces: about a
    third doubled; abbreviations: "u", "ur", "bc".
    """
    return _edit(name)


@cache
def _edit(name: Noise) -> Edit:
    match name:
        case "typos":
            return _changing(_typos)
        case "lower":
            return _changing(lambda text: _tokens(text, str.lower))
        case "upper":
            return _changing(lambda text: _tokens(text, str.upper))
        case "emoji":
            return lambda text: append(_EMOJI[_seed(text) % len(_EMOJI)])(text)
        case "elongation":
            return replace_words(_DATA["elongated"])
        case "hashtags":
            return _changing(_hashtags)
        case "punctuation":
            return _changing(lambda text: _tokens(text, _unmarked))
        case "spaces":
            return _changing(_spaces)
        case "abbreviations":
            return replace_words(_DATA["abbreviated"])


def _changing(changes: Callable[[str], Iterator[Change]]) -> Edit:
    def edit(text: str) -> Edited:
        return apply(text, list(changes(text)))

    return edit


def _typos(text: str) -> Iterator[Change]:
    for found, drawn in _some(text, _WORD, _TYPOS):
        yield found.start(), found.end(), _slip(found[0], drawn)


def _slip(word: str, drawn: int) -> str:
    """Swap two neighbouring letters, or drop one; the first and the last letter stay."""
    at = 1 + drawn % (len(word) - 2)
    if drawn // 64 % 2 and at < len(word) - 2 and word[at] != word[at + 1]:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return word[:at] + word[at + 1 :]


def _hashtags(text: str) -> Iterator[Change]:
    for found, _ in _some(text, _WORD, _HASHTAGS):
        yield found.start(), found.end(), f"#{found[0]}"


def _spaces(text: str) -> Iterator[Change]:
    for found, _ in _some(text, _SPACE, _SPACES):
        yield found.start(), found.end(), "  "


def _tokens(text: str, rewrite: Callable[[str], str]) -> Iterator[Change]:
    for found in _outside(text, _TOKEN):
        if (new := rewrite(found[0])) != found[0]:
            yield *found.span(), new


def _unmarked(token: str) -> str:
    """The token without its marks; an emoticon at its end stays."""
    core = token.rstrip(".,!?…")
    face = next((found for found in _EMOTICON.finditer(core) if found.end() == len(core)), None)
    # "this):" ends a bracket, "fun:)" is a face.
    if face is None or (core[: face.start()][-1:].isalnum() and face[0][0] not in ":;=<"):
        return _MARKS.sub("", token)
    return _MARKS.sub("", core[: face.start()]) + face[0]


def _some(text: str, pattern: re.Pattern[str], one_in: int) -> Iterator[tuple[re.Match[str], int]]:
    """About one in `one_in` matches, at least one, with a random number for each."""
    draws = Random(_seed(text))
    found = [(match, int(draws.random() * 2**32)) for match in _outside(text, pattern)]
    some = [(match, drawn // one_in) for match, drawn in found if drawn % one_in == 0]
    if found and not some:
        match, drawn = min(found, key=lambda pair: pair[1])
        some = [(match, drawn // one_in)]
    yield from some


def _outside(text: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """The matches of a pattern outside web addresses."""
    start = 0
    for begin, end in address_spans(text):
        yield from pattern.finditer(text, start, begin)
        start = end
    yield from pattern.finditer(text, start)


def _seed(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))
