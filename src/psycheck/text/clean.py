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
    """A pattern of any of the words. A star after letters alone is any ending."""
    branches = []
    # The longest first, because a pattern takes the first alternative that fits.
    for word in sorted(words, key=len, reverse=True):
        if re.fullmatch(r"[a-z]+\*", word):
            branches.append(re.escape(word[:-1]) + r"\w*")
        else:
            branches.append(re.escape(word))
    return "|".join(branches)


def _emoticon_words() -> dict[str, str]:
    """The word for each emoticon: "crying face" for ":'("."""
    words = {}
    for word, marks in _DATA["emoticons"].items():
        for mark in marks:
            words[mark] = word.replace("_", " ")
    return words


_MARKERS: Final = _any_of(_DATA["removed"]["markers"])
_REMOVED: Final = re.compile(rf"\[\s*(?:{_MARKERS})\s*\]", re.I)
_CONTRACTIONS: Final = _any_of(_DATA["contractions"]).replace("'", "['’]")
_CONTRACTION: Final = re.compile(rf"(?<![\w@#'’/-])(?:{_CONTRACTIONS})(?![\w'’-])", re.I)
_CURSE_WORDS: Final = _any_of(_DATA["curse_words"]["words"])
_CURSE: Final = re.compile(rf"(?<![\w@#*])(?:{_CURSE_WORDS})(?![\w*])", re.I)
_EMOTICON_WORDS: Final = _emoticon_words()
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
    cleaned, _, _ = settle(text, [STEPS[name] for name in steps])
    return cleaned


def unescape_html(text: str) -> str:
    """Replace HTML entities by their characters, also those that were escaped twice."""
    while "&" in text:
        unescaped = html.unescape(text)
        if unescaped == text:
            break
        text = unescaped
    return text


def drop_removed(text: str) -> str | None:
    """Drop a text that is only "[removed]" or the like; remove such a mark from any other (PsySym App. B)."""
    if "[" not in text:
        return text
    without_marks = _REMOVED.sub("", text)
    has_content = without_marks.strip(" \t\r\n.*_>-") != ""
    return without_marks if has_content else None


def markdown_links(text: str) -> str:
    """Replace `[anchor](url)` by its anchor (PsySym App. B)."""
    # Again until nothing changes, for links within links.
    while "](" in text:
        without_links = _FORMS["markdown_link"].sub(r"\1", text)
        if without_links == text:
            break
        text = without_links
    return text


def drop_links(text: str) -> str:
    """Remove web addresses; of `[anchor](url)` the anchor stays."""
    if "://" not in text and "www." not in text.lower():
        return text
    anchored = _FORMS["markdown_link"].sub(_anchor_of_address, text)
    return _FORMS["link"].sub(_after_address, anchored)


def straighten_apostrophes(text: str) -> str:
    """Write every apostrophe as '."""
    return _FORMS["apostrophe"].sub("'", text)


def expand_contractions(text: str) -> str:
    """Write contractions out: "don't" → "do not", "it's" → "it is", or "it has" before "been".

    "I'd've" is "I would have". Left alone are possessives, "ain't" (its verb depends on who) and "IM" (in
    notes: intramuscular).
    """
    text = _CONTRACTION.sub(_listed_contraction, text)
    if "'" not in text and "’" not in text:
        return text
    return _FORMS["ended"].sub(_expanded_ending, text)


def emoji_to_words(text: str) -> str:
    """Replace emoji and emoticons by words: 😢 → "crying face", :( → "sad"."""

    def words(_: str, data: dict[str, str]) -> str:
        name = data["en"].strip(":")
        plain_name = name.replace("_", " ").replace("-", " ")
        return f" {plain_name} "

    text = _EMOTICON.sub(lambda emoticon: _EMOTICON_WORDS[emoticon[0]], text)
    if text.isascii():
        return text
    emoji = library("emoji", "the step 'emoji'", "clean")
    return str(emoji.replace_emoji(text, words))


def drop_emoji(text: str) -> str:
    """Remove emoji and emoticons."""
    text = _EMOTICON.sub("", text)
    # No emoji is ASCII: most texts do not need the library.
    if text.isascii():
        return text
    emoji = library("emoji", "the step 'no-emoji'", "clean")
    return str(emoji.replace_emoji(text, ""))


def split_hashtags(text: str) -> str:
    """Split hashtags into words: "#FeelingDown_again" → "Feeling Down again"."""
    if "#" not in text and "＃" not in text:
        return text
    return _FORMS["hashtag"].sub(_words_of_hashtag, text)


def drop_hashtags(text: str) -> str:
    """Remove hashtags."""
    return _FORMS["hashtag"].sub("", text)


def drop_users(text: str) -> str:
    """Remove user names of Twitter and Reddit, with the "RT" before them."""
    if "@" not in text and "u/" not in text.lower():
        return text
    return _FORMS["user"].sub("", text)


