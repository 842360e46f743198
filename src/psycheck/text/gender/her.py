"""The rules for "her": an object, or a possessive before its noun."""

from typing import Final

from psycheck.text.gender.complement import (
    SMALL_CLAUSE,
    after_relative,
    after_small_clause,
    complement,
    gerund,
)
from psycheck.text.gender.neighbours import (
    ALL_ADJECTIVES,
    CLOSED,
    LISTS,
    PARTICLE,
    TIME,
    Beside,
    HerRole,
    ends_phrase,
    past,
)
from psycheck.text.gender.second_object import granted, may_be_given, second_object, sum_or_count

_PEOPLE: Final = LISTS["people"]
_PREPOSITIONS: Final = LISTS["prepositions"]
# Adjectives only where a small clause calls for one, since some are nouns too: "opened her negative".
_STATES: Final = LISTS["states"] - LISTS["adjectives"] - LISTS["ed_adjectives"]
# Every word that some rule mentions; what is not here and has no telling ending is a noun.
_SPECIAL: Final = frozenset().union(
    *(LISTS[name] for name in ("time", "particle", "days", "degree", "adjectives", "ed_adjectives")),
    *(LISTS[name] for name in ("states", "finite", "units", "looks")),
    ("will", "past", "names", "then", "now"),
)
# What was given, told or paid to her, she being the subject, is hers.
_GIVEN: Final = LISTS["give"] | LISTS["tell"] | LISTS["dispense"] | LISTS["allow"]
# Words that `_leading` settles before the other rules.
_LEADING: Final = LISTS["leading"] | LISTS["alone"] | LISTS["more_of"]


def role_of_her(at: Beside) -> HerRole:
    """The role of "her" between these words; roles.py says in what order the rules stand."""
    if at.before in LISTS["openers"]:
        at = at._replace(before="")
    first, second, before = at.first, at.second, at.before
    if not first:
        return "object"
    if first in ("own", "favourite", "favorite"):
        return "possessive"
    if first[0].isdigit():
        return _when(at) if second in LISTS["units"] else sum_or_count(at)
    if at.relative and (role := after_relative(at)):
        return role
    if before and second in ("by", "after") and at.third == first:
        return "object"
    if before in LISTS["wish"] and (role := _wished(at)):
        return role
    if first in _LEADING and (role := _leading(at)):
        return role
    if first.startswith("mid-") and ends_phrase(second) and before not in _PREPOSITIONS:
        return "object" if before else "possessive"
    if first[0] == "x" and first[1:].isdigit():
        return "object"
    given = at.lead in LISTS["passive"] and before in _GIVEN and not before.endswith("ing")
    if given and first not in CLOSED and not first.endswith("ly"):
        return "possessive"
    if before and (role := complement(at) or granted(at)):
        return role
    if first in _SPECIAL and (role := _special(at)):
        return role
    if first in CLOSED:
        return "object"
    if second in LISTS["object_pronouns"] and first not in _PEOPLE:
        return "object"
    if first in _PEOPLE:
        if before in LISTS["naming"] and at.capital and ends_phrase(second):
            return "undecided"
        return "undecided" if before in LISTS["tell"] and second in LISTS["auxiliaries"] else "possessive"
    if before in SMALL_CLAUSE and (role := after_small_clause(at)):
        return role
    if first.endswith("ing") and len(first) > 4 and first not in LISTS["ing_nouns"]:
        return gerund(at)
    if first.endswith("ly") and first not in LISTS["ly_not_adverbs"]:
        how = second in ALL_ADJECTIVES or past(second) or second in LISTS["participles"]
        predicate = (how and ends_phrase(at.third)) or second in LISTS["bare"]
        return "object" if (predicate and before in SMALL_CLAUSE) or ends_phrase(second) else "possessive"
    if past(first):
        if before and first in LISTS["acted"] and not at.comma:
            return "object"
        dated = before in LISTS["get"] and (second in TIME or second in LISTS["days"])
        broken = at.comma and second not in CLOSED
        return "object" if before and (ends_phrase(second) or dated) and not broken else "possessive"
    if before in LISTS["give"] or before in LISTS["tell"]:
        return second_object(at)
    if before in LISTS["naming"] and at.capital:
        return "object"
    return "possessive"


