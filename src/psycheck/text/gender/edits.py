"""Edits of the gender in a text: swap it, or make it neutral.

A swap is exact: swapped twice, every text comes back. Two things make it so. First, what "her" and "his" are
is decided on words around them in which gender does not show, so that the decision is the same before and
after; a word is swapped only if its partner would be swapped back ("I saw his smile" stays, because nobody
can say what "her" is in "I saw her smile"). Second, the result is swapped again, and if that does not give
the text, it stays as it was. Every word that stays for such a reason counts as undecided.

"he/she", "s/he", "(s)he" and "he or she" name both and are not swapped; a label such as "she/her" is.
Handles, hashtags, web addresses, HTML tags and hyphenated words ("she-wolf") stay as they are.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from typing import Final, Literal

from psycheck.text.edits import Change, Edit, Edited, apply, carry_case
from psycheck.text.gender.entries import LABELS
from psycheck.text.gender.main_person import of_main_person
from psycheck.text.gender.neutral import neutralise
from psycheck.text.gender.roles import roles_between
from psycheck.text.gender.scope import PRONOUNS_ONLY, Scope, scope_of
from psycheck.text.gender.words import GenderedWord, gendered, mixed, paired, plain_case, runs
from psycheck.text.surroundings import text_before

__all__ = ["Scope", "gender_of", "names_besides", "neutralise", "scope_of", "swap"]

# Pronouns of either gender are seen as these, so that decisions about their neighbours survive a swap.
_BLIND: Final = {"subject": "he", "reflexive": "himself", "decide": "him"}
_BY_ROLE: Final = {"object": "him", "possessive": "his", "pronoun": "hers"}
_PARTNERS: Final = {
    "female": {"object": "him", "possessive": "his", "pronoun": "his"},
    "male": {"object": "her", "possessive": "her", "pronoun": "hers"},
}
_POSSESSIVES: Final = {"her": "his", "his": "her"}
# Where each word of a text begins, and its Penn Treebank tag.
Tagger = Callable[[str], Iterable[tuple[int, str]]]
# What replaces a word: "" leaves it, None leaves it undecided.
Partner = str | None
# More characters on either side than roles.py looks at.
_BEFORE: Final = 32
_AFTER: Final = 96


@cache
def swap(scope: Scope = PRONOUNS_ONLY, tagger: Tagger | None = None) -> Edit:
    """Replace each gendered word in the scope by its partner: she ↔ he, mother ↔ father, Ms ↔ Mr.

    A `tagger` gives a second opinion on "her", "his" and first names; where it disagrees, they are undecided.
    """

    def edit(text: str) -> Edited:
        swapped = _swap_once(text, scope, tagger)
        if not swapped.spans:
            return swapped
        swapped_back = _swap_once(swapped.text, scope, tagger)
        if swapped_back.text == text:
            return swapped
        all_undecided = swapped.undecided + len(swapped.spans)
        return Edited(text, (), all_undecided)

    return edit


def gender_of(text: str, scope: Scope = PRONOUNS_ONLY) -> Literal["female", "male", "both", "none"]:
    """Which genders the words in the scope name; "he/she" and the like name none in particular."""
    words = gendered(text, scope)
    if not words:
        return "none"
    counted = [True] * len(words)
    if scope.person == "main":
        counted = list(of_main_person(text, scope).takes)
    for at in paired(text, words):
        counted[at] = False

    genders = set()
    for word, counts in zip(words, counted, strict=True):
        if counts:
            genders.add(word.entry.gender)
    if genders >= {"female", "male"}:
        return "both"
    if "female" in genders:
        return "female"
    if "male" in genders:
        return "male"
    return "none"


def names_besides(text: str, scope: Scope = PRONOUNS_ONLY) -> bool:
    """True if nouns or titles outside the scope name a gender, which then still shows after an edit."""
    wide = replace(scope, nouns=True, titles=True)
    if wide == scope:
        return False
    words_in_scope = gendered(text, scope)
    return len(gendered(text, wide)) > len(words_in_scope)


def _swap_once(text: str, scope: Scope, tagger: Tagger | None) -> Edited:
    """The text with each word replaced by its partner, before it is known whether it would come back."""
    words = gendered(text, scope)
    if not words:
        return Edited(text, ())
    partners = _partners(text, words)
    if scope.person == "main":
        partners = _of_main_person_only(text, scope, partners)
    if tagger:
        tags = dict(tagger(text))
        partners = _confirmed(words, partners, tags)

    changes: list[Change] = []
    undecided = 0
    for word, partner in zip(words, partners, strict=True):
        if partner is None:
            undecided += 1
        elif partner and partner != text[word.start : word.end]:
            changes.append((word.start, word.end, partner))
    return apply(text, changes, undecided)


def _of_main_person_only(text: str, scope: Scope, partners: list[Partner]) -> list[Partner]:
    """The partners of the main person's words; those of other people stay, unclear ones are undecided."""
    main = of_main_person(text, scope)
    partners_of_person: list[Partner] = []
    for partner, takes, unsure in zip(partners, main.takes, main.unsure, strict=True):
        if takes or partner == "":
            partners_of_person.append(partner)
        elif unsure:
            partners_of_person.append(None)
        else:
            partners_of_person.append("")
    return partners_of_person


