"""Whether a word in -s that "and" or a comma joins is a verb or a plural: "and aches", "and bills".

The rules of `_RULES` are tried in order; the first that can tell decides.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from psycheck.text.gender.clause_words import (
    COMPLAINTS,
    FINITE_FORMS,
    LISTS,
    NOUN_FORMS,
    Word,
    phrase_at,
    plain_form,
    plural,
    text_at,
)

# What a verb may have as its object: "wants it", "takes the bus"; but "bills some" …
_OBJECTS: Final = LISTS["objects"] | (LISTS["determiners"] - LISTS["quantities"])
_NOT_IN_LISTS: Final = LISTS["determiners"] | LISTS["prepositions"] | LISTS["objects"] | LISTS["joining"]
_VERBS_OF_NOUNS: Final = LISTS["he_or_she"] | LISTS["plural"]
_NOT_AFTER_VERBS: Final = LISTS["plural"] | LISTS["relative"] | {"of", "–"}
_AFTER_VERBS: Final = LISTS["prepositions"] | LISTS["particles"]
_PHRASE_ENDS: Final = LISTS["joining"] | {"", ","}


class JoinedWord(NamedTuple):
    """A word that a comma or "and" joins to what the pronoun's last verb says."""

    at: int
    joint: int  # where the comma or "and" stands
    since: int  # where the words after the last verb of the pronoun begin
    comma_only: bool  # no "and" or "but" joins it
    after_adverb: bool  # "and often aches"
    parallel: bool  # nothing but adverbs between the last verb and the joint: "eats and sleeps"
    continues: bool  # another verb in -s is joined to the word: "paints, bakes and plays"


_Rule = Callable[[Sequence[Word], JoinedWord, str, str], bool | None]


def is_verb(words: Sequence[Word], joined: JoinedWord) -> bool:
    """True if a word after "and" or a comma is a verb in -s and not a plural."""
    word = words[joined.at].text
    following = text_at(words, joined.at + 1)
    for rule in _RULES:
        verdict = rule(words, joined, word, following)
        if verdict is not None:
            return verdict
    return True


def _noun_has_its_own_verb(
    _: Sequence[Word],
    __: JoinedWord,
    word: str,
    following: str,
) -> bool | None:
    """A plural that "he" describes or a plural verb follows: "and contracts he signs are"."""
    may_be_noun = word in NOUN_FORMS or word not in FINITE_FORMS
    # "says he" is a verb with its subject.
    if not may_be_noun or word in LISTS["saying"]:
        return None
    if following in _VERBS_OF_NOUNS:
        return False
    return None


def _unlisted_word(
    _: Sequence[Word],
    joined: JoinedWord,
    word: str,
    following: str,
) -> bool | None:
    """A word that no list of verbs has needs an object: "and zhuzhes the room"."""
    if word in FINITE_FORMS:
        return None
    if word in LISTS["plurals"] or not plain_form(word):
        return False
    follows_verb = joined.parallel and joined.joint > 0
    return follows_verb or following in _OBJECTS


def _never_a_noun(
    _: Sequence[Word],
    joined: JoinedWord,
    word: str,
    __: str,
) -> bool | None:
    """A form that is only a verb ("denies"), or that an adverb leads: "and often visits"."""
    if word not in NOUN_FORMS or joined.after_adverb:
        return True
    return None


def _right_after_the_verb(
    _: Sequence[Word],
    joined: JoinedWord,
    __: str,
    following: str,
) -> bool | None:
    """Two verbs side by side: "she works and studies"; but "and lots of"."""
    if not joined.parallel:
        return None
    return following != "of"


def _complaint(
    words: Sequence[Word],
    joined: JoinedWord,
    word: str,
    following: str,
) -> bool | None:
    """What a patient complains of is rather a noun: "has nausea and aches"; but "and aches badly"."""
    if word not in COMPLAINTS:
        return None
    if following in _OBJECTS or following.endswith("ly"):
        return True
    leads_on = following in LISTS["with_prepositions"]
    return leads_on and not _ends_a_list(words, joined)


def _at_the_end(
    words: Sequence[Word],
    joined: JoinedWord,
    _: str,
    following: str,
) -> bool | None:
    """With nothing after it, a verb shows by the object before it: "hugs him and smiles"."""
    if following not in _PHRASE_ENDS:
        return None
    before_joint = words[joined.joint - 1].text
    if before_joint in LISTS["objects"] or joined.continues:
        return True

    between = words[joined.since : joined.joint]
    if between and between[0].text in LISTS["objects"]:
        return True
    return any(word.text in LISTS["not_third"] for word in between)


def _part_of_a_noun_phrase(
    _: Sequence[Word],
    __: JoinedWord,
    ___: str,
    following: str,
) -> bool | None:
    """A plural with what describes it: "and pictures of", "and drinks that"."""
    if following in _NOT_AFTER_VERBS:
        return False
    return None


def _before_a_preposition(
    words: Sequence[Word],
    joined: JoinedWord,
    _: str,
    following: str,
) -> bool | None:
    """Verbs and nouns both take prepositions: "and plans for", "and walks off"."""
    if following not in _AFTER_VERBS:
        return None
    ends_a_list = _ends_a_list(words, joined)
    ends_sentence = joined.at + 2 >= len(words)
    has_particle = following in LISTS["up_out"] or (following == "on" and ends_sentence)
    # "with" leads on from a verb, "with time" is an adverb.
    leads_on = following in LISTS["with_prepositions"] and not phrase_at(words, joined.at + 1)
    if has_particle or leads_on:
        return not ends_a_list

    # "has", "reports": what follows is a list of things.
    after_listing_verb = joined.since > 0 and words[joined.since - 1].text in LISTS["listing"]
    if ends_a_list or after_listing_verb:
        return False
    return not _is_bare(words[joined.since : joined.joint])


_RULES: Final[tuple[_Rule, ...]] = (
    _noun_has_its_own_verb,
    _unlisted_word,
    _never_a_noun,
    _right_after_the_verb,
    _complaint,
    _at_the_end,
    _part_of_a_noun_phrase,
    _before_a_preposition,
)


def _ends_a_list(words: Sequence[Word], joined: JoinedWord) -> bool:
    """True if a bare plural stands before the joint, so that another may follow: "headaches and cramps"."""
    start = joined.since
    for at in range(joined.joint - 1, joined.since, -1):
        if words[at].text in LISTS["prepositions"]:
            start = at + 1
            break
    last = words[joined.joint - 1 : joined.joint]
    return _is_bare(words[start : joined.joint]) and plural(last)


def _is_bare(span: Sequence[Word]) -> bool:
    """True if an object is mere nouns and adjectives, as in a list of things."""
    texts = [word.text for word in span]
    if not _NOT_IN_LISTS.isdisjoint(texts):
        return False
    return not any(text.endswith("ly") for text in texts)