def _leading(at: Beside) -> HerRole | None:
    """Words that one neighbour settles: "call her daily", "her every move", "left her due to"."""
    first, second, before = at.first, at.second, at.before
    if first in LISTS["alone"]:
        later = ends_phrase(second) or second in TIME or second in LISTS["days"]
        return "object" if before and later else "possessive"
    if first == "used":
        return "object" if second == "to" and before else None
    if first == "mid":
        return "possessive" if not before or second in LISTS["mid_things"] else "object"
    if first == "every":
        return "possessive" if second in LISTS["every"] else "object"
    if first == "most":
        return "object" if second in LISTS["units"] else None
    if first in ("due", "next", "prior"):
        return "object" if second == "to" and before else None
    if first == "cause":
        return "object" if second in LISTS["subject_pronouns"] else None
    if first == "company":
        return "object" if before in LISTS["stay"] else None
    if first in ("goodbye", "goodnight", "farewell"):
        return "object" if before and ends_phrase(second) and before not in _PREPOSITIONS else None
    if first in ("so", "too"):
        return "possessive" if second == "called" else "object"
    if first == "one":
        return "object" if second in ("bit", "iota") else None
    if first == "big":
        return "object" if second == "time" else None
    if first == "all":
        return "possessive" if before in LISTS["strive"] and ends_phrase(second) else "object"
    if first in LISTS["more_of"]:
        if ends_phrase(second):
            return "object" if before in LISTS["charge"] and first == "extra" else None
        return "object" if before in LISTS["give"] else None
    return "possessive" if second in LISTS["spells"] else None


def _special(at: Beside) -> HerRole | None:
    """Words that lead a noun in some company and not in other: "her last job", "I saw her last night"."""
    first, second, before = at.first, at.second, at.before
    if first == "will":
        subject = second in LISTS["bare"] or second in ("be", "have", "not", "never", "always")
        return "object" if subject and before != "against" else "possessive"
    if first == "past":
        return "object" if second in LISTS["determiners"] else "possessive"
    if first == "names":
        return "object" if before in LISTS["naming"] else "possessive"
    if second in LISTS["partners"] and first in ("then", "now", "once"):
        return "possessive"
    if first in LISTS["days"]:
        if second in LISTS["parts_of_day"] and before and ends_phrase(at.third):
            return "undecided" if before in _PREPOSITIONS else "object"
        return "object" if ends_phrase(second) else "possessive"
    if first in LISTS["units"] and first not in LISTS["days"]:
        adverb = before in LISTS["spend"] and (not second or second in CLOSED) and first.endswith("s")
        if before and second in ("before", "after") and at.third:
            return "possessive" if before in LISTS["within"] else "undecided"
        return "object" if adverb or (before and second in LISTS["after_units"]) else None
    if first in TIME and second in LISTS["units"]:
        return _when(at)
    if first == "first" and second == "thing":
        return "object" if before and ends_phrase(at.third) else "possessive"
    if first in LISTS["numbers"]:
        if not second or (second == "more" and at.third in LISTS["units"]) or second in CLOSED:
            return "object"
        given = before in LISTS["give"] and second not in _PEOPLE
        given = given or (before in LISTS["charge"] and second in LISTS["sums"])
        return "object" if given else "undecided" if before in LISTS["give"] else "possessive"
    if before in SMALL_CLAUSE and first in LISTS["degree"]:
        led = second in ALL_ADJECTIVES and not ends_phrase(at.third)
        plain = second in ALL_ADJECTIVES or ends_phrase(second) or second in PARTICLE
        return "possessive" if led else "object" if plain else None
    if first in LISTS["measure"]:
        return "object" if ends_phrase(second) or second in ("much", "well", "often") else "possessive"
    if first in LISTS["degree"]:
        bare = before and second in ALL_ADJECTIVES and ends_phrase(at.third)
        led = not bare and (
            second in ALL_ADJECTIVES or second in LISTS["ing_adjectives"] or second == "ending"
        )
        return "possessive" if led else "object"
    if first in PARTICLE:
        return _particle(at)
    if first in LISTS["looks"]:
        return _looks(at)
    if first in ALL_ADJECTIVES and (before in SMALL_CLAUSE or first not in _STATES):
        return _adjective(at)
    if first in LISTS["finite_nouns"]:
        return "object" if second in LISTS["determiners"] else "undecided" if second == "to" else "possessive"
    if first in LISTS["finite"]:
        return "object"
    return "possessive" if first in TIME else None


