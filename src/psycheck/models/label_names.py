"""Which columns of a classifier are kept, and what they are called."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from psycheck.core.errors import BadInput, counted, nearest

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


def means_the_same(name: str, label: str) -> bool:
    """Whether a name is another word for a label, such as "depressed" for "depression"."""
    return name.casefold() in _WORDS["same_label"].get(label.casefold(), ())


def _nameless_class(name: str) -> bool:
    return bool(_NUMBERED.fullmatch(name)) or name.casefold() in _WORDS["nameless_classes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelColumns:
    """The columns of a classifier that become labels, their names, and notes on what was guessed."""

    columns: tuple[int, ...]
    labels: tuple[str, ...]
    notes: tuple[str, ...]
    exclusive: bool

    def __str__(self) -> str:
        pairs = zip(self.columns, self.labels, strict=True)
        return ",".join(f"{column}={label}" for column, label in pairs)


def label_columns(
    classes: Sequence[str],
    *,
    positive: str | None,
    label: str | None,
    exclusive: bool,
    ordered: bool,
    where: str,
) -> LabelColumns:
    """The columns that become labels; of two exclusive classes only the positive one.

    `positive` and `label` are options of the model. `ordered`: the order of the classes means something, so
    that the second of two is the positive one.
    """
    columns: tuple[int, ...] = tuple(range(len(classes)))
    notes: tuple[str, ...] = ()

    if positive is not None or (exclusive and len(classes) == 2):
        # The scores of two exclusive classes add up to 1: one of them says all.
        column = positive_class(classes, positive, ordered=ordered, where=where)
        columns = (column,)
        if positive is None and not nameless(classes[column]):
            negative = classes[1 - column]
            notes = (f"Guessed that class '{classes[column]}' is 1 and '{negative}' is 0 (?positive=NAME).",)

    largest_decides = exclusive and len(columns) > 1
    if largest_decides:
        notes = ("Its classes are exclusive: the largest score decides, not the threshold (?positive=NAME).",)

    names = [classes[column] for column in columns]
    return LabelColumns(
        columns=columns,
        labels=column_names(names, label, where=where),
        notes=notes,
        exclusive=largest_decides,
    )


def positive_class(
    classes: Sequence[str],
    chosen: str | None,
    *,
    ordered: bool,
    where: str,
) -> int:
    """The index of the positive one of two classes; `chosen` selects one of any number by name or else index.

    By default it is the second class. If the names contradict that, or if their order means nothing (sorted
    alphabetically) and no name means absence, the user must choose.
    """
    if chosen is not None:
        return _chosen_class(classes, chosen, where)

    is_negative = [reads_negative(name) for name in classes]
    # A model of ("depression", "control") has its classes in the wrong order.
    names_are_reversed = is_negative[1] and not is_negative[0]
    if ordered and not names_are_reversed:
        return 1
    if not ordered and sum(is_negative) == 1:
        return is_negative.index(False)
    raise BadInput(
        f"cannot tell which of the classes '{classes[0]}' and '{classes[1]}' is the positive one",
        code="model.positive-class-unclear",
        where=where,
        do=f"add positive={classes[0]} or positive={classes[1]}",
    )


def _chosen_class(classes: Sequence[str], chosen: str, where: str) -> int:
    """The index of the class that the user names; a name comes before an index."""
    if chosen in classes:
        return list(classes).index(chosen)
    if chosen.isdecimal() and int(chosen) < len(classes):
        return int(chosen)
    raise BadInput(
        f"the model has no class '{chosen}'",
        code="model.unknown-class",
        where=where,
        allowed=f"{nearest(chosen, classes)}; or an index from 0 to {len(classes) - 1}",
    )


def column_names(classes: Sequence[str], label: str | None, *, where: str) -> tuple[str, ...]:
    """Name the columns by the option (separated by commas) or the classes; a generic one is "positive"."""
    if label is None:
        names = _names_of_classes(classes)
    elif len(classes) == 1:
        names = (label.strip(),)
    else:
        names = tuple(name.strip() for name in label.split(","))

    if len(names) != len(classes):
        raise BadInput(
            f"{counted(len(names), 'label')} for {counted(len(classes), 'column')}",
            code="model.label-count",
            where=where,
            allowed=f"one name per column, separated by commas, for: {', '.join(classes)}",
            do="name all columns, or keep one with positive=NAME",
        )
    if len(set(names)) != len(names) or not all(names):
        raise BadInput(
            "labels are empty or repeated",
            code="model.labels-not-distinct",
            where=where,
            allowed="one distinct name per column",
        )
    return names


def _names_of_classes(classes: Sequence[str]) -> tuple[str, ...]:
    # "LABEL_1" says nothing of what is scored.
    if len(classes) == 1 and _nameless_class(classes[0]):
        return (ONE_LABEL,)
    return tuple(classes)
