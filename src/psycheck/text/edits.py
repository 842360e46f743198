"""What an edit of a text is and returns, and the two simplest edits."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Final, NamedTuple

Span = tuple[int, int]
Change = tuple[int, int, str]


class Edited(NamedTuple):
    """A text after an edit.

    `spans` are the places in `text` that changed; none means that the text is unchanged.
    `undecided` counts the words that were left alone because their role could not be decided.
    """

    text: str
    spans: tuple[Span, ...]
    undecided: int = 0


Edit = Callable[[str], Edited]

_ADDRESS: Final = re.compile(r"(?:https?://|www\.)\S+")


def append(sentence: str) -> Edit:
    """Add a sentence after one space; trailing white space of the text is dropped."""

    def edit(text: str) -> Edited:
        stripped = text.rstrip()
        if not stripped:
            return Edited(sentence, ((0, len(sentence)),))
        start = len(stripped) + 1
        return Edited(f"{stripped} {sentence}", ((start, start + len(sentence)),))

    return edit


def prepend(sentence: str) -> Edit:
    """Add a sentence and one space before the text."""
    return lambda text: Edited(f"{sentence} {text.lstrip()}".rstrip(), ((0, len(sentence)),))


def append_to_all(stripped: Iterable[str], sentence: str) -> list[str]:
    """What `append` makes of texts that end without white space, without the spans: these are at the end."""
    tail = f" {sentence}"
    return [text + tail if text else sentence for text in stripped]


def replace_words(words: Mapping[str, str]) -> Edit:
    """Replace whole words in any case, and keep that case.

    Contractions keep their ending (he's → she's, with the same apostrophe). Words that are
    part of another (@he, #he, he-man, addresses) stay, and so do words that a slash joins to another, or "or"
    to their own replacement: "s/he", "he/she" and "he or she" already name both.
    """
    table = {straight(word.lower()): new for word, new in words.items() if word}
    if not table:
        return lambda text: Edited(text, ())
    pattern = word_pattern(table)
    both_named = _either_or(table)

    def edit(text: str) -> Edited:
        first = pattern.search(text)
        if first is None:
            return Edited(text, ())
        changes: list[Change] = []
        untouched = list(address_spans(text))
        if " or " in text:
            untouched += [match.span() for match in both_named.finditer(text)]
            untouched.sort()
        for match in pattern.finditer(text, first.start()):
            start, end = match.span()
            word = match[0]
            new = table.get(straight(word.lower()))
            if new is not None and not (untouched and inside(untouched, start)):
                changes.append((start, end, carry_style(word, new)))
        return apply(text, changes)

    return edit


def _either_or(table: Mapping[str, str]) -> re.Pattern[str]:
    """Match a word and its replacement that "or" joins, in either order: "he or she"."""
    branches = []
    for word, new in table.items():
        left = re.escape(word)
        right = re.escape(new)
        branches.append(rf"(?<!\w)(?:{left}\s+or\s+{right}|{right}\s+or\s+{left})(?!\w)")
    return re.compile("|".join(branches), re.I)


def word_pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Match any of some lower-case words as a whole word, in any case.

    The pattern opens with the set of first letters, which a search skips to quickly, and looks behind after
    it. That makes a search through a text without such a word twice as fast as a word boundary at its head.
    """
    rest: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        rest.setdefault(word[0], []).append(re.escape(word[1:]).replace("'", "['’]"))
    first = "".join(re.escape(c) for letter in sorted(rest) for c in dict.fromkeys((letter, letter.upper())))
    branches = "|".join(
        f"(?<=[{re.escape(letter)}{re.escape(letter.upper())}])(?i:{'|'.join(ends)})"
        for letter, ends in sorted(rest.items())
    )
    return re.compile(rf"[{first}](?<![\w@#/\\)].)(?<!\w['’-].)(?<!/\s.)(?:{branches})(?!\w|-\w|\s?/)")


def carry_case(word: str, new: str) -> str:
    """Write `new` in the case of `word`: lower, Capital or CAPITALS."""
    if word.isupper() and len(word) > 1:
        return new.upper()
    return capitalised(new) if word[:1].isupper() and word != "I" else new


def carry_style(word: str, new: str) -> str:
    """Write `new` in the case of `word` and with its apostrophe, straight or curly."""
    return carry_case(word, new.replace("'", "’") if "’" in word else new)


def capitalised(word: str) -> str:
    """The word with a capital first letter and the others as they are."""
    return word[:1].upper() + word[1:]


def address_spans(text: str) -> Sequence[Span]:
    """The spans of web addresses, whose parts are not words."""
    if "://" not in text and "www." not in text:
        return ()
    return [match.span() for match in _ADDRESS.finditer(text)]


def inside(spans: Sequence[Span], at: int) -> bool:
    """Whether a position lies in one of some spans, which are in order and do not overlap."""
    last_before = bisect_right(spans, at, key=itemgetter(0)) - 1
    return last_before >= 0 and at < spans[last_before][1]


def apply(text: str, changes: Sequence[Change], undecided: int = 0) -> Edited:
    """Make changes that are in order and do not overlap."""
    if not changes:
        return Edited(text, (), undecided)
    pieces: list[str] = []
    spans: list[Span] = []
    done = moved = 0
    for start, end, new in changes:
        pieces += (text[done:start], new)
        spans.append((start + moved, start + moved + len(new)))
        moved += len(new) - (end - start)
        done = end
    pieces.append(text[done:])
    return Edited("".join(pieces), tuple(spans), undecided)


def straight(word: str) -> str:
    """The word with straight apostrophes."""
    return word.replace("’", "'")
