"""Which columns of a classifier are kept, and what they are called."""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from psycheck.errors import BadInput, counted, nearest

ONE_LABEL = "positive"
_NUMBERED = re.compile(r"label_\d+", re.IGNORECASE)  # what transformers calls a class without a name


def reads_negative(name: str) -> bool:
    """Whether the name of a class says that something is absent."""
    word = name.strip().casefold()
    return word in _words("negative") or word.startswith(_words("negative_starts"))


def nameless(name: str) -> bool:
    """Whether the name of a label says that it is one and no more: "positive", "LABEL_1", "score"."""
    return _nameless_class(name) or name.casefold() in _words("nameless_labels")


def nameless_score(name: str) -> bool:
    """Whether the name of a model's column says no more than that it is a label or a score."""
    return nameless(name) or name.casefold() in _words("nameless_scores")


def guessed_positive(classes: Sequence[str], kept: int, wanted: str | None) -> tuple[str, ...]:
    """What to say where one of two classes was taken as the positive one by its name or its place."""
    if wanted is not None or len(classes) != 2 or nameless(classes[kept]):
        return ()
    return (f"Guessed that class '{classes[kept]}' is 1 and '{classes[1 - kept]}' is 0 (?positive=NAME).",)


def positive_class(classes: Sequence[str], wanted: str | None, *, ordered: bool, where: str) -> int:
    """The index of the positive one of two classes, or of the class that is wanted by name or index.

    By default it is the second class. Where the names contradict that, or where their order means nothing
    (names sorted by the alphabet) and no name says which class is the absence, the user must say it.
    """
    if wanted is not None:
        return class_index(classes, wanted, where=where)
    absent = [reads_negative(name) for name in classes]
    if ordered and not (absent[1] and not absent[0]):
        return 1
    if not ordered and sum(absent) == 1:
        return absent.index(False)
    raise BadInput(
        f"cannot tell which of the classes '{classes[0]}' and '{classes[1]}' is the positive one",
        where=where,
        do=f"say it: positive={classes[0]} or positive={classes[1]}",
    )


def class_index(classes: Sequence[str], wanted: str, *, where: str) -> int:
    """Find a class by its name or else by its index."""
    if wanted in classes:
        return list(classes).index(wanted)
    if wanted.isdecimal() and int(wanted) < len(classes):
        return int(wanted)
    raise BadInput(
        f"the model has no class '{wanted}'",
        where=where,
        allowed=f"{nearest(wanted, classes)}; or an index from 0 to {len(classes) - 1}",
    )


def column_names(classes: Sequence[str], given: str | None, *, where: str) -> tuple[str, ...]:
    """Name the columns as given (parted by commas) or else as the classes; a nameless one is "positive"."""
    if given is None:
        names = tuple(ONE_LABEL if len(classes) == 1 and _nameless_class(name) else name for name in classes)
    elif len(classes) == 1:
        names = (given.strip(),)
    else:
        names = tuple(name.strip() for name in given.split(","))
    if len(names) != len(classes):
        raise BadInput(
            f"{counted(len(names), 'label')} given for {counted(len(classes), 'column')}",
            where=where,
            allowed=f"one name a column, parted by commas, for: {', '.join(classes)}",
            do="name them all, or keep one column with positive=NAME",
        )
    if len(set(names)) != len(names) or not all(names):
        raise BadInput("labels are empty or repeat", where=where, allowed="one distinct name a column")
    return names


def _nameless_class(name: str) -> bool:
    return bool(_NUMBERED.fullmatch(name)) or name.casefold() in _words("nameless_classes")


@cache
def _words(kind: str) -> tuple[str, ...]:
    text = files("psycheck.models").joinpath("labels.toml").read_text("utf-8")
    return tuple(tomllib.loads(text)[kind])
