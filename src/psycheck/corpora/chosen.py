"""Some of the labels that a corpus has, chosen by name where its columns need no naming."""

from collections.abc import Sequence
from dataclasses import replace

from psycheck.corpus import LABEL, Corpus
from psycheck.errors import BadInput, nearest


def with_labels(corpus: Corpus, wanted: Sequence[str]) -> Corpus:
    """The corpus with the wanted labels alone; all of them where none is wanted.

    A label is wanted as NAME, or as COLUMN=NAME as for a file: then either of the two may be its label, and
    it is called NAME.
    """
    if not wanted:
        return corpus
    called: dict[str, str] = {}
    for said in wanted:
        column, _, name = said.partition("=")
        found = next((one for one in (column, name) if one in corpus.labels), None)
        if found is None:
            raise BadInput(
                f"corpus '{corpus.name}' has no label '{name or column}'",
                where="--label",
                allowed=nearest(name or column, corpus.labels),
            )
        called[found] = name or column
    dropped = [LABEL + label for label in corpus.labels if label not in called]
    table = corpus.table.drop(dropped).rename({LABEL + old: LABEL + new for old, new in called.items()})
    return replace(corpus, table=table)
