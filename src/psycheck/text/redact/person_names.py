"""Names of persons, found by lists of names and by their place in a sentence.

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
from typing import Final

from psycheck.text.redact.capitals import (
    BLOT,
    BOTH,
    LOWER,
    NEXT,
    ONE,
    PARTICLES,
    SURE,
    TITLES,
    UPPER,
    WORD,
    Found,
    brand_like,
    field_term,
    may_be_name,
    name_end,
    unknown,
    word_before,
)
from psycheck.text.redact.lists import OWN, ROLES, THINGS, any_of, everyday, headed, words_of

_SURE_LOWER: Final = frozenset(name.lower() for name in SURE if len(name) > 2)
# In lower case and without a hint around it, a name must be long and not also a word.
_CLEAR_LOWER: Final = frozenset(
    name
    for name in _SURE_LOWER - words_of("names", "no_name_lower")
    if len(name) > 3 and "-" not in name and not everyday(name)
)
_NOT_CALLED: Final = words_of("names", "not_called")
_NAMES_OF_THINGS: Final = words_of("names", "names_of_things")
_NOT_AFTER: Final = words_of("names", "not_after")
_THING_BEFORE: Final = words_of("names", "thing_before")
_THING_AFTER: Final = re.compile(rf"[ \t]+(?:{any_of(words_of('names', 'thing_after'))})(?!\w)")
_THING_OF: Final = re.compile(
    rf"(?<!\w)(?i:{any_of(words_of('names', 'thing_of'))})\s+(?:in|of|from|for|on|to)\s+(?:the\s+)?\Z"
)
_OF: Final = frozenset({"in", "of", "from", "for", "on", "to", "the"})
_DOING: Final = words_of("names", "doing")
_PERSON_BEFORE: Final = words_of("names", "person_before")
_WEAK_BEFORE: Final = words_of("names", "weak_before")
_MONTHS: Final = frozenset({"May", "April", "June", "August"})
_ROLE_WORDS: Final = words_of("names", "roles")
_OPEN_TO: Final = (
    words_of("names", "open_to") | _PERSON_BEFORE | _ROLE_WORDS | frozenset(title.lower() for title in TITLES)
)

_ANNOUNCING: Final = (
    _PERSON_BEFORE | frozenset(title.lower() for title in TITLES) | words_of("names", "announcing")
)
_ANY: Final = rf"({ONE}|[a-z]{LOWER}{{2,}})(?!\w)"
_PARTICLES: Final = words_of("names", "particles")
_SURNAMES: Final = words_of("names", "surnames")
# Up to three, with or without full stops: "J. P.", "J P", "JP", "J-P".
_FIRST_LETTERS: Final = rf"(?:{UPPER}(?:\.-?|-)?[ \t]?){{1,3}}(?<=[ \t.])"
_TITLED: Final = re.compile(
    rf"(?<!\w)(?:{any_of(TITLES)})\b\.?\s+((?:{_FIRST_LETTERS})?({PARTICLES})?({ONE}))(?!\w)"
)
_INITIALS: Final = re.compile(rf"(?<![\w.])(?:[A-Z]\.\s?){{1,3}}({ONE})(?!\w)")
_ROLE: Final = re.compile(rf"{OWN}\s+(?:[a-z-]+\s+)?{ROLES}(?:,|\s\()?\s*(?:(?<=[,\s(])){_ANY}")
_BARE_ROLE: Final = re.compile(rf"{headed(_ROLE_WORDS)}(?:,\s+|\s+\(?)({ONE})(?!\w)")
_HEAD: Final = re.compile(
    rf"(?:^|(?<=[.;,\n]\s))(?:(?:{any_of(words_of('names', 'heads'))})(?::\s*|,\s+|\s+)"
    rf"|(?:{any_of(words_of('names', 'labels'))}):\s*)"
    rf"((?:{_FIRST_LETTERS})?(?:{PARTICLES})?{ONE}(?:,\s+{ONE})?)(?!\w)"
)
_CALLED_WORDS: Final = headed(words_of("names", "calling"))
_CALLED: Final = re.compile(
    rf"(?:{OWN}\s+(?i:(?:(?:full|real|first|last)\s+)?name(?:\s+is|\s+was|['’]?s))|{_CALLED_WORDS})"
    rf"\s+({ONE}|[a-z]{LOWER}+)(?![\w'’])"
)
# Without "my" or of somebody else the word itself must be rare: "name is wei", "a girl named thandeka".
_CALLED_SO: Final = re.compile(
    rf"(?:[Nn](?<!\w.)ame(?:\s+is|\s+was|['’]s|:)|{headed(words_of('names', 'somebody'))}"
    rf"\s+(?:(?:is|was|who\s+is)\s+)?(?:called|named))\s+({ONE}|[a-z]{LOWER}+)(?![\w'’])"
)
_SECOND_LOWER: Final = re.compile(rf"[ \t]+([a-z]{LOWER}+)(?![\w'’])")
_SELF_WORDS: Final = headed(words_of("names", "introducing"))
_SELF: Final = re.compile(rf"({_SELF_WORDS})\s+{_ANY}")
_HERE_IS: Final = re.compile(rf"(?:^|[,.!?]\s{{0,3}})({ONE}|[a-z]{{3,}})\s+here(?!\w)")
_SIGNED: Final = re.compile(
    r"(?:^|[\n.!?,]\s?)(?i:love|thanks(?:\s+for\s+\w+)?|thank\s+you|regards|best\s+wishes|signed|cheers"
    rf"|sincerely|yours(?:\s+truly)?|hugs|xoxo)\s?[,\n-]{{1,3}}\s?({ONE})\W{{0,9}}\Z"
)
_MISSED: Final = re.compile(rf"{headed(_PERSON_BEFORE - _WEAK_BEFORE)}\s+([a-z]{LOWER}{{2,}})(?!\w)")
_AND: Final = re.compile(rf"(?<={BLOT})\s+and\s+({ONE})(?!\w)")
_LOWER_WORD: Final = re.compile(rf"(?<![\w@#/'’.-])[a-z]{LOWER}{{3,}}(?![\w@/-]|\.\w)")
_ADVERB: Final = rf"(?:(?:{any_of(words_of('names', 'adverbs'))})\s+)*"
_SPOKEN_TO: Final = re.compile(rf",?\s+(?:{any_of(words_of('names', 'spoken_to'))})(?!\w)", re.I)
_DOES: Final = re.compile(rf"(?:\s+{ONE})?\s+(never\s+)?{_ADVERB}([a-z]+(?:['’]t)?)(?!\w)")
_OWNS: Final = re.compile(r"['’]s\s+[a-z]")
_SMALL_WORD: Final = re.compile(rf"(?<![\w'’-]){LOWER}+(?:['’-]{LOWER}+)*(?!\w)")
_APPOSED: Final = re.compile(r"\s*(?:[,)]|$)")


def introduced(text: str, headline: bool) -> Iterator[Found]:
    """Names that are announced: "my name is …", "I'm …", "my sister …", or at the end of a letter."""
    low = text.lower()
    for found in _CALLED.finditer(text) if "name" in low or "called" in low or "go by" in low else ():
        if found[1].lower() not in _NOT_CALLED:
            yield _called(text, found)
    for found in _CALLED_SO.finditer(text) if "name" in low or "called" in low else ():
        thing = word_before(text, found.start())[0].lower() in _NAMES_OF_THINGS
        if not thing and found[1].lower() not in _NOT_CALLED and _rare(found[1]):
            yield _called(text, found)
    for found in (*_ROLE.finditer(text), *_HERE_IS.finditer(text), *_MISSED.finditer(text)):
        word = found[1]
        known = word in _SURE_LOWER if word.islower() else word in SURE
        if known or (found.re is _ROLE and word[0].isupper() and not headline and may_be_name(word)):
            yield _name(text, found, 1)
    for found in _SELF.finditer(text):
        word = found[2]
        if word.islower():
            known = word in _SURE_LOWER
        elif word in SURE:
            known = True
        else:
            fits = not found[1].lower().startswith("this") and may_be_name(word)
            known = not headline and word != "Christian" and fits
        if known:
            yield _name(text, found, 2)
    for found in _SIGNED.finditer(text):
        if may_be_name(found[1]):
            yield _name(text, found, 1)


def _called(text: str, found: re.Match[str]) -> Found:
    """A name after "my name is" and the like; in lower case with a second word if that is rare."""
    one = _name(text, found, 1)
    more = _SECOND_LOWER.match(text, one.end) if found[1].islower() else None
    return one._replace(end=more.end()) if more and _rare(more[1]) else one


def _rare(word: str) -> bool:
    """Whether a word in any case is unknown but for names."""
    return may_be_name(word.title()) and word.title() not in BOTH


def announces(word: str, marks: str) -> bool:
    """Whether the word before announces a person, in any script."""
    low = word.lower()
    return marks.strip() in ("", ",", ".", ":", "(") and (low in _ANNOUNCING or low in _ROLE_WORDS)


def acts(text: str, at: int) -> bool:
    """Whether what follows is what a person does."""
    return _does(text, at)


def lower_case(text: str) -> Iterator[Found]:
    """First names that are hardly ever another word, written small."""
    for found in _LOWER_WORD.finditer(text):
        if found[0] in _CLEAR_LOWER:
            yield Found(*found.span(), "NAME")


def titled(text: str, headline: bool) -> Iterator[Found]:
    """Names after a title, an initial, the head of a form or, without "my", a kinship."""
    for found in _TITLED.finditer(text):
        particle = found[2] and found[2].islower() and not everyday(found[2].strip(" \t-").split()[0])
        if particle or found[3] in _SURNAMES or may_be_name(found[3]):
            yield _name(text, found, 1)
    for found in _INITIALS.finditer(text):
        if unknown(found[1]):
            yield Found(found.start(), name_end(text, found.end()), "NAME")
    for found in _AND.finditer(text):
        if unknown(found[1]):
            yield _name(text, found, 1)
    if headline:
        return
    for found in _HEAD.finditer(text):
        parts = WORD.findall(found[1])
        words = [word for word in parts if len(word) > 1 and not word.isupper()]
        known = _PARTICLES | _SURNAMES if len(words) < len(parts) else _PARTICLES
        if all(unknown(word) or word in known or word.lower() in known for word in words):
            yield _name(text, found, 1)
    for found in _BARE_ROLE.finditer(text):
        if unknown(found[1]) and not field_term(text, found.end()):
            yield _name(text, found, 1)


def ambiguous(text: str, found: re.Match[str]) -> bool:
    """Whether a name that is also a word names a person here, by its context."""
    word, marks = word_before(text, found.start())
    end = found.end()
    joined = text.startswith((" and I ", ", my "), end)
    if found[0] in _MONTHS:
        strong = word.lower() in _PERSON_BEFORE - _WEAK_BEFORE
        return joined or (strong and not marks) or (word.lower() == "when" and _does(text, end))
    if _does(text, end):
        return marks != "" or word.lower() not in _NOT_AFTER
    if _OWNS.match(text, end):
        return bool(word) and marks in ("", ",") and word.lower() not in ("the", "a", "an", "this")
    if not word or marks not in ("", ","):
        return joined or _two(text, found)
    # "Star Wars", "Rose Garden": a title of something rather than a surname.
    if (more := NEXT.match(text, end)) and not may_be_name(more[1]):
        return joined
    return joined or (not marks and word[0].islower() and word.lower() not in _NOT_AFTER)


def strange(text: str, found: re.Match[str], follows: bool) -> bool:
    """Whether an unknown capitalised word is a name here, by its place in the sentence."""
    word, marks = ("", "") if follows else word_before(text, found.start())
    end = found.end()
    if _thing(text, found, word, marks):
        return False
    owns = _OWNS.match(text, end) is not None
    if not word or marks.rstrip("\"'”’ )")[-1:] in (".", "!", "?", ":", "…", "-", "*") or "\n" in marks:
        return owns or _doing(text, found)
    if marks in ("", ", ", ","):
        low = word.lower()
        if low == "the":
            return word_before(text, text.rfind(word, 0, found.start()))[0].lower() == "at"
        if not marks:
            deed = _doing(text, found)
            # "that" opens a clause as often as it points at a thing.
            thing = low in _THING_BEFORE and not owns and not (deed and low == "that")
            likely = owns or deed or low in _OPEN_TO
            return likely and not thing and (word[0].islower() or everyday(word))
        return (low in _ROLE_WORDS or everyday(word)) and (
            owns or _does(text, end) or _APPOSED.match(text, name_end(text, end)) is not None
        )
    if marks.strip() == "(":
        return word.lower() in _ROLE_WORDS and _APPOSED.match(text, name_end(text, end)) is not None
    return False


def _thing(text: str, found: re.Match[str], word: str, marks: str) -> bool:
    """Whether an unknown capitalised word names a thing, by its form and its context."""
    start, end = found.span()
    if found[0].lower() in _small_words(text) or brand_like(found[0]) or _THING_AFTER.match(text, end):
        return True
    if not word or marks:
        return False
    # "Hollow Knight", "Organic Chemistry": a word that is not a first name opens a title.
    if word[0].isupper() and len(word) > 1 and not may_be_name(word):
        before, stop = word_before(text, text.rfind(word, 0, start))
        title = word.rstrip(".") in TITLES or word.lower() in _ROLE_WORDS
        if before and not stop and not title:
            return True
    if word.lower() in _OF and _THING_OF.search(text, max(0, start - 40), start):
        return True
    # "Roblox and Bionicles": what is joined to a thing is one.
    if word.lower() in ("and", "or", "to", "than"):
        other, stop = word_before(text, text.rfind(word, 0, start))
        return not stop and other in THINGS
    return False


@lru_cache(2)
def _small_words(text: str) -> frozenset[str]:
    """The words that a text has in lower case, found once for all its capitals."""
    return frozenset(_SMALL_WORD.findall(text))


def _doing(text: str, found: re.Match[str]) -> bool:
    """Whether what follows makes a person of an unknown word: a deed, an address or a surname."""
    end = found.end()
    return _does(text, end) or _SPOKEN_TO.match(text, end) is not None or _two(text, found)


def _two(text: str, found: re.Match[str]) -> bool:
    """Whether another unknown capitalised word follows: a first name and a surname."""
    more = NEXT.match(text, found.end())
    return more is not None and unknown(more[1])


def _does(text: str, at: int) -> bool:
    """Whether what follows is what a person does."""
    after = _DOES.match(text, at)
    return after is not None and (after[1] is not None or after[2].lower() in _DOING)


def _name(text: str, found: re.Match[str], group: int) -> Found:
    start, end = found.span(group)
    return Found(start, name_end(text, end) if found[group][0].isupper() else end, "NAME")
