"""Open a corpus: a path, demo:NAME, NAME:PATH of a known one, an entry of a plan, or data in memory."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, TypeGuard, Unpack

import polars as pl

from psycheck.core.corpus import LABEL, Corpus
from psycheck.core.errors import BadInput, nearest
from psycheck.corpora.column_keywords import ColumnKeywords, columns_of_keywords
from psycheck.corpora.columns import Columns, source_of
from psycheck.corpora.known.opening import known_corpora, known_name, open_known
from psycheck.corpora.labels import name_and_level
from psycheck.corpora.reading import read_corpus
from psycheck.demo.opening import open_demo
from psycheck.io.in_memory import is_dataset_dict
from psycheck.io.tables import readable_name

_DEMO = "demo:"
# A string of more words than this is rather a text than the name of a file.
_MOST_WORDS_OF_A_PATH = 5


@dataclass(frozen=True, slots=True)
class CorpusPlan:
    """One corpus to open: a file, a folder or `demo:NAME`, and the roles of its columns."""

    path: str
    name: str | None = None
    split: str | None = None
    format: str | None = None
    columns: Columns = field(default_factory=Columns)


class TableLike(Protocol):
    """A pandas DataFrame, a table of Arrow, or a Hugging Face Dataset or DatasetDict."""

    def __len__(self) -> int: ...

    def __getitem__(self, key: Any, /) -> Any: ...


Rows = Sequence[Mapping[str, Any]]
ColumnsInMemory = Mapping[str, Sequence[Any]]
CorpusLike = (
    str
    | Path
    | Corpus
    | CorpusPlan
    | pl.DataFrame
    | pl.LazyFrame
    | Sequence[str]
    | Rows
    | Iterator[Mapping[str, Any]]
    | ColumnsInMemory
    | TableLike
)
CorporaLike = CorpusLike | Sequence[CorpusLike] | Mapping[str, CorpusLike]


def open_corpora(
    sources: CorporaLike, *, split: str | None = None, **columns: Unpack[ColumnKeywords]
) -> list[Corpus]:
    """Open one corpus, each of a list, or each of {name: corpus}; frames without a name are numbered.

    A list of strings is a list of texts if one of them cannot name a corpus: it has white space, no file
    extension that is read, and no such file exists.
    """
    named_columns = columns_of_keywords(columns)
    if _names_corpora(sources):
        named_corpora = []
        for name, source in sources.items():
            corpus = _opened(source, named_columns, split)
            named_corpora.append(replace(corpus, name=name))
        return named_corpora

    corpora: list[Corpus] = []
    for source in _listed(sources):
        corpus = _opened(source, named_columns, split)
        # What is in memory has no file name to be called by.
        has_name = isinstance(source, str | PathLike | Corpus | CorpusPlan)
        if not has_name:
            corpus = _numbered(corpus, corpora)
        corpora.append(corpus)
    return corpora


def _names_corpora(sources: Any) -> TypeGuard[Mapping[str, CorpusLike]]:
    """Whether a mapping holds corpora by their names, and not the columns of one."""
    if not isinstance(sources, Mapping) or is_dataset_dict(sources):
        return False
    # A column is a list, an array or a series; what has columns of its own, or names a file, is a corpus.
    return bool(sources) and all(_is_a_corpus(source) for source in sources.values())


def _is_a_corpus(source: object) -> bool:
    if isinstance(source, str | Path | Corpus | CorpusPlan | Mapping):
        return True
    if hasattr(source, "columns") or hasattr(source, "column_names"):
        return True
    return isinstance(source, list) and bool(source) and isinstance(source[0], Mapping)


def _listed(sources: Any) -> list[Any]:
    """The corpora one by one; a list of texts or of rows is one corpus."""
    if not isinstance(sources, list | tuple):
        return [sources]
    if sources and all(isinstance(source, Mapping) for source in sources):
        return [sources]

    all_strings = all(isinstance(source, str) for source in sources)
    # Strings without white space are rather paths than texts of one word.
    if all_strings and not all(_names_a_corpus(str(source)) for source in sources):
        return [sources]
    return list(sources)


def _numbered(corpus: Corpus, before: Sequence[Corpus]) -> Corpus:
    """The corpus under a name that no earlier one has: frame, frame-2, frame-3."""
    used_names = {earlier.name for earlier in before}
    name = corpus.name
    number = 1
    while name in used_names:
        number += 1
        name = f"{corpus.name}-{number}"
    return replace(corpus, name=name)


def open_corpus(source: CorpusLike, *, split: str | None = None, **columns: Unpack[ColumnKeywords]) -> Corpus:
    """Open a corpus: a path, "demo:NAME", NAME:PATH of a known one, an entry of a plan, or data in memory.

    Data in memory is a pandas or polars frame, a Hugging Face dataset, a list of records, a mapping of
    columns, or a sequence of strings. The keywords name columns (`ColumnKeywords`), which are guessed
    otherwise; `split` keeps one split.
    """
    return _opened(source, columns_of_keywords(columns), split)


def _opened(source: CorpusLike, columns: Columns, split: str | None) -> Corpus:
    if isinstance(source, CorpusPlan):
        return _open_plan(source)
    if isinstance(source, Corpus):
        return _open_again(source, columns, split)
    if isinstance(source, str):
        _refuse_text(source)
    if isinstance(source, str | PathLike):
        # A corpus whose columns are known has labels of its own names, and takes no other role.
        if _has_known_columns(str(source)):
            columns = Columns(labels=columns.labels)
        plan = CorpusPlan(
            path=str(source),
            split=split,
            columns=columns,
        )
        return _open_plan(plan)
    return read_corpus(source, columns, split=split)


def _open_again(corpus: Corpus, columns: Columns, split: str | None) -> Corpus:
    """The chosen labels and split of a corpus that is open already."""
    for role in fields(Columns):
        if role.name != "labels" and getattr(columns, role.name):
            raise BadInput(
                what=f"a Corpus has its columns already, and takes no `{role.name}`",
                code="corpus.columns-of-corpus",
                where=role.name,
                do=f"leave `{role.name}` out, or name it where the corpus is opened: open_corpus(…)",
            )
    labelled = with_labels(corpus, columns.labels)
    if split is None:
        return labelled
    return labelled.part(split)


def _refuse_text(source: str) -> None:
    if len(source.split()) > _MOST_WORDS_OF_A_PATH and not _names_a_corpus(source):
        raise BadInput(
            "a single string names a file, and this one looks like a text",
            code="corpus.text-as-path",
            do="pass a list of strings",
        )


def _open_plan(plan: CorpusPlan) -> Corpus:
    if plan.path.startswith(_DEMO):
        _refuse_columns(plan, "a demo corpus")
        corpus = open_demo(plan.path.removeprefix(_DEMO), plan.split)
        return _chosen(corpus, plan)

    name_and_path = known_name(plan.path)
    if name_and_path is not None:
        name, path = name_and_path
        _refuse_columns(plan, known_corpora()[name].title)
        return _chosen(open_known(name, path, plan.split), plan)

    corpus = read_corpus(
        source=plan.path,
        columns=plan.columns,
        name=plan.name,
        split=plan.split,
        format=plan.format,
    )
    # Kept with the corpus, so that commands in reports open it in the same way.
    source = source_of(
        path=plan.path,
        columns=plan.columns,
        split=plan.split,
        format=plan.format,
    )
    return replace(corpus, source=source)


def _chosen(corpus: Corpus, plan: CorpusPlan) -> Corpus:
    """The labels that a plan chooses of a corpus whose columns are known, under the name in the plan."""
    return replace(
        with_labels(corpus, plan.columns.labels),
        name=plan.name or corpus.name,
        source=source_of(plan.path, Columns(labels=plan.columns.labels), split=plan.split),
    )


def _refuse_columns(plan: CorpusPlan, title: str) -> None:
    """Refuse roles of columns, other than labels, for a corpus whose columns are known."""
    without_labels = replace(plan.columns, labels=())
    named_roles = [role for role, name in asdict(without_labels).items() if name]
    if not named_roles:
        return

    options = ", ".join(f"`columns.{role}`" for role in named_roles)
    raise BadInput(
        what=f"{title} takes no {options}: its columns are known",
        code="corpus.known-columns",
        where=plan.path,
        allowed="one of its splits; `labels=NAME` to take one of its labels",
        do="leave them out",
    )


def _has_known_columns(path: str) -> bool:
    return path.partition(":")[0] in ("demo", *known_corpora())


def _names_a_corpus(string: str) -> bool:
    """Whether a string may be a path or NAME:PATH, and not a text."""
    has_white_space = re.search(r"\s", string) is not None
    if not has_white_space or _has_known_columns(string):
        return True
    if "\n" in string:
        return False

    try:
        return readable_name(string) or Path(string).exists()
    except OSError:  # too long for a file name
        return False


def corpus_plan(
    typed: str,
    columns: Columns,
    split: str | None = None,
    format: str | None = None,
) -> CorpusPlan:
    """One corpus as named on the command line: PATH or NAME=PATH."""
    name, equals, path = typed.partition("=")
    # A file may have "=" in its name, and a folder in its path.
    has_name = bool(equals) and name != "" and "/" not in name
    is_renamed = has_name and not Path(typed).exists()
    return CorpusPlan(
        path=path if is_renamed else typed,
        name=name if is_renamed else None,
        split=split,
        format=format,
        columns=columns,
    )


def corpus_plans(
    typed: Sequence[str],
    columns: Columns,
    split: str | None = None,
    format: str | None = None,
) -> list[CorpusPlan]:
    """Each corpus of a command line; where there are files among them, column options apply to files alone.

    Labels apply to all: a corpus whose columns are known has its own label names.
    """
    plans = []
    for corpus in typed:
        plan = corpus_plan(
            typed=corpus,
            columns=columns,
            split=split,
            format=format,
        )
        plans.append(plan)

    # What is neither a file nor known is an error when it is opened.
    if all(_has_known_columns(plan.path) for plan in plans):
        return plans
    labels_only = Columns(labels=columns.labels)
    return [replace(plan, columns=labels_only) if _has_known_columns(plan.path) else plan for plan in plans]


def corpus_path(plan: CorpusPlan) -> Path | None:
    """The path a corpus is read from; None for a shipped one."""
    if plan.path.startswith(_DEMO):
        return None
    name_and_path = known_name(plan.path)
    if name_and_path is None:
        return Path(plan.path).expanduser()
    _, path = name_and_path
    return Path(path).expanduser()


def with_labels(corpus: Corpus, chosen: Sequence[str]) -> Corpus:
    """The corpus with the chosen labels only; with all of its labels if none is chosen.

    A label is given as NAME, or as COLUMN=NAME as for a file: then either may be a label of the corpus, and
    it is renamed to NAME.
    """
    if not chosen:
        return corpus

    new_names: dict[str, str] = {}
    for label in chosen:
        column, _, name_with_level = label.partition("=")
        name, _ = name_and_level(name_with_level)
        new_name = name or column
        # One option names the labels of several corpora, and COLUMN is a column of the files among them.
        existing = [candidate for candidate in (column, name) if candidate in corpus.labels]
        if not existing:
            raise BadInput(
                f"corpus '{corpus.name}' has no label '{new_name}'",
                code="corpus.unknown-label",
                allowed=nearest(new_name, corpus.labels),
            )
        new_names[existing[0]] = new_name

    dropped = [LABEL + label for label in corpus.labels if label not in new_names]
    renamed = {LABEL + old: LABEL + new for old, new in new_names.items()}
    return replace(corpus, table=corpus.table.drop(dropped).rename(renamed))
