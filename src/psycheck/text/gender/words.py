"""The gendered words of a text, and the partner of each."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from typing import Final, Literal, NamedTuple

from psycheck.errors import BadInput, nearest
from psycheck.text.edits import Span, address_spans, inside, straight
from psycheck.text.gender.names import NEUTRAL_NAMES, PAIRS, is_name, is_title
from psycheck.text.gender.sex_letters import PATTERNS, sex_letters
from psycheck.text.redact.lists import any_of, compiled
from psycheck.text.word_lists import read_toml

Gender = Literal["female", "male", "both", "neither"]
Kind = Literal["subject", "reflexive", "decide", "noun", "title", "address", "name", "pair"]


@dataclass(frozen=True, slots=True)
class Scope:
    """Which gendered words an edit replaces besides pronouns, and whose.

    `nouns` are words of kin and roles (mother, waitress) and F and M for the sex, `titles` are Mr, Ms, Sir …,
    `names` are the first names of names.toml. `person` is everybody, or the main person of a
    clinical note alone: see `psycheck.text.gender.main_person`.
    """

    nouns: bool = False
    titles: bool = False
    names: bool = False
    person: Literal["all", "main"] = "all"

    @property
    def words(self) -> tuple[str, ...]:
        """The kinds of words that an edit replaces, pronouns first."""
        return ("pronouns", *(kind for kind in SWITCHES[1:] if getattr(self, kind)))


SWITCHES: Final = ("pronouns", "nouns", "titles", "names")
PEOPLE: Final = ("all", "main")
PRONOUNS_ONLY: Final = Scope()


def scope_of(words: Sequence[str], person: str = "all", where: str = "") -> Scope:
    """The scope that words such as "pronouns,nouns" name; pronouns are always included."""
    named = {word.strip() for entry in words for word in entry.split(",")} - {""}
    for word in sorted(named - set(SWITCHES)):
        what = f"unknown kind of words to swap: '{word}'"
        raise BadInput(what, where=where, allowed=nearest(word, SWITCHES))
    if person not in PEOPLE:
        raise BadInput(f"unknown swap_person '{person}'", where=where, allowed=", ".join(PEOPLE))
    switches = {kind: kind in named for kind in SWITCHES[1:]}
    return Scope(**switches, person="main" if person == "main" else "all")


class Entry(NamedTuple):
    """A gendered word: `partner` is "" where it has none of its own, or where its role must be decided."""

    gender: Gender
    kind: Kind
    partner: str
    neutral: str
    group: str


class Found(NamedTuple):
    """A gendered word at `text[start:end]`; `ending` is the rest of its contraction, as written.

    `written` is the word as written, but in lower case for F and M, whose neutral word has no capital.
    """

    start: int
    end: int
    written: str
    word: str
    ending: str
    entry: Entry


_DATA: Final = read_toml("gender/gender.toml")
WORDS: Final[dict[str, str]] = _DATA["words"]
_OTHERS: Final = {name: any_of(words.split()) for name, words in _DATA["beside"].items()}
_FORMS: Final = compiled(PATTERNS["nouns"], _OTHERS)
# Words that are nothing else than a part of one pronoun's label or of "s/he".
_THEY: Final = Entry("neither", "pair", "", "", "they")
_BOTH: Final = Entry("both", "pair", "", "they", "subject")
_SEX: Final = {
    "f": Entry("female", "noun", "m", "person", "sex"),
    "m": Entry("male", "noun", "f", "person", "sex"),
}


def _lines(table: str, kind: Kind, group: str) -> dict[str, Entry]:
    return _rows((line.split(None, 2) for line in table.strip().splitlines()), kind, group)


def _rows(rows: Iterable[Sequence[str]], kind: Kind, group: str) -> dict[str, Entry]:
    """The entries of rows of a female, a male and a neutral word, "-" where there is none."""
    out = {}
    for female, male, neutral in rows:
        neutral = neutral.strip("-")
        if female != "-":
            out[female] = Entry("female", kind, male.strip("-"), neutral, group)
        if male != "-":
            out[male] = Entry("male", kind, female.strip("-"), neutral, group)
    return out


def _pronouns() -> dict[str, Entry]:
    out: dict[str, Entry] = {}
    for kind in ("subject", "reflexive"):
        out |= _lines(_DATA["pronouns"][kind], kind, kind)
    out |= _lines(_DATA["pronouns"]["bare"] + " theyre", "subject", "bare")
    out |= {word: Entry("female", "decide", "", "", "decide") for word in ("her", "hers")}
    out |= {word: Entry("male", "decide", "", "", "decide") for word in ("him", "his")}
    out |= dict.fromkeys(("they", "them", "their", "theirs", "themselves", "themself"), _THEY)
    return out | dict.fromkeys(("s/he", "(s)he"), _BOTH)


def _nouns() -> dict[str, Entry]:
    nouns = _DATA["nouns"]
    kin = _lines(nouns["kin"], "noun", "kin")
    joined = {}
    for word, entry in kin.items():
        for before in ("", *nouns["leading"].split()):
            for after in ("", nouns["following"]):
                partner = f"{before}{entry.partner}{after}" if entry.partner else ""
                neutral = f"{before}{entry.neutral}{after}"
                joined[f"{before}{word}{after}"] = entry._replace(partner=partner, neutral=neutral)
    return joined | _lines(nouns["adults"], "noun", "adult") | _lines(nouns["roles"], "noun", "role")


PRONOUNS: Final = _pronouns()
NOUNS: Final = _nouns()
TITLES: Final = _lines(_DATA["titles"]["before_names"], "title", "title")
ADDRESSES: Final = _lines(_DATA["titles"]["address"], "address", "address")
NAMES: Final = _rows(((*pair, new) for pair, new in zip(PAIRS, cycle(NEUTRAL_NAMES))), "name", "name")
LABELS: Final[dict[str, tuple[str, str]]] = {
    label: (partner, neutral)
    for line in _DATA["pronouns"]["labels"].strip().splitlines()
    for female, male, neutral in [line.split()]
    for label, partner in ((female, male), (male, female))
}


@cache
def _entries(nouns: bool, titles: bool, names: bool) -> tuple[re.Pattern[str], dict[str, Entry]]:
    cased = (NAMES if names else {}) | (TITLES if titles else {})
    cased = cased | {word.upper(): entry for word, entry in cased.items()}
    table = PRONOUNS | (NOUNS if nouns else {}) | (ADDRESSES if titles else {})
    return _pattern(table, cased), table | cased


def _pattern(words: Iterable[str], cased: Iterable[str]) -> re.Pattern[str]:
    """Match whole words, those of `cased` only as they are written, and the rest of a contraction.

    Like `edits.word_pattern` it opens with the set of first letters, which a search skips to quickly.
    """
    ends: dict[str, tuple[list[str], list[str]]] = {}
    for word in words:
        ends.setdefault(word[0], ([], []))[0].append(word[1:])
    for word in cased:
        ends.setdefault(word[0].lower(), ([], []))[1].append(word[1:])
    branches = []
    for letter, (rest, names) in sorted(ends.items()):
        if rest:
            branches.append(f"(?<=[{letter}{letter.upper()}])(?ai:{_tree(rest)})")
        if names:
            branches.append(f"(?<={letter.upper()}){_tree(names)}")
    first = "".join(c for letter in sorted(ends) for c in dict.fromkeys((letter, letter.upper())))
    return re.compile(
        rf"[{re.escape(first)}](?<![\w@#\\].)(?<!\w['’-].)({'|'.join(branches)})"
        r"(['’](?ai:d['’]ve|s|d|ll|ve|re))?(?!\w|['’-]\w)"
    )


def _tree(words: Iterable[str]) -> str:
    """A pattern for any of some words that reads each letter once; the longest match comes first."""
    after: dict[str, list[str]] = {}
    for word in words:
        after.setdefault(word[:1], []).append(word[1:])
    optional = after.pop("", None) is not None
    if not after:
        return ""
    parts = [re.escape(c).replace("'", "['’]") + _tree(rest) for c, rest in sorted(after.items())]
    joined = f"(?:{'|'.join(parts)})" if len(parts) > 1 or optional else parts[0]
    return joined + "?" * optional


def gendered(text: str, scope: Scope) -> list[Found]:
    """The gendered words of a text in order, with "they" and "s/he", which belong to pairs and labels."""
    pattern, table = _entries(scope.nouns, scope.titles, scope.names)
    letters = list(sex_letters(text)) if scope.nouns else []
    first = pattern.search(text)
    if first is None and not letters:
        return []
    addresses, tags = address_spans(text), _tag_spans(text)
    out = [
        Found(start, end, letter, letter, "", _sex(letter))
        for start, end in letters
        for letter in [text[start:end].lower()]
        if not inside(addresses, start) and not inside(tags, start)
    ]
    for found in pattern.finditer(text, first.start()) if first else ():
        start, end = found.start(), found.end(1)
        if (addresses and inside(addresses, start)) or (tags and inside(tags, start)):
            continue
        written, ending = text[start:end], found[2] or ""
        word = straight(written)
        entry = table.get(word) or table[word.lower()]
        if entry.kind == "title" and not is_title(text, start, end):
            continue
        if entry.kind == "name" and not is_name(text, start, end):
            continue
        if entry.kind == "noun" and _another_word(text, start, end):
            continue
        if entry.kind == "noun" and _owns(text, start, end, ending, entry.partner):
            mark = text[end]
            end += 1 + len(ending[1:])
            written, ending, entry = text[start:end], "", _owning(entry, mark)
            word = straight(written)
        out.append(Found(start, end, written, word.lower(), ending, entry))
    return sorted(out) if letters else out


def _another_word(text: str, start: int, end: int) -> bool:
    """Whether a noun is a call or another word here: "oh man", "you guys", "keep mum", "gf bread"."""
    before = text[start - 24 : start] if start >= 24 else "\n" + text[:start]
    return _FORMS["another_word"].search(f"{before}‸{text[start : end + 16]}") is not None


def _sex(letters: str) -> Entry:
    entry = _SEX[letters[-1]]
    return entry._replace(partner=letters[:-1] + entry.partner)


def _tag_spans(text: str) -> Sequence[Span]:
    """The spans of HTML tags: a name alone, or with attributes; "<he said so>" is not a tag."""
    if "<" not in text:
        return ()
    tags = _FORMS["tag"].finditer(text)
    return [tag.span() for tag in tags if "=" in tag[0] or " " not in tag[0][:-3]]


def _owns(text: str, start: int, end: int, ending: str, partner: str) -> bool:
    """Whether the possessive of a noun may be written otherwise for its partner: "ladies'", "gentlemen's"."""
    if ending:
        return straight(ending).lower() == "'s" and text[end - 1] in "nN" and partner.endswith("s")
    return owns_by_mark(text, start, end)


def owns_by_mark(text: str, start: int, end: int) -> bool:
    """Whether a word in -s is a possessive by an apostrophe alone: "boys' room", "James' mother"."""
    return (
        text[end - 1] in "sS"
        and _FORMS["owns"].match(text, end) is not None
        and not _FORMS["quote"].search(text, max(0, start - 200), start + 1)
    )


def _owning(entry: Entry, mark: str) -> Entry:
    """A noun's entry in the possessive: "boys'" is "girls'" and "children's"."""

    def owner(word: str) -> str:
        return word and word + (mark if word.endswith("s") else f"{mark}s")

    return entry._replace(partner=owner(entry.partner), neutral=owner(entry.neutral))


