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
# About one in so many words, or spaces, is changed.
_ONE_IN: Final = {"typos": 6, "hashtags": 5, "spaces": 3}


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
    inner_letters = len(word) - 2
    at = 1 + drawn % inner_letters
    head = word[:at]
    tail = word[at + 1 :]

    swaps = drawn // 64 % 2 == 1
    next_is_inner = at < inner_letters
    # Two equal letters swapped would change nothing.
    if swaps and next_is_inner and word[at] != tail[0]:
        return head + tail[0] + word[at] + tail[1:]
    return head + tail


def _unmarked(token: str) -> str:
    """The token without its marks; an emoticon at its end stays."""
    core = token.rstrip(".,!?…")
    face = _face_at_end(core)
    if face:
        before = core.removesuffix(face)
        return _FORMS["marks"].sub("", before) + face
    return _FORMS["marks"].sub("", token)


def _face_at_end(token: str) -> str:
    """The emoticon at the end of a token; "" if there is none."""
    for match in _FORMS["emoticon"].finditer(token):
        if match.end() < len(token):
            continue
        face = match[0]
        before = token[: match.start()]
        # "this):" ends a bracket, "fun:)" is a face.
        closes_bracket = before[-1:].isalnum() and face[0] not in ":;=<"
        return "" if closes_bracket else face
    return ""


def _all(rewrite: Callable[[str], str]) -> Edit:
    """Rewrite every token."""

    def edit(text: str) -> Edited:
        changes: list[Change] = []
        for match in _outside_addresses(text, _FORMS["token"]):
            token = match[0]
            new = rewrite(token)
            if new != token:
                changes.append((*match.span(), new))
        return apply(text, changes)

    return edit


def _a_share(pattern: re.Pattern[str], one_in: int, rewrite: Callable[[str, int], str]) -> Edit:
    """Rewrite about one in `one_in` matches, at least one, with a random number for each."""

    def edit(text: str) -> Edited:
        draws = Random(_seed(text))
        drawn = []
        for match in _outside_addresses(text, pattern):
            number = int(draws.random() * 2**32)
            drawn.append((match, number))

        chosen = [(match, number) for match, number in drawn if number % one_in == 0]
        # A short text may have drawn none: noise that changes nothing would test nothing.
        if drawn and not chosen:
            chosen = [min(drawn, key=itemgetter(1))]

        changes: list[Change] = []
        for match, number in chosen:
            # The remainder chose the match; what is left of the number is free for the rewriting.
            new = rewrite(match[0], number // one_in)
            changes.append((*match.span(), new))
        return apply(text, changes)

    return edit


def _outside_addresses(text: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """The matches of a pattern outside web addresses."""
    start = 0
    for begin, end in address_spans(text):
        yield from pattern.finditer(text, start, begin)
        start = end
    yield from pattern.finditer(text, start)


def _seed(text: str) -> int:
    """A number that only the text determines, the same in every run."""
    content = text.encode("utf-8", "surrogatepass")
    return crc32(content)


def _with_emoji(text: str) -> Edited:
    emoji = _EMOJI[_seed(text) % len(_EMOJI)]
    return append(emoji)(text)


def _as_hashtag(word: str, _: int) -> str:
    return f"#{word}"


def _doubled_space(_: str, __: int) -> str:
    return "  "


_EDITS: Final[dict[Noise, Edit]] = {
    "typos": _a_share(_FORMS["word"], _ONE_IN["typos"], _slip),
    "lower": _all(str.lower),
    "upper": _all(str.upper),
    "emoji": _with_emoji,
    "elongation": replace_words(_DATA["elongated"]),
    "hashtags": _a_share(_FORMS["word"], _ONE_IN["hashtags"], _as_hashtag),
    "punctuation": _all(_unmarked),
    "spaces": _a_share(_FORMS["space"], _ONE_IN["spaces"], _doubled_space),
    "abbreviations": replace_words(_DATA["abbreviated"]),
}
