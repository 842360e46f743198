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
from itertools import chain
from typing import Final

from psycheck.text.redact import place_names as places
from psycheck.text.redact.lists import (
    BOTH,
    CAPITALS,
    FORMS,
    NAMES,
    SURE,
    SURNAMES,
    Found,
    everyday,
    is_headline,
    may_be_name,
    name_end,
    unknown,
    word_before,
    words_of,
)
from psycheck.text.redact.name_context import (
    NAME_FORMS,
    PERSON_BEFORE,
    acts,
    is_person,
    is_strange_name,
    words_like,
)

_SURE_LOWER: Final = frozenset(name.lower() for name in SURE if len(name) > 2)
_PARTICLES: Final = NAMES["particles"]
_ANY_NAME_AFTER: Final = ("role", "vocative", "vocative_end")
_ANNOUNCING: Final = PERSON_BEFORE | NAMES["announcing"] | NAMES["roles"]
_HAN_SURNAMES: Final = words_of("scripts", "han_surnames")
_LONGEST_HAN: Final = 4


def named(text: str) -> list[Found]:
    """Where names of persons and places stand, without overlap; in a headline, only what is known counts."""
    loud = is_headline(text)
    first = FORMS["capital"].search(text)
    searches = [_introduced(text, loud)]
    # Without a capital most searches have nothing to look at.
    if first is not None:
        if not loud:
            searches.append(places.placed(text))
        searches += [_titled(text, loud), _listed(text, first.start(), loud)]
    if not text.isascii():
        searches.append(_other_scripts(text))
    if "#" in text:
        searches.append(_hashtags(text))
    searches += [places.lower_case(text), _lower_case(text)]

    # Of two names that overlap, that of the earlier search counts.
    names: list[Found] = []
    is_covered = bytearray(len(text))
    for name in chain.from_iterable(searches):
        place = slice(name.start, name.end)
        if any(is_covered[place]):
            continue
        is_covered[place] = b"\1" * (name.end - name.start)
        names.append(name)
    return sorted(names)


def _introduced(text: str, headline: bool) -> Iterator[Found]:
    """Names that are announced: "my name is …", "I'm …", "my sister …", or at the end of a letter."""
    yield from _names_given(text)
    yield from _relatives(text, headline)
    yield from _self_named(text, headline)
    for form in ("signed", "dashed"):
        for match in NAME_FORMS[form].finditer(text):
            if may_be_name(match[1]):
                yield _name(text, match, 1)


def _names_given(text: str) -> Iterator[Found]:
    """Names after "my name is", "go by" and "called"."""
    lowered = text.lower()
    names_something = "name" in lowered or "called" in lowered
    if names_something or "go by" in lowered:
        for match in NAME_FORMS["called"].finditer(text):
            if match[1].lower() not in NAMES["not_called"]:
                yield _called(text, match)
    if not names_something:
        return
    for match in NAME_FORMS["called_so"].finditer(text):
        # "an app called …"
        preceding_word, _ = word_before(text, match.start())
        if preceding_word.lower() in NAMES["names_of_things"]:
            continue
        word = match[1]
        if word.lower() not in NAMES["not_called"] and _rare(word):
            yield _called(text, match)


def _relatives(text: str, headline: bool) -> Iterator[Found]:
    """Names after a role or kinship ("my sister …"), or of somebody who is spoken to ("hi …")."""
    for form in ("role", "vocative", "vocative_end", "here_is", "missed", "kin"):
        for match in NAME_FORMS[form].finditer(text):
            word = match[1]
            capital_tells = word[0].isupper() and not headline
            is_unlisted = form in _ANY_NAME_AFTER and capital_tells and may_be_name(word)
            # A kinship makes a name of a word that is one, too: "my aunt grace".
            is_also_word = form == "kin" and word.title() in BOTH and word not in _PARTICLES
            if is_unlisted or is_also_word or _is_sure(word):
                yield _name(text, match, 1)


def _self_named(text: str, headline: bool) -> Iterator[Found]:
    """The name of the writer: "I'm …", "this is …"."""
    for match in NAME_FORMS["self"].finditer(text):
        word = match[2]
        # "I'm Christian" is rather a faith, "this is Zumba" rather a thing.
        may_be_thing = word == "Christian" or match[1].lower().startswith("this")
        capital_tells = not word.islower() and not headline
        is_unlisted = capital_tells and not may_be_thing and may_be_name(word)
        if is_unlisted or _is_sure(word):
            yield _name(text, match, 2)


def _is_sure(word: str) -> bool:
    """True for a first name that is not also a word, in lower case or with a capital."""
    if word.islower():
        return word in _SURE_LOWER
    return word in SURE