def in_scope(found: Found, scope: Scope) -> bool:
    """Whether an edit with this scope replaces such words."""
    named = {"noun": scope.nouns, "title": scope.titles, "address": scope.titles, "name": scope.names}
    return named.get(found.entry.kind, True)


def plain_case(word: str) -> bool:
    """Whether a word is in lower case, with a Capital or in CAPITALS, so that its partner can be, too."""
    return word.islower() or word.isupper() or (word[0].isupper() and word[1:].islower())


def runs(text: str, found: list[Found]) -> list[list[int]]:
    """The words that a slash or "or" joins, by their places in `found`: "he/she", "his or her", "she/her"."""
    if "/" not in text and " or" not in text.lower() and ")" not in text:
        return []
    out: list[list[int]] = []
    for i, at in enumerate(found):
        if out and out[-1][-1] == i - 1 and _join(found[i - 1], at, text[found[i - 1].end : at.start]):
            out[-1].append(i)
        else:
            out.append([i])
    return [run for run in out if len(run) > 1 or found[run[0]].entry.gender == "both"]


def _join(one: Found, other: Found, between: str) -> bool:
    if one.entry.kind == "title":
        between = between.removeprefix(".")
    slash = len(between) <= 3 and between.strip(" ") == "/"
    if not slash and not (
        between[:1].isspace() and between[-1:].isspace() and between.lower().split() == ["or"]
    ):
        return False
    if one.entry.kind in ("noun", "title", "address", "name"):
        return other.word in (one.word, one.entry.partner.lower())
    if slash:
        return other.entry.kind in ("subject", "reflexive", "decide", "pair")
    return one.entry.group == other.entry.group


def mixed(words: list[Found]) -> bool:
    """Whether joined words name both genders."""
    genders = {at.entry.gender for at in words}
    return "both" in genders or genders >= {"female", "male"}
