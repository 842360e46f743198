"""Whether "her" is an object or a possessive, and "his" a possessive or a pronoun.

English writes one word for two: "I saw her" and "her hands"; "his hands" and "the choice was his". The words
beside it nearly always decide. A list of rules, tried in order, looks at one word before and three after; the
word lists are in roles.toml. Where grammar allows both readings ("I gave her money", "I saw her smile"), the
role is undecided.

    her + end of phrase, preposition, determiner, pronoun, conjunction, auxiliary, adverb    object
    her + own, noun, adjective with its noun                                                  possessive
    see, let, make, help … + her + bare verb or adjective                                     object
    give, send, bring … + her + bare plural or mass noun, also after an adjective or a noun    undecided
    wish + her + luck, joy …                                                                  object
    his + end of phrase, finite verb, preposition, conjunction …                              pronoun
    his + anything else                                                                       possessive
"""

import re
import tomllib
from pathlib import Path
from typing import Final, Literal, NamedTuple

Role = Literal["object", "possessive", "pronoun", "undecided"]

_KNOWN: Final[dict[str, Role]] = {
    **dict.fromkeys(("hers", "her's", "theirs"), "pronoun"),
    **dict.fromkeys(("him", "them"), "object"),
    "their": "possessive",
}
_LISTS: Final = {
    name: frozenset(words.split())
    for name, words in tomllib.loads(Path(__file__).with_name("roles.toml").read_text("utf-8")).items()
}
_CLOSED: Final = _LISTS["closed"]
_TIME: Final = _LISTS["time"]
_PARTICLE: Final = _LISTS["particle"]
_PEOPLE: Final = _LISTS["people"]
_PREPOSITIONS: Final = _LISTS["prepositions"]
_ADJECTIVES: Final = _LISTS["adjectives"] | _LISTS["ed_adjectives"]
ADJECTIVES: Final = _LISTS["adjectives"]
_BARE: Final = _LISTS["bare"] - _LISTS["either"]
_SMALL_CLAUSE: Final = _LISTS["keep"] | _LISTS["cause"] | _LISTS["perceive"]
# Every word that some rule for "her" mentions; what is not here and has no telling ending is a noun.
_SPECIAL: Final = frozenset().union(
    *(
        _LISTS[n]
        for n in (
            "time",
            "particle",
            "days",
            "degree",
            "adjectives",
            "ed_adjectives",
            "finite",
            "units",
            "looks",
        )
    ),
    ("will", "past", "names", "then", "now"),
)

_WORD = r"([^\W_][\w'’-]*)"
_AFTER: Final = re.compile(rf"[^\S\n]*\n?[^\S\n]*[\"“'‘*]*{_WORD}(,?)(?:[\"”*]*\s+{_WORD}(?:\s+{_WORD})?)?")
_OPENING: Final = " \t\"“'‘*(["


class _Beside(NamedTuple):
    """One word before and three after, in lower case; "" where the phrase ends."""

    before: str
    first: str
    second: str
    third: str
    comma: bool
    capital: bool


def role_of(text: str, start: int, end: int) -> Role:
    """The role of the third-person pronoun at `text[start:end]`; a possessive stands before its noun."""
    word = text[start:end].lower()
    if (known := _KNOWN.get(word.replace("’", "'"))) is not None:
        return known
    beside = _look(text, start, end)
    return _his(beside) if word == "his" else _her(beside)


def _look(text: str, start: int, end: int) -> _Beside:
    left = _last_word(text[max(0, start - 24) : start])
    after = _AFTER.match(text, end, end + 72)
    if after is None:
        return _Beside(left, "", "", "", False, False)
    first, comma, second, third = after.groups("")
    return _Beside(left, _plain(first), _plain(second), _plain(third), bool(comma), first[0].isupper())


def _last_word(before: str) -> str:
    """The last word, unless a new line or a mark of punctuation comes after it."""
    before = before.rstrip(_OPENING)
    if not before or not before[-1].isalnum():
        return ""
    return _plain(before.rsplit(None, 1)[-1].lstrip(_OPENING))


def _plain(word: str) -> str:
    if word.isalpha():
        return word.lower()
    word = word.lower().replace("’", "'").rstrip("'-")
    return word[:-2] if word.endswith("'s") and word not in _LISTS["be"] else word


