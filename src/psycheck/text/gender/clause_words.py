"""The words of an English clause: which are verbs, adverbs and subjects, by lists and neighbours."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from psycheck.text.agreement import REGULAR, third_person
from psycheck.text.gender.words import NOUNS, WORDS

_DATA: Final[dict[str, str]] = tomllib.loads(Path(__file__).with_name("they_verbs.toml").read_text("utf-8"))


def _list(name: str) -> frozenset[str]:
    return frozenset(_DATA[name].split())


AUXILIARIES: Final = dict(zip(_DATA["singular"].split(), _DATA["singular_to_they"].split(), strict=True))
EITHER_NUMBER: Final = _list("either_number")
JOINING: Final = _list("joining")
RELATIVE: Final = _list("relative")
OPENING: Final = _list("opening")
SAYING: Final = _list("saying")
DETERMINERS: Final = _list("determiners")
PREPOSITIONS: Final = _list("prepositions")
STATED: Final = _list("stated")
TURNING: Final = _list("turning")
ABBREVIATED: Final = _list("abbreviated")
UNITS: Final = _list("units")
THIRD: Final = _list("third")
INVERTED: Final = _list("he_or_she")
_NOT_THIRD: Final = _list("not_third")
SUBJECTS: Final = THIRD | _NOT_THIRD

_NOUNS_TOO: Final = _list("nouns_too") | _list("complaints")
_S_FORMS: Final = {
    third_person(verb): verb
    for verb in sorted({*_DATA["verbs"].split(), *REGULAR, *WORDS["clinical_verbs"].split(), *_NOUNS_TOO})
}
FINITE_FORMS: Final = AUXILIARIES.keys() | _S_FORMS.keys()
PLURAL_VERBS: Final = _list("plural")
VERB_FORMS: Final = FINITE_FORMS | EITHER_NUMBER | _list("past")
# Words that show that another clause has begun.
TELLING: Final = (
    FINITE_FORMS | EITHER_NUMBER | PLURAL_VERBS | frozenset(word for word in THIRD if "'" in word)
)
_NOUN_FORMS: Final = frozenset(map(third_person, _NOUNS_TOO))
_COMPLAINTS: Final = frozenset(map(third_person, _list("complaints")))
_OF_THINGS: Final = _list("of_things")
_FELT: Final = _list("felt")
_PERSONS: Final = _list("persons")
_PLURALS: Final = _list("plurals")
_PAST: Final = _list("past")
_OBJECTS: Final = _list("objects")
_VERB_BEFORE: Final = _list("with_prepositions")
_LISTING: Final = _list("listing")
_UP_OUT: Final = _list("up_out")
_QUANTITIES: Final = _list("quantities")
_PERSONAL_PAIRS: Final = _list("personal_pairs")
_ADVERBS: Final = _list("adverbs")
_NOT_ADVERBS: Final = _list("not_adverbs")
_PARTICLES: Final = _list("particles")
_NO_VERBS: Final = frozenset(WORDS["no_verbs"].split()) - AUXILIARIES.keys()
_PHRASES: Final[dict[str, list[list[str]]]] = {}
for _phrase in sorted(_DATA["adverb_phrases"].split(), key=len, reverse=True):
    _PHRASES.setdefault(_phrase.split("_")[0], []).append(_phrase.split("_"))
_LONG: Final = ("sses", "shes", "ches", "xes", "zzes", "oes")


class Word(NamedTuple):
    """A word of a text, in lower case with straight apostrophes, or a comma or dash."""

    said: str
    start: int
    end: int
    capital: bool


def plain_form(word: str) -> str:
    """What a singular verb is beside they: is → are, tries → try; "" if it can be none."""
    known = AUXILIARIES.get(word) or _S_FORMS.get(word)
    if known:
        return known
    if len(word) < 4 or word[-1] != "s" or word[-2] in "su'-" or word in _NO_VERBS or word in NOUNS:
        return ""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[: -2 if word.endswith(_LONG) else -1]


def skip_adverbs(words: Sequence[Word], at: int, *, particles: bool = False) -> tuple[int, bool]:
    """Where the adverbs that begin at `at` end, and whether there are any; `particles` are "up", "out" …"""
    start = at
    while at < len(words):
        said = words[at].said
        length = _phrase_at(words, at)
        if length:
            at += length
        elif (
            said in _ADVERBS
            or (said.endswith("ly") and len(said) > 4 and said not in _NOT_ADVERBS)
            or (particles and said in _PARTICLES)
        ):
            at += 1
        else:
            break
    return at, at > start


def _phrase_at(words: Sequence[Word], at: int) -> int:
    for phrase in _PHRASES.get(words[at].said, ()):
        if [word.said for word in words[at : at + len(phrase)]] == phrase:
            return len(phrase)
    return 0


def is_past(word: str) -> bool:
    """Whether a word may be a past tense."""
    return word in _PAST or (word.endswith("ed") and len(word) > 4)


def is_verb(
    words: Sequence[Word], at: int, since: int, joined: int, *, parallel: bool, adverb: bool, continues: bool
) -> bool:
    """Whether a word after "and" or a comma at `joined` is a verb in -s and not a plural.

    `since` is where the words after the last verb of the subject begin; `parallel` means that there are none,
    `continues` that another verb in -s is joined to the word.
    """
    said = words[at].said
    if said not in FINITE_FORMS:
        following = words[at + 1].said if at + 1 < len(words) else ""
        takes = following in DETERMINERS - _QUANTITIES or following in _OBJECTS
        return (takes or (parallel and joined > 0)) and bool(plain_form(said)) and said not in _PLURALS
    if said not in _NOUN_FORMS or adverb:
        return True
    following = words[at + 1].said if at + 1 < len(words) else ""
    if parallel:
        return following not in ("are", "were", "of")
    between = words[since:joined]
    last = words[joined - 1].said
    led = next((i for i in range(joined - 1, since, -1) if words[i].said in PREPOSITIONS), since - 1)
    listed = _bare(words[led + 1 : joined]) and plural(words[joined - 1 : joined])
    if said in _COMPLAINTS:
        takes = (following in DETERMINERS and following not in _QUANTITIES) or following in _OBJECTS
        return takes or following.endswith("ly") or (following in _VERB_BEFORE and not listed)
    if not following or following == "," or following in JOINING:
        told = bool(between) and between[0].said in _OBJECTS
        return told or last in _OBJECTS or any(word.said in _NOT_THIRD for word in between) or continues
    if following in ("of", "–") or following in PLURAL_VERBS or following in RELATIVE:
        return False
    if following in PREPOSITIONS or following in _PARTICLES:
        parted = following in _UP_OUT or (following == "on" and at + 2 >= len(words))
        if parted or (following in _VERB_BEFORE and not _phrase_at(words, at + 1)):
            return not listed
        return not (listed or _bare(between) or (since > 0 and words[since - 1].said in _LISTING))
    return True


def _bare(span: Sequence[Word]) -> bool:
    """Whether an object is mere nouns and adjectives, as in a list of things: "headaches and cramps"."""
    return not any(
        word.said in DETERMINERS
        or word.said in PREPOSITIONS
        or word.said in _OBJECTS
        or word.said.endswith("ly")
        or word.said in JOINING
        for word in span
    )


def may_be_finite(word: str, span: Sequence[Word] = (), opener: str = "", *, relative: bool = False) -> bool:
    """Whether a form in -s that nothing joins is a verb, after the words that may be its subject."""
    if word in AUXILIARIES:
        return True
    if span and span[-1].said in DETERMINERS and span[-1].said not in THIRD:
        return False
    if span and (span[-1].said in _NOT_THIRD or span[-1].said == "to"):
        return False
    if word not in _NOUN_FORMS:
        return True
    if (relative and not span) or (span and span[-1].said in THIRD):
        return True
    if names_person(span) and not any(each.said in PREPOSITIONS for each in span):
        return True
    return bool(opener) and word not in _COMPLAINTS and bool(span) and span[0].said in DETERMINERS


def ends_no_noun(word: str) -> bool:
    """Whether a pronoun after this word is not described by it: "my ex says he", "every morning she"."""
    return (
        word in SAYING
        or word.rstrip("s") in UNITS
        or (word in FINITE_FORMS and word not in _NOUN_FORMS)
        or is_past(word)
        or word in OPENING | RELATIVE | PREPOSITIONS | JOINING | EITHER_NUMBER | PLURAL_VERBS | _ADVERBS
    )


def surely_verb(words: Sequence[Word], at: int) -> bool:
    """Whether a word in -s that "and" joins is a verb, whatever stands before it."""
    said = words[at].said
    following = words[at + 1].said if at + 1 < len(words) else ""
    return said in FINITE_FORMS and (
        said not in _NOUN_FORMS or following in DETERMINERS or following in _OBJECTS
    )


def is_personal(words: Sequence[Word], at: int) -> bool:
    """Whether only a person can be the subject of this verb: "denies", "doesn't want", "is worried"."""
    said = words[at].said
    if said not in AUXILIARIES:
        pair = f"{said}_{words[at + 1].said}" if at + 1 < len(words) else ""
        return pair in _PERSONAL_PAIRS or plain_form(said) not in _OF_THINGS
    after, _ = skip_adverbs(words, at + 1)
    if after >= len(words):
        return False
    if AUXILIARIES[said].startswith("do"):
        return plain_form(third_person(words[after].said)) not in _OF_THINGS
    return words[after].said in _FELT


def names_person(span: Sequence[Word]) -> bool:
    """Whether words name a person or an animal, by a noun or by a name."""
    return any(
        word.said in _PERSONS
        or word.said in NOUNS
        or (word.capital and len(word.said) > 1)
        or word.said.endswith(("ologist", "ician", "apist"))
        for word in span
    )


def plural(span: Sequence[Word]) -> bool:
    """Whether a subject is plural or no third person, so that no verb in -s can be its."""
    if not span:
        return False
    last = span[-1].said
    return (
        any(word.said in _NOT_THIRD for word in span)
        or last in _PLURALS
        or (len(last) > 3 and last[-1] == "s" and last[-2] not in "su'i")
    )
