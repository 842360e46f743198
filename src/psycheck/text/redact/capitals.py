"""Capitalised words in a text: their form, their context, and whether they may be names."""

from typing import Final, Literal, NamedTuple

from psycheck.text.redact.lists import CAPITALS, FIRST_NAMES, NAMES, PATTERNS, compiled, everyday

Kind = Literal["EMAIL", "PHONE", "LINK", "USER", "NAME", "PLACE", "AGE", "DATE", "NUMBER"]


class Found(NamedTuple):
    """Where a text has personal data, and of what kind; never the data itself."""

    start: int
    end: int
    kind: Kind


# A name that is not also a word counts wherever it is capitalised; the others need more evidence.
BOTH: Final = NAMES["both"]
SURE: Final = FIRST_NAMES - BOTH
TITLES: Final = NAMES["titles"]
_NO_NAME: Final = TITLES | CAPITALS
_STOP_ENDINGS: Final = tuple(NAMES["stop_endings"])
FORMS: Final = compiled(PATTERNS["capitals"])


def unknown(word: str) -> bool:
    """Whether a capitalised word may be a name: a first name, or a word of no list."""
    return word in SURE or not (word in _NO_NAME or everyday(word) or word.lower().endswith(_STOP_ENDINGS))


def may_be_name(word: str) -> bool:
    """Whether a word may be a name: one of the lists, or an unknown one."""
    return word in BOTH or unknown(word)


def word_before(text: str, at: int) -> tuple[str, str]:
    """The word before a position, and the marks between them."""
    head = text[max(0, at - 40) : at].rstrip()
    end = len(head)
    while end and not head[end - 1].isalnum() and not head[end - 1].isspace():
        end -= 1
    start = end
    while start and (head[start - 1].isalpha() or head[start - 1] in "'’-"):
        start -= 1
    return head[start:end], head[end:]


def name_end(text: str, at: int) -> int:
    """Where a name ends that goes on with further capitalised words: a surname, or two."""
    for _ in range(2):
        more = FORMS["more"].match(text, at)
        if more is None or not may_be_name(more[1]):
            break
        at = more.end()
    return at


def headline(text: str) -> bool:
    """Whether most words are capitalised, so that a capital means nothing."""
    head = text[:400]
    if len(FORMS["capital"].findall(head)) < 5:
        return False
    # A letter is full of titles: they are not a sign of a headline.
    words = [word for word in FORMS["word"].findall(head) if len(word) > 2 and word not in TITLES]
    # Nor is what is a name anyway.
    plain = [word for word in words if word not in SURE]
    return len(plain) >= 5 and sum(word[0].isupper() for word in plain) > 0.65 * len(words)
