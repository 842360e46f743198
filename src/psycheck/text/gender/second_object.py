"""What follows a verb of two objects and "her": the second object, or a noun that is hers."""

import tomllib
from pathlib import Path
from typing import Final

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
    plural,
)

_PEOPLE: Final = LISTS["people"]
_DRUG_ENDINGS: Final = tuple(LISTS["drug_endings"])


def _frames() -> dict[tuple[str, str], HerRole]:
    """Every form of a verb with every word of its set phrases, and the role of "her" between them."""
    data = tomllib.loads(Path(__file__).with_name("roles_frames.toml").read_text("utf-8"))
    roles: tuple[HerRole, HerRole] = ("object", "possessive")
    sides = [(role, *entry.split(":")) for role in roles for entry in data[role].values()]
    return {
        (verb, word): role for role, verbs, words in sides for verb in verbs.split() for word in words.split()
    }


_FRAMES: Final = _frames()
# The verbs that some rule of `granted` looks at.
_GRANTING: Final = frozenset(verb for verb, _ in _FRAMES).union(
    *(LISTS[name] for name in ("tell", "serve", "allot", "allow", "permit", "treat", "dispense", "inflict")),
    *(LISTS[name] for name in ("earn", "charge", "teaching", "present", "asked_for", "convey", "bid")),
)


def sum_or_count(at: Beside) -> HerRole:
    """Figures: "gave her 20 mg", "fined her 300 euros", but "her 2 kids", "her 8 am tablets"."""
    first, second, before = at.first, at.second, at.before
    if second in LISTS["clock"]:
        return "object" if ends_phrase(at.third) and before not in LISTS["attend"] else "possessive"
    if not first.isdigit():
        if first[:-1].isdigit() and first.endswith("x"):
            return "object"
        amount = first.replace(".", "", 1).isdigit() or first.rstrip("abcdefghijklmnopqrstuvwxyz").isdigit()
        if not amount or first.endswith(("am", "pm", "th", "st", "nd", "rd", "s", "yo", "y/o")):
            return "possessive"
        if before in LISTS["dispense"] or before in LISTS["charge"]:
            return "possessive" if ":" in first else "object"
        return "possessive"
    # A time of day: "took her 0800 meds".
    if len(first) == 4 and first[0] == "0" and not ends_phrase(second):
        return "possessive"
    if ends_phrase(second) or second in ("percent", "x"):
        return "possessive" if before in LISTS["within"] or not before else "object"
    if before in LISTS["charge"] and second in LISTS["sums"]:
        led = not ends_phrase(at.third) and at.third not in TIME and at.third not in LISTS["sums"]
        return "possessive" if led else "object"
    if before in LISTS["pay"]:
        return "possessive"
    if before in LISTS["give"] or before in LISTS["take"]:
        taken = before in LISTS["take"] and not before.startswith("cost")
        return "undecided" if taken or second in _PEOPLE else "object"
    return "possessive"


def granted(at: Beside) -> HerRole | None:
    """What is found, granted, taught, dispensed or told to her, also after an adjective."""
    first, second, before = at.first, at.second, at.before
    if before not in _GRANTING:
        return None
    # Nothing but a clause can be told here, to her: "told her visiting hours had changed".
    clause = at.third in LISTS["auxiliaries"] and not at.comma and not ends_phrase(second)
    if clause and before in LISTS["tell"] and not {first, second} & _PEOPLE:
        return "object"
    done = second != "to" and (ends_phrase(second) or second in TIME or second == "wage")
    if done and (frame := _FRAMES.get((before, first))):
        return frame
    if before in LISTS["serve"] and first in ("notice", "papers"):
        return "undecided" if ends_phrase(second) else None
    if before in LISTS["allot"] and not at.comma:
        allotted = first in LISTS["allotted"] and ends_phrase(second)
        led = second in LISTS["allotted"] and ends_phrase(at.third) and first not in _PEOPLE
        # "found her accommodation unsuitable", "found her housing to be damp" are hers.
        free = "to" not in (second, at.third) or "access" in (first, second)
        if (allotted or led) and free:
            return "object"
    drug = first in LISTS["drugs"] or first.endswith(_DRUG_ENDINGS)
    if drug and before in LISTS["dispense"] and (role := _dispensed(at)):
        return role
    if before in LISTS["allow"] and "leave" in (first, second) and first not in _PEOPLE:
        return "object"
    if before in LISTS["convey"] and first in LISTS["tone"] and second in LISTS["conveyed"]:
        return "object" if ends_phrase(at.third) and at.third != "to" else None
    if before in LISTS["bid"] and (not at.lead or at.lead in LISTS["beg"]) and not {first, second} & _PEOPLE:
        what, then = (first, second) if ends_phrase(second) else (second, at.third)
        if plural(what) and ends_phrase(then) and then != "to" and then not in LISTS["determiners"]:
            return "object"
    if before in LISTS["permit"] and first in LISTS["room"] and (second == "to" or ends_phrase(second)):
        return "object"
    if before in LISTS["permit"] and not {first, second} & _PEOPLE:
        what, then = (first, second) if ends_phrase(second) else (second, at.third)
        if (plural(what) or what in LISTS["mass"]) and ends_phrase(then) and then != "to":
            return "object"
    if before in LISTS["treat"] and not at.comma:
        if first in LISTS["treatments"] and ends_phrase(second):
            return "object"
        if second in LISTS["treatments"] and ends_phrase(at.third) and first not in _PEOPLE:
            return "object"
        if at.third in LISTS["treatments"] and not ends_phrase(second) and not {first, second} & _PEOPLE:
            return "object"
    if before in LISTS["dispense"] and first in LISTS["routes"]:
        return "possessive" if second in LISTS["assent"] or ends_phrase(second) else "object"
    if before in LISTS["inflict"] and (role := _inflicted(at)):
        return role
    if before in LISTS["earn"] and first in LISTS["earned"]:
        return "undecided" if ends_phrase(second) else None
    if before in LISTS["charge"] and first in ("thousands", "hundreds", "millions", "pennies", "peanuts"):
        return "object"
    if before in LISTS["teaching"] and second in LISTS["taught"]:
        return "object" if before not in LISTS["shown"] else None
    if before in LISTS["tell"] and first in LISTS["greeting"] and second in LISTS["occasion"]:
        return "object"
    if first in LISTS["gifts"] and (before in LISTS["present"] or before in LISTS["asked_for"]):
        return _gift(at)
    return None


