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
from itertools import pairwise, product
from typing import Final, Literal, NamedTuple, cast

from psycheck.text.gender.neighbours import FORMS, LISTS, Neighbours, look
from psycheck.text.word_lists import read_toml

Role = Literal["object", "possessive", "pronoun", "undecided"]
Test = Callable[[str], bool]

_ROLE_OF_FORM: Final[dict[str, Role]] = {
    **dict.fromkeys(("hers", "her's", "theirs"), "pronoun"),
    **dict.fromkeys(("him", "them"), "object"),
    "their": "possessive",
}
_DATA: Final = read_toml("gender/role_rules.toml")


def _frames(role: str) -> frozenset[str]:
    """Every form of a verb with every word of its set phrases."""
    frames: set[str] = set()
    for entry in read_toml("gender/roles_frames.toml")[role].values():
        verbs, words = entry.split(":")
        for verb, word in product(verbs.split(), words.split()):
            frames.add(f"{verb} {word}")
    return frozenset(frames)


def _unions() -> dict[str, frozenset[str]]:
    """The lists that role_rules.toml makes of several others."""
    unions = {}
    for name, members in _DATA["unions"].items():
        lists = [LISTS[member] for member in members.split()]
        unions[name] = frozenset[str]().union(*lists)
    return unions


_OBJECT_FRAMES: Final = _frames("object")
_POSSESSIVE_FRAMES: Final = _frames("possessive")
_LISTS: Final = {
    **LISTS,
    **_unions(),
    "object_frames": _OBJECT_FRAMES,
    "possessive_frames": _POSSESSIVE_FRAMES,
}
_PAIRS: Final = LISTS["done_pairs"] | LISTS["status_pairs"] | LISTS["adverbial_pairs"]
_FRAMES: Final = _OBJECT_FRAMES | _POSSESSIVE_FRAMES


class _Rule(NamedTuple):
    """A rule of role_rules.toml: the role, or the section to go on with, if all conditions hold."""

    result: str
    conditions: list[str]


def _rules() -> tuple[list[_Rule], dict[str, int]]:
    """The rules of all sections in order, and where each section begins."""
    rules: list[_Rule] = []
    section_starts: dict[str, int] = {}
    for section, next_section in pairwise([*_DATA["rules"], ""]):
        section_starts[section] = len(rules)
        rules += _section_rules(_DATA["rules"][section], next_section)
    return rules, section_starts


def _section_rules(lines: str, next_section: str) -> list[_Rule]:
    """The rules of a section; a line that ends in ":" adds its conditions to the lines indented below it."""
    rules: list[_Rule] = []
    blocks: list[tuple[int, str]] = []
    for line in lines.splitlines():
        indent = len(line) - len(line.lstrip())
        if line.startswith("#", indent):
            continue
        # A line that is indented no further than a block ends it.
        while blocks and blocks[-1][0] >= indent:
            blocks.pop()

        line_conditions, arrow, result = line.partition("->")
        if not arrow:
            blocks.append((indent, line_conditions.removesuffix(":")))
            continue
        block_conditions = [block for _, block in blocks]
        all_conditions = " ".join([*block_conditions, line_conditions])
        rule = _Rule(
            result=result.strip().replace("next", next_section),
            conditions=all_conditions.split(),
        )
        rules.append(rule)
    return rules


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

    def holds(word: str) -> bool:
        return word in words or any(form(word) for form in forms)

    # "first!=noun" asks for the opposite.
    if position.endswith("!"):
        return position.rstrip("!"), lambda word: not holds(word)
    return position, holds


def _tests(rules: list[_Rule]) -> dict[str, list[tuple[Test, int]]]:
    """By position: the tests of the word there, each with the set of rules that have it.

    A set of rules is a number with a bit for each rule.
    """
    rules_with: dict[str, int] = {}
    for at, rule in enumerate(rules):
        bit = 1 << at
        for condition in rule.conditions:
            rules_with[condition] = rules_with.get(condition, 0) | bit

    tests: dict[str, list[tuple[Test, int]]] = {}
    for condition, rule_set in rules_with.items():
        position, holds = _test(condition)
        tests_at_position = tests.setdefault(position, [])
        tests_at_position.append((holds, rule_set))
    return tests


_RULES, _SECTION_STARTS = _rules()
_TESTS: Final = _tests(_RULES)
_ALL_RULES: Final = (1 << len(_RULES)) - 1


def role_of(text: str, start: int, end: int) -> Role:
    """The role of the third-person pronoun at `text[start:end]`; a possessive stands before its noun."""
    word = text[start:end].lower()
    role = _ROLE_OF_FORM.get(word.replace("’", "'"))
    if role is not None:
        return role
    neighbours = look(text, start, end)
    section = "his" if word == "his" else "her"
    return _decide(_fitting(neighbours), section)


def roles_between(left: str, right: str) -> tuple[Role, Role]:
    """The roles that "her" and "his" would have between two pieces of text."""
    place = len(left)
    neighbours = look(left + right, place, place)
    fitting = _fitting(neighbours)
    return _decide(fitting, "her"), _decide(fitting, "his")


def _decide(fitting: int, section: str) -> Role:
    """The role that the first fitting rule from this section on gives."""
    while True:
        start = _SECTION_STARTS[section]
        from_section = fitting >> start
        # The lowest bit that is set is the first rule that fits.
        lowest_bit = from_section & -from_section
        rule = _RULES[start + lowest_bit.bit_length() - 1]
        section = rule.result
        if section not in _SECTION_STARTS:
            return cast(Role, section)


def _fitting(at: Neighbours) -> int:
    """The rules whose conditions all hold, as a set of bits."""
    before = "" if at.before in LISTS["openers"] else at.before
    pair = f"{at.first}_{at.second}"
    frame = f"{before} {at.first}"
    # Facts that are true or false are words here as well, so that all conditions are tested alike.
    return (
        _allowed("first", at.first)
        & _allowed("second", at.second)
        & _allowed("before", before)
        & _allowed("prior", at.before)
        & _allowed("third", at.third)
        & _allowed("lead", at.lead)
        & _allowed("comma", "," if at.comma else "")
        & _allowed("relative", "who" if at.relative else "")
        & _allowed("capital", "A" if at.capital else "")
        & _allowed("echo", at.first if at.first == at.third else "")
        & _allowed("pair", pair if pair in _PAIRS else "")
        & _allowed("frame", frame if frame in _FRAMES else "")
    )


@lru_cache(100_000)
def _allowed(position: str, word: str) -> int:
    """The rules that this word at this position allows, as a set of bits."""
    allowed = _ALL_RULES
    for holds, rules in _TESTS[position]:
        if not holds(word):
            allowed &= ~rules
    return allowed
