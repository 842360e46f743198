"""Whether a capitalised word is a person's name, by the words around it."""

import re
from functools import lru_cache
from typing import Final

from psycheck.text.redact.lists import (
    FORMS,
    NAMES,
    PATTERNS,
    SURNAMES,
    THINGS,
    TITLES,
    compiled,
    everyday,
    may_be_name,
    name_end,
    unknown,
    word_before,
)
from psycheck.text.surroundings import search_before

NAME_FORMS: Final = compiled(PATTERNS["persons"])
PERSON_BEFORE: Final = NAMES["person_before"] | frozenset(title.lower() for title in TITLES)
_OF: Final = frozenset({"in", "of", "from", "for", "on", "to", "the"})
_MONTHS: Final = frozenset({"May", "April", "June", "August", "Christian"})
_OPEN_TO: Final = PERSON_BEFORE | NAMES["open_to"] | NAMES["roles"]
_BEFORE_THINGS: Final = frozenset({"the", "a", "an", "this"})
_SENTENCE_ENDS: Final = (".", "!", "?", ":", "…", "-", "*")


def acts(text: str, at: int) -> bool:
    """Whether what follows is what a person does."""
    after = NAME_FORMS["does"].match(text, at)
    if after is None:
        return False
    never, verb = after.groups()
    # "Grace never …" is a person, whatever she never does.
    return never is not None or verb.lower() in NAMES["doing"]


def is_person(text: str, match: re.Match[str]) -> bool:
    """True if a name that is also a word names a person here, by its context."""
    before, marks = word_before(text, match.start())
    word = before.lower()
    end = match.end()
    # "Grace and I", "Grace, my sister"
    joined = text.startswith((" and I ", ", my "), end)
    if match[0] in _MONTHS:
        return joined or _month_is_person(text, match, word, marks)

    # "my sister, Grace, …"
    after_role = marks == "," and word in NAMES["roles"]
    if after_role and NAME_FORMS["apposed"].match(text, end):
        return True
    if acts(text, end):
        return marks != "" or word not in NAMES["not_after"]

    # "with Grace's help", but not "the Rose's scent"
    inside_phrase = word != "" and marks in ("", ",")
    if NAME_FORMS["owns"].match(text, end):
        return inside_phrase and word not in _BEFORE_THINGS
    return joined or _is_person_by_place(text, match, before, marks)


def _is_person_by_place(
    text: str,
    match: re.Match[str],
    before: str,
    marks: str,
) -> bool:
    """True if a surname follows the name, or a small word right before it leads to it."""
    if not before or marks not in ("", ","):
        return _two(text, match)
    return marks == "" and _follows_small_word(text, match.end(), before)


def _follows_small_word(text: str, end: int, before: str) -> bool:
    """True if a small word leads to the name and no word follows that makes a title of it: "Rose Garden"."""
    following = FORMS["next"].match(text, end)
    if following and not may_be_name(following[1]):
        return False
    return before[0].islower() and before.lower() not in NAMES["not_after"]


def _month_is_person(
    text: str,
    match: re.Match[str],
    word: str,
    marks: str,
) -> bool:
    """True for "told May" and "when June calls", which "in May" and "last June" are not."""
    announces_person = word in NAMES["person_before"] and word not in NAMES["weak_before"]
    if announces_person and not marks:
        return True
    may_act = word == "when" or match[0] == "Christian"
    return may_act and acts(text, match.end())


def is_strange_name(text: str, match: re.Match[str], follows: bool) -> bool:
    """True if an unknown capitalised word is a name here, by its place in the sentence."""
    word, marks = "", ""
    if not follows:
        word, marks = word_before(text, match.start())
    end = match.end()
    if _thing(text, match, word, marks):
        return False
    # "Léonie": hardly an English word
    if not match[0].isascii():
        return True
    owns = NAME_FORMS["owns"].match(text, end) is not None
    if not word or _ends_sentence(marks):
        return owns or _doing(text, match)
    if marks == "":
        return _strange_after_word(text, match, word, owns=owns)
    if marks in (", ", ","):
        return _strange_after_comma(text, match, word, owns=owns)

    # "my sister (Loekje)"
    in_bracket = marks.strip() == "("
    after_role = in_bracket and word.lower() in NAMES["roles"]
    return after_role and _is_apposed(text, end)