def _confirmed(words: list[GenderedWord], partners: list[Partner], tags: dict[int, str]) -> list[Partner]:
    """The partners with which the tags agree; the others are undecided."""
    confirmed: list[Partner] = []
    for word, partner in zip(words, partners, strict=True):
        tag = tags.get(word.start, "")
        is_disputed = partner and _disagrees(word, partner.lower(), tag)
        confirmed.append(None if is_disputed else partner)
    return confirmed


def _disagrees(word: GenderedWord, partner: str, tag: str) -> bool:
    """True if a tag, if there is one, says that a name is another word, or a possessive an object."""
    if word.entry.kind == "name":
        return bool(tag) and not tag.startswith("NNP")
    possessive = _POSSESSIVES.get(word.word)
    if possessive is None or tag not in ("PRP", "PRP$"):
        return False
    taken_for_possessive = partner == possessive
    tagged_as_possessive = tag == "PRP$"
    return taken_for_possessive != tagged_as_possessive


def _partners(text: str, words: list[GenderedWord]) -> list[Partner]:
    """What replaces each word.

    Words are decided from the last to the first, each in sight of what was decided after it.
    """
    partners = _joined(text, words)
    blind_text, places = _blind_text(text, words)
    right = ""  # what follows the word, with the decided words in the form that others see
    next_start = len(text)
    for at in reversed(range(len(words))):
        word = words[at]
        between = text[word.end : next_start]
        right = (between + right)[:_AFTER]
        next_start = word.start
        if at in partners:
            seen = _blind(word) if partners[at] else word.written
        else:
            left = text_before(blind_text, places[at], _BEFORE)
            partners[at], seen = _partner(text, word, left, right)
        right = seen + right
    return [partners[at] for at in range(len(words))]


def _partner(
    text: str,
    word: GenderedWord,
    left: str,
    right: str,
) -> tuple[Partner, str]:
    """What replaces a word, and the form in which the words before it see it."""
    entry = word.entry
    written = word.written
    if entry.gender not in ("female", "male"):
        return "", written
    if not plain_case(written):
        return None, written

    if entry.kind == "decide":
        # A contraction, such as "her's", has no partner.
        role = "" if word.ending else _role_both_ways(word.word, left, right)
        if not role:
            return None, written
        partner = _PARTNERS[entry.gender][role]
        return carry_case(written, partner), carry_case(written, _BY_ROLE[role])

    if not entry.partner:
        return None, written
    # Not `written`, which is in lower case for F and M: their partners have the case of the text.
    in_text = text[word.start : word.end]
    return carry_case(in_text, entry.partner), _blind(word)


def _role_both_ways(word: str, left: str, right: str) -> str:
    """The role of a pronoun if its partner, in its place, would have the same; "" otherwise."""
    role_of_her, role_of_his = roles_between(left, right)
    # "him" becomes "her", which must then be an object, too.
    if word in ("him", "her") and role_of_her == "object":
        return "object"
    if word == "him":
        return ""
    # "hers" becomes "his", which must then be a pronoun.
    if role_of_his == "pronoun":
        return "" if word == "her" else "pronoun"
    if word == "hers":
        return ""
    is_possessive = role_of_her == role_of_his == "possessive"
    return "possessive" if is_possessive else ""


def _joined(text: str, words: list[GenderedWord]) -> dict[int, Partner]:
    """The words that a slash or "or" joins: pairs stay, labels have partners, other labels are undecided."""
    partners: dict[int, Partner] = {}
    for run in runs(text, words):
        members = [words[at] for at in run]
        first, last = members[0], members[-1]
        written = text[first.start : last.end]
        label = LABELS.get(written.lower())
        # "he/she" names both: there is nothing to swap.
        if mixed(members):
            partners |= dict.fromkeys(run, "")
        elif label and all(plain_case(member.written) for member in members):
            new_label, _ = label
            for at, new in zip(run, new_label.split("/"), strict=True):
                partners[at] = carry_case(words[at].written, new)
        elif "/" in text[first.end : last.start] and first.entry.kind != "noun":
            for at in run:
                has_gender = words[at].entry.gender in ("female", "male")
                partners[at] = None if has_gender else ""
    return partners


def _blind_text(text: str, words: list[GenderedWord]) -> tuple[str, list[int]]:
    """The text with each gendered word in a form that a swap does not change, and where each stands."""
    pieces: list[str] = []
    places: list[int] = []
    done = 0
    length = 0
    for word in words:
        between = text[done : word.start]
        blind = _blind(word)
        places.append(length + len(between))
        length += len(between) + len(blind)
        pieces += (between, blind)
        done = word.end
    return "".join(pieces), places


def _blind(word: GenderedWord) -> str:
    """A word in the form that it and its partner share; as it is where it has no partner."""
    has_gender = word.entry.gender in ("female", "male")
    if not has_gender or not plain_case(word.written):
        return word.written
    partner = word.entry.partner.lower() or word.word
    # The same for a word and its partner: the first of both in the alphabet.
    shared_form = min(word.word, partner)
    return carry_case(word.written, _BLIND.get(word.entry.kind, shared_form))
