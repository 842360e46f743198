"""Whether "I" is a pronoun or a letter: a numeral ("bipolar I"), a list mark ("i)"), an initial ("i.e.")."""

from typing import Final

from psycheck.text.edits import straight
from psycheck.text.verb_agreement import REGULAR
from psycheck.text.word_lists import patterns, read_toml, word_sets

_DATA: Final = read_toml("person.toml")
_WORDS: Final = word_sets(_DATA["words"])
_FORMS: Final = patterns(_DATA["patterns"])
# Words after which "I" may be a numeral or the letter.
_COUNTED: Final = _WORDS["numbered"] | _WORDS["regnal"] | {"letter"}


def is_letter(text: str, start: int, end: int) -> bool:
    """True if the "I" at `text[start:end]` is a numeral, a list mark, an initial or the letter."""
    word_before = _word_before(text, start)
    if _marks_letter(text, start, end, word_before):
        return True
    if text[start - 1 : start] == "." and start > 1 and text[start - 2].isalpha():
        return _ends_initials(text, start)

    lowered = word_before.lower()
    if lowered not in _COUNTED:
        return False
    following = _word_after(text, end)
    if lowered in _WORDS["numbered"]:
        return _is_number(text, start, following)
    if lowered == "letter":
        return following in _WORDS["after_letter"] or not following
    return word_before[0].isupper() and text[start] == "I" and _is_ruler(text, start, following)


def _word_before(text: str, start: int) -> str:
    words = text[max(0, start - 12) : start].rsplit(None, 1)
    return words[-1] if words else ""


def _word_after(text: str, end: int) -> str:
    match = _FORMS["word_after"].match(text, end)
    return straight(match[1].lower()) if match else ""


def _marks_letter(text: str, start: int, end: int, word_before: str) -> bool:
    """True if the mark after "I" shows that it is a letter."""
    mark = text[end : end + 1]
    if mark == ".":
        return _is_initial(text, end, word_before) or _is_list_mark(text, start, end)
    if mark == ")":
        return _is_bracketed_mark(text, start)
    # "I/O"
    return mark == "/" and text[end + 1 : end + 2] in ("O", "o")


def _is_initial(text: str, end: int, word_before: str) -> bool:
    """True for "i.e." and "I. J. Smith"; but "So do I. J. left" is two sentences."""
    initials = _FORMS["initial"].match(text, end)
    if initials is None:
        return False
    return initials[1] is None or word_before.lower() not in _WORDS["asking"]


def _is_list_mark(text: str, start: int, end: int) -> bool:
    """True for "I. " at the start of a line."""
    at_line_start = start == 0 or text[start - 1] == "\n"
    return at_line_start and text[end + 1 : end + 2] == " "


def _is_bracketed_mark(text: str, start: int) -> bool:
    """True for "i)" and "(i)"; a bracket that opened earlier is closed by ")" in "(so do I)"."""
    if text[start - 1 : start] == "(":
        return True
    window_start = max(0, start - 200)
    opened = text.rfind("(", window_start, start)
    closed = text.rfind(")", window_start, start)
    return opened <= closed


def _ends_initials(text: str, start: int) -> bool:
    """True for the I of "A.I": a letter other than i before the full stop, and no word."""
    if text[start - 2] in "Ii":
        return False
    return start == 2 or not text[start - 3].isalnum()


def _is_number(text: str, start: int, following: str) -> bool:
    """True for "type I diabetes"; in "the one type I like" a verb follows."""
    is_verb = following in _WORDS["finite"] or following in REGULAR or following.endswith("ed")
    return not is_verb or text[max(0, start - 10) : start].lower() == "world war "


def _is_ruler(text: str, start: int, following: str) -> bool:
    """True for "King James I" and "Pius I reigned"."""
    word_before_name = text[max(0, start - 24) : start].lower().split()[-2:-1]
    has_title = not _WORDS["rulers"].isdisjoint(word_before_name)
    return has_title or following in _WORDS["reigning"] or not following
