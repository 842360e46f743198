"""The tables of gendered words, and the pattern that finds them in a text."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import cycle, product
from typing import Final, Literal, NamedTuple

from psycheck.text.gender.names import NEUTRAL_NAMES, PAIRS
from psycheck.text.word_lists import read_toml

Gender = Literal["female", "male", "both", "neither"]
Kind = Literal["subject", "reflexive", "decide", "noun", "title", "address", "name", "pair"]


class Entry(NamedTuple):
    """A gendered word: `partner` is "" where it has none of its own, or where its role must be decided."""

    gender: Gender
    kind: Kind
    partner: str
    neutral: str
    group: str


DATA: Final = read_toml("gender/gender.toml")
WORDS: Final[dict[str, str]] = DATA["words"]
# Words that are nothing else than a part of one pronoun's label or of "s/he".
_THEY: Final = Entry(
    gender="neither",
    kind="pair",
    partner="",
    neutral="",
    group="they",
)
_BOTH: Final = Entry(
    gender="both",
    kind="pair",
    partner="",
    neutral="they",
    group="subject",
)
_THEY_FORMS: Final = ("they", "them", "their", "theirs", "themselves", "themself")


def _lines(table: str, kind: Kind, group: str) -> dict[str, Entry]:
    """The entries of a table with a female, a male and a neutral word per line."""
    rows = [line.split(None, 2) for line in table.strip().splitlines()]
    return _rows(rows, kind, group)


def _rows(rows: Iterable[Sequence[str]], kind: Kind, group: str) -> dict[str, Entry]:
    """The entries of rows of a female, a male and a neutral word, "-" where there is none."""
    entries = {}
    for row in rows:
        female, male, neutral = [word.strip("-") for word in row]
        if female:
            entries[female] = Entry(
                gender="female",
                kind=kind,
                partner=male,
                neutral=neutral,
                group=group,
            )
        if male:
            entries[male] = Entry(
                gender="male",
                kind=kind,
                partner=female,
                neutral=neutral,
                group=group,
            )
    return entries


def _to_be_decided(gender: Gender) -> Entry:
    """The entry of a word that stands for two roles, each with a partner of its own."""
    return Entry(
        gender=gender,
        kind="decide",
        partner="",
        neutral="",
        group="decide",
    )


def _pronouns() -> dict[str, Entry]:
    """The entries of all pronouns, with and without the apostrophe of a contraction."""
    tables = DATA["pronouns"]
    entries: dict[str, Entry] = {}
    entries |= _lines(tables["subject"], "subject", "subject")
    entries |= _lines(tables["reflexive"], "reflexive", "reflexive")
    entries |= _lines(tables["bare"] + " theyre", "subject", "bare")
    # English writes one word for two roles: roles.py decides what "her" and "his" are.
    entries |= dict.fromkeys(("her", "hers"), _to_be_decided("female"))
    entries |= dict.fromkeys(("him", "his"), _to_be_decided("male"))
    entries |= dict.fromkeys(_THEY_FORMS, _THEY)
    entries |= dict.fromkeys(("s/he", "(s)he"), _BOTH)
    return entries


def _nouns() -> dict[str, Entry]:
    """The entries of words of kin, of adults and of roles."""
    nouns = DATA["nouns"]
    entries = {}
    prefixes = ("", *nouns["leading"].split())
    suffixes = ("", nouns["following"])
    for word, entry in _lines(nouns["kin"], "noun", "kin").items():
        # "grandmother", "step-sister", "mother-in-law"
        for prefix, suffix in product(prefixes, suffixes):
            partner = f"{prefix}{entry.partner}{suffix}" if entry.partner else ""
            neutral = f"{prefix}{entry.neutral}{suffix}"
            relative = f"{prefix}{word}{suffix}"
            entries[relative] = entry._replace(partner=partner, neutral=neutral)
    entries |= _lines(nouns["adults"], "noun", "adult")
    entries |= _lines(nouns["roles"], "noun", "role")
    return entries


def _names() -> dict[str, Entry]:
    """The first names; the neutral names are dealt out to the pairs in turn."""
    rows = []
    for (female, male), neutral in zip(PAIRS, cycle(NEUTRAL_NAMES)):
        rows.append((female, male, neutral))
    return _rows(rows, "name", "name")


def _labels() -> dict[str, tuple[str, str]]:
    """The partner and the neutral form of each label of pronouns: "she/her" has "he/him" and "they/them"."""
    labels = {}
    for line in DATA["pronouns"]["labels"].strip().splitlines():
        female, male, neutral = line.split()
        labels[female] = (male, neutral)
        labels[male] = (female, neutral)
    return labels


PRONOUNS: Final = _pronouns()
NOUNS: Final = _nouns()
TITLES: Final = _lines(DATA["titles"]["before_names"], "title", "title")
ADDRESSES: Final = _lines(DATA["titles"]["address"], "address", "address")
NAMES: Final = _names()
LABELS: Final = _labels()


@cache
def entries_of(nouns: bool, titles: bool, names: bool) -> tuple[re.Pattern[str], dict[str, Entry]]:
    """The pattern that finds the gendered words of these kinds, and the entry of each."""
    # Names and titles count only with their capital, or in capitals.
    cased: dict[str, Entry] = {}
    if names:
        cased |= NAMES
    if titles:
        cased |= TITLES
    in_capitals = {word.upper(): entry for word, entry in cased.items()}
    cased |= in_capitals

    # All others may begin a sentence, or stand in capitals.
    any_case = dict(PRONOUNS)
    if nouns:
        any_case |= NOUNS
    if titles:
        any_case |= ADDRESSES
    return _pattern(any_case, cased), any_case | cased


def _pattern(any_case: Iterable[str], cased: Iterable[str]) -> re.Pattern[str]:
    """Match whole words, those of `cased` only as they are written, and the rest of a contraction.

    Like `edits.word_pattern` it opens with the set of first letters, which a search skips to quickly.
    """
    endings = _by_first_letter(any_case)
    cased_endings = _by_first_letter(cased)
    first_letters = ""
    branches = []
    for letter in sorted(endings.keys() | cased_endings.keys()):
        capital = letter.upper()
        if letter in endings:
            branches.append(f"(?<=[{letter}{capital}])(?ai:{_tree(endings[letter])})")
        if letter in cased_endings:
            branches.append(f"(?<={capital}){_tree(cased_endings[letter])}")
        # A bracket, as in "(s)he", has no capital.
        first_letters += letter if letter == capital else letter + capital

    not_within_word = r"(?<![\w@#\\].)(?<!\w['’-].)"
    contraction = r"(['’](?ai:d['’]ve|s|d|ll|ve|re))?"
    ends_word = r"(?!\w|['’-]\w)"
    word = f"({'|'.join(branches)})"
    return re.compile(
        f"[{re.escape(first_letters)}]{not_within_word}{word}{contraction}{ends_word}",
    )


def _by_first_letter(words: Iterable[str]) -> dict[str, list[str]]:
    """What follows the first letter of each word, by that letter in lower case."""
    endings: dict[str, list[str]] = {}
    for word in words:
        first_letter = word[0].lower()
        endings.setdefault(first_letter, []).append(word[1:])
    return endings


def _tree(words: Iterable[str]) -> str:
    """A pattern for any of some words that reads each letter once; the longest match comes first."""
    endings: dict[str, list[str]] = {}
    for word in words:
        endings.setdefault(word[:1], []).append(word[1:])
    # One of the words ends here, and others go on.
    optional = endings.pop("", None) is not None
    if not endings:
        return ""

    branches = []
    for letter, tails in sorted(endings.items()):
        escaped = re.escape(letter).replace("'", "['’]")
        branches.append(escaped + _tree(tails))
    if optional:
        return f"(?:{'|'.join(branches)})?"
    if len(branches) > 1:
        return f"(?:{'|'.join(branches)})"
    return branches[0]
