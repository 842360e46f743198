"""Further verbs of a he or she that becomes they: "she reports poor sleep and denies pain".

They are joined by a comma, "and", "but" … and stay with the pronoun until another subject that could have
them comes between: one that is singular, and a person where only people do what the verb says.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from psycheck.text.edits import Change, carry_style, straight
from psycheck.text.gender import clause_words as clause
from psycheck.text.gender.clause_words import LISTS, Word
from psycheck.text.gender.verb_or_plural import JoinedWord, is_verb

# Words that open a clause which a comma does not close: "she says that …, and …".
_OPEN_ENDED: Final = ("that", "so", "than", "like")


class _OtherSubject(NamedTuple):
    """Another subject to which a later verb may belong, the marks that end its clause, and its last verb."""

    is_person: bool
    ends: tuple[str, ...]
    verb: int


# Verbs whose form does not show whether their subject is one or several.
_NUMBER_HIDDEN: Final = LISTS["plural"] | LISTS["either_number"]


@dataclass(slots=True)
class _Reading:
    """What is known of a sentence up to the word that is read."""

    after_verb: int  # where the words after the last verb of the pronoun begin
    since: int  # where the subject of a verb that comes next may begin
    opener: str  # the word that opened the clause: "that", "who", "says"; "" in a main clause
    opened: int  # where that word stands
    other: _OtherSubject | None = None

    def begin_clause(self, opener: str, at: int) -> None:
        """Note that the word at `at` opens a clause, or is a verb after which one may begin."""
        self.opener = opener
        self.opened = at
        self.since = at + 1


def with_they(text: str, start: int, end: int) -> list[Change]:
    """The change of the verb at `text[start:end]` to its form beside they; none if it has no other."""
    verb = text[start:end]
    plain = clause.plain_form(straight(verb.lower()))
    if not plain:
        return []
    return [(start, end, carry_style(verb, plain))]


def later_verbs(
    text: str,
    words: Sequence[Word],
    *,
    first: int = -1,
    lead: str = "",
    stop_before: str | None = None,
) -> list[Change]:
    """The changes of the pronoun's verbs after its first one, which is at `first` in the words.

    `lead` is what leads to the pronoun. A verb with `stop_before` as its object is not among them.
    """
    changes: list[Change] = []
    if _only_says(words, first, lead):
        return changes

    reading = _Reading(
        after_verb=first + 1,
        since=first + 1,
        opener="",
        opened=first,
    )
    if first >= 0:
        reading.opener = _saying(words[first].text)
    at = first + 1
    while at < len(words):
        word = words[at].text
        if word in LISTS["he_or_she"]:
            break
        if word != "," and word not in LISTS["joining"]:
            _note_clause(words, at, reading, lead)
            at += 1
            continue

        joined = _joined_word(words, at, reading)
        if joined is None:
            break
        if not is_verb(words, joined):
            reading.since = joined.at
            reading.opener = ""
            at = _after_noun(words, joined)
            continue
        if _ends_the_search(words, joined, lead, stop_before):
            break

        verb = words[joined.at]
        if _belongs_to_pronoun(words, joined, reading, lead):
            changes += with_they(text, verb.start, verb.end)
            reading.other = None
            reading.after_verb = joined.at + 1
        elif reading.other:
            reading.other = reading.other._replace(verb=joined.at)
        else:
            reading.other = _OtherSubject(is_person=True, ends=(), verb=joined.at)
        reading.begin_clause(_saying(verb.text), joined.at)
        at = joined.at + 1
    return changes


def _saying(word: str) -> str:
    """A verb that another clause may follow without "that" ("she says her son is ill"); else ""."""
    return word if word in LISTS["saying"] else ""


def _joined_word(words: Sequence[Word], joint: int, reading: _Reading) -> JoinedWord | None:
    """The word that the comma or "and" at `joint` joins; None at the end of the sentence."""
    at, comma_only, after_adverb = _next_joined(words, joint)
    if at >= len(words):
        return None
    after_particles, _ = clause.skip_adverbs(words, reading.after_verb, particles=True)
    return JoinedWord(
        at=at,
        joint=joint,
        since=reading.after_verb,
        comma_only=comma_only,
        after_adverb=after_adverb,
        parallel=after_particles >= joint and not reading.other,
        continues=comma_only and _list_goes_on(words, at),
    )


def _next_joined(words: Sequence[Word], at: int) -> tuple[int, bool, bool]:
    """The place of the word that is joined here; whether by a comma alone, and whether after an adverb."""
    comma_only = True
    after_adverb = False
    while at < len(words):
        word = words[at].text
        if word in LISTS["joining"]:
            comma_only = False
            after_adverb = after_adverb or word == "then"
            at += 1
        elif word in (",", "–"):
            at += 1
        else:
            behind, has_adverbs = clause.skip_adverbs(words, at)
            if not has_adverbs:
                break
            after_adverb = True
            at = behind
    return at, comma_only, after_adverb


def _list_goes_on(words: Sequence[Word], verb: int) -> bool:
    """True if a list of verbs goes on to an "and": "paints, bakes and plays"."""
    for at in range(verb + 1, len(words)):
        if words[at].text in LISTS["he_or_she"]:
            return False
        if words[at].text in LISTS["joining"]:
            behind, _ = clause.skip_adverbs(words, at + 1)
            if behind < len(words) and clause.surely_verb(words, behind):
                return True
    return False


def _after_noun(words: Sequence[Word], joined: JoinedWord) -> int:
    """Where reading goes on after a joined word that is not a verb."""
    if words[joined.at].text in clause.FINITE_FORMS:
        return joined.at + 1
    return max(joined.at, joined.joint + 1)


def _ends_the_search(
    words: Sequence[Word],
    joined: JoinedWord,
    lead: str,
    stop_before: str | None,
) -> bool:
    """True if a joined verb shows that the pronoun has no further verbs."""
    following = clause.text_at(words, joined.at + 1)
    # "…, does she?"
    is_auxiliary = words[joined.at].text in clause.AUXILIARIES
    if is_auxiliary and following in LISTS["he_or_she"]:
        return True
    if following == stop_before:
        return True

    is_in_list = joined.continues
    if is_in_list or not joined.comma_only:
        return False
    return _is_anothers(words, joined.at, lead)


def _belongs_to_pronoun(
    words: Sequence[Word],
    joined: JoinedWord,
    reading: _Reading,
    lead: str,
) -> bool:
    """True if the pronoun is the subject of a joined verb, and no subject that came between."""
    other = reading.other
    if other and _clause_is_over(words, joined, other):
        other = None
        reading.other = None

    if _asks(words, joined.at):
        return False
    if lead == "head" and not joined.parallel:
        return False
    if other is None:
        return True
    return not other.is_person and clause.is_personal(words, joined.at)


def _clause_is_over(words: Sequence[Word], joined: JoinedWord, other: _OtherSubject) -> bool:
    """True if the joint ends the clause of the other subject."""
    if words[joined.joint].text not in other.ends:
        return False
    # A comma right after the other subject's verb does not end its clause.
    right_after_verb = other.verb == joined.joint - 1
    return not (joined.comma_only and right_after_verb)


def _asks(words: Sequence[Word], verb: int) -> bool:
    """True if the verb's subject comes after it: "…, does it?", "and neither does her sister"."""
    if words[verb].text not in clause.AUXILIARIES:
        return False
    following = clause.text_at(words, verb + 1)
    is_turned = words[verb - 1].text in LISTS["turning"]
    if is_turned and following in LISTS["determiners"]:
        return True
    # "does this" may go on with a noun that is the object.
    return following in clause.SUBJECTS and following not in ("this", "that")


