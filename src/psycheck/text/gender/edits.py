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
from psycheck.text.gender.main_person import of_main_person
from psycheck.text.gender.neutral import neutralise
from psycheck.text.gender.roles import roles_between
from psycheck.text.gender.words import LABELS, PRONOUNS_ONLY, Found, Scope, gendered, mixed, plain_case, runs
from psycheck.text.gender.words import scope_of as scope_of

__all__ = ["Scope", "gender_of", "names_besides", "neutralise", "scope_of", "swap"]

# Pronouns of either gender are seen as these, so that decisions about their neighbours survive a swap.
_BLIND: Final = {"subject": "he", "reflexive": "himself", "decide": "him"}
_BY_ROLE: Final = {"object": "him", "possessive": "his", "pronoun": "hers"}
_PARTNERS: Final = {
    "female": {"object": "him", "possessive": "his", "pronoun": "his"},
    "male": {"object": "her", "possessive": "her", "pronoun": "hers"},
}
# Where each word of a text begins, and its Penn Treebank tag.
Tagger = Callable[[str], Iterable[tuple[int, str]]]
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
    found = gendered(text, scope)
    if not found:
        return "none"
    aside = {at for run in runs(text, found) if mixed([found[at] for at in run]) for at in run}
    main = of_main_person(text, scope) if scope.person == "main" else None
    named = {
        at.entry.gender for i, at in enumerate(found) if i not in aside and (main is None or main.takes[i])
    } & {"female", "male"}
    return "both" if len(named) == 2 else "female" if "female" in named else "male" if named else "none"


def names_besides(text: str, scope: Scope = PRONOUNS_ONLY) -> bool:
    """Whether nouns or titles outside the scope name a gender, which then still shows after an edit."""
    wide = replace(scope, nouns=True, titles=True)
    return wide != scope and len(gendered(text, wide)) > len(gendered(text, scope))


def _swap_once(text: str, scope: Scope, tagger: Tagger | None) -> Edited:
    found = gendered(text, scope)
    if not found:
        return Edited(text, ())
    partners = _partners(text, found)
    if scope.person == "main":
        main = of_main_person(text, scope)
        partners = [
            partner if takes or partner == "" else None if unsure else ""
            for partner, takes, unsure in zip(partners, main.takes, main.unsure, strict=True)
        ]
    if tagger:
        tags = dict(tagger(text))
        partners = [
            None if partner and _disagrees(at, partner.lower(), tags.get(at.start, "")) else partner
            for at, partner in zip(found, partners, strict=True)
        ]
    changes: list[Change] = []
    undecided = 0
    for at, partner in zip(found, partners, strict=True):
        if partner and partner != text[at.start : at.end]:
            changes.append((at.start, at.end, partner))
        elif partner is None:
            undecided += 1
    return apply(text, changes, undecided)


def _disagrees(at: Found, partner: str, tag: str) -> bool:
    """Whether a tag, if there is one, says that a name is another word, or a possessive an object."""
    if at.entry.kind == "name":
        return bool(tag) and not tag.startswith("NNP")
    possessive = {"her": "his", "his": "her"}.get(at.word)
    return possessive is not None and tag in ("PRP", "PRP$") and (partner == possessive) != (tag == "PRP$")


def _partners(text: str, found: list[Found]) -> list[str | None]:
    """What replaces each word: "" leaves it, None leaves it undecided.

    Words are decided from the last to the first, each in sight of what was decided after it.
    """
    out = _joined(text, found)
    left, places = _blind_text(text, found)
    right, after = "", len(text)
    for i in range(len(found) - 1, -1, -1):
        at = found[i]
        right = (text[at.end : after] + right)[:_AFTER]
        after = at.start
        seen = at.written
        if i in out:
            seen = _blind(at) if out[i] else seen
        elif at.entry.gender not in ("female", "male"):
            out[i] = ""
        elif not plain_case(at.written) or not (at.entry.partner or at.entry.kind == "decide"):
            out[i] = None
        elif at.entry.kind == "decide":
            before = left[max(0, places[i] - _BEFORE) : places[i]]
            role = "" if at.ending else _role_both_ways(at.word, before, right)
            out[i] = carry_case(at.written, _PARTNERS[at.entry.gender][role]) if role else None
            seen = carry_case(at.written, _BY_ROLE[role]) if role else seen
        else:
            out[i] = carry_case(text[at.start : at.end], at.entry.partner)
            seen = _blind(at)
        right = seen + right
    return [out[i] for i in range(len(found))]


def _role_both_ways(word: str, left: str, right: str) -> str:
    """The role of a pronoun if its partner, in its place, would have the same; "" otherwise."""
    her, his = roles_between(left, right)
    if word == "him" or (word == "her" and her == "object"):
        return "object" if her == "object" else ""
    if his == "pronoun":
        return "" if word == "her" else "pronoun"
    return "possessive" if word != "hers" and her == his == "possessive" else ""


def _joined(text: str, found: list[Found]) -> dict[int, str | None]:
    """The words that a slash or "or" joins: pairs stay, labels have partners, other labels are undecided."""
    out: dict[int, str | None] = {}
    for run in runs(text, found):
        words = [found[i] for i in run]
        label = LABELS.get(text[words[0].start : words[-1].end].lower())
        if mixed(words):
            out |= dict.fromkeys(run, "")
        elif label and all(plain_case(at.written) for at in words):
            out |= {
                i: carry_case(found[i].written, new) for i, new in zip(run, label[0].split("/"), strict=True)
            }
        elif "/" in text[words[0].end : words[-1].start] and words[0].entry.kind != "noun":
            out |= {i: None if found[i].entry.gender in ("female", "male") else "" for i in run}
    return out


def _blind_text(text: str, found: list[Found]) -> tuple[str, list[int]]:
    """The text with each gendered word in a form that a swap does not change, and where each stands."""
    pieces: list[str] = []
    places: list[int] = []
    done = length = 0
    for at in found:
        between, word = text[done : at.start], _blind(at)
        places.append(length + len(between))
        length += len(between) + len(word)
        pieces += (between, word)
        done = at.end
    return "".join(pieces), places


def _blind(at: Found) -> str:
    if at.entry.gender not in ("female", "male") or not plain_case(at.written):
        return at.written
    word = min(at.word, at.entry.partner.lower() or at.word)
    return carry_case(at.written, _BLIND.get(at.entry.kind, word))