def _ends_sentence(marks: str) -> bool:
    """True if the marks before a word end the sentence, so that its capital means nothing."""
    if "\n" in marks:
        return True
    last_mark = marks.rstrip("\"'”’ )")[-1:]
    return last_mark in _SENTENCE_ENDS


def _strange_after_word(
    text: str,
    match: re.Match[str],
    word: str,
    *,
    owns: bool,
) -> bool:
    """True if an unknown capitalised word right after another word is a name."""
    lowered = word.lower()
    if lowered == "the":
        return _after_place_preposition(text, match, word)
    is_doing = _doing(text, match)
    may_be_person = owns or is_doing or lowered in _OPEN_TO
    if not may_be_person and match[0] not in SURNAMES:
        return False
    # "that" opens a clause as often as it points at a thing.
    opens_clause = is_doing and lowered == "that"
    points_at_thing = lowered in NAMES["thing_before"] and not opens_clause
    if points_at_thing and not owns:
        return False
    return word[0].islower() or everyday(word)


def _strange_after_comma(
    text: str,
    match: re.Match[str],
    word: str,
    *,
    owns: bool,
) -> bool:
    """True if an unknown capitalised word that a comma parts from a word is a name."""
    lowered = word.lower()
    if lowered == "the":
        return _after_place_preposition(text, match, word)
    if lowered not in NAMES["roles"] and not everyday(word):
        return False
    end = match.end()
    return owns or acts(text, end) or _is_apposed(text, end)


def _after_place_preposition(text: str, match: re.Match[str], article: str) -> bool:
    """True for "at the …", "near the …": an unknown place."""
    article_start = text.rfind(article, 0, match.start())
    before, _ = word_before(text, article_start)
    return before.lower() in ("at", "in", "near", "from", "around")


def _is_apposed(text: str, end: int) -> bool:
    """True if a comma or bracket closes the name: "my sister, Loekje, …"."""
    return NAME_FORMS["apposed"].match(text, name_end(text, end)) is not None


def _thing(
    text: str,
    match: re.Match[str],
    word: str,
    marks: str,
) -> bool:
    """True if an unknown capitalised word names a thing, by its form and its context."""
    start, end = match.span()
    small_words = words_like(NAME_FORMS["small_word"], text)
    # What the text writes small elsewhere is a word: "Zumba … zumba".
    if match[0].lower() in small_words:
        return True
    if FORMS["two_parts"].match(match[0]) or NAME_FORMS["thing_after"].match(text, end):
        return True
    if not word or marks:
        return False
    if _opens_title(text, start, word):
        return True
    lowered = word.lower()
    if lowered in _OF and search_before(NAME_FORMS["thing_of"], text, start, 40):
        return True
    # "Roblox and Bionicles": what is joined to a thing is one.
    if lowered in ("and", "or", "to", "than"):
        joint = text.rfind(word, 0, start)
        neighbour, stop = word_before(text, joint)
        return not stop and neighbour in THINGS
    return False


def _opens_title(text: str, start: int, word: str) -> bool:
    """True if the word before is not a first name and opens a title: "Hollow Knight", "Organic Chemistry"."""
    if not word[0].isupper() or len(word) == 1 or may_be_name(word):
        return False
    # "Dr. Loekje", "Mum Loekje"
    if word.rstrip(".") in TITLES or word.lower() in NAMES["roles"]:
        return False
    # At the start of a sentence the capital of the word before means nothing.
    word_start = text.rfind(word, 0, start)
    before, stop = word_before(text, word_start)
    return before != "" and not stop


@lru_cache(4)
def words_like(form: re.Pattern[str], text: str) -> frozenset[str]:
    """The words that a text has in this form, found once for all its names."""
    return frozenset(form.findall(text))


def _doing(text: str, match: re.Match[str]) -> bool:
    """Whether what follows makes a person of an unknown word: a deed, an address or a surname."""
    end = match.end()
    if acts(text, end) or NAME_FORMS["spoken_to"].match(text, end):
        return True
    return _two(text, match)


def _two(text: str, match: re.Match[str]) -> bool:
    """Whether another unknown capitalised word follows: a first name and a surname."""
    following = FORMS["next"].match(text, match.end())
    if following is None:
        return False
    return unknown(following[1])
