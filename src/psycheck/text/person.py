"""Shift the grammatical person of a text: from I to they, he or she, and from any of these to I.

Only the singular first person (I, me, my, mine, myself) and the third person of people (they, he, she and
their forms) take part. A contraction is one word and becomes a correct one (I've → he's, they're → I'm).
Verbs stay as they are, as in DECK's T3–T6, unless `agreement` is set.

Not a pronoun are "I" as a Roman numeral or a letter (see letter_i.py); "mine" as a pit; "my" in "oh my god";
anything within a handle, a hashtag, a web address or a hyphenated word. "he/she", "s/he" and "his or her"
become one word; a pair that names forms of one pronoun ("she/her") is left alone. Where roles.py cannot
decide, the word stays and counts as undecided.
"""

from re import Match
from typing import Final, Literal, NamedTuple

from psycheck.text.edits import (
    Change,
    Edit,
    Edited,
    Span,
    address_spans,
    apply,
    capitalised,
    carry_case,
    carry_style,
    inside,
    straight,
)
from psycheck.text.gender.roles import role_of
from psycheck.text.letter_i import is_letter
from psycheck.text.pronoun_pairs import PronounPair, pronoun_pairs
from psycheck.text.surroundings import character_at, text_before, words_before
from psycheck.text.verb_agreement import verb_joined, verbs_beside
from psycheck.text.word_lists import patterns, read_toml, word_sets

Person = Literal["they", "he", "she", "I"]

_DATA: Final = read_toml("person.toml")
_ROLES: Final[dict[str, str]] = _DATA["roles"]
# Contractions without an apostrophe, and the ending of each: "im", "hes".
_BARE: Final[dict[str, str]] = _DATA["bare"]
_WORDS: Final = word_sets(_DATA["words"])
_FORMS: Final = patterns(_DATA["patterns"])


class _Target(NamedTuple):
    """The pronouns and endings of contractions of a person; `agree` is set where verbs change, too."""

    forms: dict[str, str]
    endings: dict[str, str]
    agree: Person | None


def shift_person(to: Person, *, agreement: bool = False) -> Edit:
    """Replace I, me, my … by they, he or she; or, to "I", all third-person pronouns by I, me, my ….

    With `agreement` the verbs beside a changed subject are repaired: "I am" → "they are".
    """
    target = _Target(
        forms=_DATA["forms"][to],
        endings=_DATA["endings"]["he" if to == "she" else to],
        agree=to if agreement else None,
    )
    if to == "I":
        return _to_first(target)
    return _to_third(target)


def _to_third(target: _Target) -> Edit:
    """The edit that replaces I, me, my … by the target's pronouns."""

    def edit(text: str) -> Edited:
        first = _FORMS["first"].search(text)
        if first is None:
            return Edited(text, ())
        changes: list[Change] = []
        addresses = address_spans(text)
        for match in _FORMS["first"].finditer(text, first.start()):
            if addresses and inside(addresses, match.start()):
                continue
            if match[0][0] in "Mm":
                _add_me_or_my(changes, match, target)
            else:
                _add_i(changes, match, target)
        return apply(text, changes)

    return edit


def _add_me_or_my(changes: list[Change], match: Match[str], target: _Target) -> None:
    """Add the change of me, my, mine or myself, where it is a pronoun."""
    start, end = match.span()
    written = match[0]
    word = written.lower()
    if _names_something(match.string, start, end, word):
        return
    role = _ROLES[word]
    changes.append((start, end, carry_case(written, target.forms[role])))


def _add_i(changes: list[Change], match: Match[str], target: _Target) -> None:
    """Add the changes of "I" or its contraction and of its verbs, where it is a pronoun."""
    text = match.string
    start, end = match.span()
    word, mark, ending = match.group(0, 1, 2)
    if mark is None and len(word) > 1:
        ending = _BARE[word.lower()]
    if ending is None and is_letter(text, start, end):
        return
    # "IM" in a note is intramuscular.
    if word == "IM" and not _shouted(text, start, end):
        return

    if not ending:
        pronoun = _case_of_i(text, start, end, target.forms["subject"])
        _add_subject(changes, text, (start, end, pronoun), target.agree)
        return
    new_ending = (mark or "") + _ending(target.endings, ending)
    contraction = target.forms["subject"] + new_ending
    changes.append((start, end, _case_of_i(text, start, end, contraction)))
    _add_joined_verb(changes, text, end, target.agree, finite=ending in ("m", "M", "am"))


