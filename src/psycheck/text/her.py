"""The rules for "her": an object, or a possessive before its noun."""

from typing import Final, Literal

from psycheck.text.beside import (
    ALL_ADJECTIVES,
    CLOSED,
    LISTS,
    PARTICLE,
    TIME,
    Beside,
    ends_phrase,
    past,
    plural,
)

Role = Literal["object", "possessive", "undecided"]

_PEOPLE: Final = LISTS["people"]
_PREPOSITIONS: Final = LISTS["prepositions"]
_BARE: Final = LISTS["bare"] - LISTS["either"]
# Adjectives only where a small clause calls for one, since some are nouns too: "opened her negative".
_STATES: Final = LISTS["states"] - LISTS["adjectives"] - LISTS["ed_adjectives"]
_SMALL_CLAUSE: Final = LISTS["keep"] | LISTS["cause"] | LISTS["perceive"]
# Every word that some rule mentions; what is not here and has no telling ending is a noun.
_SPECIAL: Final = frozenset().union(
    *(LISTS[name] for name in ("time", "particle", "days", "degree", "adjectives", "ed_adjectives")),
    *(LISTS[name] for name in ("states", "finite", "units", "looks")),
    ("will", "past", "names", "then", "now"),
)
# Words that `_leading` settles before the other rules.
_LEADING: Final = LISTS["leading"] | LISTS["alone"] | LISTS["more_of"]
# Endings of the names of drugs: "prescribed her citalopram".
_DRUG_ENDINGS: Final = (
    "ine",
    "pram",
    "pine",
    "lam",
    "pam",
    "done",
    "zole",
    "ate",
    "lol",
    "tin",
    "pril",
    "xil",
)
_ADJECTIVE_ENDINGS: Final = ("ful", "less", "ous", "ish", "able", "ible", "ic")


def role_of_her(at: Beside) -> Role:
    """The role of "her" between these words; roles.py says in what order the rules stand."""
    first, second, before = at.first, at.second, at.before
    if not first:
        return "object"
    if first in ("own", "favourite", "favorite"):
        return "possessive"
    if first[0].isdigit():
        return _digits(at)
    if before and second in ("by", "after") and at.third == first:
        return "object"
    if before in LISTS["wish"] and (role := _wished(at)):
        return role
    if first in _LEADING and (role := _leading(at)):
        return role
    if first in _SPECIAL and (role := _special(at)):
        return role
    if first in CLOSED:
        return "object"
    if second in LISTS["object_pronouns"] and first not in _PEOPLE:
        return "object"
    if first in _PEOPLE:
        return "undecided" if before in LISTS["tell"] and second in LISTS["auxiliaries"] else "possessive"
    if before in _SMALL_CLAUSE and (role := _after_small_clause(at)):
        return role
    if first.endswith("ing") and len(first) > 4 and first not in LISTS["ing_nouns"]:
        return _gerund(at)
    if first.endswith("ly") and first not in LISTS["ly_not_adverbs"]:
        predicate = before in _SMALL_CLAUSE and (second in ALL_ADJECTIVES or second in LISTS["bare"])
        return "object" if predicate or ends_phrase(second) else "possessive"
    if past(first):
        dated = before in LISTS["get"] and (second in TIME or second in LISTS["days"])
        broken = at.comma and second not in CLOSED
        return "object" if before and (ends_phrase(second) or dated) and not broken else "possessive"
    if before in LISTS["give"] or before in LISTS["tell"]:
        return _second_object(at)
    if before in LISTS["naming"] and at.capital:
        return "object"
    return "possessive"


def _leading(at: Beside) -> Role | None:
    """Words that one neighbour settles: "call her daily", "her every move", "left her due to"."""
    first, second, before = at.first, at.second, at.before
    if first in LISTS["alone"]:
        return "object" if before and ends_phrase(second) else "possessive"
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
        return "object" if before in LISTS["give"] and not ends_phrase(second) else None
    return "possessive" if second in LISTS["spells"] else None


