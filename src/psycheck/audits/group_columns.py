"""The group of each text, from a column of a corpus: spellings, ages as bands, values that say nothing."""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FEWEST = 5  # texts; a smaller group is counted, not compared
MOST = 20  # groups of one column
MOSTLY = 0.8  # of the values of an age column must be numbers
AGES = (18, 25, 35, 45, 55, 65)
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?")


@dataclass(frozen=True, slots=True)
class Membership:
    """The group of each text, (n,), "" where it is not compared, and what was done with the values.

    `unknown` counts the texts without a group, `read_as_not_given` those among them that say so by a word or
    a code; `other_spelling` the texts counted under a commoner spelling; `in_small_groups` and
    `beyond_largest` the texts whose group is left out; `not_banded` the values that keep ages from bands.
    """

    names: NDArray[np.str_]
    counts: Mapping[str, int]


def compared_groups(members: Sequence[str | None], column: str) -> Membership:
    """Read a column's values as groups; a column called age that holds numbers is cut into bands."""
    # Ages in years would be one small group each; numbers of other columns may be codes of groups.
    are_ages = column.strip().lower() == "age"
    written = ["" if member is None else member.strip() for member in members]
    values = ["" if _not_given(value, are_ages=are_ages) else value for value in written]
    names = _in_commonest_spelling(values)
    is_respelt = map(str.__ne__, values, names)
    counts = {
        "unknown": names.count(""),
        "read_as_not_given": names.count("") - written.count(""),
        "other_spelling": sum(is_respelt),
    }

    if are_ages:
        names, words = _in_age_bands(names)
        if words:
            counts["not_banded"] = words

    compared, left_out = _large_groups(names)
    counts |= left_out
    compared_names = [name if name in compared else "" for name in names]
    return Membership(np.array(compared_names, dtype=np.str_), counts)


def _large_groups(names: Sequence[str]) -> tuple[set[str], dict[str, int]]:
    """The groups that are compared, and how many texts are in those that are not."""
    # Sorted first: of groups of equal size the first in the alphabet are compared.
    given_names = sorted(filter(None, names))
    sizes = Counter(given_names).most_common()
    large = [(group, size) for group, size in sizes if size >= FEWEST]
    compared = [group for group, _ in large[:MOST]]
    left_out = {
        "in_small_groups": sum(size for _, size in sizes if size < FEWEST),
        "beyond_largest": sum(size for _, size in large[MOST:]),
    }
    return set(compared), left_out


def _in_commonest_spelling(values: Sequence[str]) -> list[str]:
    """The values; those that differ in case alone are one group, in their commonest spelling.

    Of equally common spellings it is the first.
    """
    spelling: dict[str, str] = {}
    for value, _ in Counter(values).most_common():
        spelling.setdefault(value.casefold(), value)
    return [spelling[value.casefold()] for value in values]


def _in_age_bands(names: list[str]) -> tuple[list[str], int]:
    """Ages as bands where most are numbers, else as they are; how many values keep numbers from bands."""
    ages = [name for name in names if name]
    words = sum(not _is_number(age) for age in ages)
    numbers = len(ages) - words
    if numbers >= MOSTLY * len(ages):
        bands = [_band(name) if _is_number(name) else name for name in names]
        return bands, 0
    # A column of words alone holds bands of its own.
    return names, words if words < len(ages) else 0


def _not_given(value: str, *, are_ages: bool) -> bool:
    """Whether a value says that nothing is known: by a word, or by an age that nobody has."""
    not_given = _not_given_values()
    if value.casefold() in not_given["words"]:
        return True
    if not (are_ages and _is_number(value)):
        return False
    # A number beyond them, such as 999, is a code.
    limits = not_given["age"]
    return not limits["youngest"] <= float(value) <= limits["oldest"]


def _is_number(value: str) -> bool:
    return _NUMBER.fullmatch(value) is not None


def _band(age: str) -> str:
    """The band that an age lies in, "18–24"."""
    starts = (0, *AGES)
    k = int(np.searchsorted(AGES, float(age), "right"))
    if k == len(AGES):
        return f"{AGES[-1]}+"
    return f"{starts[k]}–{AGES[k] - 1}"


@cache
def _not_given_values() -> dict[str, Any]:
    path = Path(__file__).with_name("not_given.toml")
    return tomllib.loads(path.read_text("utf-8"))
