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
from psycheck.text.gender.words import Found, gendered, mixed, plain_case, runs

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
        if not swapped.spans or _swap_once(swapped.text, scope, tagger).text == text:
            return swapped
        return Edited(text, (), swapped.undecided + len(swapped.spans))

    return edit


def gender_of(text: str, scope: Scope = PRONOUNS_ONLY) -> Literal["female", "male", "both", "none"]:
    """Which genders the words in the scope name; "he/she" and the like name none in particular."""
    words = gendered(text, scope)
    if not words:
        return "none"
    paired: set[int] = set()
    for run in runs(text, words):
        if mixed([words[at] for at in run]):
            paired.update(run)
    counted = of_main_person(text, scope).takes if scope.person == "main" else [True] * len(words)

    genders = {word.entry.gender for at, word in enumerate(words) if at not in paired and counted[at]}
    if genders >= {"female", "male"}:
        return "both"
    if "female" in genders:
        return "female"
    return "male" if "male" in genders else "none"


def names_besides(text: str, scope: Scope = PRONOUNS_ONLY) -> bool:
    """True if nouns or titles outside the scope name a gender, which then still shows after an edit."""
    wide = replace(scope, nouns=True, titles=True)
    return wide != scope and len(gendered(text, wide)) > len(gendered(text, scope))


def _swap_once(text: str, scope: Scope, tagger: Tagger | None) -> Edited:
    words = gendered(text, scope)
    if not words:
        return Edited(text, ())
    partners = _partners(text, words)
    if scope.person == "main":
        partners = _of_main_person_only(text, scope, partners)
    if tagger:
        partners = _confirmed(words, partners, dict(tagger(text)))

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
    own_partners: list[Partner] = []
    for partner, takes, unsure in zip(partners, main.takes, main.unsure, strict=True):
        if takes or partner == "":
            own_partners.append(partner)
        else:
            own_partners.append(None if unsure else "")
    return own_partners


def _confirmed(words: list[Found], partners: list[Partner], tags: dict[int, str]) -> list[Partner]:
    """The partners with which the tags agree; the others are undecided."""
    confirmed: list[Partner] = []
    for word, partner in zip(words, partners, strict=True):
        disputed = partner and _disagrees(word, partner.lower(), tags.get(word.start, ""))
        confirmed.append(None if disputed else partner)
    return confirmed


def _disagrees(word: Found, partner: str, tag: str) -> bool:
    """True if a tag, if there is one, says that a name is another word, or a possessive an object."""
    if word.entry.kind == "name":
        return bool(tag) and not tag.startswith("NNP")
    possessive = _POSSESSIVES.get(word.word)
    if possessive is None or tag not in ("PRP", "PRP$"):
        return False
    return (partner == possessive) != (tag == "PRP$")


def _partners(text: str, words: list[Found]) -> list[Partner]:
    """What replaces each word.

    Words are decided from the last to the first, each in sight of what was decided after it.
    """
    partners = _joined(text, words)
    left, places = _blind_text(text, words)
    right = ""
    after = len(text)
    for at in range(len(words) - 1, -1, -1):
        word = words[at]
        right = (text[word.end : after] + right)[:_AFTER]
        after = word.start
        if at in partners:
            seen = _blind(word) if partners[at] else word.written
        else:
            before = left[max(0, places[at] - _BEFORE) : places[at]]
            partners[at], seen = _partner(text, word, before, right)
        right = seen + right
    return [partners[at] for at in range(len(words))]


def _partner(text: str, word: Found, before: str, right: str) -> tuple[Partner, str]:
    """What replaces a word, and the form in which the words before it see it."""
    entry = word.entry
    if entry.gender not in ("female", "male"):
        return "", word.written
    if not plain_case(word.written):
        return None, word.written
    if entry.kind == "decide":
        role = "" if word.ending else _role_both_ways(word.word, before, right)
        if not role:
            return None, word.written
        partner = _PARTNERS[entry.gender][role]
        return carry_case(word.written, partner), carry_case(word.written, _BY_ROLE[role])
    if not entry.partner:
        return None, word.written
    return carry_case(text[word.start : word.end], entry.partner), _blind(word)


def _role_both_ways(word: str, left: str, right: str) -> str:
    """The role of a pronoun if its partner, in its place, would have the same; "" otherwise."""
    her, his = roles_between(left, right)
    if word == "him" or (word == "her" and her == "object"):
        return "object" if her == "object" else ""
    if his == "pronoun":
        return "" if word == "her" else "pronoun"
    return "possessive" if word != "hers" and her == his == "possessive" else ""


def _joined(text: str, words: list[Found]) -> dict[int, Partner]:
    """The words that a slash or "or" joins: pairs stay, labels have partners, other labels are undecided."""
    partners: dict[int, Partner] = {}
    for run in runs(text, words):
        members = [words[at] for at in run]
        first, last = members[0], members[-1]
        label = LABELS.get(text[first.start : last.end].lower())
        if mixed(members):
            partners |= dict.fromkeys(run, "")
        elif label and all(plain_case(member.written) for member in members):
            new_label, _ = label
            for at, new in zip(run, new_label.split("/"), strict=True):
                partners[at] = carry_case(words[at].written, new)
        elif "/" in text[first.end : last.start] and first.entry.kind != "noun":
            for at in run:
                partners[at] = None if words[at].entry.gender in ("female", "male") else ""
    return partners


def _blind_text(text: str, words: list[Found]) -> tuple[str, list[int]]:
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


def _blind(word: Found) -> str:
    """A word in the form that it and its partner share; as it is where it has no partner."""
    if word.entry.gender not in ("female", "male") or not plain_case(word.written):
        return word.written
    first_of_both = min(word.word, word.entry.partner.lower() or word.word)
    return carry_case(word.written, _BLIND.get(word.entry.kind, first_of_both))
