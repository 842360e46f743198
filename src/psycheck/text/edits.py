"""What an edit of a text is and returns, and the simplest edits: add a sentence, replace words."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Final, NamedTuple

# Where something begins in a text and where it ends, as in a slice.
Span = tuple[int, int]
# The place of a replaced piece, and what replaces it.
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
    span = (0, len(sentence))

    def edit(text: str) -> Edited:
        longer = f"{sentence} {text.lstrip()}"
        # An empty text leaves nothing but the space behind the sentence.
        return Edited(longer.rstrip(), (span,))

    return edit


def append_to_all(stripped: Iterable[str], sentence: str) -> list[str]:
    """What `append` makes of texts that end without white space, without the spans: these are at the end."""
    tail = f" {sentence}"
    longer_texts = []
    for text in stripped:
        longer_texts.append(text + tail if text else sentence)
    return longer_texts


def replace_words(words: Mapping[str, str]) -> Edit:
    """Replace whole words in any case, and keep that case.

    Contractions keep their ending (he's → she's, with the same apostrophe). Words that are
    part of another (@he, #he, he-man, addresses) stay, and so do words that a slash joins to another, or "or"
    to their own replacement: "s/he", "he/she" and "he or she" already name both.
    """
    replacements = {}
    for word, new in words.items():
        if word:
            replacements[straight(word.lower())] = new
    if not replacements:
        return _unchanged

    pattern = word_pattern(replacements)
    both_named = _either_or(replacements)

    def edit(text: str) -> Edited:
        first = pattern.search(text)
        if first is None:
            return Edited(text, ())

        untouched = list(address_spans(text))
        # A glance for "or" is faster than the pattern, and most texts end here.
        if " or " in text:
            untouched += [match.span() for match in both_named.finditer(text)]
            untouched.sort()

        changes: list[Change] = []
        for match in pattern.finditer(text, first.start()):
            start, end = match.span()
            if untouched and inside(untouched, start):
                continue
            word = match[0]
            new = replacements.get(straight(word.lower()))
            if new is not None:
                changes.append((start, end, carry_style(word, new)))
        return apply(text, changes)

    return edit


def _unchanged(text: str) -> Edited:
    return Edited(text, ())


def _either_or(replacements: Mapping[str, str]) -> re.Pattern[str]:
    """Match a word and its replacement that "or" joins, in either order: "he or she"."""
    branches = []
    for word, new in replacements.items():
        left = re.escape(word)
        right = re.escape(new)
        branches.append(rf"(?<!\w)(?:{left}\s+or\s+{right}|{right}\s+or\s+{left})(?!\w)")
    return re.compile("|".join(branches), re.I)


def word_pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Match any of some lower-case words as a whole word, in any case.

    The pattern opens with the set of first letters, which a search skips to quickly, and looks behind after
    it. That makes a search through a text without such a word twice as fast as a word boundary at its head.
    """
    endings_by_letter: dict[str, list[str]] = {}
    # The longest first, because a pattern takes the first alternative that fits.
    for word in sorted(words, key=len, reverse=True):
        endings = endings_by_letter.setdefault(word[0], [])
        ending = re.escape(word[1:])
        endings.append(ending.replace("'", "['’]"))

    first_letters = ""
    branches = []
    for letter, endings in sorted(endings_by_letter.items()):
        small = re.escape(letter)
        capital = re.escape(letter.upper())
        first_letters += small if small == capital else small + capital
        branches.append(f"(?<=[{small}{capital}])(?i:{'|'.join(endings)})")

    not_within_word = r"(?<![\w@#/\\)].)(?<!\w['’-].)"
    not_after_slash = r"(?<!/\s.)"
    ends_word = r"(?!\w|-\w|\s?/)"
    return re.compile(
        rf"[{first_letters}]{not_within_word}{not_after_slash}(?:{'|'.join(branches)}){ends_word}"
    )


def carry_case(word: str, new: str) -> str:
    """Write `new` in the case of `word`: lower, Capital or CAPITALS."""
    if word.isupper() and len(word) > 1:
        return new.upper()
    # "I" is always written so, and its capital shows nothing.
    if word[:1].isupper() and word != "I":
        return capitalised(new)
    return new


def carry_style(word: str, new: str) -> str:
    """Write `new` in the case of `word` and with its apostrophe, straight or curly."""
    if "’" in word:
        new = new.replace("'", "’")
    return carry_case(word, new)


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
    if last_before < 0:
        return False
    _, end = spans[last_before]
    return at < end


def apply(text: str, changes: Sequence[Change], undecided: int = 0) -> Edited:
    """Make changes that are in order and do not overlap."""
    if not changes:
        return Edited(text, (), undecided)
    pieces: list[str] = []
    spans: list[Span] = []
    done = 0  # how far the text is copied
    growth = 0  # how much longer the new text is up to there
    for start, end, new in changes:
        pieces.append(text[done:start])
        pieces.append(new)

        new_start = start + growth
        new_end = new_start + len(new)
        spans.append((new_start, new_end))
        growth = new_end - end
        done = end

    pieces.append(text[done:])
    return Edited(
        text="".join(pieces),
        spans=tuple(spans),
        undecided=undecided,
    )


def straight(word: str) -> str:
    """The word with straight apostrophes."""
    return word.replace("’", "'")
