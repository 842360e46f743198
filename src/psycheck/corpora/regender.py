"""A corpus with its texts in the other gender, in none, or in both."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from string import punctuation, whitespace
from types import MappingProxyType
from typing import Final, Literal, get_args

import polars as pl

from psycheck.corpus import Corpus
from psycheck.errors import BadInput, counted, nearest
from psycheck.text.edits import Edit
from psycheck.text.gender.edits import Scope, names_besides, neutralise, swap
from psycheck.text.gender.words import PRONOUNS_ONLY

To = Literal["swapped", "neutral", "removed", "augmented"]
SWAPPED: Final = "~swapped"  # ends the id of a counterpart
EMPTIED: Final = "nothing but gendered words"


@dataclass(frozen=True, slots=True)
class Regendered:
    """The corpus, what became of its texts, and the ids of those that could not all be decided.

    `counts` has the texts `before` and `after`, those `changed`, those `unchanged` because they name no
    gender in the scope, the `undecided`, the `emptied`, of which no word is left and which are dropped, and
    `named_besides`: changed ones in which a noun or title still names one.
    """

    corpus: Corpus
    counts: Mapping[str, int]
    undecided: tuple[str, ...]
    emptied: tuple[str, ...] = ()


def regendered(corpus: Corpus, to: str = "swapped", scope: Scope = PRONOUNS_ONLY) -> Regendered:
    """Edit every text of a corpus; a text with a word that cannot be decided stays as it is.

    A text of which no word is left ("She" without gendered words) is dropped and counted.
    "augmented" keeps all texts and adds the swapped counterpart of each that names a gender, with its
    annotation, author and split and "~swapped" after its id (gender bias, section 2.2).
    """
    edit = _edit(to, scope)
    texts, ids = corpus.texts, corpus.ids
    if to == "augmented":
        _refuse_augmented(corpus)
    said: dict[int, str] = {}
    undecided: list[int] = []
    emptied: list[int] = []
    for row, text in enumerate(texts):
        edited = edit(text)
        if edited.undecided:
            undecided.append(row)
        elif edited.text != text and not edited.text.strip(punctuation + whitespace):
            emptied.append(row)
        elif edited.text != text:
            said[row] = edited.text
    if emptied and len(emptied) == len(texts):
        raise BadInput(
            f"no text of corpus '{corpus.name}' is left when gendered words are taken out",
            allowed="texts with other words, too",
        )
    if to == "augmented":
        table = pl.concat([corpus.table, counterparts(corpus.table, said)])
    else:
        gone = set(emptied)
        kept = [row not in gone for row in range(len(texts))]
        written = pl.Series("text", [said.get(row, text) for row, text in enumerate(texts)], pl.String)
        table = corpus.table.with_columns(written).filter(pl.Series(kept, dtype=pl.Boolean))
    counts = {
        "before": len(texts),
        "after": len(table),
        "changed": len(said),
        "unchanged": len(texts) - len(said) - len(undecided) - len(emptied),
        "undecided": len(undecided),
        "emptied": len(emptied),
        "named_besides": sum(names_besides(texts[row], scope) for row in said),
    }
    note = f"{corpus.name}: {len(said)} of {len(texts)} texts {to} by gender ({'+'.join(scope.words)})"
    left_out = Counter(corpus.left_out)
    if emptied:
        left_out[EMPTIED] += len(emptied)
    return Regendered(
        replace(
            corpus,
            table=table,
            left_out=MappingProxyType(dict(left_out)),
            notes=(*corpus.notes, note),
        ),
        MappingProxyType(counts),
        tuple(ids[row] for row in undecided),
        tuple(ids[row] for row in emptied),
    )


def _refuse_augmented(corpus: Corpus) -> None:
    """Refuse to add counterparts to a corpus that holds them: their ids would stand twice."""
    ids = set(corpus.ids)
    held = sum(one + SWAPPED in ids for one in ids)
    if held:
        raise BadInput(
            f"corpus '{corpus.name}' holds swapped counterparts already: {counted(held, 'id')} "
            f"{'stands' if held == 1 else 'stand'} there with '{SWAPPED}', too",
            allowed="a corpus that was not augmented",
            do="augment the corpus that this one was made from",
        )


def _edit(to: str, scope: Scope) -> Edit:
    if to not in get_args(To):
        raise BadInput(f"texts cannot be made '{to}'", allowed=nearest(to, get_args(To)))
    if to in ("swapped", "augmented"):
        return swap(scope)
    return neutralise(scope, "they" if to == "neutral" else "remove")


def counterparts(table: pl.DataFrame, said: Mapping[int, str], mark: str = SWAPPED) -> pl.DataFrame:
    """Rows of a table with other texts, and a mark after their ids."""
    return table[list(said)].with_columns(
        pl.concat_str(pl.col("id"), pl.lit(mark)).alias("id"),
        pl.Series("text", list(said.values()), pl.String),
    )
