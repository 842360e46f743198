"""Open a corpus however it is named: a path, demo:NAME, NAME:PATH of a known one, or an entry of a plan."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from psycheck.corpora.columns import Columns
from psycheck.corpora.known.catalogue import known_corpora
from psycheck.corpora.known.open import known_name, open_known
from psycheck.corpora.read import read_corpus
from psycheck.corpora.typed import as_said, options_of
from psycheck.corpus import LABEL, Corpus
from psycheck.demo.shipped_corpora import open_demo
from psycheck.errors import BadInput, nearest


@dataclass(frozen=True, slots=True)
class CorpusPlan:
    """One corpus to open: a file, a folder or `demo:NAME`, and what its columns mean."""

    path: str
    name: str | None = None
    split: str | None = None
    format: str | None = None
    columns: Columns = field(default_factory=Columns)


CorpusLike = str | Path | Corpus | CorpusPlan


def open_corpus(said: CorpusLike) -> Corpus:
    """Open a corpus by path, by "demo:NAME", by NAME:PATH if it is a known one, or as a plan describes it."""
    if isinstance(said, Corpus):
        return said
    if not isinstance(said, CorpusPlan):
        said = CorpusPlan(str(said))
    labels, others = Columns(labels=said.columns.labels), replace(said.columns, labels=())
    if said.path.startswith("demo:"):
        if named := options_of(others):
            raise BadInput(
                f"a demo corpus takes no {named}: its columns are known",
                where=said.path,
                allowed="--split NAME, --label NAME to take one of its labels",
            )
        corpus = with_labels(open_demo(said.path.removeprefix("demo:"), said.split), labels.labels)
        called = as_said(said.path, labels, said.split)
        return replace(corpus, name=said.name or corpus.name, called=called)
    if known := known_name(said.path):
        corpus = with_labels(open_known(*known, said.split, others), labels.labels)
        called = as_said(said.path, labels, said.split)
        return replace(corpus, name=said.name or corpus.name, called=called)
    corpus = read_corpus(said.path, said.columns, name=said.name, split=said.split, format=said.format)
    return replace(corpus, called=as_said(said.path, said.columns, said.split))


def corpus_plan(
    said: str, columns: Columns, split: str | None = None, format: str | None = None
) -> CorpusPlan:
    """One corpus as named on the command line: PATH or NAME=PATH."""
    name, equals, path = said.partition("=")
    if equals and not Path(said).exists() and name and "/" not in name:
        return CorpusPlan(path, name, split, format, columns)
    return CorpusPlan(said, None, split, format, columns)


def corpus_plans(
    said: Sequence[str], columns: Columns, split: str | None = None, format: str | None = None
) -> list[CorpusPlan]:
    """Each corpus of a command line; columns are named for its files, where there are any among them.

    Labels are named for all: a corpus whose columns are known has its labels under names of its own.
    """
    plans = [corpus_plan(one, columns, split, format) for one in said]
    # What is neither a file nor known is told when it is opened.
    ready = [plan.path.partition(":")[0] in ("demo", *known_corpora()) for plan in plans]
    if all(ready):
        return plans
    bare = Columns(labels=columns.labels)
    return [replace(plan, columns=bare) if known else plan for plan, known in zip(plans, ready, strict=True)]


def corpus_path(said: CorpusPlan) -> Path | None:
    """Where a corpus is read from; None for one that is shipped."""
    if said.path.startswith("demo:"):
        return None
    known = known_name(said.path)
    return Path(said.path if known is None else known[1]).expanduser()


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