def _inflicted(at: Beside) -> HerRole | None:
    """What is caused: "caused her great distress" is done to her, "what caused her pain" may be hers."""
    if at.first in LISTS["amounts"] and at.second in LISTS["harms"]:
        return "object"
    return "undecided" if at.first in LISTS["harms"] and ends_phrase(at.second) else None


def _dispensed(at: Beside) -> HerRole | None:
    """A drug after give, prescribe, sell …: hers already where a noun follows or it goes to somebody."""
    if at.first not in LISTS["drugs"] and at.first in LISTS["drug_not"]:
        return None
    if at.before == "given" and at.lead not in LISTS["perfect"]:
        return "undecided" if ends_phrase(at.second) else "possessive"
    if at.second == "to" and at.third in CLOSED:
        return "possessive"
    if at.before in LISTS["sell"] and at.second in ("on", "for", "online"):
        return "possessive"
    dosed = ends_phrase(at.second) or at.second[:1].isdigit() or at.second in LISTS["doses"]
    return "object" if dosed else None


def _gift(at: Beside) -> HerRole | None:
    """Flowers, money, tea …: a gift where it is lent, asked for, or given for a reason or again and again."""
    if at.second == "to":
        return None
    asked = (not at.lead or at.lead in LISTS["beg"]) and at.before in LISTS["asked_for"]
    if asked and ends_phrase(at.second):
        return "object"
    lent = at.before in LISTS["lend"] and ends_phrase(at.second)
    again = at.before in LISTS["present"] and at.second in LISTS["after_gift"]
    return "object" if lent or again else None


def second_object(at: Beside) -> HerRole:
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
    if at.before in LISTS["lose"] and plural(first) and ends_phrase(second):
        return "object"
    if at.before in LISTS["make"] and (second in ALL_ADJECTIVES or second in PARTICLE):
        return "possessive"
    if at.before in LISTS["teaching"] and second in LISTS["taught"]:
        return "object"
    if at.before in LISTS["giving"] and first in LISTS["only_given"]:
        return "object"
    if at.before in LISTS["giving"] and first == "time" and (at.comma or at.third in LISTS["bare"]):
        return "object"
    if at.before in LISTS["obtain"] and second == "from" and first not in LISTS["gifts"]:
        return "possessive"
    if at.before in LISTS["get"] and (second == "back" or second in LISTS["participles"] or past(second)):
        return "possessive"
    if at.before in LISTS["tell"] and (second in LISTS["auxiliaries"] or second in LISTS["finite"]):
        return "undecided"
    if at.before in LISTS["grant"] and (first in LISTS["granted"] or first.endswith(_DRUG_ENDINGS)):
        return "object"
    if at.before == "given" and not at.lead:
        return "possessive"
    if first in LISTS["mass"] or may_be_given(at):
        return "undecided"
    if first == "life" and at.before in LISTS["strive"]:
        return "possessive" if second == "for" or not ends_phrase(second) else "undecided"
    if at.before in LISTS["tell"] and at.capital:
        return "undecided"
    if at.before in LISTS["stay"] and second in LISTS["places"] and first not in LISTS["given"]:
        return "possessive"
    if at.before in LISTS["cook"] and first in LISTS["dishes"]:
        return "undecided"
    if at.before in LISTS["make"] or not plural(first) or second in LISTS["moved"]:
        return "possessive"
    return "undecided" if at.before not in LISTS["narrow"] or first in LISTS["given"] else "possessive"


def may_be_given(at: Beside) -> bool:
    """Whether two nouns, or an adjective and a noun, may be what she is given: "bought her red flowers"."""
    if at.before not in LISTS["give"] or at.before in LISTS["make"] or at.comma:
        return False
    if at.before == "given" and not at.lead:
        return False
    word = at.second
    if ends_phrase(word) or word in _PEOPLE or word in LISTS["units"]:
        return False
    # "leaves her dirty dishes in the bath": what is left somewhere is hers.
    if at.before in LISTS["stay"] and at.third in LISTS["places"]:
        return False
    return word in LISTS["mass"] or plural(word)