def _only_says(words: Sequence[Word], first: int, lead: str) -> bool:
    """True if the pronoun's clause is put in between: "The pain, she says, is constant"."""
    if first < 0 or lead not in (",", "as"):
        return False
    comma, _ = clause.skip_adverbs(words, first + 1, particles=True)
    if clause.text_at(words, comma) != ",":
        return False
    verb, comma_only, _ = _next_joined(words, comma)
    is_verb_of_sentence = clause.text_at(words, verb) in clause.FINITE_FORMS
    if not comma_only or not is_verb_of_sentence:
        return False
    return lead == "as" or words[first].text in LISTS["saying"]


def _is_anothers(words: Sequence[Word], verb: int, lead: str) -> bool:
    """True if a verb after a mere comma goes back to before the pronoun, or has its subject after it."""
    # "The man who she met, works nights"
    if lead == "head" or lead in LISTS["opening"] or lead in LISTS["relative"]:
        return True
    if words[verb].text not in LISTS["saying"] or verb + 1 >= len(words):
        return False
    # "she is well, says her mother", "…, reports Anna"
    following = words[verb + 1]
    if following.capital:
        return True
    if following.text not in LISTS["determiners"]:
        return False
    noun_phrase = words[verb + 1 : verb + 4]
    return clause.names_person(noun_phrase)


