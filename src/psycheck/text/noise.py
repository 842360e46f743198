"""Noise as people type it: slips, case, drawn-out words, hashtags. None of it changes the meaning.

Where only some words change, the text itself seeds the choice: the same text always gives the same noise,
in any order of a corpus. Web addresses, handles and hashtags are left alone.
"""

import re
from collections.abc import Callable, Iterator
from operator import itemgetter
from random import Random
from typing import Final, Literal
from zlib import crc32

from psycheck.text.edits import Change, Edit, Edited, address_spans, append, apply, replace_words
from psycheck.text.word_lists import patterns, read_toml

Noise = Literal[
    "typos", "lower", "upper", "emoji", "elongation", "hashtags", "punctuation", "spaces", "abbreviations"
]

_DATA: Final = read_toml("noise.toml")
_EMOJI: Final[tuple[str, ...]] = tuple(_DATA["emoji"]["neutral"].split())
_FORMS: Final = patterns(_DATA["patterns"])


def noise(name: Noise) -> Edit:
    """The edit of that name.

    typos: adjacent letters swapped, or one dropped, in about a sixth of the words of four letters or more;
    lower, upper: the case of all letters; emoji: one of a neutral thing at the end; elongation: "soooo";
    hashtags: a # before about a fifth of those words; punctuation: dropped, emoticons stay; spaces: about a
    third doubled; abbreviations: "u", "ur", "bc".
    """
    return _EDITS[name]


def _slip(word: str, drawn: int) -> str:
    """Swap two neighbouring letters, or drop one; the first and the last letter stay."""
    at = 1 + drawn % (len(word) - 2)
    swaps = drawn // 64 % 2 == 1
    # Two equal letters swapped would change nothing.
    if swaps and at < len(word) - 2 and word[at] != word[at + 1]:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return word[:at] + word[at + 1 :]


def _unmarked(token: str) -> str:
    """The token without its marks; an emoticon at its end stays."""
    core = token.rstrip(".,!?…")
    faces = [match for match in _FORMS["emoticon"].finditer(core) if match.end() == len(core)]
    if not faces:
        return _FORMS["marks"].sub("", token)
    face = faces[0]
    before = core[: face.start()]
    # "this):" ends a bracket, "fun:)" is a face.
    if before[-1:].isalnum() and face[0][0] not in ":;=<":
        return _FORMS["marks"].sub("", token)
    return _FORMS["marks"].sub("", before) + face[0]


def _all(rewrite: Callable[[str], str]) -> Edit:
    """Rewrite every token."""

    def edit(text: str) -> Edited:
        changes: list[Change] = []
        for match in _outside(text, _FORMS["token"]):
            new = rewrite(match[0])
            if new != match[0]:
                changes.append((match.start(), match.end(), new))
        return apply(text, changes)

    return edit


def _some(pattern: re.Pattern[str], one_in: int, rewrite: Callable[[str, int], str]) -> Edit:
    """Rewrite about one in `one_in` matches, at least one, with a random number for each."""

    def edit(text: str) -> Edited:
        draws = Random(_seed(text))
        drawn = [(match, int(draws.random() * 2**32)) for match in _outside(text, pattern)]
        chosen = [(match, number) for match, number in drawn if number % one_in == 0]
        # A short text may have drawn none: noise that changes nothing would test nothing.
        if drawn and not chosen:
            chosen = [min(drawn, key=itemgetter(1))]
        changes: list[Change] = []
        for match, number in chosen:
            changes.append((match.start(), match.end(), rewrite(match[0], number // one_in)))
        return apply(text, changes)

    return edit


def _outside(text: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """The matches of a pattern outside web addresses."""
    start = 0
    for begin, end in address_spans(text):
        yield from pattern.finditer(text, start, begin)
        start = end
    yield from pattern.finditer(text, start)


def _seed(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))


_EDITS: Final[dict[Noise, Edit]] = {
    "typos": _some(_FORMS["word"], 6, _slip),
    "lower": _all(str.lower),
    "upper": _all(str.upper),
    "emoji": lambda text: append(_EMOJI[_seed(text) % len(_EMOJI)])(text),
    "elongation": replace_words(_DATA["elongated"]),
    "hashtags": _some(_FORMS["word"], 5, lambda word, _: f"#{word}"),
    "punctuation": _all(_unmarked),
    "spaces": _some(_FORMS["space"], 3, lambda *_: "  "),
    "abbreviations": replace_words(_DATA["abbreviated"]),
}