def _to_first(target: _Target) -> Edit:
    """The edit that replaces they, he and she by I, and their forms by its forms."""

    def edit(text: str) -> Edited:
        if _FORMS["any_third"].search(text) is None:
            return Edited(text, ())
        pairs = pronoun_pairs(text)
        pair_spans: list[Span] = [(pair.start, pair.end) for pair in pairs]
        # Pairs are edited as a whole, addresses not at all.
        passed_over = [spans for spans in (address_spans(text), pair_spans) if spans]

        changes: list[Change] = []
        undecided = 0
        for match in _FORMS["third"].finditer(text):
            if any(inside(spans, match.start()) for spans in passed_over):
                continue
            if not _add_third(changes, match, target):
                undecided += 1

        if pairs:
            changes += _pairs_to_first(text, pairs, target)
            changes.sort()
        return apply(text, changes, undecided)

    return edit


def _add_third(changes: list[Change], match: Match[str], target: _Target) -> bool:
    """Add the changes of a third-person pronoun and of its verbs; False if its role cannot be decided."""
    text = match.string
    start, end = match.span()
    word, mark, ending = match.group(0, 1, 2)
    lowered = word.lower()
    if mark is None:
        ending = _BARE.get(lowered)

    if ending is not None:
        ending = _first_ending(text, end, ending, target)
        if word.isupper():
            ending = ending.upper()
        changes.append((start, end, f"I{mark or ''}{ending}"))
        _add_joined_verb(changes, text, end, target.agree, finite=ending in ("m", "M"))
        return True

    # What is not listed is her’s, with a curly apostrophe.
    role = _ROLES.get(lowered, "pronoun")
    if role == "decide":
        role = role_of(text, start, end)
    if role == "undecided":
        return False
    if role == "subject":
        _add_subject(changes, text, (start, end, "I"), target.agree)
    else:
        changes.append((start, end, carry_case(word, target.forms[role])))
    return True


def _first_ending(
    text: str,
    end: int,
    ending: str,
    target: _Target,
) -> str:
    """The ending of I'm, I've … for a third-person contraction that ends at `end`."""
    if ending.lower() == "s":
        return _is_or_has(text, end)
    return _ending(target.endings, ending)


def _add_subject(
    changes: list[Change],
    text: str,
    subject: Change,
    agree: Person | None,
) -> None:
    """Add a subject and the verbs that are to agree, unless a verb already belongs to the subject before."""
    if agree is None:
        changes.append(subject)
        return
    start, end, _ = subject
    before, after = verbs_beside(text, start, end, agree)
    if before:
        verb_start, _, _ = before[0]
        _, end_of_last_change, _ = changes[-1] if changes else (0, 0, "")
        if end_of_last_change <= verb_start:
            changes += before
    changes.append(subject)
    changes += after


def _add_joined_verb(
    changes: list[Change], text: str, end: int, agree: Person | None, *, finite: bool
) -> None:
    """Add the verb that "and" joins to a contraction which ends at `end`: "I'm sad and cry"."""
    if agree is None:
        return
    joined = verb_joined(text, end, agree, finite=finite)
    if joined:
        changes.append(joined)


def _ending(endings: dict[str, str], ending: str) -> str:
    """The new ending of a contraction, with the apostrophe of the old one ("I’d’ve")."""
    lowered = ending.lower()
    return carry_style(lowered, endings[straight(lowered)])


def _case_of_i(
    text: str,
    start: int,
    end: int,
    new: str,
) -> str:
    """What replaces "I", which shows no case, in the case that the words around it show."""
    if text[start] == "i":
        return new
    if _shouted(text, start, end):
        return new.upper()
    if _starts_sentence(text, start):
        return capitalised(new)
    return new


def _shouted(text: str, start: int, end: int) -> bool:
    """True if the word before and the two after are in capitals; words of one letter do not show it."""
    if end - start > 2 and text[start:end].isupper():
        return True
    after = text[end : end + 32].split(None, 2)[:2]
    # A glance at the next word decides most cases.
    if after and len(after[0]) > 1 and not after[0].isupper():
        return False

    before = text_before(text, start, 24).split()[-1:]
    # The last word of another sentence shows nothing.
    if before and before[0][-1] in ".!?…":
        before = []
    longer_words = [word for word in (*before, *after) if _has_letters(word)]
    return bool(longer_words) and all(word.isupper() for word in longer_words)


