"""Which gendered words an edit replaces, and whose."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from psycheck.core.errors import BadInput, nearest


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
    entries = ",".join(words).split(",")
    kinds = {entry.strip() for entry in entries} - {""}
    for kind in sorted(kinds - set(SWITCHES)):
        raise BadInput(
            f"unknown kind of words to swap: '{kind}'",
            code="swap.unknown-words",
            where=where,
            allowed=nearest(kind, SWITCHES),
        )
    if person not in PEOPLE:
        raise BadInput(
            f"unknown swap_person '{person}'",
            code="swap.unknown-person",
            where=where,
            allowed=", ".join(PEOPLE),
        )
    return Scope(
        nouns="nouns" in kinds,
        titles="titles" in kinds,
        names="names" in kinds,
        person="main" if person == "main" else "all",
    )
