"""Capitalised words in a text: their form, their context, and whether they may be names."""

import re
from typing import Final, Literal, NamedTuple

from psycheck.text.redact.lists import CAPITALS, FIRST_NAMES, any_of, everyday, words_of

Kind = Literal["EMAIL", "PHONE", "LINK", "USER", "NAME", "PLACE", "AGE", "DATE", "NUMBER"]
BLOT: Final = "\ue000"  # stands for what was found before: "[NAME] and Ravi"


class Found(NamedTuple):
    """Where a text has personal data, and of what kind; never the data itself."""

    start: int
    end: int
    kind: Kind


# A name that is not also a word counts wherever it is capitalised; the others need more evidence.
BOTH: Final = words_of("names", "both")
SURE: Final = FIRST_NAMES - BOTH
TITLES: Final = words_of("names", "titles")
_NO_NAME: Final = TITLES | CAPITALS
_STOP_ENDINGS: Final = tuple(words_of("names", "stop_endings"))

# One capitalised name, also O'Brien, McDonald and Anne-Marie; never all capitals.
UPPER, LOWER = r"[A-ZÀ-ÖØ-ÞĀĆČĐĒĘĞİŁŃŌŐŚŞŠŪŹŻŽ]", r"[^\W\d_A-Z]"
ONE: Final = rf"(?:[A-Z]['’])?{UPPER}{LOWER}+(?:[A-Z]{LOWER}+)?(?:-{UPPER}?{LOWER}+)*"
CAPITAL: Final = re.compile(rf"(?<![\w@#/'’.-])(?:{ONE}|[A-Z]{{2,}})(?!\w)")
PARTICLES: Final = rf"(?:(?i:{any_of(words_of('names', 'particles'))})(?:[ \t]+|-)){{1,3}}"
NEXT: Final = re.compile(rf"(?:[ \t]+[A-Z]\.)?[ \t]+(?:{PARTICLES})?({ONE})(?!\w)")
# "John J Smith": without a full stop only behind a name, and "I" is a word.
_MORE: Final = re.compile(rf"(?:[ \t]+(?!I[ \t])[A-Z]\.?)?[ \t]+(?:{PARTICLES})?({ONE})(?!\w)")
WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


_TWO_PARTS: Final = re.compile(
    rf"(?!(?:Mc|Mac|De|Di|Du|La|Le|Fitz|Van|Von|San|El|Al)[A-Z]){UPPER}{LOWER}+[A-Z]"
)


def brand_like(word: str) -> bool:
    """Whether a word is written as only makers write: "AirPods", not "McDonald"."""
    return _TWO_PARTS.match(word) is not None


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
        more = _MORE.match(text, at)
        if more is None or not may_be_name(more[1]):
            break
        at = more.end()
    return at


_FIELD_HEADS: Final = words_of("names", "field_heads") | words_of("names", "named_heads")
_FIELD_TERM: Final = re.compile(rf"(?:[ \t]+{ONE}){{0,4}}?[ \t]+(?:{any_of(_FIELD_HEADS)})(?!\w)")
_NAMED_TERM: Final = re.compile(
    rf"(?:[ \t]+{ONE}){{0,4}}?[ \t]+(?:{any_of(words_of('names', 'named_heads'))})(?!\w)"
)


def field_term(text: str, at: int) -> bool:
    """Whether a run of capitals that goes on here ends as a term of the field: "… Behavior Therapy"."""
    return _FIELD_TERM.match(text, at) is not None


def named_term(text: str, at: int) -> bool:
    """Whether it ends as a scale or an illness, which may bear the name of a person or a place."""
    return _NAMED_TERM.match(text, at) is not None


def headline(text: str) -> bool:
    """Whether most words are capitalised, so that a capital means nothing."""
    head = text[:400]
    if len(CAPITAL.findall(head)) < 5:
        return False
    # A letter is full of titles: they are not a sign of a headline.
    words = [word for word in WORD.findall(head) if len(word) > 2 and word not in TITLES]
    # Nor is what is a name anyway.
    plain = [word for word in words if word not in SURE]
    return len(plain) >= 5 and sum(word[0].isupper() for word in plain) > 0.65 * len(words)
