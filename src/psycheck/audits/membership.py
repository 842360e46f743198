"""Which group each text belongs to: what the values of a column are read as, and what is compared."""

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
    ages = column.strip().lower() == "age"
    written = ["" if member is None else member.strip() for member in members]
    values = ["" if _not_given(value, ages=ages) else value for value in written]
    # Values that differ in case alone are one group, in their commonest spelling (the first met of equals).
    spelled: dict[str, str] = {}
    for value, _ in Counter(values).most_common():
        spelled.setdefault(value.casefold(), value)
    names = [spelled[value.casefold()] for value in values]
    counts = {
        "unknown": names.count(""),
        "read_as_not_given": names.count("") - written.count(""),
        "other_spelling": sum(one != other for one, other in zip(values, names, strict=True)),
    }
    if ages:
        words = sum(not _is_number(name) for name in names if name)
        known = len(names) - counts["unknown"]
        if known - words >= MOSTLY * known:
            names = [_band(name) if _is_number(name) else name for name in names]
        elif words < known:  # a column of words alone holds bands of its own
            counts["not_banded"] = words
    sizes = Counter(sorted(name for name in names if name)).most_common()
    large = [group for group, size in sizes if size >= FEWEST]
    kept = set(large[:MOST])
    counts["in_small_groups"] = sum(size for _, size in sizes if size < FEWEST)
    counts["beyond_largest"] = sum(size for group, size in sizes if size >= FEWEST and group not in kept)
    return Membership(np.array([name if name in kept else "" for name in names], dtype=np.str_), counts)


def _not_given(value: str, *, ages: bool) -> bool:
    if value.casefold() in _known()["words"]:
        return True
    limits = _known()["age"]
    return ages and _is_number(value) and not limits["youngest"] <= float(value) <= limits["oldest"]


def _is_number(value: str) -> bool:
    return _NUMBER.fullmatch(value) is not None


def _band(age: str) -> str:
    """The band that an age lies in, "18–24"."""
    ends = (0, *AGES)
    k = int(np.searchsorted(AGES, float(age), "right"))
    return f"{ends[k]}–{AGES[k] - 1}" if k < len(AGES) else f"{AGES[-1]}+"


@cache
def _known() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("not_given.toml").read_text("utf-8"))