def _called(text: str, match: re.Match[str]) -> Found:
    """A name after "my name is" and the like; in lower case with a second word if that is rare."""
    name = _name(text, match, 1)
    if not match[1].islower():
        return name

    second_word = NAME_FORMS["second_lower"].match(text, name.end)
    if second_word and _rare(second_word[1]):
        return name._replace(end=second_word.end())
    return name


def _rare(word: str) -> bool:
    """Whether a word in any case is unknown but for names."""
    capitalised = word.title()
    return may_be_name(capitalised) and capitalised not in BOTH


def _is_clear(word: str) -> bool:
    """Whether a word in lower case is a name without a hint around it: long, and not also a word."""
    if word not in _SURE_LOWER or word in NAMES["no_name_lower"]:
        return False
    return len(word) > 3 and "-" not in word and not everyday(word)


def _lower_case(text: str) -> Iterator[Found]:
    """First names that are hardly ever another word, written small."""
    for match in NAME_FORMS["lower_word"].finditer(text):
        word = match[0]
        is_name = _is_clear(word)
        if not is_name and word in _SURE_LOWER:
            # What shows it: a deed, or the same word with a capital elsewhere in the text.
            capitalised_words = words_like(FORMS["capital"], text)
            is_name = acts(text, match.end()) or word.title() in capitalised_words
        if is_name:
            yield Found(*match.span(), "NAME")


def _titled(text: str, headline: bool) -> Iterator[Found]:
    """Names after a title, an initial, the head of a form or, without "my", a kinship."""
    for match in NAME_FORMS["titled"].finditer(text):
        _, particles, surname = match.groups()
        is_surname = surname in NAMES["surnames"] or may_be_name(surname)
        if is_surname or _has_particle(particles):
            yield _name(text, match, 1)
    # "J. K. Loekje"
    for match in NAME_FORMS["initials"].finditer(text):
        if unknown(match[1]):
            yield Found(match.start(), name_end(text, match.end()), "NAME")
    # "Anna and Loekje", on either side of a name that was found before.
    for form in ("and", "before_and"):
        for match in NAME_FORMS[form].finditer(text):
            if unknown(match[1]):
                yield _name(text, match, 1)
    if not headline:
        yield from _after_heads(text)


def _has_particle(words: str | None) -> bool:
    """True if a small word that is not English leads the surname: "Mr van den Berg"."""
    if not words or not words.islower():
        return False
    first, *_ = words.strip(" \t-").split()
    return not everyday(first)


def _after_heads(text: str) -> Iterator[Found]:
    """Names after the head of a form ("Patient: …") or a kinship ("Mum Loekje …")."""
    for match in NAME_FORMS["head"].finditer(text):
        if _is_name_on_form(match[1]):
            yield _name(text, match, 1)
    # "Mum Loekje", but not "Mother Loekje Therapy".
    for match in NAME_FORMS["bare_role"].finditer(text):
        if unknown(match[1]) and not FORMS["field_term"].match(text, match.end()):
            yield _name(text, match, 1)


def _is_name_on_form(written: str) -> bool:
    """True if what stands behind the head of a form is a name: its words are unknown, or common in names."""
    parts = FORMS["word"].findall(written)
    words = [word for word in parts if len(word) > 1 and not word.isupper()]
    allowed = NAMES["particles"]
    # Beside an initial, a surname that is also a word counts: "J. Young".
    if len(words) < len(parts):
        allowed = allowed | NAMES["surnames"]
    for word in words:
        is_common = word in allowed or word.lower() in allowed
        if not is_common and not unknown(word):
            return False
    return True


def _name(text: str, match: re.Match[str], group: int) -> Found:
    """The name in a group of a match, with the surname behind it where it has a capital."""
    start, end = match.span(group)
    if match[group][0].isupper():
        end = name_end(text, end)
    return Found(start, end, "NAME")


def _listed(text: str, start: int, loud: bool) -> Iterator[Found]:
    """Capitalised words one by one: those of the lists, and unknown ones by their place in the sentence."""
    read_to = 0
    for match in FORMS["capital"].finditer(text, start):
        if match.start() < read_to:
            continue
        # Right behind a name another may begin, as at the beginning of a sentence.
        between = text[read_to : match.start()]
        follows = read_to > 0 and between.isspace()
        name = _name_or_place(text, match, loud=loud, follows=follows)
        if name is None:
            continue
        # A word in capitals is a name by itself, and does not count as one before the next.
        if not match[0].isupper() or name.kind == "PLACE":
            read_to = name.end
        yield name


