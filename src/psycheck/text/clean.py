"""Clean a text by named steps: each takes a text and returns it cleaned, or None to drop it.

Steps that need a library are `encoding` (ftfy), `emoji` and `no-emoji` (emoji) and `english` (py3langid), all
in the extra "clean"; the others need nothing. Every step is idempotent.
"""

import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from psycheck.core.errors import library
from psycheck.text.edits import carry_case, straight
from psycheck.text.word_lists import patterns, read_toml

Step = Callable[[str], str | None]

_DATA: Final[dict[str, Any]] = read_toml("clean.toml")
PRESETS: Final[Mapping[str, tuple[str, ...]]] = {name: (*steps,) for name, steps in _DATA["presets"].items()}
_FORMS: Final = patterns(_DATA["patterns"])
_MOST_TURNS: Final = 10
_CLOSING: Final = frozenset(".,;:!?'\"”’)]}")
# English, and the two that a language identifier takes short English texts for.
_ENGLISH: Final = frozenset({"en", "sco", "pcm"})
_FEWEST_WORDS: Final = 5
_ENOUGH: Final = 2_000


def _any_of(words: Iterable[str]) -> str:
    """A pattern of some words, the longest first. A star after letters alone is any ending."""
    longest = sorted(words, key=len, reverse=True)
    return "|".join(
        re.escape(word[:-1]) + r"\w*" if re.fullmatch(r"[a-z]+\*", word) else re.escape(word)
        for word in longest
    )


_REMOVED: Final = re.compile(rf"\[\s*(?:{_any_of(_DATA['removed']['markers'])})\s*\]", re.I)
_CONTRACTIONS: Final = _any_of(_DATA["contractions"]).replace("'", "['’]")
_CONTRACTION: Final = re.compile(rf"(?<![\w@#'’/-])(?:{_CONTRACTIONS})(?![\w'’-])", re.I)
_CURSE: Final = re.compile(rf"(?<![\w@#*])(?:{_any_of(_DATA['curse_words']['words'])})(?![\w*])", re.I)
_EMOTICON_WORDS: Final = {
    mark: word.replace("_", " ") for word, marks in _DATA["emoticons"].items() for mark in marks
}
_EMOTICON: Final = re.compile(rf"(?<!\S)(?:{_any_of(_EMOTICON_WORDS)})(?=[\s.,!?]|$)")


def settle(text: str, steps: Sequence[Step]) -> tuple[str | None, set[int], int | None]:
    """Apply steps in order, again until nothing changes: the text, which steps changed it, which dropped it.

    One step can make work for an earlier one (closing up white space may form a marker), so one pass is not
    always enough. A step that leaves nothing drops the text.
    """
    changed: set[int] = set()
    for _ in range(_MOST_TURNS):
        before = text
        for k, step in enumerate(steps):
            after = step(text)
            if after is None or not after.strip():
                return None, changed, k
            if after != text:
                changed.add(k)
                text = after
        if text == before:
            break
    return text, changed, None


def clean(text: str, steps: Sequence[str]) -> str | None:
    """A text after some steps by name, or None if one of them drops it."""
    return settle(text, [STEPS[name] for name in steps])[0]


def unescape_html(text: str) -> str:
    """Replace HTML entities by their characters, also those that were escaped twice."""
    while "&" in text and (after := html.unescape(text)) != text:
        text = after
    return text


def drop_removed(text: str) -> str | None:
    """Drop a text that is only "[removed]" or the like; remove such a mark from any other (PsySym App. B)."""
    if "[" not in text:
        return text
    after = _REMOVED.sub("", text)
    return after if after.strip(" \t\r\n.*_>-") else None


def markdown_links(text: str) -> str:
    """Replace `[anchor](url)` by its anchor (PsySym App. B)."""
    while "](" in text and (after := _FORMS["markdown_link"].sub(r"\1", text)) != text:
        text = after
    return text


def drop_links(text: str) -> str:
    """Remove web addresses; of `[anchor](url)` the anchor stays."""
    if "://" not in text and "www." not in text.lower():
        return text
    anchored = _FORMS["markdown_link"].sub(lambda link: link[1] if link[2][0] in "hHwW" else link[0], text)
    return _FORMS["link"].sub(_after_address, anchored)


def straighten_apostrophes(text: str) -> str:
    """Write every apostrophe as '."""
    return _FORMS["apostrophe"].sub("'", text)


def expand_contractions(text: str) -> str:
    """Write contractions out: "don't" → "do not", "it's" → "it is", or "it has" before "been".

    "I'd've" is "I would have". Left alone are possessives, "ain't" (its verb depends on who) and "IM" (in
    notes: intramuscular).
    """
    text = _CONTRACTION.sub(_whole, text)
    return _FORMS["ended"].sub(_ended, text) if "'" in text or "’" in text else text


def emoji_to_words(text: str) -> str:
    """Replace emoji and emoticons by words: 😢 → "crying face", :( → "sad"."""

    def words(mark: str, data: dict[str, str]) -> str:
        return f" {data['en'].strip(':').replace('_', ' ').replace('-', ' ')} "

    text = _EMOTICON.sub(lambda found: _EMOTICON_WORDS[found[0]], text)
    if text.isascii():
        return text
    return str(library("emoji", "the step 'emoji'", "clean").replace_emoji(text, words))


