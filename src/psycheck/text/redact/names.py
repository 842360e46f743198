"""Names in a text, found by lists of names and by their place in a sentence; place_names.py has places.

A capital is not enough: "Will" and "May" are names and words. A first name that is not also a word counts
everywhere; one that is counts where the text is about a person; a capitalised word that is neither
everyday English nor on a list of harmless capitals counts after a title, a kinship ("my sister …"), "my name
is" and the like, before what a person does, and inside a sentence after a small word ("with", "when") or what
is done to persons ("told"). After other words, as part of a title ("Hollow Knight"), before a thing ("Ozark
season two") or where the text has it in lower case as well, it is a thing.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import Final

from psycheck.text.redact import place_names as places
from psycheck.text.redact.lists import (
    BOTH,
    CAPITALS,
    FORMS,
    NAMES,
    PATTERNS,
    SURE,
    SURNAMES,
    THINGS,
    TITLES,
    Found,
    compiled,
    everyday,
    is_headline,
    may_be_name,
    name_end,
    unknown,
    word_before,
    words_of,
)

_FORMS: Final = compiled(PATTERNS["persons"])
_SURE_LOWER: Final = frozenset(name.lower() for name in SURE if len(name) > 2)
# In lower case and without a hint around it, a name must be long and not also a word.
_CLEAR_LOWER: Final = frozenset(
    name
    for name in _SURE_LOWER - NAMES["no_name_lower"]
    if len(name) > 3 and "-" not in name and not everyday(name)
)
_PARTICLES: Final = NAMES["particles"]
_ANY_NAME_AFTER: Final = ("role", "vocative", "vocative_end")
_OF: Final = frozenset({"in", "of", "from", "for", "on", "to", "the"})
_MONTHS: Final = frozenset({"May", "April", "June", "August", "Christian"})
_BEFORE: Final = NAMES["person_before"] | frozenset(title.lower() for title in TITLES)
_OPEN_TO: Final = _BEFORE | NAMES["open_to"] | NAMES["roles"]
_ANNOUNCING: Final = _BEFORE | NAMES["announcing"] | NAMES["roles"]
_HAN_SURNAMES: Final = words_of("scripts", "han_surnames")
_LONGEST_HAN: Final = 4


def named(text: str) -> list[Found]:
    """Where names of persons and places stand, without overlap; in a headline, only what is known counts."""
    loud = is_headline(text)
    first = FORMS["capital"].search(text)
    searches = [_introduced(text, loud)]
    if first is not None:
        if not loud:
            searches.append(places.placed(text))
        searches += [_titled(text, loud), _listed(text, first.start(), loud)]
    if not text.isascii():
        searches.append(_other_scripts(text))
    if "#" in text:
        searches.append(_hashtags(text))
    searches += [places.lower_case(text), _lower_case(text)]
    found: list[Found] = []
    taken = bytearray(len(text))
    for one in chain.from_iterable(searches):
        if not any(taken[one.start : one.end]):
            taken[one.start : one.end] = b"\1" * (one.end - one.start)
            found.append(one)
    return sorted(found)


def _introduced(text: str, headline: bool) -> Iterator[Found]:
    """Names that are announced: "my name is …", "I'm …", "my sister …", or at the end of a letter."""
    low = text.lower()
    called = "name" in low or "called" in low
    for found in _FORMS["called"].finditer(text) if called or "go by" in low else ():
        if found[1].lower() not in NAMES["not_called"]:
            yield _called(text, found)
    for found in _FORMS["called_so"].finditer(text) if called else ():
        thing = word_before(text, found.start())[0].lower() in NAMES["names_of_things"]
        if not thing and found[1].lower() not in NAMES["not_called"] and _rare(found[1]):
            yield _called(text, found)
    for form in ("role", "vocative", "vocative_end", "here_is", "missed", "kin"):
        for found in _FORMS[form].finditer(text):
            word = found[1]
            known = word in _SURE_LOWER if word.islower() else word in SURE
            fits = form in _ANY_NAME_AFTER and word[0].isupper() and not headline and may_be_name(word)
            if known or fits or (form == "kin" and word.title() in BOTH and word not in _PARTICLES):
                yield _name(text, found, 1)
    for found in _FORMS["self"].finditer(text):
        word = found[2]
        fits = word != "Christian" and not found[1].lower().startswith("this") and may_be_name(word)
        if word in _SURE_LOWER if word.islower() else word in SURE or (fits and not headline):
            yield _name(text, found, 2)
    for found in [*_FORMS["signed"].finditer(text), *_FORMS["dashed"].finditer(text)]:
        if may_be_name(found[1]):
            yield _name(text, found, 1)


def _called(text: str, found: re.Match[str]) -> Found:
    """A name after "my name is" and the like; in lower case with a second word if that is rare."""
    one = _name(text, found, 1)
    more = _FORMS["second_lower"].match(text, one.end) if found[1].islower() else None
    return one._replace(end=more.end()) if more and _rare(more[1]) else one


def _rare(word: str) -> bool:
    """Whether a word in any case is unknown but for names."""
    return may_be_name(word.title()) and word.title() not in BOTH


def _acts(text: str, at: int) -> bool:
    """Whether what follows is what a person does."""
    after = _FORMS["does"].match(text, at)
    return after is not None and (after[1] is not None or after[2].lower() in NAMES["doing"])


def _lower_case(text: str) -> Iterator[Found]:
    """First names that are hardly ever another word, written small."""
    for found in _FORMS["lower_word"].finditer(text):
        sure = found[0] in _CLEAR_LOWER
        if not sure and found[0] in _SURE_LOWER:
            sure = _acts(text, found.end()) or found[0].title() in _words_like(FORMS["capital"], text)
        if sure:
            yield Found(*found.span(), "NAME")


def _titled(text: str, headline: bool) -> Iterator[Found]:
    """Names after a title, an initial, the head of a form or, without "my", a kinship."""
    for found in _FORMS["titled"].finditer(text):
        particle = found[2] and found[2].islower() and not everyday(found[2].strip(" \t-").split()[0])
        if particle or found[3] in NAMES["surnames"] or may_be_name(found[3]):
            yield _name(text, found, 1)
    for found in _FORMS["initials"].finditer(text):
        if unknown(found[1]):
            yield Found(found.start(), name_end(text, found.end()), "NAME")
    for found in [*_FORMS["and"].finditer(text), *_FORMS["before_and"].finditer(text)]:
        if unknown(found[1]):
            yield _name(text, found, 1)
    if headline:
        return
    for found in _FORMS["head"].finditer(text):
        parts = FORMS["word"].findall(found[1])
        words = [word for word in parts if len(word) > 1 and not word.isupper()]
        known = NAMES["particles"] | NAMES["surnames"] if len(words) < len(parts) else NAMES["particles"]
        if all(unknown(word) or word in known or word.lower() in known for word in words):
            yield _name(text, found, 1)
    for found in _FORMS["bare_role"].finditer(text):
        if unknown(found[1]) and not FORMS["field_term"].match(text, found.end()):
            yield _name(text, found, 1)


def _ambiguous(text: str, found: re.Match[str]) -> bool:
    """Whether a name that is also a word names a person here, by its context."""
    word, marks = word_before(text, found.start())
    end = found.end()
    joined = text.startswith((" and I ", ", my "), end)
    if found[0] in _MONTHS:
        strong = word.lower() in NAMES["person_before"] - NAMES["weak_before"]
        deed = (word.lower() == "when" or found[0] == "Christian") and _acts(text, end)
        return joined or (strong and not marks) or deed
    if marks == "," and word.lower() in NAMES["roles"] and _FORMS["apposed"].match(text, end):
        return True
    if _acts(text, end):
        return marks != "" or word.lower() not in NAMES["not_after"]
    if _FORMS["owns"].match(text, end):
        return bool(word) and marks in ("", ",") and word.lower() not in ("the", "a", "an", "this")
    if not word or marks not in ("", ","):
        return joined or _two(text, found)
    # "Star Wars", "Rose Garden": a title of something rather than a surname.
    if (more := FORMS["next"].match(text, end)) and not may_be_name(more[1]):
        return joined
    return joined or (not marks and word[0].islower() and word.lower() not in NAMES["not_after"])


def _strange(text: str, found: re.Match[str], follows: bool) -> bool:
    """Whether an unknown capitalised word is a name here, by its place in the sentence."""
    word, marks = ("", "") if follows else word_before(text, found.start())
    end = found.end()
    if _thing(text, found, word, marks):
        return False
    if not found[0].isascii():  # "Léonie": hardly an English word
        return True
    owns = _FORMS["owns"].match(text, end) is not None
    if not word or marks.rstrip("\"'”’ )")[-1:] in (".", "!", "?", ":", "…", "-", "*") or "\n" in marks:
        return owns or _doing(text, found)
    if marks in ("", ", ", ","):
        low = word.lower()
        if low == "the":
            before = word_before(text, text.rfind(word, 0, found.start()))[0].lower()
            return before in ("at", "in", "near", "from", "around")
        if not marks:
            deed = _doing(text, found)
            # "that" opens a clause as often as it points at a thing.
            thing = low in NAMES["thing_before"] and not owns and not (deed and low == "that")
            likely = owns or deed or low in _OPEN_TO or found[0] in SURNAMES
            return likely and not thing and (word[0].islower() or everyday(word))
        return (low in NAMES["roles"] or everyday(word)) and (
            owns or _acts(text, end) or _FORMS["apposed"].match(text, name_end(text, end)) is not None
        )
    bracket = marks.strip() == "(" and word.lower() in NAMES["roles"]
    return bracket and _FORMS["apposed"].match(text, name_end(text, end)) is not None


def _thing(text: str, found: re.Match[str], word: str, marks: str) -> bool:
    """Whether an unknown capitalised word names a thing, by its form and its context."""
    start, end = found.span()
    if (
        found[0].lower() in _words_like(_FORMS["small_word"], text)
        or FORMS["two_parts"].match(found[0])
        or _FORMS["thing_after"].match(text, end)
    ):
        return True
    if not word or marks:
        return False
    # "Hollow Knight", "Organic Chemistry": a word that is not a first name opens a title.
    if word[0].isupper() and len(word) > 1 and not may_be_name(word):
        before, stop = word_before(text, text.rfind(word, 0, start))
        title = word.rstrip(".") in TITLES or word.lower() in NAMES["roles"]
        if before and not stop and not title:
            return True
    if word.lower() in _OF and _FORMS["thing_of"].search(text, max(0, start - 40), start):
        return True
    # "Roblox and Bionicles": what is joined to a thing is one.
    if word.lower() in ("and", "or", "to", "than"):
        other, stop = word_before(text, text.rfind(word, 0, start))
        return not stop and other in THINGS
    return False


@lru_cache(4)
def _words_like(form: re.Pattern[str], text: str) -> frozenset[str]:
    """The words that a text has in this form, found once for all its names."""
    return frozenset(form.findall(text))


def _doing(text: str, found: re.Match[str]) -> bool:
    """Whether what follows makes a person of an unknown word: a deed, an address or a surname."""
    end = found.end()
    return _acts(text, end) or _FORMS["spoken_to"].match(text, end) is not None or _two(text, found)


def _two(text: str, found: re.Match[str]) -> bool:
    """Whether another unknown capitalised word follows: a first name and a surname."""
    more = FORMS["next"].match(text, found.end())
    return more is not None and unknown(more[1])


def _name(text: str, found: re.Match[str], group: int) -> Found:
    start, end = found.span(group)
    return Found(start, name_end(text, end) if found[group][0].isupper() else end, "NAME")


def _listed(text: str, start: int, loud: bool) -> Iterator[Found]:
    """Capitalised words one by one: those of the lists, and unknown ones by their place in the sentence."""
    at = 0
    for found in FORMS["capital"].finditer(text, start):
        if found.start() < at:
            continue
        word = found[0]
        # Right behind a name another may begin, as at the beginning of a sentence.
        follows = 0 < at < found.start() and text[at : found.start()].isspace()
        # "Edinburgh Postnatal Depression Scale", "Charles Bonnet Syndrome".
        if FORMS["named_term"].match(text, found.end()):
            continue
        if word in places.FIRST_OF_PLACE and (end := places.known_place(text, found)):
            at = end
            yield Found(found.start(), at, "PLACE")
        elif word not in SURE and FORMS["field_term"].match(text, found.end()):
            continue
        elif word.isupper():
            if len(word) > 3 and word.title() in SURE and word not in CAPITALS:
                yield Found(*found.span(), "NAME")
        elif (
            word in SURE
            or (word[:-1] in SURE and word[-1] == "s" and unknown(word))  # "Deborahs mum"
            or (word in BOTH and not loud and _ambiguous(text, found))
        ):
            at = name_end(text, found.end())
            yield Found(found.start(), at, "NAME")
        elif loud or word in BOTH:
            continue
        elif places.compass(text, found) or (unknown(word) and _strange(text, found, follows)):
            at = name_end(text, found.end())
            if places.kind_before(text, found) == "PLACE" or places.compass(text, found):
                at = places.with_region(text, at)
                yield Found(found.start(), at, "PLACE")
            else:
                yield Found(found.start(), at, "NAME")


def _hashtags(text: str) -> Iterator[Found]:
    """Hashtags that are a place or hold a name: "#Brighton", "#RIPKevin", "#JusticeForLoek"."""
    for found in _FORMS["hashtag"].finditer(text):
        parts = _FORMS["tag_parts"].findall(found[1])
        heads = {"".join(parts[:i]).lower() for i in range(1, len(parts))}
        titled = not heads.isdisjoint(NAMES["tag_heads"]) and unknown(parts[-1])
        if found[1].lower() in places.TAGS:
            yield Found(*found.span(), "PLACE")
        elif titled or any(part in SURE or part in SURNAMES for part in parts) or found[1] in _CLEAR_LOWER:
            yield Found(*found.span(), "NAME")
        elif word_before(text, found.start())[0] in ("in", "from", "near") and found[1][0].isupper():
            yield Found(*found.span(), "PLACE")


def _other_scripts(text: str) -> Iterator[Found]:
    """Names in letters that are not Latin, in a text that mostly is.

    A capital inside a sentence tells where a script has capitals, a common surname where a name is a few
    signs long; in any script a name may be announced as in English: "my name is", "my sister", "told".
    """
    found = list(_FORMS["other_script"].finditer(text))
    if not found or len(_FORMS["latin"].findall(text)) <= sum(len(one[0]) for one in found):
        return
    for one in found:
        word, marks = word_before(text, one.start())
        letters = one[0]
        capital = letters[0] != letters[0].lower() and letters != letters.upper()
        han = letters[0] in _HAN_SURNAMES and 1 < len(letters) <= _LONGEST_HAN
        inside = capital and word != "" and marks in ("", ",", "(")
        announced = marks.strip() in ("", ",", ".", ":", "(") and word.lower() in _ANNOUNCING
        if inside or han or announced or _acts(text, one.end()):
            place = places.kind_before(text, one) == "PLACE"
            yield Found(*one.span(), "PLACE" if place else "NAME")