def _special(at: Beside) -> Role | None:
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
        adverb = before in LISTS["take"] and second in CLOSED
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
        return "object" if given else "undecided" if before in LISTS["give"] else "possessive"
    if before in _SMALL_CLAUSE and first in LISTS["degree"]:
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
    if first in ALL_ADJECTIVES and (before in _SMALL_CLAUSE or first not in _STATES):
        return _adjective(at)
    if first in LISTS["finite_nouns"]:
        return "object" if second in LISTS["determiners"] else "undecided" if second == "to" else "possessive"
    if first in LISTS["finite"]:
        return "object"
    return "possessive" if first in TIME else None


def _digits(at: Beside) -> Role:
    """Figures: "gave her 20 mg", "saw her 3x", but "her 2 kids", "in her 30s"."""
    first, second, before = at.first, at.second, at.before
    if second in LISTS["units"]:
        return _when(at)
    if not first.isdigit():
        return "object" if first[:-1].isdigit() and first.endswith("x") else "possessive"
    if ends_phrase(second) or second in ("percent", "x"):
        return "possessive" if before in LISTS["within"] or not before else "object"
    if before in LISTS["give"] or before in LISTS["take"]:
        taken = before in LISTS["take"] and not before.startswith("cost")
        return "undecided" if taken or second in _PEOPLE else "object"
    return "possessive"


def _when(at: Beside) -> Role:
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


def _wished(at: Beside) -> Role | None:
    """What follows wish + her: "luck" is wished to her, but "her luck would turn" is a clause."""
    wished = at.first in LISTS["wished"] or (at.first in LISTS["greeting"] and at.second in LISTS["occasion"])
    if not wished or at.second in LISTS["finite"]:
        return None
    return "possessive" if at.second in LISTS["auxiliaries"] else "object"


def _looks(at: Beside) -> Role | None:
    """Colours and sizes: "her short hair" is decided, "I like her short" is not."""
    if (
        not at.before
        or not ends_phrase(at.second)
        or at.second in LISTS["joining"]
        or at.before in _PREPOSITIONS
    ):
        return None
    return "object" if at.first == "short" and at.before in LISTS["cut"] else "undecided"


def _particle(at: Beside) -> Role:
    first, second, before = at.first, at.second, at.before
    if not before or second in LISTS["auxiliaries"]:
        return "possessive"
    adverb = first not in ("back", "home", "left", "right", "first", "last", "best", "only")
    later = second in TIME and (adverb or (first == "home" and before in LISTS["motion"]))
    if not ends_phrase(second) and not later:
        return "possessive"
    if first == "back" and (second == "then" or at.third[:1].isdigit()):
        return "object"
    if first == "right" and second:
        return "object"
    if first == "home":
        if second == "of":
            return "possessive"
        if before in LISTS["stay"]:
            return "object" if second == "alone" else "undecided"
        return "object" if before in LISTS["motion"] else "possessive"
    if first == "best":
        return "possessive" if before in _PREPOSITIONS or before in LISTS["strive"] else "object"
    if first in ("back", "left", "right") and (before in _PREPOSITIONS or before in LISTS["injure"]):
        return "possessive"
    return "object"


def _adjective(at: Beside) -> Role:
    """An adjective with a noun after it belongs to the noun; alone it speaks of an object."""
    second, predicate = at.second, at.before in _SMALL_CLAUSE
    if not at.before or (at.first in LISTS["adjective_nouns"] and not predicate):
        return "possessive"
    if at.first == "aged" and second[:1].isdigit():
        return "object"
    if at.first in ("gone", "done") and at.before in ("with", "without"):
        return "object"
    if at.comma or second in LISTS["joining"]:
        clause = at.comma and second in CLOSED and second not in LISTS["joining"]
        return "object" if predicate or clause else "possessive"
    if ends_phrase(second) or (predicate and (second in TIME or second.endswith("ing"))):
        return "object"
    return "undecided" if _may_be_given(at) else "possessive"


