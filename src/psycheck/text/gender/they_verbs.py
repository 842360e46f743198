"""The verbs that change when he or she becomes they: "she feels" → "they feel".

The first verb stands beside the pronoun, or before it in a question. Later ones, which "and" or a comma
joins, are found by later_verbs.py.
"""

from collections.abc import Sequence
from re import Match
from typing import Final

from psycheck.text.edits import Change, straight
from psycheck.text.gender import clause_words as clause
from psycheck.text.gender.clause_words import LISTS, Word
from psycheck.text.gender.later_verbs import later_verbs, with_they
from psycheck.text.gender.sentence_words import FORMS, may_join_verb, words_after
from psycheck.text.surroundings import search_before, text_before

_OPENING_MARKS: Final = "([{*\"“'‘«"
_REFLEXIVES: Final = ("himself", "herself", "themselves")
# Words after the pronoun that show that its verb is missing: "she and I", "he with the hat".
_NOT_VERBS: Final = LISTS["joining"] | LISTS["prepositions"] | LISTS["determiners"] | LISTS["relative"]


def verbs_to_they(text: str, start: int, end: int) -> tuple[list[Change], list[Change]]:
    """The verbs before and after the he or she at `text[start:end]` that change with it to they."""
    verb = _word_before(text, start)
    is_auxiliary = verb in clause.AUXILIARIES
    if not is_auxiliary and verb not in LISTS["either_number"]:
        return [], _verbs_after(text, start, end)

    # "Is she well?", "Could she sleep?"
    question = search_before(FORMS["before"], text, start, 32)
    if question is None:
        return [], _verbs_after(text, start, end)
    word_ahead, auxiliary = question.groups("")

    words = words_after(text, end)
    if is_auxiliary:
        if word_ahead.lower() in clause.SUBJECTS:
            return [], _verb_after_who(text, words)
        if not _states(words, word_ahead.lower(), verb):
            goes_on = _put_in_commas(text, start, question, words)
            later = later_verbs(text, words) if goes_on else []
            return with_they(text, *question.span(2)), later
    elif not _states(words, "", "is"):
        # "In May she sleeps": the word before looks like a verb but names the month.
        in_may = word_ahead and auxiliary.istitle()
        return [], _verbs_after(text, start, end) if in_may else []
    return [], _verbs_after(text, start, end)


def verbs_after_contraction(text: str, end: int) -> list[Change]:
    """Further verbs after a contraction that ends here: "he's sad and doesn't" → "they're sad and don't"."""
    if not may_join_verb(text, end):
        return []
    return later_verbs(text, words_after(text, end))


def _word_before(text: str, start: int) -> str:
    """The word before the pronoun, in lower case; "" at the start of a text."""
    words = text_before(text, start, 16).split()
    if not words:
        return ""
    word = words[-1].lstrip(_OPENING_MARKS)
    return straight(word.lower())


def _put_in_commas(
    text: str,
    start: int,
    question: Match[str],
    words: Sequence[Word],
) -> bool:
    """True if commas set the question off, so that the sentence goes on: "…, has she, and wants …"."""
    before = text[max(0, start - 16) : question.start(2)]
    follows_comma = before.rstrip().endswith(",")
    return follows_comma and clause.text_at(words, 0) == ","


def _verbs_after(text: str, start: int, end: int) -> list[Change]:
    """The first verb after the pronoun and further ones."""
    nearest = FORMS["nearest"].match(text, end)
    if nearest:
        is_verb = straight(nearest[1].lower()) in clause.VERB_FORMS
        # Most sentences have one verb, beside the pronoun, and need no closer look.
        if is_verb and not may_join_verb(text, nearest.end()):
            return with_they(text, *nearest.span(1))

    words = words_after(text, end)
    changes = _verb_after_who(text, words)
    if changes and words[0].text == "who":
        return changes
    first = _first_verb(words)
    if first < 0:
        return changes
    verb = words[first]
    changes += with_they(text, verb.start, verb.end)
    if not may_join_verb(text, verb.end):
        return changes

    lead = _lead(text, start)
    # "My aunt thinks he is ill and wants him seen": it is the aunt who wants.
    reported_he = text[start:end].lower() == "he" and lead in LISTS["saying"]
    stop_before = "him" if reported_he else None
    return changes + later_verbs(
        text,
        words,
        first=first,
        lead=lead,
        stop_before=stop_before,
    )


def _states(words: Sequence[Word], word_ahead: str, verb: str) -> bool:
    """True if the verb before the pronoun does not ask: "the problem is she drinks"."""
    if verb not in ("is", "was"):
        return False
    # "The truth was she …": such nouns are stated, whatever follows.
    if word_ahead in LISTS["stated"]:
        return True
    at, _ = clause.skip_adverbs(words, 0)
    following = clause.text_at(words, at)
    return following in clause.FINITE_FORMS or following in LISTS["either_number"]


def _lead(text: str, start: int) -> str:
    """What leads to the pronoun: "head" for a noun that its clause describes, a comma, or the word before."""
    head = search_before(FORMS["head"], text, start, 64)
    if head:
        noun = (head[1] or "").lower()
        if not clause.ends_no_noun(noun):
            return "head"
    before = search_before(FORMS["lead"], text, start, 24)
    if before is None:
        return ""
    return before[1].lower()


def _verb_after_who(text: str, words: Sequence[Word]) -> list[Change]:
    """The verb in "they who laugh" or "they, who laugh"."""
    if len(words) < 2:
        return []
    at_who = 1 if words[0].text == "," else 0
    if words[at_who].text != "who":
        return []
    at, _ = clause.skip_adverbs(words, at_who + 1)
    if at >= len(words):
        return []
    verb = words[at]
    return with_they(text, verb.start, verb.end)


def _first_verb(words: Sequence[Word]) -> int:
    """Where the verb of the pronoun stands, past adverbs, "herself" and what commas set off; or -1."""
    at, _ = clause.skip_adverbs(words, 0)
    while at < len(words) and words[at].text in _REFLEXIVES:
        at, _ = clause.skip_adverbs(words, at + 1)
    if at >= len(words):
        return -1

    word = words[at].text
    if word in (",", "–"):
        return _verb_after_insertion(words, at)
    if word in _NOT_VERBS:
        return -1

    if clause.plain_form(word) or word in LISTS["either_number"] or clause.is_past(word):
        return at
    # An adverb that no list has: "she alone knows".
    following = clause.text_at(words, at + 1)
    if following in clause.FINITE_FORMS and clause.may_be_finite(following):
        return at + 1
    return at


def _verb_after_insertion(words: Sequence[Word], opening: int) -> int:
    """Where the verb stands after "she, my oldest friend, …"; -1 if there is none."""
    if clause.text_at(words, opening + 1) in LISTS["joining"]:
        return -1
    mark = words[opening].text
    for closing in range(opening + 1, len(words)):
        if words[closing].text != mark:
            continue
        at, _ = clause.skip_adverbs(words, closing + 1)
        verb = clause.text_at(words, at)
        if verb in clause.VERB_FORMS or clause.is_past(verb):
            return at
        if verb in clause.SUBJECTS:
            return -1
    return -1