def _her(at: _Beside) -> Role:
    first, second, before = at.first, at.second, at.before
    if not first:
        return "object"
    if first == "own":
        return "possessive"
    if first[0].isdigit():
        return "object" if second in _LISTS["units"] and before else "possessive"
    if before in _LISTS["wish"] and (role := _her_wished(at)):
        return role
    if first in _SPECIAL and (role := _her_special(at)):
        return role
    if first in _CLOSED:
        return "object"
    if second in _LISTS["object_pronouns"] and first not in _PEOPLE:
        return "object"
    if first in _PEOPLE:
        return "undecided" if before in _LISTS["tell"] and second in _LISTS["auxiliaries"] else "possessive"
    if before in _SMALL_CLAUSE and (role := _after_small_clause(at)):
        return role
    if first.endswith("ing") and len(first) > 4 and first not in _LISTS["ing_nouns"]:
        return _her_gerund(at)
    if first.endswith("ly") and first not in _LISTS["ly_not_adverbs"]:
        predicate = before in _SMALL_CLAUSE and (second in _ADJECTIVES or second in _LISTS["bare"])
        return "object" if predicate or _ends(second) else "possessive"
    if _past(first):
        return "object" if before and _ends(second) and not at.comma else "possessive"
    if before in _LISTS["give"] or before in _LISTS["tell"]:
        return _her_second_object(at)
    if before in _LISTS["naming"] and at.capital:
        return "object"
    return "possessive"


def _her_special(at: _Beside) -> Role | None:
    """Words that lead a noun in some company and not in other: "her last job", "I saw her last night"."""
    first, second, before = at.first, at.second, at.before
    if first == "will":
        subject = second in _LISTS["bare"] or second in ("be", "have", "not", "never", "always")
        return "object" if subject and before != "against" else "possessive"
    if first == "past":
        return "object" if second in _LISTS["determiners"] else "possessive"
    if first == "names":
        return "object" if before in _LISTS["naming"] else "possessive"
    if second in _LISTS["partners"] and first in ("then", "now", "once"):
        return "possessive"
    if first in _LISTS["days"]:
        return "object" if _ends(second) else "possessive"
    if first in _LISTS["units"] and first not in _LISTS["days"]:
        return "object" if before in _LISTS["take"] and second in _CLOSED else None
    if first in _TIME and second in _LISTS["units"]:
        own = not before or (first in _LISTS["order"] and before in _PREPOSITIONS)
        return "possessive" if own else "object"
    if first in _LISTS["numbers"]:
        if not second or (second == "more" and at.third in _LISTS["units"]) or second in _CLOSED:
            return "object"
        given = before in _LISTS["give"] and second not in _PEOPLE
        return "object" if given else "undecided" if before in _LISTS["give"] else "possessive"
    if before in _SMALL_CLAUSE and first in _LISTS["degree"]:
        return "object" if second in _ADJECTIVES or _ends(second) or second in _PARTICLE else None
    if first in _LISTS["measure"]:
        return "object" if _ends(second) or second in ("much", "well", "often") else "possessive"
    if first in _LISTS["degree"]:
        led = second in _ADJECTIVES or second in _LISTS["ing_adjectives"]
        return "possessive" if led else "object"
    if first in _PARTICLE:
        return _her_particle(at)
    if first in _LISTS["looks"]:
        return _her_looks(at)
    if first in _ADJECTIVES:
        return _her_adjective(at)
    if first in _LISTS["finite"]:
        return "object"
    return "possessive" if first in _TIME else None


def _her_wished(at: _Beside) -> Role | None:
    """What follows wish + her: "luck" is wished to her, but "her luck would turn" is a clause."""
    wished = at.first in _LISTS["wished"] or (
        at.first in _LISTS["greeting"] and at.second in _LISTS["occasion"]
    )
    if not wished or at.second in _LISTS["finite"]:
        return None
    return "possessive" if at.second in _LISTS["auxiliaries"] else "object"


def _her_looks(at: _Beside) -> Role | None:
    """Colours and sizes: "her short hair" is decided, "I like her short" is not."""
    if not at.before or not _ends(at.second) or at.second in _LISTS["joining"] or at.before in _PREPOSITIONS:
        return None
    return "object" if at.first == "short" and at.before in _LISTS["cut"] else "undecided"


def _her_particle(at: _Beside) -> Role:
    first, second, before = at.first, at.second, at.before
    if not before or second in _LISTS["auxiliaries"]:
        return "possessive"
    adverb = first not in ("back", "home", "left", "right", "first", "last", "best", "only")
    if not _ends(second) and not (adverb and second in _TIME):
        return "possessive"
    if first == "right" and second:
        return "object"
    if first == "home":
        if before in _LISTS["stay"]:
            return "object" if second == "alone" else "undecided"
        return "object" if before in _LISTS["motion"] else "possessive"
    if first == "best":
        return "possessive" if before in _PREPOSITIONS or before in _LISTS["strive"] else "object"
    if first in ("back", "left", "right") and (before in _PREPOSITIONS or before in _LISTS["injure"]):
        return "possessive"
    return "object"


