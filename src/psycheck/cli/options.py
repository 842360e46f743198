"""Options that several verbs share."""

from typing import TYPE_CHECKING, Annotated, Literal

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
Swap = Annotated[
    list[str] | None,
    typer.Option(
        "--swap",
        metavar="WORDS",
        help="Gendered words to swap: pronouns (always), nouns, titles, names; repeatable or with commas.",
    ),
]
SwapPerson = Annotated[
    Literal["all", "main"] | None,
    typer.Option("--swap-person", help="Swap the gender of all people, or of the main person of a note."),
]
Store = Annotated[
    str | None,
    typer.Option("--store", metavar="FILE", help="Where scores are remembered (default: the user's cache)."),
]


def columns_of(
    text: str | None = None,
    id_: str | None = None,
    labels: list[str] | None = None,
    positive: list[str] | None = None,
    author: str | None = None,
    time: str | None = None,
    split_column: str | None = None,
    groups: list[str] | None = None,
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
