"""Which columns of a classifier are kept, and what they are called."""

from collections.abc import Sequence

from psycheck.errors import BadInput, counted, nearest

ONE_LABEL = "positive"
_NEGATIVE = frozenset(
    {"0", "-1", "no", "none", "false", "negative", "neg", "control", "healthy", "normal", "neutral"}
)
_NEGATIVE_STARTS = ("non", "not", "no ", "no-", "no_", "without")
_NAMELESS = frozenset({"1", "true", "yes", "pos"})


def reads_negative(name: str) -> bool:
    """Whether the name of a class says that something is absent."""
    word = name.strip().casefold()
    return word in _NEGATIVE or word.startswith(_NEGATIVE_STARTS)


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
        names = tuple(ONE_LABEL if len(classes) == 1 and _nameless(name) else name for name in classes)
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


def _nameless(name: str) -> bool:
    return name.upper().startswith("LABEL_") or name.casefold() in _NAMELESS
