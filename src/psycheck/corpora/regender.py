"""Rewrite the texts of a corpus in the other gender, in neither, or in both."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from string import punctuation, whitespace
from types import MappingProxyType
from typing import Final, Literal, get_args

import numpy as np
import polars as pl

from psycheck.corpus import Corpus
from psycheck.errors import BadInput, counted, nearest
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
    if to not in get_args(To):
        raise BadInput(f"texts cannot be made '{to}'", allowed=nearest(to, get_args(To)))
    swapping = to in ("swapped", "augmented")
    edit = swap(scope) if swapping else neutralise(scope, "they" if to == "neutral" else "remove")
    texts, ids = corpus.texts, corpus.ids
    # The ids of counterparts would repeat those of a corpus that has them already.
    if to == "augmented" and (held := len({one + SWAPPED for one in ids}.intersection(ids))):
        what = f"corpus '{corpus.name}' already has swapped counterparts: {counted(held, 'id')} + '{SWAPPED}'"
        raise BadInput(what, allowed="a corpus that is not augmented", do="augment the original corpus")
    edits: dict[int, str] = {}
    undecided: list[int] = []
    emptied: list[int] = []
    for row, text in enumerate(texts):
        edited = edit(text)
        if edited.undecided:
            undecided.append(row)
        elif edited.text != text and not edited.text.strip(punctuation + whitespace):
            emptied.append(row)
        elif edited.text != text:
            edits[row] = edited.text
    if emptied and len(emptied) == len(texts):
        what = f"no text of corpus '{corpus.name}' is left without its gendered words"
        raise BadInput(what, allowed="texts with other words")
    if to == "augmented":
        done = replace(corpus, table=pl.concat([corpus.table, counterparts(corpus.table, edits)]))
        if emptied:
            left_out = done.left_out.get(EMPTIED, 0) + len(emptied)
            done = replace(done, left_out={**done.left_out, EMPTIED: left_out})
    else:
        written = pl.Series("text", [edits.get(row, text) for row, text in enumerate(texts)], pl.String)
        done = replace(corpus, table=corpus.table.with_columns(written))
        done = done.only(~np.isin(np.arange(len(texts)), emptied), EMPTIED)
    counts = {
        "before": len(texts),
        "after": len(done),
        "changed": len(edits),
        "unchanged": len(texts) - len(edits) - len(undecided) - len(emptied),
        "undecided": len(undecided),
        "emptied": len(emptied),
        "named_besides": sum(names_besides(texts[row], scope) for row in edits),
    }
    note = f"{corpus.name}: {len(edits)} of {len(texts)} texts {to} by gender ({'+'.join(scope.words)})"
    return Regendered(
        replace(done, notes=(*corpus.notes, note)),
        MappingProxyType(counts),
        tuple(ids[row] for row in undecided),
        tuple(ids[row] for row in emptied),
    )


def counterparts(table: pl.DataFrame, texts: Mapping[int, str], mark: str = SWAPPED) -> pl.DataFrame:
    """Rows of a table by position, with new texts and a mark after their ids."""
    return table[list(texts)].with_columns(
        pl.concat_str(pl.col("id"), pl.lit(mark)).alias("id"),
        pl.Series("text", list(texts.values()), pl.String),
    )
