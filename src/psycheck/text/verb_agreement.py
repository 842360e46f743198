"""Verbs that change with the person of their subject: "I am" → "they are", "he feels" → "I feel"."""

import re
from typing import Final, NamedTuple

from psycheck.text.edits import Change, carry_style, straight
from psycheck.text.gender.neighbours import LISTS
from psycheck.text.surroundings import search_before, words_before
from psycheck.text.word_lists import patterns, read_toml, word_sets

_DATA: Final = read_toml("verbs.toml")
_WORDS: Final = word_sets(_DATA["words"])
REGULAR: Final = _WORDS["regular"]

_ALTERNATIVES: Final = {name: "|".join(sorted(words)) for name, words in _WORDS.items()}
_FORMS: Final = patterns(_DATA["patterns"], **_ALTERNATIVES)
_OPENING: Final = "([{*\"“'‘«"
# Words that may stand between two verbs of one subject: "I am sad and tired and feel".
_PLAIN: Final = LISTS["adjectives"] | _WORDS["plain"]


def third_person(verb: str) -> str:
    """The regular third-person form: try → tries, miss → misses, feel → feels."""
    if verb.endswith("y") and verb[-2] not in "aeou":
        return verb[:-1] + "ies"
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return verb + "es"
    return verb + "s"


class _Forms(NamedTuple):
    """New forms of the verbs of a subject: auxiliaries before it and after it, and other verbs."""

    before: dict[str, str]
    after: dict[str, str]
    lexical: dict[str, str]


_TO_S_FORM: Final = {verb: third_person(verb) for verb in REGULAR}
_TO_PLAIN_FORM: Final = {form: verb for verb, form in _TO_S_FORM.items()}
_FORMS_BESIDE: Final = {
    "they": _Forms(
        before=_DATA["they"]["before"],
        after=_DATA["they"]["after"],
        lexical={},
    ),
    "he": _Forms(
        before=_DATA["he"]["before"],
        after=_DATA["he"]["after"],
        lexical=_TO_S_FORM,
    ),
    "she": _Forms(
        before=_DATA["he"]["before"],
        after=_DATA["he"]["after"],
        lexical=_TO_S_FORM,
    ),
    "I": _Forms(
        before=_DATA["I"]["before"],
        after=_DATA["I"]["after"],
        lexical=_TO_PLAIN_FORM,
    ),
}


def verbs_beside(
    text: str,
    start: int,
    end: int,
    to: str,
) -> tuple[list[Change], list[Change]]:
    """The verbs before and after the subject at `text[start:end]` that must change with it."""
    # Beside he or she, "were" is not a past tense: "if she were here".
    singular = text[start:end].lower() in ("he", "she")
    words = _two_words_before(text, start)
    if _asks(words):
        if words[-1] == "were" and singular:
            return [], []
        return _verb_before(text, start, to), []
    # "my sister and I are": the verb has two subjects and stays.
    follows_and = bool(words) and words[-1] == "and"
    if follows_and and search_before(_FORMS["both"], text, start, 48):
        return [], []
    return [], _verbs_after(text, end, to, singular=singular)


def _two_words_before(text: str, start: int) -> list[str]:
    """Up to two words before the subject in lower case, none before an opening bracket or quote."""
    words = words_before(text, start, 24)[-2:]
    if not words:
        return []
    last = words[-1]
    if last[0] in _OPENING:
        return [last.lstrip(_OPENING)]
    return words


def _asks(words: list[str]) -> bool:
    """True if the verb stands before the subject: "am I", but not in "what you are I am"."""
    if not words:
        return False
    follows_helper = straight(words[-1]) in _WORDS["helpers"]
    return follows_helper and words[0] not in _WORDS["subjects"]


def _verb_before(text: str, start: int, to: str) -> list[Change]:
    """The change of the verb before the subject, as in "am I"; none if it stays."""
    question = search_before(_FORMS["before"], text, start, 16)
    if question is None:
        return []
    change = _change(question, 1, _FORMS_BESIDE[to].before)
    if change is None:
        return []
    return [change]


