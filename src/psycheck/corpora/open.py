"""Open a corpus: a path, demo:NAME, NAME:PATH of a known one, an entry of a plan, or data in memory."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from psycheck.corpora.columns import Columns, as_typed
from psycheck.corpora.known.open import known_corpora, known_name, open_known
from psycheck.corpora.labels import name_and_level
from psycheck.corpora.read import read_corpus
from psycheck.corpora.tables import readable_name
from psycheck.corpus import LABEL, Corpus
from psycheck.demo.generate import open_demo
from psycheck.errors import BadInput, nearest


@dataclass(frozen=True, slots=True)
class CorpusPlan:
    """One corpus to open: a file, a folder or `demo:NAME`, and the roles of its columns."""

    path: str
    name: str | None = None
    split: str | None = None
    format: str | None = None
    columns: Columns = field(default_factory=Columns)


class TableLike(Protocol):
    """A pandas DataFrame, or a Hugging Face Dataset or DatasetDict."""

    def __len__(self) -> int: ...

    def __getitem__(self, key: Any, /) -> Any: ...


CorpusLike = str | Path | Corpus | CorpusPlan | pl.DataFrame | pl.LazyFrame | Sequence[str] | TableLike


def open_corpora(
    sources: CorpusLike | Sequence[CorpusLike],
    *,
    text: str | None = None,
    labels: str | Sequence[str] = (),
    split: str | None = None,
) -> list[Corpus]:
    """Open one corpus, or each of a list; frames and texts without a name are numbered from the second on.

    A list of strings is a list of texts if one of them cannot name a corpus: it has white space, no file
    extension that is read, and no such file exists.
    """
    listed: list[Any] = list(sources) if isinstance(sources, list | tuple) else [sources]
    if all(isinstance(one, str) for one in listed) and not all(map(_names_a_corpus, listed)):
        listed = [sources]
    opened: list[Corpus] = []
    for source in listed:
        corpus = open_corpus(source, text=text, labels=labels, split=split)
        if not isinstance(source, str | PathLike | Corpus | CorpusPlan):
            taken = {one.name for one in opened}
            names = (corpus.name, *(f"{corpus.name}-{number}" for number in range(2, len(listed) + 2)))
            corpus = replace(corpus, name=next(name for name in names if name not in taken))
        opened.append(corpus)
    return opened


def open_corpus(
    source: CorpusLike,
    *,
    text: str | None = None,
    labels: str | Sequence[str] = (),
    split: str | None = None,
) -> Corpus:
    """Open a corpus: a path, "demo:NAME", NAME:PATH of a known one, an entry of a plan, or data in memory.

    Data in memory is a pandas or polars frame, a Hugging Face Dataset or DatasetDict, or a sequence of
    strings. `text` and `labels` name columns, which are guessed otherwise; `split` keeps one split.
    """
    columns = Columns(text=text, labels=(labels,) if isinstance(labels, str) else tuple(labels))
    if isinstance(source, Corpus):
        if text is not None:
            raise BadInput("a Corpus has its text column already", where="text", do="leave text out")
        corpus = with_labels(source, columns.labels)
        return corpus if split is None else corpus.part(split)
    if isinstance(source, str) and len(source.split()) > 5 and not _names_a_corpus(source):
        what = "a single string names a file, and this one looks like a text"
        raise BadInput(what, do="pass a list of strings")
    if isinstance(source, str | PathLike):
        source = CorpusPlan(str(source), split=split, columns=columns)
    elif not isinstance(source, CorpusPlan):
        return read_corpus(source, columns, split=split)
    plan, demo = source, source.path.startswith("demo:")
    known = None if demo else known_name(plan.path)
    if not demo and known is None:
        corpus = read_corpus(plan.path, plan.columns, name=plan.name, split=plan.split, format=plan.format)
        return replace(corpus, called=as_typed(plan.path, plan.columns, plan.split))
    if roles := [role for role, name in asdict(replace(plan.columns, labels=())).items() if name]:
        title = "a demo corpus" if known is None else known_corpora()[known[0]].title
        what = f"{title} takes no {', '.join(f'`columns.{role}`' for role in roles)}: its columns are known"
        allowed = "one of its splits; `labels=NAME` to take one of its labels"
        raise BadInput(what, where=plan.path, allowed=allowed, do="leave them out")
    if known is None:
        corpus = open_demo(plan.path.removeprefix("demo:"), plan.split)
    else:
        corpus = open_known(*known, plan.split)
    called = as_typed(plan.path, Columns(labels=plan.columns.labels), plan.split)
    return replace(with_labels(corpus, plan.columns.labels), name=plan.name or corpus.name, called=called)


def _has_known_columns(path: str) -> bool:
    return path.partition(":")[0] in ("demo", *known_corpora())


def _names_a_corpus(string: str) -> bool:
    if not re.search(r"\s", string) or _has_known_columns(string):
        return True
    try:
        return "\n" not in string and (readable_name(string) or Path(string).exists())
    except OSError:  # too long for a file name
        return False


def corpus_plan(
    typed: str, columns: Columns, split: str | None = None, format: str | None = None
) -> CorpusPlan:
    """One corpus as named on the command line: PATH or NAME=PATH."""
    name, equals, path = typed.partition("=")
    renamed = equals and not Path(typed).exists() and name and "/" not in name
    return CorpusPlan(path if renamed else typed, name if renamed else None, split, format, columns)


def corpus_plans(
    typed: Sequence[str], columns: Columns, split: str | None = None, format: str | None = None
) -> list[CorpusPlan]:
    """Each corpus of a command line; where there are files among them, column options apply to files alone.

    Labels apply to all: a corpus whose columns are known has its own label names.
    """
    plans = [corpus_plan(one, columns, split, format) for one in typed]
    # What is neither a file nor known is an error when it is opened.
    ready = [_has_known_columns(plan.path) for plan in plans]
    bare = columns if all(ready) else Columns(labels=columns.labels)
    return [replace(plan, columns=bare) if known else plan for plan, known in zip(plans, ready, strict=True)]


def corpus_path(plan: CorpusPlan) -> Path | None:
    """The path a corpus is read from; None for a shipped one."""
    if plan.path.startswith("demo:"):
        return None
    known = known_name(plan.path)
    return Path(plan.path if known is None else known[1]).expanduser()


def with_labels(corpus: Corpus, wanted: Sequence[str]) -> Corpus:
    """The corpus with the wanted labels only; with all of its labels if none is wanted.

    A label is given as NAME, or as COLUMN=NAME as for a file: then either may be a label of the corpus, and
    it is renamed to NAME.
    """
    if not wanted:
        return corpus
    called: dict[str, str] = {}
    for label in wanted:
        column, _, written = label.partition("=")
        name, _ = name_and_level(written)
        found = next((one for one in (column, name) if one in corpus.labels), None)
        if found is None:
            what = f"corpus '{corpus.name}' has no label '{name or column}'"
            raise BadInput(what, allowed=nearest(name or column, corpus.labels))
        called[found] = name or column
    dropped = [LABEL + label for label in corpus.labels if label not in called]
    table = corpus.table.drop(dropped).rename({LABEL + old: LABEL + new for old, new in called.items()})
    return replace(corpus, table=table)
