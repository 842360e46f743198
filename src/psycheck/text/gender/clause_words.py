"""The words of an English clause: which are verbs, adverbs and subjects, by lists and neighbours."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from psycheck.text.gender.entries import NOUNS, PRONOUNS, WORDS
from psycheck.text.verb_agreement import REGULAR, third_person
from psycheck.text.word_lists import read_toml, word_sets

_DATA: Final[dict[str, str]] = read_toml("gender/they_verbs.toml")
LISTS: Final = word_sets(_DATA)
AUXILIARIES: Final = dict(zip(_DATA["singular"].split(), _DATA["singular_to_they"].split(), strict=True))
SUBJECTS: Final = LISTS["third"] | LISTS["not_third"]

_NOUNS_TOO: Final = LISTS["nouns_too"] | LISTS["complaints"]
_VERBS: Final = LISTS["verbs"] | REGULAR | set(WORDS["clinical_verbs"].split()) | _NOUNS_TOO
_PLAIN_OF_S_FORM: Final = {third_person(verb): verb for verb in sorted(_VERBS)}
FINITE_FORMS: Final = AUXILIARIES.keys() | _PLAIN_OF_S_FORM.keys()
VERB_FORMS: Final = FINITE_FORMS | LISTS["either_number"] | LISTS["past"]

# Words that show that another clause has begun, among them "who's" and "everybody's".
_SUBJECTS_WITH_VERB: Final = {word for word in LISTS["third"] if "'" in word}
TELLING: Final = FINITE_FORMS | LISTS["either_number"] | LISTS["plural"] | _SUBJECTS_WITH_VERB

# Forms in -s that are plurals as well: "visits", "aches".
NOUN_FORMS: Final = frozenset(map(third_person, _NOUNS_TOO))
COMPLAINTS: Final = frozenset(map(third_person, LISTS["complaints"]))

_NOT_NOUNS: Final = (
    LISTS["saying"]
    | LISTS["opening"]
    | LISTS["relative"]
    | LISTS["prepositions"]
    | LISTS["joining"]
    | LISTS["either_number"]
    | LISTS["plural"]
    | LISTS["adverbs"]
)
_NOT_VERBS: Final = {*WORDS["no_verbs"].split(), *NOUNS, *map(third_person, PRONOUNS)} - AUXILIARIES.keys()
# Verbs in these endings add -es: misses, wishes, goes.
_ES_ENDINGS: Final = ("sses", "shes", "ches", "xes", "zzes", "oes")
_PEOPLE_ENDINGS: Final = ("ologist", "ician", "apist")


def _adverb_phrases() -> dict[str, list[list[str]]]:
    """The phrases that act as adverbs ("at times"), the longest first, by their first word."""
    phrases: dict[str, list[list[str]]] = {}
    for entry in sorted(_DATA["adverb_phrases"].split(), key=len, reverse=True):
        phrase = entry.split("_")
        phrases.setdefault(phrase[0], []).append(phrase)
    return phrases


_PHRASES: Final = _adverb_phrases()


class Word(NamedTuple):
    """A word of a text, in lower case with straight apostrophes, or a comma or dash."""

    text: str
    start: int
    end: int
    capital: bool


def text_at(words: Sequence[Word], at: int) -> str:
    """The word at a place, "" behind the last one."""
    return words[at].text if at < len(words) else ""


def plain_form(word: str) -> str:
    """The form of a singular verb beside they: is → are, tries → try; "" if it cannot be a verb."""
    listed = AUXILIARIES.get(word) or _PLAIN_OF_S_FORM.get(word)
    if listed:
        return listed
    if not _may_be_s_form(word):
        return ""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(_ES_ENDINGS):
        return word[:-2]
    return word[:-1]


def _may_be_s_form(word: str) -> bool:
    """True if a word that no list has may be a verb in -s; "loss", "virus" and "mum's" may not."""
    if len(word) < 4 or word[-1] != "s":
        return False
    # "loss", "virus", "self-s"
    if word[-2] in "su-":
        return False
    return "'" not in word and word not in _NOT_VERBS


def skip_adverbs(words: Sequence[Word], at: int, *, particles: bool = False) -> tuple[int, bool]:
    """Where the adverbs that begin at `at` end, and whether there are any; `particles` are "up", "out" …"""
    start = at
    while at < len(words):
        word = words[at].text
        phrase_length = phrase_at(words, at)
        is_particle = particles and word in LISTS["particles"]
        if phrase_length:
            at += phrase_length
        elif is_particle or _is_adverb(word):
            at += 1
        else:
            break
    return at, at > start


def _is_adverb(word: str) -> bool:
    """True for an adverb of the list, or by its ending; "ally" and "family" are none."""
    if word in LISTS["adverbs"]:
        return True
    has_ending = word.endswith("ly") and len(word) > 4
    return has_ending and word not in LISTS["not_adverbs"]


def phrase_at(words: Sequence[Word], at: int) -> int:
    """The number of words of the adverb phrase that begins here; 0 if there is none."""
    for phrase in _PHRASES.get(words[at].text, ()):
        length = len(phrase)
        written = [word.text for word in words[at : at + length]]
        if written == phrase:
            return length
    return 0


def is_past(word: str) -> bool:
    """True if a word may be a past tense."""
    if word in LISTS["past"]:
        return True
    return word.endswith("ed") and len(word) > 4


def may_be_finite(
    word: str,
    subject: Sequence[Word] = (),
    opener: str = "",
    *,
    relative: bool = False,
) -> bool:
    """True if a form in -s that nothing joins may be a verb, after the words that may be its subject."""
    if word in AUXILIARIES:
        return True
    last = subject[-1].text if subject else ""
    if _calls_for_noun(last):
        return False
    # "denies"
    if word not in NOUN_FORMS:
        return True
    # "who visits", "everyone visits"
    follows_relative = relative and not subject
    if follows_relative or last in LISTS["third"]:
        return True
    if _is_person_alone(subject):
        return True
    # "that the noise wakes"
    is_noun_phrase = bool(subject) and subject[0].text in LISTS["determiners"]
    return bool(opener) and word not in COMPLAINTS and is_noun_phrase


def _calls_for_noun(word: str) -> bool:
    """True if a form in -s after this word is a noun: "to visits", "we visits", "the visits"."""
    if word == "to" or word in LISTS["not_third"]:
        return True
    return word in LISTS["determiners"] and word not in LISTS["third"]


def _is_person_alone(subject: Sequence[Word]) -> bool:
    """True for "his mother" before "visits", but not for "his mother with"."""
    has_preposition = any(word.text in LISTS["prepositions"] for word in subject)
    return not has_preposition and names_person(subject)


def ends_no_noun(word: str) -> bool:
    """True if a pronoun after this word does not describe it: "my ex says he", "every morning she"."""
    is_only_verb = word in FINITE_FORMS and word not in NOUN_FORMS
    if is_only_verb or is_past(word) or word in _NOT_NOUNS:
        return True
    return word.rstrip("s") in LISTS["units"]


def surely_verb(words: Sequence[Word], at: int) -> bool:
    """True if a word in -s that "and" joins is a verb, whatever comes before it."""
    word = words[at].text
    if word not in FINITE_FORMS:
        return False
    if word not in NOUN_FORMS:
        return True
    # "visits the", "visits him"
    following = text_at(words, at + 1)
    return following in LISTS["determiners"] or following in LISTS["objects"]


def is_personal(words: Sequence[Word], at: int) -> bool:
    """True if only a person can be the subject of this verb: "denies", "doesn't want", "is worried"."""
    word = words[at].text
    if word not in AUXILIARIES:
        pair = f"{word}_{text_at(words, at + 1)}"
        if pair in LISTS["personal_pairs"]:
            return True
        return plain_form(word) not in LISTS["of_things"]

    behind, _ = skip_adverbs(words, at + 1)
    if behind >= len(words):
        return False
    word_behind = words[behind].text
    if AUXILIARIES[word].startswith("do"):
        # The bare verb in the form that the list has: it is known by its form in -s.
        verb = plain_form(third_person(word_behind))
        return verb not in LISTS["of_things"]
    return word_behind in LISTS["felt"]


def names_person(span: Sequence[Word]) -> bool:
    """True if words name a person or an animal, by a noun or by a name."""
    return any(_is_person(word) for word in span)


def _is_person(word: Word) -> bool:
    """True for a word of the lists, a word with a capital ("Anna"), and "psychologist"."""
    if word.text in LISTS["persons"] or word.text in NOUNS:
        return True
    may_be_name = word.capital and len(word.text) > 1
    return may_be_name or word.text.endswith(_PEOPLE_ENDINGS)


def plural(span: Sequence[Word]) -> bool:
    """True if a subject is plural or no third person, so that no verb in -s can be its."""
    if not span:
        return False
    last = span[-1].text
    if last in LISTS["plurals"]:
        return True
    if any(word.text in LISTS["not_third"] for word in span):
        return True
    has_ending = len(last) > 3 and last[-1] == "s"
    # "loss", "virus", "mum's", "crisis"
    return has_ending and last[-2] not in "su'i"
