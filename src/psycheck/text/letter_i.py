"""Whether "I" is a pronoun or a letter: a numeral ("bipolar I"), a list mark ("i)"), an initial ("i.e.")."""

from typing import Final

from psycheck.text.edits import straight
from psycheck.text.surroundings import character_at, character_before, text_before, words_before
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
    follows_full_stop = character_before(text, start) == "."
    if follows_full_stop and character_before(text, start - 1).isalpha():
        return _ends_initials(text, start)

    lowered = word_before.lower()
    if lowered not in _COUNTED:
        return False
    following = _word_after(text, end)
    if lowered in _WORDS["numbered"]:
        return _is_number(text, start, following)
    if lowered == "letter":
        return following in _WORDS["after_letter"] or not following

    # What is left are names of rulers, and these have capitals, as their numbers do.
    if not word_before[0].isupper() or text[start] != "I":
        return False
    return _is_ruler(text, start, following)


def _word_before(text: str, start: int) -> str:
    """The word before "I" as it is written; "" at the start of a text."""
    words = text_before(text, start, 12).rsplit(None, 1)
    if not words:
        return ""
    return words[-1]


def _word_after(text: str, end: int) -> str:
    """The word after "I" in lower case; "" where the sentence ends."""
    match = _FORMS["word_after"].match(text, end)
    if match is None:
        return ""
    return straight(match[1].lower())


def _marks_letter(
    text: str,
    start: int,
    end: int,
    word_before: str,
) -> bool:
    """True if the mark after "I" shows that it is a letter."""
    mark = character_at(text, end)
    if mark == ".":
        return _is_initial(text, end, word_before) or _is_list_mark(text, start, end)
    if mark == ")":
        return _is_bracketed_mark(text, start)
    # "I/O"
    return mark == "/" and character_at(text, end + 1) in ("O", "o")


def _is_initial(text: str, end: int, word_before: str) -> bool:
    """True for "i.e." and "I. J. Smith"; but "So do I. J. left" is two sentences."""
    initials = _FORMS["initial"].match(text, end)
    if initials is None:
        return False
    has_further_initial = initials[1] is not None
    return not has_further_initial or word_before.lower() not in _WORDS["asking"]


def _is_list_mark(text: str, start: int, end: int) -> bool:
    """True for "I. " at the start of a line."""
    at_line_start = character_before(text, start) in ("", "\n")
    return at_line_start and character_at(text, end + 1) == " "


def _is_bracketed_mark(text: str, start: int) -> bool:
    """True for "i)" and "(i)"; a bracket that opened earlier is closed by ")" in "(so do I)"."""
    if character_before(text, start) == "(":
        return True

    window_start = max(0, start - 200)
    opened = text.rfind("(", window_start, start)
    closed = text.rfind(")", window_start, start)
    return opened <= closed


def _ends_initials(text: str, start: int) -> bool:
    """True for the I of "A.I": a letter other than i before the full stop, and no word."""
    letter = text[start - 2]
    if letter in "Ii":
        return False
    return not character_before(text, start - 2).isalnum()


def _is_number(text: str, start: int, following: str) -> bool:
    """True for "type I diabetes"; in "the one type I like" a verb follows."""
    # "World War I ended"
    if text_before(text, start, 10).lower() == "world war ":
        return True

    is_listed_verb = following in _WORDS["finite"] or following in REGULAR
    return not is_listed_verb and not following.endswith("ed")


def _is_ruler(text: str, start: int, following: str) -> bool:
    """True for "King James I" and "Pius I reigned"."""
    # Right before "I" stands the name; the title, if there is one, stands before that.
    word_before_name = words_before(text, start, 24)[-2:-1]
    has_title = not _WORDS["rulers"].isdisjoint(word_before_name)
    if has_title:
        return True
    return following in _WORDS["reigning"] or not following
