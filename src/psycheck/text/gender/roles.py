"""Whether "her" is an object or a possessive, and "his" a possessive or a pronoun.

English writes one word for two: "I saw her" and "her hands"; "his hands" and "the choice was his". The words
beside it nearly always decide. A list of rules, tried in order, looks at two words before and three after.
Where grammar allows both readings ("I gave her money", "I saw her smile"), the role is undecided. The word
lists are in roles.toml, roles_before.toml (verbs that govern "her"), roles_after.toml (verbs that follow it),
roles_nouns.toml (nouns and adjectives) and roles_frames.toml (set phrases).

    her + end of phrase, preposition, determiner, pronoun, conjunction, auxiliary, adverb    object
    her + own, noun, adjective with its noun                                                  possessive
    see, let, make, help, consider … + her + bare verb, adjective, title or status            object
    who, what … + verb + her + finite verb                                                    object
    give, prescribe, grant, fine … + her + drug, what is granted, sum of money                object
    her + number + unit of time       object, but possessive after in, during, of … and before "of"
    give, send, bring … + her + bare plural or mass noun, also after an adjective or a noun    undecided
    wish + her + luck, joy …                                                                  object
    his + end of phrase, finite verb, preposition, conjunction …; a friend of + his + verb    pronoun
    his + anything else                                                                       possessive
"""

from typing import Final, Literal

from psycheck.text.gender.her import role_of_her
from psycheck.text.gender.neighbours import (
    ADJECTIVES,
    ALL_ADJECTIVES,
    CLOSED,
    LISTS,
    PARTICLE,
    TIME,
    Beside,
    ends_phrase,
    look,
    past,
)

__all__ = ["ADJECTIVES", "Role", "ends_phrase", "role_of", "roles_between"]

Role = Literal["object", "possessive", "pronoun", "undecided"]

_KNOWN: Final[dict[str, Role]] = {
    **dict.fromkeys(("hers", "her's", "theirs"), "pronoun"),
    **dict.fromkeys(("him", "them"), "object"),
    "their": "possessive",
}


def role_of(text: str, start: int, end: int) -> Role:
    """The role of the third-person pronoun at `text[start:end]`; a possessive stands before its noun."""
    word = text[start:end].lower()
    if (known := _KNOWN.get(word.replace("’", "'"))) is not None:
        return known
    beside = look(text, start, end)
    return _his(beside) if word == "his" else role_of_her(beside)


def roles_between(left: str, right: str) -> tuple[Role, Role]:
    """The roles that "her" and "his" would have between two pieces of text."""
    beside = look(left + right, len(left), len(left))
    return role_of_her(beside), _his(beside)


def _his(at: Beside) -> Role:
    first, second, before = at.first, at.second, at.before
    if not first:
        return "pronoun"
    if first == "all" and before in LISTS["strive"]:
        return "possessive"
    if first in ("and", "or") and second in ("her", "his", "my", "your", "our", "their"):
        return "pronoun" if at.third == "alone" else "possessive"
    if second in LISTS["partners"] and first in ("then", "now", "once"):
        return "possessive"
    if first in LISTS["alone"]:
        return "pronoun" if before and ends_phrase(second) else "possessive"
    if before == "of" and (role := _of_his(at)):
        return role
    if first == "best" and before in LISTS["prefer"] and ends_phrase(second):
        return "pronoun"
    anew = not before or before in LISTS["opens_clause"]
    if first in LISTS["his_verbs"]:
        alone = not second and before in LISTS["opens_clause"]
        return "pronoun" if alone or (anew and second in LISTS["his_after"]) else "possessive"
    if anew and first in LISTS["acted"]:
        return "pronoun"
    if first in LISTS["days"] and not second and before not in LISTS["prepositions"]:
        return "pronoun"
    if first in LISTS["finite"] and first.endswith("s") and second in ("are", "were", "have"):
        return "possessive"
    if first in LISTS["plural_verbs"] and before in ("", "and", "but", "while", "that", "whereas"):
        return "pronoun" if second else "possessive"
    if second in LISTS["spells"] and first in ("down", "off"):
        return "possessive"
    if first == "will":
        of = before == "of" and not ends_phrase(second)
        return "pronoun" if of or second in ("be", "have", "not", "never", "always") else "possessive"
    if first == "right" and second in ("now", "away"):
        return "pronoun"
    if _adverbial(at):
        return "pronoun"
    if first in TIME or first in PARTICLE or first == "past":
        return "possessive"
    if first in LISTS["degree"]:
        verb = second.endswith("s") and not second.endswith("ss") and ends_phrase(at.third)
        led = not verb and not ends_phrase(second) and before not in LISTS["be"] and before != "of"
        return "possessive" if led or first in LISTS["measure"] else "pronoun"
    if first in LISTS["finite_nouns"]:
        return "pronoun" if second in LISTS["determiners"] else "possessive"
    if first in CLOSED or first in LISTS["finite"]:
        return "pronoun"
    if first.endswith("ly") and first not in LISTS["ly_not_adverbs"] and ends_phrase(second):
        return "pronoun"
    if before == "of" and first not in ALL_ADJECTIVES:
        if past(first) and ends_phrase(second):
            return "pronoun"
        if first in LISTS["found"] and second in LISTS["determiners"]:
            return "pronoun"
    return "possessive"


def _of_his(at: Beside) -> Role | None:
    """Whether a verb follows "a friend of his": "lives nearby", "called the ward", "worries the family"."""
    first, second = at.first, at.second
    if first in LISTS["people"] or first in ALL_ADJECTIVES or at.comma:
        return None
    someone = at.lead in LISTS["people"]
    verb = first.endswith("s") and not first.endswith("ss") and first not in LISTS["not_plural"]
    if verb and (second in LISTS["determiners"] or (someone and second not in LISTS["auxiliaries"])):
        return "pronoun"
    if at.lead.endswith("s") and first in LISTS["after_debts"]:
        return "pronoun"
    if first in LISTS["acted"] or (someone and past(first)):
        return "pronoun"
    return None


def _adverbial(at: Beside) -> bool:
    """Whether what follows says when or where, so that "his" stands alone: "a friend of his years ago"."""
    first, second = at.first, at.second
    if first in LISTS["units"] or (second in LISTS["units"] and at.third):
        return (at.third if second in LISTS["units"] else second) in LISTS["gone_by"]
    if first in ("outside", "inside"):
        return second in LISTS["determiners"]
    return f"{first}_{second}" in LISTS["adverbial_pairs"]
