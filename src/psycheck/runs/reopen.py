"""The corpus that a run was made with, opened again: a run's folder holds no texts."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from psycheck.corpora.columns import read_typed
from psycheck.corpora.histories import by_author
from psycheck.corpora.open import CorpusLike, CorpusPlan, open_corpus
from psycheck.corpus import LABEL, Corpus
from psycheck.errors import BadInput, PsycheckError
from psycheck.run import Run


def corpus_of(run: Run, name: str, instead: Sequence[CorpusLike] = ()) -> Corpus:
    """The corpus of this name, from where the run read it or from `instead`; it must hold the same texts.

    Paths in `instead` are read with the columns that the run used.
    """
    entry: Mapping[str, Any] = next((one for one in run.plan["corpora"] if one["name"] == name), {})
    mark, called = run.environment.get("corpora", {}).get(name), str(entry.get("called", ""))
    tried: list[str] = []
    for source in _sources(called, instead):
        try:
            opened = open_corpus(source)
            corpus = by_author(opened, entry["histories"]) if "histories" in entry else opened
            corpus = _labelled(corpus, entry.get("labels", ()))
        except PsycheckError as error:
            tried.append(f"{_shown(source)}: {error.what}")
            continue
        if corpus.fingerprint() == mark:
            return corpus
        tried.append(f"{_shown(source)}: its texts or labels are not those of the run")
    raise BadInput(
        f"the texts of corpus '{name}' cannot be read again",
        where="; ".join(tried) or "the run does not record where they are",
        allowed="the corpus as it was when the run was made",
        do="name the file with `corpora=PATH`",
    )


def _sources(called: str, instead: Sequence[CorpusLike]) -> Iterator[CorpusLike]:
    path, columns, split = read_typed(called) if called else ("", None, None)
    for one in instead:
        if isinstance(one, str | Path) and columns is not None:
            yield CorpusPlan(str(one), split=split, columns=columns)
        else:
            yield one
    if columns is not None:
        yield CorpusPlan(path, split=split, columns=columns)


def _labelled(corpus: Corpus, labels: Sequence[str]) -> Corpus:
    """The corpus with its labels named as in the run, which may have renamed a nameless one."""
    names = dict(zip(corpus.labels, labels, strict=False))
    table = corpus.table.rename({LABEL + old: LABEL + new for old, new in names.items()})
    return Corpus(corpus.name, table, corpus.left_out, corpus.notes, corpus.called)


def _shown(source: Any) -> str:
    named = source.path if isinstance(source, CorpusPlan) else source
    return str(named) if isinstance(named, str | Path) else f"a {type(named).__name__}"