def _her_adjective(at: _Beside) -> Role:
    """An adjective with a noun after it belongs to the noun; alone it speaks of an object."""
    second, predicate = at.second, at.before in _SMALL_CLAUSE
    if not at.before or (at.first in _LISTS["adjective_nouns"] and not predicate):
        return "possessive"
    if at.first in ("gone", "done") and at.before in ("with", "without"):
        return "object"
    if at.comma or second in _LISTS["joining"]:
        clause = at.comma and second in _CLOSED and second not in _LISTS["joining"]
        return "object" if predicate or clause else "possessive"
    if _ends(second) or (predicate and (second in _TIME or second.endswith("ing"))):
        return "object"
    return "undecided" if _may_be_given(at) else "possessive"


def _after_small_clause(at: _Beside) -> Role | None:
    """What follows see, let, make, help, have, keep … + her, where it is a verb."""
    first, second, before = at.first, at.second, at.before
    if first in _BARE and (before in _LISTS["cause"] or before in _LISTS["perceive"]):
        return "object"
    if first in _LISTS["either"]:
        if second in _LISTS["compound"]:
            return "possessive"
        if before in _LISTS["force"] or before in _LISTS["watch"]:
            return "object"
        if before in _LISTS["perceive"]:
            return "object" if second in _LISTS["towards"] else "undecided"
        if before in _LISTS["cause"] and second in _LISTS["towards"]:
            return "object"
    return None


def _her_gerund(at: _Beside) -> Role:
    """What "her crying" is: hers, or what she does; after see, hear, keep, leave … she is the object."""
    led = at.first in _LISTS["ing_adjectives"] and not _ends(at.second)
    if not at.before or at.second in _PEOPLE:
        return "possessive"
    if at.before in _SMALL_CLAUSE:
        return "object"
    return "possessive" if led or at.before in _LISTS["gerund_after"] else "undecided"


def _her_second_object(at: _Beside) -> Role:
    """What follows give or tell + her: "gave her dog a bath" is decided, "gave her money" is not."""
    first, second = at.first, at.second
    if second in _LISTS["determiners"] or (second == "to" and at.third in _CLOSED):
        return "possessive"
    if at.before in _LISTS["tell"] and (second in _LISTS["auxiliaries"] or second in _LISTS["finite"]):
        return "undecided"
    if first in _LISTS["mass"] or _may_be_given(at):
        return "undecided"
    if first == "life" and at.before in _LISTS["strive"]:
        return "possessive" if second == "for" else "undecided"
    if at.before in _LISTS["tell"] and at.capital:
        return "undecided"
    return "undecided" if _plural(first) and at.before not in _LISTS["make"] else "possessive"


def _may_be_given(at: _Beside) -> bool:
    """Whether two nouns, or an adjective and a noun, may be what she is given: "bought her red flowers"."""
    if at.before not in _LISTS["give"] or at.before in _LISTS["make"] or at.comma:
        return False
    word = at.second
    if _ends(word) or word in _PEOPLE or word in _LISTS["units"]:
        return False
    return word in _LISTS["mass"] or _plural(word)


def _his(at: _Beside) -> Role:
    first, second, before = at.first, at.second, at.before
    if not first:
        return "pronoun"
    if first in ("and", "or") and second in ("her", "my", "your", "our", "their"):
        return "possessive"
    if second in _LISTS["partners"] and first in ("then", "now", "once"):
        return "possessive"
    if first == "will":
        return "pronoun" if second in ("be", "have", "not", "never", "always") else "possessive"
    if first == "right" and second in ("now", "away"):
        return "pronoun"
    if first in _TIME or first in _PARTICLE or first == "past":
        return "possessive"
    if first in _LISTS["degree"]:
        led = not _ends(second) and before not in _LISTS["be"] and before != "of"
        return "possessive" if led or first in _LISTS["measure"] else "pronoun"
    if first in _CLOSED or first in _LISTS["finite"]:
        return "pronoun"
    if first.endswith("ly") and first not in _LISTS["ly_not_adverbs"] and _ends(second):
        return "pronoun"
    if before == "of" and _past(first) and first not in _ADJECTIVES and second in _CLOSED:
        return "pronoun"
    return "possessive"


def _ends(word: str) -> bool:
    """Whether nothing that this word begins can be the noun of the phrase before it."""
    if not word or word in _CLOSED or word in _LISTS["finite"]:
        return True
    return word.endswith("ly") and word not in _LISTS["ly_not_adverbs"]


def _past(word: str) -> bool:
    return word.endswith("ed") and not word.endswith("eed") and word not in _LISTS["not_past"]


def _plural(word: str) -> bool:
    return len(word) > 3 and word.endswith("s") and word[-2] not in "siu" and word not in _LISTS["not_plural"]
