"""The gendered words of a text in order, and which of them belong together."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from psycheck.text.edits import Span, address_spans, inside, straight
from psycheck.text.gender.entries import DATA, Entry, entries_of
from psycheck.text.gender.names import is_name, is_title
from psycheck.text.gender.scope import Scope
from psycheck.text.gender.sex_letters import PATTERNS, sex_letters
from psycheck.text.redact.lists import any_of, compiled


class GenderedWord(NamedTuple):
    """A gendered word at `text[start:end]`; `ending` is the rest of its contraction, as written.

    `written` is the word as written, but in lower case for F and M, whose neutral word has no capital.
    """

    start: int
    end: int
    written: str
    word: str
    ending: str
    entry: Entry


_BESIDE: Final = {name: any_of(words.split()) for name, words in DATA["beside"].items()}
_FORMS: Final = compiled(PATTERNS["nouns"], _BESIDE)
_SEX: Final = {
    "f": Entry(
        gender="female",
        kind="noun",
        partner="m",
        neutral="person",
        group="sex",
    ),
    "m": Entry(
        gender="male",
        kind="noun",
        partner="f",
        neutral="person",
        group="sex",
    ),
}
_PRONOUN_KINDS: Final = ("subject", "reflexive", "decide", "pair")


def gendered(text: str, scope: Scope) -> list[GenderedWord]:
    """The gendered words of a text in order, with "they" and "s/he", which belong to pairs and labels."""
    pattern, entries = entries_of(scope.nouns, scope.titles, scope.names)
    letters = list(sex_letters(text)) if scope.nouns else []
    first = pattern.search(text)
    if first is None and not letters:
        return []

    # What stands in an address or in an HTML tag is not a word of the text.
    spans_without_words = [address_spans(text), _tag_spans(text)]
    no_words = [spans for spans in spans_without_words if spans]
    words: list[GenderedWord] = []
    for start, end in letters:
        if not _is_inside_any(no_words, start):
            words.append(_sex_letter(text, start, end))

    matches = pattern.finditer(text, first.start()) if first else ()
    for match in matches:
        if no_words and _is_inside_any(no_words, match.start()):
            continue
        word = _gendered_word(match, entries)
        if word:
            words.append(word)
    return sorted(words)


def _is_inside_any(several: Sequence[Sequence[Span]], at: int) -> bool:
    """True if a position lies in a span of any of several lists."""
    return any(inside(spans, at) for spans in several)


def _sex_letter(text: str, start: int, end: int) -> GenderedWord:
    """F or M for the sex, with a joined letter for the race: "WF"."""
    letters = text[start:end].lower()
    # The last letter is the sex; what stands before it goes with its partner: "WF" and "WM".
    entry = _SEX[letters[-1]]
    entry = entry._replace(partner=letters[:-1] + entry.partner)
    return GenderedWord(
        start=start,
        end=end,
        written=letters,
        word=letters,
        ending="",
        entry=entry,
    )


def _gendered_word(match: re.Match[str], entries: dict[str, Entry]) -> GenderedWord | None:
    """The gendered word at a match; None if it is another word there."""
    text = match.string
    start = match.start()
    end = match.end(1)
    written = text[start:end]
    word = straight(written)
    entry = entries.get(word) or entries[word.lower()]
    ending = match[2] or ""
    if entry.kind == "title" and not is_title(text, start, end):
        return None
    if entry.kind == "name" and not is_name(text, start, end):
        return None
    if entry.kind == "noun":
        if _another_word(text, start, end):
            return None
        # "boys'" is one word with its apostrophe, so that it can be "children's".
        if _owns(text, start, end, ending, entry.partner):
            entry = _owning(entry, mark=text[end])
            end += max(1, len(ending))
            written = text[start:end]
            word = straight(written)
            ending = ""
    return GenderedWord(
        start=start,
        end=end,
        written=written,
        word=word.lower(),
        ending=ending,
        entry=entry,
    )


def _another_word(text: str, start: int, end: int) -> bool:
    """True if a noun is a call or another word here: "oh man", "you guys", "keep mum", "gf bread"."""
    # The pattern knows the start of a text by a line break, and the noun by the mark before it.
    before = text[start - 24 : start] if start >= 24 else "\n" + text[:start]
    noun_and_after = text[start : end + 16]
    marked = f"{before}‸{noun_and_after}"
    return _FORMS["another_word"].search(marked) is not None


def _tag_spans(text: str) -> Sequence[Span]:
    """The spans of HTML tags: a name alone, or with attributes; "<he said so>" is not a tag."""
    if "<" not in text:
        return ()
    spans = []
    for tag in _FORMS["tag"].finditer(text):
        # The last three characters may be " />".
        is_name_alone = " " not in tag[0][:-3]
        if is_name_alone or "=" in tag[0]:
            spans.append(tag.span())
    return spans


def _owns(
    text: str,
    start: int,
    end: int,
    ending: str,
    partner: str,
) -> bool:
    """True if the possessive of a noun may be written otherwise for its partner: "ladies'", "gentlemen's"."""
    if not ending:
        return owns_by_mark(text, start, end)
    has_s = straight(ending).lower() == "'s"
    # "women's", "gentlemen's", "children's"
    is_irregular_plural = text[end - 1] in "nN"
    return has_s and is_irregular_plural and partner.endswith("s")


def owns_by_mark(text: str, start: int, end: int) -> bool:
    """True if a word in -s is a possessive by an apostrophe alone: "boys' room", "James' mother"."""
    ends_in_s = text[end - 1] in "sS"
    if not ends_in_s or not _FORMS["owns"].match(text, end):
        return False
    # The apostrophe may close a quotation: 'I saw the boys'.
    window_start = max(0, start - 200)
    return not _FORMS["quote"].search(text, window_start, start + 1)


def _owning(entry: Entry, mark: str) -> Entry:
    """A noun's entry in the possessive: "boys'" is "girls'" and "children's"."""
    return entry._replace(
        partner=_possessive(entry.partner, mark),
        neutral=_possessive(entry.neutral, mark),
    )