def drop_emoji(text: str) -> str:
    """Remove emoji and emoticons."""
    text = _EMOTICON.sub("", text)
    if text.isascii():
        return text
    return str(library("emoji", "the step 'no-emoji'", "clean").replace_emoji(text, ""))


def split_hashtags(text: str) -> str:
    """Split hashtags into words: "#FeelingDown_again" → "Feeling Down again"."""
    if "#" not in text and "＃" not in text:
        return text
    return _FORMS["hashtag"].sub(lambda found: _FORMS["camel"].sub(" ", found[1]).strip() or found[1], text)


def drop_hashtags(text: str) -> str:
    """Remove hashtags."""
    return _FORMS["hashtag"].sub("", text)


def drop_users(text: str) -> str:
    """Remove user names of Twitter and Reddit, with the "RT" before them."""
    return _FORMS["user"].sub("", text) if "@" in text or "u/" in text.lower() else text


def drop_curse_words(text: str) -> str:
    """Remove curse words (DECK 4.2), by a small list of our own."""
    return _CURSE.sub("", text)


def fix_encoding(text: str) -> str:
    """Repair text that was decoded wrongly ("donâ€™t"), with ftfy; quotes and entities stay as they are."""
    if text.isascii() and text.isprintable():
        return text
    ftfy = library("ftfy", "the step 'encoding'", "clean")
    config = ftfy.TextFixerConfig(unescape_html=False, uncurl_quotes=False, explain=False)
    for _ in range(_MOST_TURNS):
        after: str = ftfy.fix_text(text, config)
        if after == text:
            break
        text = after
    return text


def close_spaces(text: str) -> str:
    """Leave one space between words, none at the ends."""
    return _FORMS["space"].sub(" ", text).strip()


def only_english(text: str) -> str | None:
    """Drop a text that is not English, as py3langid finds.

    Links, handles and hashtags do not count. A text of fewer than five words in Latin letters is kept: too
    little to tell, and dropping short English posts would be the worse mistake.
    """
    classify = library("py3langid", "the step 'english'", "clean").classify
    prose = _FORMS["noise"].sub(" ", text[:_ENOUGH])
    if len(_FORMS["word"].findall(prose)) < _FEWEST_WORDS and not _FORMS["not_latin"].search(prose):
        return text
    return text if classify(close_spaces(prose))[0] in _ENGLISH else None


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, in order, as PsySym splits them (App. B): with blingfire.

    White space inside a sentence becomes one space, there is none at its ends; no sentence is empty. NUL and
    lone surrogates are dropped.
    """
    split = library("blingfire", "splitting into sentences", "clean").text_to_sentences
    parts = (" ".join(_FORMS["half"].sub("", part).split()) for part in _FORMS["paragraph"].split(text))
    lines = (line.strip() for part in parts if part for line in split(part).split("\n"))
    return [line for line in lines if line]


STEPS: Final[Mapping[str, Step]] = {
    "html": unescape_html,
    "encoding": fix_encoding,
    "removed": drop_removed,
    "markdown-links": markdown_links,
    "links": drop_links,
    "users": drop_users,
    "hashtags": split_hashtags,
    "no-hashtags": drop_hashtags,
    "apostrophes": straighten_apostrophes,
    "contractions": expand_contractions,
    "emoji": emoji_to_words,
    "no-emoji": drop_emoji,
    "curse-words": drop_curse_words,
    "spaces": close_spaces,
    "english": only_english,
}


def _after_address(found: re.Match[str]) -> str:
    """What a removed address leaves: the marks and brackets at its end that are not part of it."""
    link = found[0]
    end, open_brackets = len(link), link.count("(") - link.count(")")
    while end and link[end - 1] in _CLOSING and not (link[end - 1] == ")" and open_brackets >= 0):
        end -= 1
        open_brackets += link[end] == ")"
    return link[end:] if end > len(found[1]) else link


def _whole(found: re.Match[str]) -> str:
    word = found[0]
    if len(word) <= 3 and word.isalpha() and word.isupper():
        return word
    return carry_case(word, _DATA["contractions"][straight(word.lower())])


def _ended(found: re.Match[str]) -> str:
    word, ending = found[1].lower(), straight(found[2].lower())
    have = "" if found[3] is None else " HAVE" if found[3].isupper() else " have"
    if have and ending not in ("n't", "'d", "'ll"):
        return found[0]
    match ending:
        case "n't" if word == "ai":
            return found[0]
        case "'s" if word in _DATA["ambiguous"]["s_after"]:
            verb = "has" if _follows(found, "has_before") else "is"
        case "'d" if word in _DATA["ambiguous"]["d_after"]:
            verb = "had" if not have and _follows(found, "had_before") else "would"
        case "'s" | "'d":
            return found[0]
        case _:
            verb = _DATA["endings"][ending]
    return f"{found[1]} {verb.upper() if found[2].isupper() else verb}{have}"


def _follows(found: re.Match[str], which: str) -> bool:
    """Whether one of some words comes next."""
    rest = found.string[found.end() : found.end() + 20].lower()
    return any(re.match(rf"\s+{word}\b", rest) for word in _DATA["ambiguous"][which])
