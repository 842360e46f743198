"""The order in which rows are drawn from and summed up: by content, never by the order of the file."""

from dataclasses import replace

import polars as pl

from psycheck.core.corpus import HISTORY, Corpus
from psycheck.core.item import digests_of

_ROW = "row"


def in_fixed_order(corpus: Corpus) -> Corpus:
    """The same rows sorted by the digest of their text, then by what is known about it, last by id.

    Random draws, sums of floats and the examples that findings name follow the order of rows: in this order,
    a file with shuffled rows gives the same bytes.
    """
    digests = digests_of(corpus.items)
    digest_columns = [
        pl.Series("first half of the digest", digests[:, 0]),
        pl.Series("second half of the digest", digests[:, 1]),
    ]
    # Copies of a text may differ in label or author; the id decides last, as it may be a row number.
    others = [name for name in corpus.table.columns if name not in ("id", "text", *HISTORY)]
    keys = pl.DataFrame(digest_columns).hstack(corpus.table.select(*others, "id"))
    order = keys.with_row_index(_ROW).sort(keys.columns, maintain_order=True)[_ROW]

    whole = corpus.whole
    return replace(
        corpus,
        table=corpus.table[order],
        whole=None if whole is None else in_fixed_order(whole),
    )