def _after_small_clause(at: Beside) -> Role | None:
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
    doing = before in LISTS["perceive"] or before in LISTS["let"]
    if doing and second in LISTS["determiners"] and at.third not in LISTS["other_day"]:
        return "object"
    if first in _BARE and (before in LISTS["cause"] or before in LISTS["perceive"]):
        return "object"
    if first in LISTS["either"]:
        if second in LISTS["compound"] or (before in LISTS["perceive"] and second in _BARE):
            return "possessive"
        if before in LISTS["force"] or before in LISTS["watch"]:
            return "object"
        if before in LISTS["perceive"]:
            return "object" if second in LISTS["towards"] else "undecided"
        if before in LISTS["cause"] and second in LISTS["towards"]:
            return "object"
    return None


def _gerund(at: Beside) -> Role:
    """What "her crying" is: hers, or what she does; after see, hear, keep, leave … she is the object."""
    second, before = at.second, at.before
    led = not ends_phrase(second)
    of_people = second in _PEOPLE and (
        before not in _SMALL_CLAUSE or before in LISTS["stay"] or at.first in LISTS["ing_adjectives"]
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
    if before in LISTS["clause"] and (finite or before not in _SMALL_CLAUSE):
        return "possessive"
    if before in LISTS["recall"]:
        return "undecided"
    if before in _SMALL_CLAUSE:
        return "undecided" if second == "to" and before in LISTS["get"] else "object"
    if before in LISTS["gerund_after"] or before in LISTS["own_doing"]:
        return "possessive"
    led = led and (at.first in LISTS["ing_adjectives"] or before not in LISTS["doing"])
    return "possessive" if led or finite else "undecided"


def _second_object(at: Beside) -> Role:
    """What follows give or tell + her: "gave her dog a bath" is decided, "gave her money" is not."""
    first, second = at.first, at.second
    if second in LISTS["determiners"] or (second == "to" and at.third in CLOSED):
        return "possessive"
    if at.before in LISTS["stay"] and "behind" in (second, at.third):
        return "possessive"
    if second in LISTS["compound"] or (at.before in LISTS["handling"] and first in LISTS["owned"]):
        return "possessive"
    if at.before in LISTS["sending"] and first in LISTS["sent_own"]:
        return "possessive"
    if at.before in LISTS["owe"]:
        return "object"
    if at.before in LISTS["teaching"] and second in LISTS["taught"]:
        return "object"
    if at.before in LISTS["giving"] and first in LISTS["only_given"]:
        return "object"
    if at.before in LISTS["get"] and (second == "back" or second in LISTS["participles"] or past(second)):
        return "possessive"
    if at.before in LISTS["tell"] and (second in LISTS["auxiliaries"] or second in LISTS["finite"]):
        return "undecided"
    if at.before in LISTS["grant"] and (first in LISTS["granted"] or first.endswith(_DRUG_ENDINGS)):
        return "object"
    if first in LISTS["mass"] or _may_be_given(at):
        return "undecided"
    if first == "life" and at.before in LISTS["strive"]:
        return "possessive" if second == "for" else "undecided"
    if at.before in LISTS["tell"] and at.capital:
        return "undecided"
    if at.before in LISTS["make"] or not plural(first) or second in LISTS["moved"]:
        return "possessive"
    return "undecided" if at.before not in LISTS["narrow"] or first in LISTS["given"] else "possessive"


def _may_be_given(at: Beside) -> bool:
    """Whether two nouns, or an adjective and a noun, may be what she is given: "bought her red flowers"."""
    if at.before not in LISTS["give"] or at.before in LISTS["make"] or at.comma:
        return False
    word = at.second
    if ends_phrase(word) or word in _PEOPLE or word in LISTS["units"]:
        return False
    return word in LISTS["mass"] or plural(word)
