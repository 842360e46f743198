"""The words of an English clause: which are verbs, adverbs and subjects, by lists and neighbours."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from psycheck.text.agreement import REGULAR, third_person
from psycheck.text.gender.words import NOUNS, PRONOUNS, WORDS
from psycheck.text.word_lists import read_toml, word_sets

_DATA: Final[dict[str, str]] = read_toml("gender/they_verbs.toml")
LISTS: Final = word_sets(_DATA)
AUXILIARIES: Final = dict(zip(_DATA["singular"].split(), _DATA["singular_to_they"].split(), strict=True))
SUBJECTS: Final = LISTS["third"] | LISTS["not_third"]

_NOUNS_TOO: Final = LISTS["nouns_too"] | LISTS["complaints"]
_S_FORMS: Final = {
    third_person(verb): verb
    for verb in sorted({*LISTS["verbs"], *REGULAR, *WORDS["clinical_verbs"].split(), *_NOUNS_TOO})
}
FINITE_FORMS: Final = AUXILIARIES.keys() | _S_FORMS.keys()
VERB_FORMS: Final = FINITE_FORMS | LISTS["either_number"] | LISTS["past"]
# Words that show that another clause has begun.
TELLING: Final = (
    FINITE_FORMS | LISTS["either_number"] | LISTS["plural"] | {word for word in LISTS["third"] if "'" in word}
)
_NOUN_FORMS: Final = frozenset(map(third_person, _NOUNS_TOO))
_COMPLAINTS: Final = frozenset(map(third_person, LISTS["complaints"]))
_OBJECTS: Final = LISTS["objects"] | (LISTS["determiners"] - LISTS["quantities"])
_NOT_IN_LISTS: Final = LISTS["determiners"] | LISTS["prepositions"] | LISTS["objects"] | LISTS["joining"]
_NO_NOUNS: Final = frozenset().union(
    *(LISTS[name] for name in ("saying", "opening", "relative", "prepositions", "joining", "either_number")),
    *(LISTS[name] for name in ("plural", "adverbs")),
)
_NO_VERBS: Final = {*WORDS["no_verbs"].split(), *NOUNS, *map(third_person, PRONOUNS)} - AUXILIARIES.keys()
_PHRASES: Final[dict[str, list[list[str]]]] = {}
for _phrase in sorted(_DATA["adverb_phrases"].split(), key=len, reverse=True):
    _PHRASES.setdefault(_phrase.split("_")[0], []).append(_phrase.split("_"))
_LONG: Final = ("sses", "shes", "ches", "xes", "zzes", "oes")


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
    known = AUXILIARIES.get(word) or _S_FORMS.get(word)
    if known:
        return known
    if len(word) < 4 or word[-1] != "s" or word[-2] in "su-" or "'" in word or word in _NO_VERBS:
        return ""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[: -2 if word.endswith(_LONG) else -1]


def skip_adverbs(words: Sequence[Word], at: int, *, particles: bool = False) -> tuple[int, bool]:
    """Where the adverbs that begin at `at` end, and whether there are any; `particles` are "up", "out" …"""
    start = at
    while at < len(words):
        word = words[at].text
        length = _phrase_at(words, at)
        if length:
            at += length
        elif (
            word in LISTS["adverbs"]
            or (word.endswith("ly") and len(word) > 4 and word not in LISTS["not_adverbs"])
            or (particles and word in LISTS["particles"])
        ):
            at += 1
        else:
            break
    return at, at > start


def _phrase_at(words: Sequence[Word], at: int) -> int:
    for phrase in _PHRASES.get(words[at].text, ()):
        if [word.text for word in words[at : at + len(phrase)]] == phrase:
            return len(phrase)
    return 0


def is_past(word: str) -> bool:
    """Whether a word may be a past tense."""
    return word in LISTS["past"] or (word.endswith("ed") and len(word) > 4)


def is_verb(
    words: Sequence[Word], at: int, since: int, joined: int, *, parallel: bool, adverb: bool, continues: bool
) -> bool:
    """Whether a word after "and" or a comma at `joined` is a verb in -s and not a plural.

    `since` is where the words after the last verb of the subject begin; `parallel` means that there are none,
    `continues` that another verb in -s is joined to the word.
    """
    word = words[at].text
    following = text_at(words, at + 1)
    noun = word in _NOUN_FORMS or word not in FINITE_FORMS
    if noun and word not in LISTS["saying"] and following in LISTS["he_or_she"] | LISTS["plural"]:
        return False  # "and contracts he signs are"
    if word not in FINITE_FORMS:
        takes = following in _OBJECTS or (parallel and joined > 0)
        return takes and bool(plain_form(word)) and word not in LISTS["plurals"]
    if word not in _NOUN_FORMS or adverb:
        return True
    if parallel:
        return following != "of"
    between = words[since:joined]
    last = words[joined - 1].text
    led = next((i for i in range(joined - 1, since, -1) if words[i].text in LISTS["prepositions"]), since - 1)
    listed = _bare(words[led + 1 : joined]) and plural(words[joined - 1 : joined])
    if word in _COMPLAINTS:
        led_on = following in LISTS["with_prepositions"] and not listed
        return following in _OBJECTS or following.endswith("ly") or led_on
    if not following or following == "," or following in LISTS["joining"]:
        has_object = last in LISTS["objects"] or (bool(between) and between[0].text in LISTS["objects"])
        return has_object or any(each.text in LISTS["not_third"] for each in between) or continues
    if following in ("of", "–") or following in LISTS["plural"] or following in LISTS["relative"]:
        return False
    if following in LISTS["prepositions"] or following in LISTS["particles"]:
        parted = following in LISTS["up_out"] or (following == "on" and at + 2 >= len(words))
        if parted or (following in LISTS["with_prepositions"] and not _phrase_at(words, at + 1)):
            return not listed
        return not (listed or _bare(between) or (since > 0 and words[since - 1].text in LISTS["listing"]))
    return True


def _bare(span: Sequence[Word]) -> bool:
    """Whether an object is mere nouns and adjectives, as in a list of things: "headaches and cramps"."""
    return not any(word.text in _NOT_IN_LISTS or word.text.endswith("ly") for word in span)


def may_be_finite(word: str, span: Sequence[Word] = (), opener: str = "", *, relative: bool = False) -> bool:
    """Whether a form in -s that nothing joins is a verb, after the words that may be its subject."""
    if word in AUXILIARIES:
        return True
    last = span[-1].text if span else ""
    if (
        last == "to"
        or last in LISTS["not_third"]
        or (last in LISTS["determiners"] and last not in LISTS["third"])
    ):
        return False
    if word not in _NOUN_FORMS or (relative and not span) or last in LISTS["third"]:
        return True
    if names_person(span) and not any(each.text in LISTS["prepositions"] for each in span):
        return True
    return bool(opener) and word not in _COMPLAINTS and bool(span) and span[0].text in LISTS["determiners"]


def ends_no_noun(word: str) -> bool:
    """Whether a pronoun after this word is not described by it: "my ex says he", "every morning she"."""
    verb = (word in FINITE_FORMS and word not in _NOUN_FORMS) or is_past(word)
    return verb or word in _NO_NOUNS or word.rstrip("s") in LISTS["units"]


def surely_verb(words: Sequence[Word], at: int) -> bool:
    """Whether a word in -s that "and" joins is a verb, whatever comes before it."""
    word = words[at].text
    following = text_at(words, at + 1)
    takes = following in LISTS["determiners"] or following in LISTS["objects"]
    return word in FINITE_FORMS and (word not in _NOUN_FORMS or takes)


def is_personal(words: Sequence[Word], at: int) -> bool:
    """Whether only a person can be the subject of this verb: "denies", "doesn't want", "is worried"."""
    word = words[at].text
    if word not in AUXILIARIES:
        return (
            f"{word}_{text_at(words, at + 1)}" in LISTS["personal_pairs"]
            or plain_form(word) not in LISTS["of_things"]
        )
    after, _ = skip_adverbs(words, at + 1)
    if after >= len(words):
        return False
    if AUXILIARIES[word].startswith("do"):
        return plain_form(third_person(words[after].text)) not in LISTS["of_things"]
    return words[after].text in LISTS["felt"]


def names_person(span: Sequence[Word]) -> bool:
    """Whether words name a person or an animal, by a noun or by a name."""
    return any(
        word.text in LISTS["persons"]
        or word.text in NOUNS
        or (word.capital and len(word.text) > 1)
        or word.text.endswith(("ologist", "ician", "apist"))
        for word in span
    )


def plural(span: Sequence[Word]) -> bool:
    """Whether a subject is plural or no third person, so that no verb in -s can be its."""
    if not span:
        return False
    last = span[-1].text
    return (
        any(word.text in LISTS["not_third"] for word in span)
        or last in LISTS["plurals"]
        or (len(last) > 3 and last[-1] == "s" and last[-2] not in "su'i")
    )
