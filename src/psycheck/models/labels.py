"""Which columns of a classifier are kept, and what they are called."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from psycheck.errors import BadInput, counted, nearest
from psycheck.models.options import ModelOptions

ONE_LABEL = "positive"
_WORDS = tomllib.loads(files("psycheck.models").joinpath("labels.toml").read_text("utf-8"))
_NUMBERED = re.compile(r"label_\d+", re.IGNORECASE)  # what transformers calls an unnamed class


def reads_negative(name: str) -> bool:
    """True if the name of a class means that something is absent."""
    word = name.strip().casefold()
    return word in _WORDS["negative"] or word.startswith(tuple(_WORDS["negative_starts"]))


def nameless(name: str) -> bool:
    """True if the name of a label is generic: "positive", "LABEL_1", "score"."""
    return _nameless_class(name) or name.casefold() in _WORDS["nameless_labels"]


def nameless_score(name: str) -> bool:
    """True if the name of a score column is generic."""
    return nameless(name) or name.casefold() in _WORDS["nameless_scores"]


@dataclass(frozen=True, slots=True)
class Kept:
    """The columns of a classifier that are kept, their labels, and a note on what was guessed."""

    columns: tuple[int, ...]
    labels: tuple[str, ...]
    notes: tuple[str, ...]
    exclusive: bool

    def __str__(self) -> str:
        return ",".join(f"{column}={label}" for column, label in zip(self.columns, self.labels, strict=True))


def kept_columns(
    classes: Sequence[str], options: ModelOptions, *, exclusive: bool, ordered: bool, where: str
) -> Kept:
    """Choose the columns to keep; of two exclusive classes only the positive one."""
    columns: tuple[int, ...] = tuple(range(len(classes)))
    notes: tuple[str, ...] = ()
    if options.positive is not None or (exclusive and len(classes) == 2):
        kept = positive_class(classes, options.positive, ordered=ordered, where=where)
        columns = (kept,)
        if options.positive is None and not nameless(classes[kept]):
            yes, no = classes[kept], classes[1 - kept]
            notes = (f"Guessed that class '{yes}' is 1 and '{no}' is 0 (?positive=NAME).",)
    exclusive &= len(columns) > 1
    if exclusive:
        notes = ("Its classes are exclusive: the largest score decides, not the threshold (?positive=NAME).",)
    names = column_names([classes[i] for i in columns], options.label, where=where)
    return Kept(columns, names, notes, exclusive)


def positive_class(classes: Sequence[str], wanted: str | None, *, ordered: bool, where: str) -> int:
    """The index of the positive one of two classes; `wanted` selects one of any number by name or else index.

    By default it is the second class. If the names contradict that, or if their order means nothing (sorted
    alphabetically) and no name means absence, the user must choose.
    """
    if wanted is not None:
        if wanted in classes:
            return list(classes).index(wanted)
        if wanted.isdecimal() and int(wanted) < len(classes):
            return int(wanted)
        allowed = f"{nearest(wanted, classes)}; or an index from 0 to {len(classes) - 1}"
        raise BadInput(f"the model has no class '{wanted}'", where=where, allowed=allowed)
    absent = [reads_negative(name) for name in classes]
    if ordered and not (absent[1] and not absent[0]):
        return 1
    if not ordered and sum(absent) == 1:
        return absent.index(False)
    what = f"cannot tell which of the classes '{classes[0]}' and '{classes[1]}' is the positive one"
    raise BadInput(what, where=where, do=f"add positive={classes[0]} or positive={classes[1]}")


def column_names(classes: Sequence[str], option: str | None, *, where: str) -> tuple[str, ...]:
    """Name the columns by the option (separated by commas) or the classes; a generic one is "positive"."""
    if option is None:
        names = tuple(ONE_LABEL if len(classes) == 1 and _nameless_class(name) else name for name in classes)
    elif len(classes) == 1:
        names = (option.strip(),)
    else:
        names = tuple(name.strip() for name in option.split(","))
    if len(names) != len(classes):
        raise BadInput(
            f"{counted(len(names), 'label')} for {counted(len(classes), 'column')}",
            where=where,
            allowed=f"one name per column, separated by commas, for: {', '.join(classes)}",
            do="name all columns, or keep one with positive=NAME",
        )
    if len(set(names)) != len(names) or not all(names):
        raise BadInput("labels are empty or repeated", where=where, allowed="one distinct name per column")
    return names


def _nameless_class(name: str) -> bool:
    return bool(_NUMBERED.fullmatch(name)) or name.casefold() in _WORDS["nameless_classes"]