def drop_curse_words(text: str) -> str:
    """Remove curse words (DECK 4.2), by a small list of our own."""
    return _CURSE.sub("", text)


def fix_encoding(text: str) -> str:
    """Repair text that was decoded wrongly ("donâ€™t"), with ftfy; quotes and entities stay as they are."""
    # What was decoded wrongly has letters beyond ASCII, or control characters.
    if text.isascii() and text.isprintable():
        return text
    ftfy = library("ftfy", "the step 'encoding'", "clean")
    config = ftfy.TextFixerConfig(
        unescape_html=False,
        uncurl_quotes=False,
        explain=False,
    )
    # One repair can make work for another; every step is idempotent.
    for _ in range(_MOST_TURNS):
        repaired: str = ftfy.fix_text(text, config)
        if repaired == text:
            break
        text = repaired
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
    words = _FORMS["word"].findall(prose)
    is_latin = _FORMS["not_latin"].search(prose) is None
    if is_latin and len(words) < _FEWEST_WORDS:
        return text

    language, _ = classify(close_spaces(prose))
    return text if language in _ENGLISH else None


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, in order, as PsySym splits them (App. B): with blingfire.

    White space inside a sentence becomes one space, there is none at its ends; no sentence is empty. NUL and
    lone surrogates are dropped.
    """
    split = library("blingfire", "splitting into sentences", "clean").text_to_sentences
    sentences: list[str] = []
    for paragraph in _FORMS["paragraph"].split(text):
        readable = _FORMS["half"].sub("", paragraph)
        on_one_line = " ".join(readable.split())
        if not on_one_line:
            continue

        # blingfire returns the sentences as lines of one string.
        lines = [line.strip() for line in split(on_one_line).split("\n")]
        sentences += [line for line in lines if line]
    return sentences


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


def _anchor_of_address(link: re.Match[str]) -> str:
    """The anchor of a Markdown link to a web address; another link, as in "[1](2)", stays."""
    anchor, target = link.groups()
    is_address = target[0] in "hHwW"
    return anchor if is_address else link[0]


def _words_of_hashtag(hashtag: re.Match[str]) -> str:
    """The words of a hashtag; where splitting leaves none, its name as it is written."""
    name = hashtag[1]
    words = _FORMS["camel"].sub(" ", name).strip()
    return words or name


def _after_address(match: re.Match[str]) -> str:
    """What a removed address leaves: the marks and brackets at its end that are not part of it."""
    link = match[0]
    scheme = match[1]
    end = len(link)
    open_brackets = link.count("(") - link.count(")")
    while end and link[end - 1] in _CLOSING:
        # A bracket that opened within the address belongs to it: "…/Sadness_(album)".
        closes_own_bracket = link[end - 1] == ")" and open_brackets >= 0
        if closes_own_bracket:
            break
        end -= 1
        open_brackets += link[end] == ")"
    return link[end:] if end > len(scheme) else link


def _listed_contraction(match: re.Match[str]) -> str:
    """A contraction of the list written out; short words in capitals, such as "IM", stay."""
    word = match[0]
    is_abbreviation = len(word) <= 3 and word.isalpha() and word.isupper()
    if is_abbreviation:
        return word
    return carry_case(word, _DATA["contractions"][straight(word.lower())])


def _expanded_ending(match: re.Match[str]) -> str:
    """A word and its ending written out: "she would have" for "she'd've"; unchanged where it is ambiguous."""
    written, written_ending, written_have = match.groups()
    ending = straight(written_ending.lower())
    if written_have and ending not in ("n't", "'d", "'ll"):
        return match[0]
    verb = _verb_of_ending(match, written.lower(), ending, before_have=bool(written_have))
    if not verb:
        return match[0]

    if written_ending.isupper():
        verb = verb.upper()
    if not written_have:
        return f"{written} {verb}"
    have = "HAVE" if written_have.isupper() else "have"
    return f"{written} {verb} {have}"


def _verb_of_ending(
    match: re.Match[str],
    word: str,
    ending: str,
    *,
    before_have: bool,
) -> str:
    """The verb that an ending stands for; "" for a possessive, for "ain't" and where nobody can say."""
    if ending == "n't" and word == "ai":
        return ""
    if ending == "'s":
        if word not in _DATA["ambiguous"]["s_after"]:
            return ""
        if _is_followed_by(match, "has_before"):
            return "has"
        return "is"
    if ending == "'d":
        if word not in _DATA["ambiguous"]["d_after"]:
            return ""
        is_had = not before_have and _is_followed_by(match, "had_before")
        return "had" if is_had else "would"
    verb: str = _DATA["endings"][ending]
    return verb


def _is_followed_by(match: re.Match[str], words: str) -> bool:
    """Whether one of a list of words of clean.toml comes next."""
    end = match.end()
    following = match.string[end : end + 20].lower()
    return any(re.match(rf"\s+{word}\b", following) for word in _DATA["ambiguous"][words])
