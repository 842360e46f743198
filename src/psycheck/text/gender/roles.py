"""Whether "her" is an object or a possessive, and "his" a possessive or a pronoun.

English writes one word for two: "I saw her" and "her hands"; "his hands" and "the choice was his". The words
beside it nearly always decide. The rules of role_rules.toml look at two words before and three after, and the
first rule that fits decides. Where grammar allows both readings ("I gave her money", "I saw her smile"), the
role is undecided. The word lists are in roles.toml, roles_before.toml (verbs that govern "her"),
roles_after.toml (verbs that follow it), roles_nouns.toml and roles_frames.toml (set phrases).

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

from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from itertools import chain, pairwise
from typing import Final, Literal, cast

from psycheck.text.gender.neighbours import FORMS, LISTS, Neighbours, look
from psycheck.text.word_lists import read_toml

Role = Literal["object", "possessive", "pronoun", "undecided"]
Test = Callable[[str], bool]

_KNOWN: Final[dict[str, Role]] = {
    **dict.fromkeys(("hers", "her's", "theirs"), "pronoun"),
    **dict.fromkeys(("him", "them"), "object"),
    "their": "possessive",
}
_DATA: Final = read_toml("gender/role_rules.toml")


def _frames(role: str) -> frozenset[str]:
    """Every form of a verb with every word of its set phrases."""
    entries = (entry.split(":") for entry in read_toml("gender/roles_frames.toml")[role].values())
    return frozenset(
        f"{verb} {word}" for verbs, words in entries for verb in verbs.split() for word in words.split()
    )


_LISTS: Final = LISTS | {
    **{
        name: frozenset().union(*(LISTS[each] for each in names.split()))
        for name, names in _DATA["unions"].items()
    },
    **{f"{role}_frames": _frames(role) for role in ("object", "possessive")},
}
_PAIRS: Final = LISTS["done_pairs"] | LISTS["status_pairs"] | LISTS["adverbial_pairs"]
_FRAMES: Final = _LISTS["object_frames"] | _LISTS["possessive_frames"]


def _rules() -> tuple[list[str], list[list[str]], dict[str, int]]:
    """The result and the conditions of each rule, and where each section begins."""
    results: list[str] = []
    conditions: list[list[str]] = []
    starts: dict[str, int] = {}
    for section, following in pairwise([*_DATA["rules"], ""]):
        starts[section] = len(results)
        blocks: list[tuple[int, str]] = []
        for line in _DATA["rules"][section].splitlines():
            indent = len(line) - len(line.lstrip())
            if line.startswith("#", indent):
                continue
            while blocks and blocks[-1][0] >= indent:
                blocks.pop()
            own, arrow, result = line.partition("->")
            if arrow:
                results.append(result.strip().replace("next", following))
                conditions.append(" ".join([*(block for _, block in blocks), own]).split())
            else:
                blocks.append((indent, own.removesuffix(":")))
    return results, conditions, starts


def _test(condition: str) -> tuple[str, Test]:
    """The position that a condition looks at, and its test of the word there."""
    position, _, names = condition.partition("=")
    words: set[str] = set()
    forms: list[Test] = []
    for name in names.split("|"):
        if name in FORMS:
            forms.append(FORMS[name])
        elif name[0] != "'":
            words |= _LISTS[name]
        elif "*" in name or "?" in name:
            forms.append(partial(fnmatchcase, pat=name.strip("'")))
        else:
            words.add(name.strip("'"))
    wanted = position[-1] != "!"
    return position.rstrip("!"), lambda word: (word in words or any(form(word) for form in forms)) is wanted


_RESULTS, _CONDITIONS, _STARTS = _rules()
# A set of rules is a number with a bit for each rule. By position: the tests of the word there, each with the
# rules that have it.
_TESTS: Final[dict[str, list[tuple[Test, int]]]] = {}
for _condition in dict.fromkeys(chain.from_iterable(_CONDITIONS)):
    _position, _holds = _test(_condition)
    _with = sum(1 << at for at, conditions in enumerate(_CONDITIONS) if _condition in conditions)
    _TESTS.setdefault(_position, []).append((_holds, _with))


def role_of(text: str, start: int, end: int) -> Role:
    """The role of the third-person pronoun at `text[start:end]`; a possessive stands before its noun."""
    word = text[start:end].lower()
    if (known := _KNOWN.get(word.replace("’", "'"))) is not None:
        return known
    return _decide(_fitting(look(text, start, end)), "his" if word == "his" else "her")


def roles_between(left: str, right: str) -> tuple[Role, Role]:
    """The roles that "her" and "his" would have between two pieces of text."""
    fitting = _fitting(look(left + right, len(left), len(left)))
    return _decide(fitting, "her"), _decide(fitting, "his")


def _decide(fitting: int, section: str) -> Role:
    """The role that the first fitting rule from this section on gives."""
    while True:
        start = _STARTS[section]
        rest = fitting >> start
        section = _RESULTS[start + (rest & -rest).bit_length() - 1]
        if section not in _STARTS:
            return cast(Role, section)


def _fitting(at: Neighbours) -> int:
    """The rules whose conditions all hold."""
    before = "" if at.before in LISTS["openers"] else at.before
    pair, frame = f"{at.first}_{at.second}", f"{before} {at.first}"
    return (
        _allowed("first", at.first)
        & _allowed("second", at.second)
        & _allowed("before", before)
        & _allowed("prior", at.before)
        & _allowed("third", at.third)
        & _allowed("lead", at.lead)
        & _allowed("comma", "," * at.comma)
        & _allowed("relative", "who" * at.relative)
        & _allowed("capital", "A" * at.capital)
        & _allowed("echo", at.first if at.first == at.third else "")
        & _allowed("pair", pair if pair in _PAIRS else "")
        & _allowed("frame", frame if frame in _FRAMES else "")
    )


@lru_cache(100_000)
def _allowed(position: str, word: str) -> int:
    """The rules that this word at this position allows."""
    out = (1 << len(_RESULTS)) - 1
    for holds, rules in _TESTS[position]:
        if not holds(word):
            out &= ~rules
    return out
