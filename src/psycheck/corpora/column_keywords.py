"""The keywords with which the verbs of Python name the columns of a corpus."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

from psycheck.core.errors import BadInput, nearest
from psycheck.corpora.columns import Columns

LabelNames = str | Sequence[str] | Mapping[str, str]
PositiveValue = str | int | float | bool


class ColumnKeywords(TypedDict, total=False):
    """The columns of a corpus; what is not named is guessed, with a note.

    `label` and `labels` mean the same: one column, several, or {column: name} to rename them. `positive` are
    the values that mean 1. `id` may be "none", which numbers the rows.
    """

    text: str | None
    label: LabelNames | None
    labels: LabelNames | None
    positive: PositiveValue | Sequence[PositiveValue] | None
    id: str | None
    author: str | None
    time: str | None
    groups: str | Sequence[str] | None
    split_column: str | None


KEYWORDS = tuple(ColumnKeywords.__annotations__)
_SINGLE = ("text", "id", "author", "time", "split_column")


def columns_of_keywords(keywords: ColumnKeywords) -> Columns:
    """The columns that a caller named."""
    for keyword in keywords:
        if keyword not in KEYWORDS:
            raise unknown_keyword(keyword, KEYWORDS)
    if keywords.get("label") is not None and keywords.get("labels") is not None:
        raise BadInput(
            "`label` and `labels` mean the same, and both are set",
            code="columns.label-and-labels",
            allowed="one of them",
        )

    # A series or an array is refused here: it would only fail later, and less clearly.
    for keyword in _SINGLE:
        _refuse_other_than_name(keyword, keywords.get(keyword))
    return Columns(
        text=keywords.get("text"),
        id=keywords.get("id"),
        author=keywords.get("author"),
        time=keywords.get("time"),
        split=keywords.get("split_column"),
        labels=_label_options(keywords.get("label", keywords.get("labels"))),
        groups=_listed(keywords.get("groups")),
        positive=_positive_values(keywords.get("positive")),
    )


def unknown_keyword(keyword: str, allowed: Sequence[str], verb: str = "") -> BadInput:
    """The error for a misspelt keyword of a verb."""
    taker = f"{verb}()" if verb else "this function"
    return BadInput(
        f"{taker} has no keyword '{keyword}'",
        code="keyword.unknown",
        allowed=nearest(keyword, allowed),
    )


def _refuse_other_than_name(keyword: str, name: object) -> None:
    if name is not None and not isinstance(name, str):
        raise BadInput(
            f"`{keyword}` must be the name of a column, not an object of type {type(name).__name__}",
            code="columns.not-a-name",
            allowed="a string",
            do="put the values into a column of the frame, and name it here",
        )


def _label_options(labels: LabelNames | None) -> tuple[str, ...]:
    """Labels as `Columns` holds them: COLUMN, or COLUMN=NAME."""
    if isinstance(labels, Mapping):
        return tuple(f"{column}={name}" for column, name in labels.items())
    return _listed(labels)


def _listed(names: str | Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return ()
    if isinstance(names, str):
        return (names,)
    for name in names:
        _refuse_other_than_name("labels", name)
    return tuple(names)


def _positive_values(values: PositiveValue | Sequence[PositiveValue] | None) -> tuple[str, ...]:
    """Values as label cells are compared with: true is 1, and 1.0 is 1."""
    if values is None:
        return ()
    # A string is a sequence, too.
    if isinstance(values, str | int | float):
        values = [values]
    return tuple(str(value).lower() if isinstance(value, bool) else str(value) for value in values)