def _possessive(word: str, mark: str) -> str:
    """The possessive of a word with this apostrophe; "" for no word."""
    if not word:
        return ""
    if word.endswith("s"):
        return word + mark
    return f"{word}{mark}s"


def in_scope(word: GenderedWord, scope: Scope) -> bool:
    """True if an edit with this scope replaces such words."""
    match word.entry.kind:
        case "noun":
            return scope.nouns
        case "title" | "address":
            return scope.titles
        case "name":
            return scope.names
        case _:
            return True


def plain_case(word: str) -> bool:
    """True if a word is in lower case, with a Capital or in CAPITALS, so that its partner can be, too."""
    if word.islower() or word.isupper():
        return True
    return word[0].isupper() and word[1:].islower()


def runs(text: str, words: list[GenderedWord]) -> list[list[int]]:
    """The words that a slash or "or" joins, by their places in `words`: "he/she", "his or her", "she/her"."""
    # A glance at the marks that join words spares most texts the rest; ")" is that of "(s)he".
    if not any(mark in text for mark in ("/", ")")) and " or" not in text.lower():
        return []

    all_runs: list[list[int]] = []
    last: GenderedWord | None = None
    for at, word in enumerate(words):
        if last and _are_joined(last, word, text[last.end : word.start]):
            all_runs[-1].append(at)
        else:
            all_runs.append([at])
        last = word

    # "s/he" is a pair in one word.
    return [run for run in all_runs if len(run) > 1 or words[run[0]].entry.gender == "both"]


def _are_joined(left: GenderedWord, right: GenderedWord, between: str) -> bool:
    """True if a slash or "or" joins two words that name alternatives."""
    if left.entry.kind == "title":
        between = between.removeprefix(".")
    by_slash = len(between) <= 3 and between.strip(" ") == "/"
    if not by_slash and not _is_or(between):
        return False
    if left.entry.kind not in _PRONOUN_KINDS:
        return right.word in (left.word, left.entry.partner.lower())
    if by_slash:
        return right.entry.kind in _PRONOUN_KINDS
    return left.entry.group == right.entry.group


def _is_or(between: str) -> bool:
    has_spaces = between[:1].isspace() and between[-1:].isspace()
    return has_spaces and between.lower().split() == ["or"]


def paired(text: str, words: list[GenderedWord]) -> set[int]:
    """The places in `words` of those that are part of a pair of both genders, as "he/she"."""
    places: set[int] = set()
    for run in runs(text, words):
        if mixed([words[at] for at in run]):
            places.update(run)
    return places


def mixed(words: list[GenderedWord]) -> bool:
    """True if joined words name both genders."""
    genders = {word.entry.gender for word in words}
    return "both" in genders or genders >= {"female", "male"}
