"""What she is, becomes or does: the words after see, let, make, keep, elect … and "her"."""

from typing import Final

from psycheck.text.gender.neighbours import (
    ALL_ADJECTIVES,
    CLOSED,
    LISTS,
    TIME,
    Beside,
    HerRole,
    ends_phrase,
    past,
)

_PEOPLE: Final = LISTS["people"]
_BARE: Final = LISTS["bare"] - LISTS["either"]
SMALL_CLAUSE: Final = LISTS["keep"] | LISTS["cause"] | LISTS["perceive"]
# The verbs and prepositions that some rule of `complement` looks at.
_COMPLEMENTED: Final = SMALL_CLAUSE.union(
    *(LISTS[name] for name in ("appoint", "promote", "perform", "beat", "raising")), ("with", "without")
)
_ADJECTIVE_ENDINGS: Final = ("ful", "less", "ous", "ish", "able", "ible", "ic", "ive")


def after_relative(at: Beside) -> HerRole | None:
    """A finite verb after a clause that "her" ends: "whoever hired her deserves a raise"."""
    first, second = at.first, at.second
    if first in _PEOPLE or at.comma:
        return None
    if first in LISTS["needing"]:
        return "object" if second == "to" and at.third in LISTS["bare"] else None
    if first in LISTS["motion_s"] and second in CLOSED:
        return "object" if second not in LISTS["auxiliaries"] else None
    if first in LISTS["either_s"] and at.before in LISTS["to_people"]:
        return "object"
    plain = first in LISTS["bare"] or first in LISTS["either"] or past(first) or first.endswith("s")
    plain = plain or first in LISTS["found"]
    governs = second == "her" or second in LISTS["determiners"] or second in LISTS["object_pronouns"]
    return "object" if plain and governs and first not in ALL_ADJECTIVES else None


def complement(at: Beside) -> HerRole | None:
    """What she is made, held or raised to be: "elected her mayor", "consider her low risk"."""
    first, second, before = at.first, at.second, at.before
    if first == "lives" and second in LISTS["dwelling"]:
        return "object"
    if before not in _COMPLEMENTED:
        return None
    if before in LISTS["appoint"] and first in LISTS["titles"]:
        office = ends_phrase(second) and second not in LISTS["auxiliaries"]
        # "made her partner and kids leave": somebody of hers.
        if first in _PEOPLE and (before not in LISTS["elect"] or second in LISTS["joining"]):
            return None
        return "object" if office and second not in LISTS["predicative"] and second != "as" else None
    if before in LISTS["appoint"] and first in LISTS["title_leads"] and second in LISTS["titles"]:
        return "object" if ends_phrase(at.third) else None
    if before in LISTS["perform"] and f"{first}_{second}" in LISTS["done_pairs"]:
        return "object"
    if before in LISTS["promote"] and first in LISTS["titles"]:
        return "undecided" if ends_phrase(second) or second in TIME else None
    if before in ("with", "without") and first in ("present", "absent"):
        return "object" if ends_phrase(second) else "possessive"
    if before in LISTS["beat"] and first == "black":
        return "object" if second == "and" else None
    if before in LISTS["raising"] and first in LISTS["faiths"]:
        return "object" if ends_phrase(second) else None
    pair = f"{first}_{second}" in LISTS["status_pairs"] and ends_phrase(at.third)
    status = first in LISTS["statuses"] and ends_phrase(second)
    if (pair or status) and before in SMALL_CLAUSE:
        return "undecided" if at.third == "of" else "object"
    return None


def after_small_clause(at: Beside) -> HerRole | None:
    """What follows see, let, make, help, have, keep … + her, where it is a verb or speaks of her."""
    first, second, before = at.first, at.second, at.before
    if first.endswith(_ADJECTIVE_ENDINGS) and first not in LISTS["adjective_not"] and ends_phrase(second):
        return "object"
    if first in LISTS["participles"] and before in LISTS["get"]:
        return "object" if ends_phrase(second) or second in LISTS["alone"] else None
    if second in LISTS["auxiliaries"] and (first in LISTS["bare"] or first in LISTS["either"]):
        if before in LISTS["clause"]:
            return "possessive"
        if before in LISTS["perceive"] and not before.endswith("ing"):
            return "undecided"
    if before in LISTS["get"] and past(second) and ends_phrase(at.third):
        return "possessive"
    if before in LISTS["force"] and second == "you":
        return "object"
    doing = before in LISTS["perceive"] or before in LISTS["let"]
    if doing and second in LISTS["determiners"] and at.third not in LISTS["other_day"]:
        return "object"
    if first in _BARE and (before in LISTS["cause"] or before in LISTS["perceive"]):
        return "object"
    if first in LISTS["mostly_nouns"]:
        if before in LISTS["let"] and ends_phrase(second) and second not in LISTS["moved"]:
            return "object"
        return "object" if before in LISTS["cause"] and second in LISTS["determiners"] else None
    if first in LISTS["either"]:
        if before in LISTS["cause"] and second in LISTS["determiners"]:
            return "object"
        if second in LISTS["compound"] or (before in LISTS["perceive"] and second in _BARE):
            return "possessive"
        if first in LISTS["faced"] and ends_phrase(second) and before in LISTS["watch"]:
            return "possessive"
        if before in LISTS["force"] or before in LISTS["watch"]:
            return "object"
        if before in LISTS["perceive"]:
            dated = first in LISTS["performed"] and (second in TIME or second in LISTS["dated"])
            said = first in LISTS["shouting"] and second in LISTS["subject_pronouns"]
            towards = (said or second in LISTS["towards"]) and first not in LISTS["utterance"]
            return "object" if dated or towards else "undecided"
        if before in LISTS["cause"] and second in LISTS["towards"]:
            return "object"
    return None


def gerund(at: Beside) -> HerRole:
    """What "her crying" is: hers, or what she does; after see, hear, keep, leave … she is the object."""
    second, before = at.second, at.before
    led = not ends_phrase(second)
    of_people = second in _PEOPLE and (
        before not in SMALL_CLAUSE or before in LISTS["stay"] or at.first in LISTS["ing_adjectives"]
    )
    compound = second in LISTS["ing_compound"] or (led and at.first in LISTS["ing_only"])
    if not before or of_people or compound:
        return "possessive"
    uttered = before in LISTS["tell"] and at.first in LISTS["uttering"]
    if uttered or (before == "to" and at.first in LISTS["enclosing"]):
        return "object"
    finite = second in LISTS["auxiliaries"] or second in LISTS["finite"]
    if before in LISTS["noting"] and not finite:
        return "object" if second in LISTS["determiners"] else "undecided"
    if before in LISTS["clause"] and (finite or before not in SMALL_CLAUSE):
        return "possessive"
    if before in LISTS["recall"]:
        return "undecided"
    if before in LISTS["own_doing"]:
        return "possessive"
    if before in LISTS["perform"]:
        return "possessive"
    if before in LISTS["bring_along"] and at.first in LISTS["pastimes"]:
        own = second in LISTS["moved"] or second in ("home", "back", "in", "seriously", "further")
        return "possessive" if own else "object"
    if before in LISTS["hinder"] and at.first not in LISTS["habits"]:
        return "object"
    if before in LISTS["doing"] and at.first in LISTS["skills"] and not led:
        return "possessive"
    if before in SMALL_CLAUSE:
        return "undecided" if second == "to" and before in LISTS["get"] else "object"
    if before in LISTS["gerund_after"]:
        return "possessive"
    led = led and (at.first in LISTS["ing_adjectives"] or before not in LISTS["doing"])
    return "possessive" if led or finite else "undecided"