def _note_clause(
    words: Sequence[Word],
    at: int,
    reading: _Reading,
    lead: str,
) -> None:
    """Note in the reading if the word at `at` opens a clause, or is the verb of another subject."""
    word = words[at].text
    if word in LISTS["relative"] or word in LISTS["opening"]:
        reading.begin_clause(word, at)
        return
    is_past_of_clause = reading.opener and clause.is_past(word)
    if word not in clause.TELLING and not is_past_of_clause:
        return

    between = words[reading.since : at]
    subject = [subject_word for subject_word in between if subject_word.text not in ("not", "–")]
    other = _other_subject(words, at, subject, reading, lead)
    if other:
        reading.other = other
        reading.begin_clause(_saying(word), at)
    elif subject and word in _NUMBER_HIDDEN:
        reading.begin_clause(_saying(word), at)


def _other_subject(
    words: Sequence[Word],
    at: int,
    subject: Sequence[Word],
    reading: _Reading,
    lead: str,
) -> _OtherSubject | None:
    """The other subject of the word at `at`, unless it is an object: "she gets headaches"."""
    begins_clause = subject or reading.opener or lead == "head"
    is_auxiliary = words[at].text in clause.AUXILIARIES
    if not begins_clause and not is_auxiliary:
        return None
    return _subject_of(words, at, subject, reading)


def _subject_of(
    words: Sequence[Word],
    at: int,
    subject: Sequence[Word],
    reading: _Reading,
) -> _OtherSubject | None:
    """The other subject, if the word at `at` is its verb and a later verb in -s may be its too."""
    word = words[at].text
    opener = reading.opener
    before = words[reading.opened - 1 : reading.opened] if reading.opened > 0 else ()
    # "that lives", in contrast to "that the dog lives"
    is_relative_that = opener == "that" and not subject
    is_relative = is_relative_that or opener in LISTS["relative"]
    ends = _clause_ends(opener, before, is_relative=is_relative)

    # "who's", "everybody's": subject and verb in one word.
    if "'" in word and word in LISTS["third"]:
        is_person = word.startswith(("who", "every"))
        return _OtherSubject(is_person=is_person, ends=ends, verb=at)

    is_person = _is_person(subject, before, opener)
    if word in clause.FINITE_FORMS:
        is_verb_of_subject = clause.may_be_finite(word, subject, opener, relative=is_relative)
        acts = word not in clause.AUXILIARIES and clause.is_personal(words, at)
        is_person = is_person or acts
    else:
        # Other forms do not show their number: the subject must.
        may_be_verb = _may_be_verb_of(words[at], subject, opener, is_relative=is_relative)
        is_verb_of_subject = may_be_verb and _is_singular(subject, before, is_relative=is_relative)

    if not is_verb_of_subject:
        return None
    return _OtherSubject(is_person=is_person, ends=ends, verb=at)


def _is_singular(subject: Sequence[Word], before: Sequence[Word], *, is_relative: bool) -> bool:
    """True if there is a subject, for a relative clause the word before it, and it is not a plural."""
    if not subject and not is_relative:
        return False
    return not clause.plural(subject or before)


def _may_be_verb_of(
    word: Word,
    subject: Sequence[Word],
    opener: str,
    *,
    is_relative: bool,
) -> bool:
    """True if a form that has no -s may be the verb of the subject: a modal, or a past tense in a clause."""
    if word.text in LISTS["either_number"] and not word.capital:
        return True
    in_clause = bool(opener) and (is_relative or _begins_subject(subject))
    return in_clause and clause.is_past(word.text)


def _clause_ends(opener: str, before: Sequence[Word], *, is_relative: bool) -> tuple[str, ...]:
    """The marks and words that end the clause of another subject."""
    # ", who lives alone," ends with a comma as it began.
    follows_comma = bool(before) and before[0].text == ","
    if is_relative and follows_comma:
        return (",",)
    # "because the dog barks, but sleeps": the main clause goes on.
    if opener in LISTS["opening"] and opener not in _OPEN_ENDED:
        return (",", "but", "yet")
    return ()


def _is_person(subject: Sequence[Word], before: Sequence[Word], opener: str) -> bool:
    """True if the subject is a person; that of "who" and "that" is the word before."""
    if subject:
        return clause.names_person(subject)
    return opener == "who" or clause.names_person(before)


def _begins_subject(span: Sequence[Word]) -> bool:
    """True if a stretch of words begins as a subject does: "the dog", "it", "Anna"."""
    if not span:
        return False
    first = span[0]
    if first.capital:
        return True
    return first.text in LISTS["determiners"] or first.text in clause.SUBJECTS