def _when(at: Beside) -> HerRole:
    """A span of time: "saw her last night", "took her two years"; "in her last year", "her 2 years of"."""
    before, third = at.before, at.third
    if not before:
        return "possessive"
    if third in LISTS["gone_by"]:
        return "object"
    counted = at.first[0].isdigit() or at.first in LISTS["numbers"] - {"one"}
    if counted and not at.second.endswith("s") and not ends_phrase(third):
        return "possessive"
    if third == "of":
        return "object" if before in LISTS["take"] or before in LISTS["give"] else "possessive"
    if before not in _PREPOSITIONS:
        return "object"
    # Either reading: "cheated on her last year", "spoke of her last night"; but "on her last day" is hers.
    day = at.second in ("day", "days")
    spoken = (before == "on" and not day) or (before == "of" and at.second == "night")
    if at.first != "first" and spoken:
        return "undecided"
    if before in LISTS["within"] or at.first == "first":
        return "possessive"
    return "object" if before in ("to", "with", "from") or at.second in ("night", "times") else "undecided"


def _wished(at: Beside) -> HerRole | None:
    """What follows wish + her: "luck" is wished to her, but "her luck would turn" is a clause."""
    wished = at.first in LISTS["wished"] or (at.first in LISTS["greeting"] and at.second in LISTS["occasion"])
    if not wished or at.second in LISTS["finite"]:
        return None
    return "possessive" if at.second in LISTS["auxiliaries"] else "object"


def _looks(at: Beside) -> HerRole | None:
    """Colours and sizes: "her short hair" is decided, "I like her short" is not."""
    if (
        not at.before
        or not ends_phrase(at.second)
        or at.second in LISTS["joining"]
        or at.before in _PREPOSITIONS
    ):
        return None
    cut = at.before in LISTS["cut"] or at.second == "of"
    return "object" if at.first == "short" and cut else "undecided"


def _particle(at: Beside) -> HerRole:
    first, second, before = at.first, at.second, at.before
    if at.relative and before and first in ("best", "better", "well", "most") and ends_phrase(second):
        return "object"
    if not before or second in LISTS["auxiliaries"]:
        return "possessive"
    if first in ("outside", "inside"):
        return "possessive" if second in LISTS["outside_things"] else "object"
    adverb = first not in ("back", "home", "left", "right", "first", "last", "best", "only")
    homeward = first == "home" and before in LISTS["motion"] and second not in LISTS["home_things"]
    later = homeward or ((second in TIME or second in LISTS["days"]) and adverb)
    if (first == "better" and second == "half") or (first == "back" and before in LISTS["put"]):
        return "object" if second in LISTS["returning"] else "possessive"
    if not ends_phrase(second) and not later:
        return "undecided" if first == "long" and may_be_given(at) else "possessive"
    if first == "back" and (second == "then" or at.third[:1].isdigit()):
        return "object"
    if first == "right" and second:
        return "object"
    if first == "home":
        if second == "of":
            return "possessive"
        if before in ("with", "without"):
            return "object" if second == "from" else "undecided"
        if before in LISTS["stay"]:
            return "object" if second == "alone" else "undecided"
        return "object" if before in LISTS["motion"] else "possessive"
    if first == "best":
        return "possessive" if before in _PREPOSITIONS or before in LISTS["strive"] else "object"
    if first in ("back", "left", "right") and (before in _PREPOSITIONS or before in LISTS["injure"]):
        return "possessive"
    return "object"


def _adjective(at: Beside) -> HerRole:
    """An adjective with a noun after it belongs to the noun; alone it speaks of an object."""
    second, predicate = at.second, at.before in SMALL_CLAUSE
    if at.first in CLOSED and at.before:
        return "object"
    if not at.before or (at.first in LISTS["adjective_nouns"] and not predicate):
        return "possessive"
    if at.first == "aged" and second[:1].isdigit():
        return "object"
    if at.first in ("gone", "done") and at.before in ("with", "without"):
        return "object"
    if at.comma or second in LISTS["joining"]:
        clause = at.comma and second in CLOSED and second not in LISTS["joining"]
        return "object" if predicate or clause else "possessive"
    when = second in TIME or second in LISTS["days"] or second in ("early", "late") or second[:1].isdigit()
    if ends_phrase(second) or (
        predicate and (when or (second.endswith("ing") and second not in LISTS["ing_nouns"]))
    ):
        return "object"
    return "undecided" if may_be_given(at) else "possessive"
