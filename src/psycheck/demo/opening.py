"""Opens the demo corpora that psycheck ships: synthetic texts, one compressed file per corpus.

The generator of these files is not part of the package: see tools/demo_corpora in the repository.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

import zstandard

from psycheck.core.corpus import GROUP, LABEL, PLAIN, Corpus, CorpusSource
from psycheck.core.errors import BadInput, nearest

# Texts of one domain each, labelled with the state of their author.
DOMAINS = ("tweets", "forum", "interviews", "notes")
# Sentences and whole histories that follow the symptom graph.
GRAPH_CORPORA = ("sentences", "people")
DEMO = (*DOMAINS, *GRAPH_CORPORA)

# The files of domains have plain column names, so the role of each column is listed here.
_DOMAIN_COLUMNS = ("author", "time", "split")
_DOMAIN_LABELS = ("depression", "anxiety")
_DOMAIN_GROUPS = ("gender", "subject", "source", "symptom", "status", "mentions")


def open_demo(name: str, split: str | None = None) -> Corpus:
    """Open a shipped corpus, or one split (train, dev, test) of it."""
    if name not in DEMO:
        raise BadInput(
            f"there is no demo corpus '{name}'",
            code="demo.unknown-corpus",
            allowed=nearest(name, DEMO),
        )

    shipped_file = files("psycheck.demo").joinpath("shipped", f"{name}.jsonl.zst")
    rows = read_rows(shipped_file.read_bytes())
    if name in GRAPH_CORPORA:
        corpus = corpus_from_prefixed_rows(name, rows)
    else:
        corpus = corpus_from_domain_rows(name, rows)
    corpus = replace(corpus, source=CorpusSource(f"demo:{name}"))

    if split is None:
        return corpus
    return corpus.part(split)


def read_rows(content: bytes) -> list[dict[str, Any]]:
    """The rows of a shipped file: one JSON object per line, compressed."""
    lines = zstandard.ZstdDecompressor().decompress(content).decode().split("\n")
    return [json.loads(line) for line in lines if line]


def corpus_from_domain_rows(name: str, rows: Sequence[dict[str, Any]]) -> Corpus:
    """Make a corpus of a domain from shipped or generated rows."""

    def columns(names: Sequence[str]) -> dict[str, list[Any]]:
        return {column: [row[column] for row in rows] for column in names}

    return Corpus.of(
        name,
        [row["text"] for row in rows],
        ids=[row["id"] for row in rows],
        **columns(_DOMAIN_COLUMNS),
        labels=columns(_DOMAIN_LABELS),
        groups=columns(_DOMAIN_GROUPS),
    )


def corpus_from_prefixed_rows(name: str, rows: Sequence[dict[str, Any]]) -> Corpus:
    """Make a corpus from rows whose keys are column names of a corpus, such as "label:ocd"."""
    column_names = rows[0].keys()

    def columns_with_prefix(prefix: str) -> dict[str, list[Any]]:
        prefixed = [column for column in column_names if column.startswith(prefix)]
        return {column.removeprefix(prefix): [row[column] for row in rows] for column in prefixed}

    plain_names = [column for column in PLAIN if column in column_names]
    plain_columns = {column: [row[column] for row in rows] for column in plain_names}

    return Corpus.of(
        name,
        [row["text"] for row in rows],
        ids=[row["id"] for row in rows],
        labels=columns_with_prefix(LABEL),
        groups=columns_with_prefix(GROUP),
        **plain_columns,
    )