def _has_letters(word: str) -> bool:
    """True for a word of two letters or more, whatever marks it has."""
    letters = [character for character in word if character.isalpha()]
    return len(letters) > 1


def _starts_sentence(text: str, start: int) -> bool:
    """True at the start of the text or of a line, after . ! ? …, or at the start of a quotation."""
    if start == 0 or text[start - 1] in "\"“'‘«":
        return True
    near = text_before(text, start, 12)
    before = near.rstrip(" \t([{*_>-–—•\"“'‘«")
    if not before:
        return True

    last = before[-1]
    # "Why?" I said: a question quoted within the sentence
    is_quoted = character_at(near, len(before)) in ('"', "'")
    if last in "?!" and is_quoted:
        return False
    # Behind a bracket or a quotation the mark within it counts.
    mark_within = before[-2:-1]
    if last in ")]":
        return mark_within in (".", "!", "?", "…")
    if last in "”’»":
        return mark_within in (".", "…")
    return last in ".!?…\n\r"


def _names_something(
    text: str,
    start: int,
    end: int,
    word: str,
) -> bool:
    """True if "mine" is a pit or a bomb, "me" part of ME/CFS, or "my" part of an exclamation."""
    if word == "my":
        return _is_exclaimed(text, start, end)
    if word == "mine":
        return _is_pit(text, start, end)
    return word == "me" and text[end : end + 4].upper() == "/CFS"


def _is_exclaimed(text: str, start: int, end: int) -> bool:
    """True for "my" in "oh my god" and "my word!"."""
    # A glance at the next letter, of "god", "goodness" or "word", is faster than the pattern.
    if character_at(text, end + 1) not in ("g", "G", "w", "W"):
        return False
    exclaimed = _FORMS["exclaimed"].match(text, end)
    if exclaimed is None:
        return False
    # "my god" alone is an exclamation, "pray to my god" is not.
    needs_opening = exclaimed[1] is not None
    if not needs_opening or _starts_sentence(text, start):
        return True
    before = words_before(text, start, 12)
    if not before:
        return False
    return before[-1].rstrip(",") in _WORDS["oh"]


def _is_pit(text: str, start: int, end: int) -> bool:
    """True for "mine" in "coal mine" and "mine shaft"."""
    before = words_before(text, start, 12)
    if before and before[-1] in _WORDS["pits"]:
        return True
    after = _FORMS["word_after"].match(text, end)
    if after is None:
        return False
    return after[1].lower() in _WORDS["tunnels"]


def _is_or_has(text: str, end: int) -> str:
    """The ending of I'm or I've for he's: "has" before a participle that names no state."""
    after = _FORMS["next"].match(text, end)
    if after is None:
        return "m"
    word = after[1].lower()
    following = straight((after[2] or "").lower())
    if _has_before(word, following):
        return "ve"
    return "m"


def _has_before(word: str, following: str) -> bool:
    """True if "'s" before these two words is "has": "he's eaten", but "he's tired", "he's seen by"."""
    if word == "done":
        return following not in ("", "with", "for")
    if word == "gone":
        return following != "" and following not in _WORDS["after_gone"]
    if word in _WORDS["either"]:
        return following != "" and following not in _WORDS["after_passive"]
    # "he's seen by": a passive
    if following in ("by", "under"):
        return False
    if word in _WORDS["participles"]:
        return True
    return word.endswith("ed") and word not in _WORDS["states"]


def _pairs_to_first(text: str, pairs: list[PronounPair], target: _Target) -> list[Change]:
    """The changes of pairs that become one word."""
    changes: list[Change] = []
    for pair in pairs:
        if pair.role == "subject":
            _add_subject(changes, text, (pair.start, pair.end, "I"), target.agree)
        elif pair.role:
            written = text[pair.start : pair.end]
            first_word = written.replace("/", " ").split()[0]
            pronoun = carry_case(first_word, target.forms[pair.role])
            changes.append((pair.start, pair.end, pronoun))
    return changes