def _name_or_place(
    text: str,
    match: re.Match[str],
    *,
    loud: bool,
    follows: bool,
) -> Found | None:
    """The name or place that begins with a capitalised word; None if there is none."""
    word = match[0]
    start, end = match.span()
    # "Edinburgh Postnatal Depression Scale", "Charles Bonnet Syndrome".
    if FORMS["named_term"].match(text, end):
        return None
    place_end = places.known_place(text, match) if word in places.FIRST_OF_PLACE else 0
    if place_end:
        return Found(start, place_end, "PLACE")
    if word not in SURE and FORMS["field_term"].match(text, end):
        return None
    if word.isupper():
        if _is_name_in_capitals(word):
            return Found(start, end, "NAME")
        return None
    if _is_listed_name(text, match, loud=loud):
        return Found(start, name_end(text, end), "NAME")
    if loud or word in BOTH:
        return None
    return _strange_name_or_place(text, match, follows=follows)


def _is_name_in_capitals(word: str) -> bool:
    """True for "KEVIN"; short words and abbreviations in capitals are not names."""
    return len(word) > 3 and word.title() in SURE and word not in CAPITALS


def _strange_name_or_place(text: str, match: re.Match[str], *, follows: bool) -> Found | None:
    """The name or place that begins with a capitalised word of no list, by what stands around it."""
    start, end = match.span()
    after_compass = places.compass(text, match)
    may_be_name_here = unknown(match[0]) and is_strange_name(text, match, follows)
    if not after_compass and not may_be_name_here:
        return None
    end_of_name = name_end(text, end)
    if after_compass or places.kind_before(text, match) == "PLACE":
        return Found(start, places.with_region(text, end_of_name), "PLACE")
    return Found(start, end_of_name, "NAME")


def _is_listed_name(text: str, match: re.Match[str], *, loud: bool) -> bool:
    """True for a first name of the list; one that is also a word needs a context that shows it."""
    word = match[0]
    if word in SURE:
        return True
    # "Deborahs mum"
    is_possessive = word.endswith("s") and word[:-1] in SURE
    if is_possessive and unknown(word):
        return True
    if loud or word not in BOTH:
        return False
    return is_person(text, match)


def _hashtags(text: str) -> Iterator[Found]:
    """Hashtags that are a place or hold a name: "#Brighton", "#RIPKevin", "#JusticeForLoek"."""
    for match in NAME_FORMS["hashtag"].finditer(text):
        start, end = match.span()
        tag = match[1]
        if tag.lower() in places.TAGS:
            yield Found(start, end, "PLACE")
        elif _holds_name(tag):
            yield Found(start, end, "NAME")
        elif tag[0].isupper():
            preposition, _ = word_before(text, start)
            if preposition in ("in", "from", "near"):
                yield Found(start, end, "PLACE")


def _holds_name(tag: str) -> bool:
    """True if a part of a hashtag is a name, or unknown after a head: "RIPKevin", "JusticeForLoek"."""
    if _is_clear(tag):
        return True
    # "RIPKevin" is cut where its capitals change: "RIP", "Kevin".
    parts = NAME_FORMS["tag_parts"].findall(tag)
    if any(part in SURE or part in SURNAMES for part in parts):
        return True
    heads = set()
    for count in range(1, len(parts)):
        head = "".join(parts[:count])
        heads.add(head.lower())
    has_head = not heads.isdisjoint(NAMES["tag_heads"])
    return has_head and unknown(parts[-1])


def _other_scripts(text: str) -> Iterator[Found]:
    """Names in letters that are not Latin, in a text that mostly is.

    A capital inside a sentence tells where a script has capitals, a common surname where a name is a few
    signs long; in any script a name may be announced as in English: "my name is", "my sister", "told".
    """
    matches = list(NAME_FORMS["other_script"].finditer(text))
    letters_of_other_scripts = sum(len(match[0]) for match in matches)
    latin_letters = NAME_FORMS["latin"].findall(text)
    mostly_latin = len(latin_letters) > letters_of_other_scripts
    if not matches or not mostly_latin:
        return

    for match in matches:
        start, end = match.span()
        if _is_name_of_other_script(text, match) or acts(text, end):
            is_place = places.kind_before(text, match) == "PLACE"
            yield Found(start, end, "PLACE" if is_place else "NAME")


def _is_name_of_other_script(text: str, match: re.Match[str]) -> bool:
    """True if its letters or the word before show that a word of another script is a name."""
    word, marks = word_before(text, match.start())
    letters = match[0]
    has_han_surname = letters[0] in _HAN_SURNAMES
    if has_han_surname and 1 < len(letters) <= _LONGEST_HAN:
        return True
    is_beside_word = marks.strip() in ("", ",", ".", ":", "(")
    if is_beside_word and word.lower() in _ANNOUNCING:
        return True

    # A script without capitals has the same letters in upper and lower case.
    has_capital = letters[0] != letters[0].lower() and letters != letters.upper()
    is_inside_sentence = word != "" and marks in ("", ",", "(")
    return has_capital and is_inside_sentence