def _verbs_after(
    text: str,
    end: int,
    to: str,
    *,
    singular: bool,
) -> list[Change]:
    """The verb after the subject, and one that belongs to it: "I do feel", "I feel sad and cry"."""
    verb = _first_verb(text, end)
    if verb is None:
        return []
    word = straight(verb[1].lower())
    if word == "were" and singular:
        return []

    forms = _FORMS_BESIDE[to]
    # Auxiliaries first; any other verb may be joined to a second one: "I cry and scream".
    change = _change(verb, 1, forms.after)
    if change is None:
        change = _change(verb, 1, forms.lexical)
        has_second_verb = bool(verb[2])
        if change and has_second_verb:
            second = _change(verb, 2, forms.lexical) or _change(verb, 2, forms.after)
            return [change, second] if second else [change]

    # After a helper ("can't sleep and don't eat") the verb is bare, and so may be the next one.
    is_changed_verb = change is not None and word not in _WORDS["helpers"]
    joined = verb_joined(
        text,
        verb.end(1),
        to,
        finite=word in _WORDS["be"] or is_changed_verb,
    )
    return [verb_change for verb_change in (change, joined) if verb_change]


def _first_verb(text: str, end: int) -> re.Match[str] | None:
    """The word after the subject, past adverbs, as group 1 and a verb joined to it as group 2."""
    nearest = _FORMS["nearest"].match(text, end, end + 72)
    if nearest is None:
        return None
    # The closer look past adverbs is slower, and few subjects need it.
    word = nearest[1].lower()
    is_adverb = word in _WORDS["adverbs"] or word.endswith("ly")
    if nearest[2] or is_adverb:
        return _FORMS["after"].match(text, end, end + 72) or nearest
    return nearest


def verb_joined(
    text: str,
    end: int,
    to: str,
    *,
    finite: bool,
) -> Change | None:
    """The verb that "and" or "but" joins to a first one, which ends at `end`, with plain words between.

    After a verb that is not `finite` ("I can't sleep and don't eat") only one that cannot be bare changes.
    """
    # A glance for the joining word spares most subjects the closer look.
    near_end = end + 40
    if text.find(" and ", end, near_end) < 0 and text.find(" but ", end, near_end) < 0:
        return None
    following = text[end : end + 56].lower()
    words = following.split()[:6]
    joint = _plain_until_joint(words, finite=finite)
    if joint < 0:
        return None

    forms = _FORMS_BESIDE[to]
    if not _may_lead_to_verb(words[joint + 1 :], forms):
        return None
    verb = _FORMS["second"].match(text, end, end + 64)
    if verb is None:
        return None
    cannot_be_bare = straight(verb[1].lower()) in _WORDS["finite"]
    if cannot_be_bare:
        return _change(verb, 1, forms.after)
    if not finite:
        return None
    return _change(verb, 1, forms.lexical) or _change(verb, 1, forms.after)


def _may_lead_to_verb(words: list[str], forms: _Forms) -> bool:
    """True if the first word is a verb that changes, or an adverb that may stand before one."""
    if not words:
        return False
    word = straight(words[0].rstrip(".,;:!?)"))
    if word in forms.after or word in forms.lexical:
        return True
    return word in _WORDS["adverbs"] or word.endswith("ly")


def _plain_until_joint(words: list[str], *, finite: bool) -> int:
    """Where "and" or "but" stands, if only plain words come before it; else -1."""
    for at, written in enumerate(words):
        if written in ("and", "but"):
            return at
        word = written.rstrip(",")
        # "I can't sleep and": the bare verb of the helper before it.
        may_be_bare_verb = at == 0 and not finite
        is_bare_verb = may_be_bare_verb and word in REGULAR
        if word not in _PLAIN and not is_bare_verb:
            return -1
    return -1


def _change(match: re.Match[str], group: int, forms: dict[str, str]) -> Change | None:
    """The change of a matched verb to its new form; None if it has none."""
    verb = match[group]
    form = forms.get(straight(verb.lower()))
    if form is None:
        return None
    start, end = match.span(group)
    return start, end, carry_style(verb, form)
