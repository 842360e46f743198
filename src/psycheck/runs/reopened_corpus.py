"""The corpus that a run was made with, opened again: a run's folder holds no texts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from psycheck.core.corpus import LABEL, Corpus, CorpusSource
from psycheck.core.errors import UNREADABLE, BadInput, PsycheckError
from psycheck.core.run import Run
from psycheck.corpora.columns import Columns, columns_of, source_of, source_of_older_run
from psycheck.corpora.fixed_order import in_fixed_order
from psycheck.corpora.opening import CorpusLike, CorpusPlan, open_corpus
from psycheck.corpora.posting_histories import by_author
from psycheck.io.settings import read_settings
from psycheck.io.tables import readable_name


def corpus_of(run: Run, name: str, instead: Sequence[CorpusLike] = ()) -> Corpus:
    """The corpus of this name, from where the run read it or from `instead`; it must hold the same texts.

    Paths in `instead` are read with the columns that the run used.
    """
    description = _description(run, name)
    fingerprint = run.environment.get("corpora", {}).get(name)

    failures: list[str] = []
    for candidate in _candidates(_recorded_source(description), instead):
        try:
            corpus = _opened_as_in_run(candidate, description)
        except PsycheckError as error:
            failures.append(f"{_shown(candidate)}: {error.what}")
            continue
        # Audits judge rows in a fixed order; runs before that recorded the order of the file.
        for as_recorded in (in_fixed_order(corpus), corpus):
            if as_recorded.fingerprint() == fingerprint:
                return as_recorded
        failures.append(f"{_shown(candidate)}: its texts or labels are not those of the run")

    raise BadInput(
        f"the texts of corpus '{name}' cannot be read again",
        code="run.corpus-not-found",
        where="; ".join(failures) or "the run does not record where they are",
        allowed="the corpus as it was when the run was made",
        do="name the file with `corpora=PATH`",
    )


def _description(run: Run, name: str) -> Mapping[str, Any]:
    """What run.json says of a corpus; empty if it does not name it."""
    for description in run.plan["corpora"]:
        if description["name"] == name:
            return dict(description)
    return {}


def _recorded_source(description: Mapping[str, Any]) -> CorpusSource | None:
    """Where the run read a corpus from; None if it does not say."""
    recorded = description.get("source")
    if isinstance(recorded, Mapping):
        return _checked_source(recorded)

    # Run folders of psycheck 0.1 have the words of the command.
    typed = description.get("called")
    if not typed:
        return None
    return source_of_older_run(str(typed))


def _checked_source(recorded: Mapping[str, Any]) -> CorpusSource | None:
    """The source as run.json has it; None if someone changed it to what cannot be read."""
    try:
        columns = read_settings(Columns, recorded.get("columns", {}))
        plan = read_settings(CorpusPlan, {**recorded, "columns": columns})
    except (PsycheckError, *UNREADABLE):
        return None
    return source_of(plan.path, plan.columns, split=plan.split, format=plan.format)


def _candidates(source: CorpusSource | None, instead: Sequence[CorpusLike]) -> Iterator[CorpusLike]:
    """What to try, in order: what the user names instead, then where the run read the corpus from."""
    if source is None:
        yield from instead
        return

    as_in_run = CorpusPlan(
        source.path,
        split=source.split,
        format=source.format,
        columns=columns_of(source),
    )
    for candidate in instead:
        if not isinstance(candidate, str | Path):
            yield candidate
            continue
        path = str(candidate)
        # A file of another format tells it by its ending.
        format = None if readable_name(path) else source.format
        yield replace(as_in_run, path=path, format=format)
    yield as_in_run


def _opened_as_in_run(candidate: CorpusLike, description: Mapping[str, Any]) -> Corpus:
    """The corpus as histories if the run read it so, with its labels named as in the run."""
    corpus = open_corpus(candidate)
    if "histories" in description:
        corpus = by_author(corpus, description["histories"])

    # The run may have renamed a label that had no name.
    names = dict(zip(corpus.labels, description.get("labels", ()), strict=False))
    renamed = {LABEL + label: LABEL + name for label, name in names.items()}
    table = corpus.table.rename(renamed)
    return replace(corpus, table=table)


def _shown(candidate: Any) -> str:
    """A candidate in an error: its path, or what it is; its content may be texts."""
    source = candidate
    if isinstance(candidate, CorpusPlan):
        source = candidate.path
    if isinstance(source, str | Path):
        return str(source)
    return f"a {type(source).__name__}"
