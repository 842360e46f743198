"""Options that several verbs share."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns

Text = Annotated[str | None, typer.Option("--text", metavar="COLUMN", help="Column that holds the text.")]
Id = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="Column that holds the id; none numbers the rows."),
]
Labels = Annotated[
    list[str] | None,
    typer.Option("--label", metavar="COLUMN", help="Label column, or COLUMN=NAME to rename; repeatable."),
]
Positive = Annotated[
    list[str] | None,
    typer.Option("--positive", metavar="VALUE", help="Value of a label column that means 1; repeatable."),
]
Author = Annotated[str | None, typer.Option("--author", metavar="COLUMN", help="Column of the author.")]
Time = Annotated[str | None, typer.Option("--time", metavar="COLUMN", help="Column of the time.")]
SplitColumn = Annotated[
    str | None, typer.Option("--split-column", metavar="COLUMN", help="Column of train/dev/test.")
]
Format = Annotated[
    str | None,
    typer.Option("--format", help="csv, tsv, jsonl, parquet or dataset, where the name does not say."),
]
Split = Annotated[str | None, typer.Option("--split", metavar="NAME", help="Use only this split.")]
Groups = Annotated[
    list[str] | None,
    typer.Option("--group", metavar="COLUMN", help="Column of a group (gender, source …); repeatable."),
]
Store = Annotated[
    str | None,
    typer.Option("--store", metavar="FILE", help="Where scores are remembered (default: the user's cache)."),
]


def columns_of(
    text: str | None,
    id_: str | None,
    labels: list[str] | None,
    positive: list[str] | None,
    author: str | None,
    time: str | None,
    split_column: str | None,
    groups: list[str] | None,
) -> "Columns":
    """The columns as the reader wants them."""
    from psycheck.corpora.columns import Columns

    return Columns(
        text=text,
        id=id_,
        labels=tuple(labels or ()),
        author=author,
        time=time,
        split=split_column,
        groups=tuple(groups or ()),
        positive=tuple(positive or ()),
    )
