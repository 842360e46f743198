"""Rewrite the texts of a corpus in the other gender, in neither, or in both."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from string import punctuation, whitespace
from types import MappingProxyType
from typing import Final, Literal, get_args

import numpy as np
import polars as pl

from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput, counted, nearest
from psycheck.text.edits import Edit
from psycheck.text.gender.edits import Scope, names_besides, neutralise, swap
from psycheck.text.gender.scope import PRONOUNS_ONLY

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


@dataclass(frozen=True, slots=True)
class _Edits:
    """What editing does to the texts of a corpus, by row: the new text, or why there is none."""

    new_texts: dict[int, str]
    undecided: list[int]
    emptied: list[int]


def regendered(corpus: Corpus, to: str = "swapped", scope: Scope = PRONOUNS_ONLY) -> Regendered:
    """Edit every text of a corpus; a text with a word that cannot be decided stays as it is.

    A text of which no word is left ("She" without gendered words) is dropped and counted.
    "augmented" keeps all texts and adds the swapped counterpart of each that names a gender, with its
    annotation, author and split and "~swapped" after its id (gender bias, section 2.2).
    """
    edit = _edit_for(to, scope)
    augmenting = to == "augmented"
    if augmenting:
        _refuse_augmented(corpus)

    edits = _edited(corpus, edit)
    changed = _with_counterparts(corpus, edits) if augmenting else _with_new_texts(corpus, edits)

    # Pronouns are swapped by default: a reader must know how many changed texts still say "mother" or "Mr".
    texts = corpus.texts
    named_besides = sum(names_besides(texts[row], scope) for row in edits.new_texts)
    changed_texts = len(edits.new_texts)
    undecided = len(edits.undecided)
    emptied = len(edits.emptied)
    counts = {
        "before": len(texts),
        "after": len(changed),
        "changed": changed_texts,
        "unchanged": len(texts) - changed_texts - undecided - emptied,
        "undecided": undecided,
        "emptied": emptied,
        "named_besides": named_besides,
    }

    words = "+".join(scope.words)
    note = f"{corpus.name}: {changed_texts} of {len(texts)} texts {to} by gender ({words})"
    ids = corpus.ids
    return Regendered(
        corpus=replace(changed, notes=(*corpus.notes, note)),
        counts=MappingProxyType(counts),
        undecided=tuple(ids[row] for row in edits.undecided),
        emptied=tuple(ids[row] for row in edits.emptied),
    )


def _edit_for(to: str, scope: Scope) -> Edit:
    if to not in get_args(To):
        raise BadInput(
            f"texts cannot be made '{to}'",
            code="regender.unknown-edit",
            allowed=nearest(to, get_args(To)),
        )
    if to in ("swapped", "augmented"):
        return swap(scope)
    if to == "neutral":
        return neutralise(scope, "they")
    return neutralise(scope, "remove")


def _refuse_augmented(corpus: Corpus) -> None:
    """Refuse a corpus that has counterparts already: new ones would have the same ids."""
    new_ids = {id_ + SWAPPED for id_ in corpus.ids}
    existing = new_ids.intersection(corpus.ids)
    if existing:
        ids = counted(len(existing), "id")
        raise BadInput(
            what=f"corpus '{corpus.name}' already has swapped counterparts: {ids} + '{SWAPPED}'",
            code="regender.already-augmented",
            allowed="a corpus that is not augmented",
            do="augment the original corpus",
        )


def _edited(corpus: Corpus, edit: Edit) -> _Edits:
    edits = _Edits(new_texts={}, undecided=[], emptied=[])
    texts = corpus.texts
    for row, text in enumerate(texts):
        edited = edit(text)
        # "her" may be "him" or "his": a text with such a word stays as it is.
        if edited.undecided:
            edits.undecided.append(row)
        elif edited.text == text:
            continue
        # A corpus may not hold empty texts, and a lone full stop is as good as empty.
        elif not edited.text.strip(punctuation + whitespace):
            edits.emptied.append(row)
        else:
            edits.new_texts[row] = edited.text

    if edits.emptied and len(edits.emptied) == len(texts):
        raise BadInput(
            f"no text of corpus '{corpus.name}' is left without its gendered words",
            code="regender.nothing-left",
            allowed="texts with other words",
        )
    return edits


def _with_counterparts(corpus: Corpus, edits: _Edits) -> Corpus:
    """All texts, and the counterparts of those that name a gender."""
    table = pl.concat([corpus.table, counterparts(corpus.table, edits.new_texts)])
    left_out = dict(corpus.left_out)
    if edits.emptied:
        left_out[EMPTIED] = left_out.get(EMPTIED, 0) + len(edits.emptied)
    return replace(corpus, table=table, left_out=left_out)


def _with_new_texts(corpus: Corpus, edits: _Edits) -> Corpus:
    """The new text in the place of each that changed, without the texts of which nothing is left."""
    texts = [edits.new_texts.get(row, text) for row, text in enumerate(corpus.texts)]
    table = corpus.table.with_columns(pl.Series("text", texts, pl.String))
    has_text = ~np.isin(np.arange(len(texts)), edits.emptied)
    return replace(corpus, table=table).only(has_text, EMPTIED)


def counterparts(table: pl.DataFrame, texts: Mapping[int, str], mark: str = SWAPPED) -> pl.DataFrame:
    """Rows of a table by position, with new texts and a mark after their ids."""
    return table[list(texts)].with_columns(
        pl.concat_str(pl.col("id"), pl.lit(mark)).alias("id"),
        pl.Series("text", list(texts.values()), pl.String),
    )
