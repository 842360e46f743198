"""Two or more models on the same texts, from the folders of finished audits: who is right where they part."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from psycheck.audits.differences import DIFF, Answered, difference_findings
from psycheck.audits.error_cues import Texts, error_findings
from psycheck.corpora.cues import Spans, cue_names, cues_of
from psycheck.corpora.open import CorpusLike
from psycheck.corpus import Corpus
from psycheck.errors import BadInput
from psycheck.finding import Findings
from psycheck.run import Run, Shown
from psycheck.runs.environment import environment_of
from psycheck.runs.folder import open_run, writes_run
from psycheck.runs.pages import save
from psycheck.runs.reopen import corpus_of
from psycheck.runs.shared import (
    SharedCorpus,
    Source,
    answers_of,
    refuse_unknown_labels,
    shared_corpora,
    source_of,
)

RunLike = str | Path | Run
MOST_SHOWN = 3_000
Cues = dict[str, dict[str, Spans]]  # id → cue → where it stands


@writes_run("runs", "corpora")
def diff(
    runs: RunLike | Sequence[RunLike],
    *,
    labels: Sequence[str] = (),
    corpora: Sequence[CorpusLike] = (),
    show_texts: bool = False,
    out: str | Path | None = None,
) -> Run:
    """Compare all models of finished audits on the texts that they share, and write the result to `out`.

    Lengths and cues of errors need the texts, which a run's folder does not hold: they are read again from
    where the audit read them, or from `corpora`, and must be the same. Where that cannot be done a note says
    so; with `show_texts` it is an error.
    """
    sources = _sources([runs] if isinstance(runs, str | Path | Run) else list(runs), out)
    refuse_unknown_labels(labels, sources)
    notes = [note for source in sources for note in source.notes]
    answered: list[Answered] = []
    read: dict[str, Corpus] = {}
    for shared in shared_corpora(sources):
        found, more = answers_of(shared, sources, labels, corpora)
        notes += more
        if not found:
            continue
        answered += found
        try:
            read[shared.name] = _texts_of(shared, sources, corpora)
        except BadInput as error:
            if show_texts:
                raise
            notes.append(
                f"{shared.name}: lengths and cues of errors are left out: {error.what} ({error.where})"
            )
    if not answered:
        raise _nothing_shared(sources)
    if corpora and not read:
        raise BadInput("no corpus that was named has the texts of the runs", where=notes[-1], key="corpora")
    cues = {(one.corpus, one.label): _cues(read[one.corpus], one) for one in answered if one.corpus in read}
    with_texts = [
        (one, _measured(read[one.corpus], cues[one.corpus, one.label], one))
        for one in answered
        if one.corpus in read
    ]
    outcomes = pl.concat([_outcomes(one, read, cues) for one in answered])
    run = Run(
        plan={
            "verb": "diff",
            "runs": [source.name for source in sources],
            "models": list(_models(sources)),
            "corpora": [{"name": name, "texts": n} for name, n in _sizes(answered).items()],
            "labels": sorted({one.label for one in answered}),
            "show_texts": show_texts,
        },
        environment=_environment(sources, answered),
        findings=Findings([*difference_findings(answered), *error_findings(with_texts)]),
        tables={"outcomes": outcomes},
        shown=tuple(_shown(outcomes, read, cues)) if show_texts else (),
        notes=(*notes, *_thresholds(sources), *_clustering(answered)),
        folder=Path(out) if out is not None else None,
    )
    return run if run.folder is None else save(run, run.folder)


def _sources(runs: Sequence[RunLike], out: str | Path | None) -> list[Source]:
    """The runs, opened and told apart; models of one name are called by their run, too."""
    opened = [
        (str(one), open_run(one)) if isinstance(one, str | Path) else (str(one.folder or ""), one)
        for one in runs
    ]
    places = [run.folder.resolve() for _, run in opened if run.folder is not None]
    if out is not None and Path(out).resolve() in places:
        raise BadInput(
            f"the result would replace a run that it compares: {out}", key="out", do="name another folder"
        )
    if twice := [str(place) for place, times in Counter(places).items() if times > 1]:
        raise BadInput(f"the run {twice[0]} is named twice", allowed="each run once")
    sources = [source_of(name or f"run {k}", run) for k, (name, run) in enumerate(opened, 1)]
    models = [
        (k, model)
        for k, one in enumerate(sources)
        for model in one.predictions["model"].unique(maintain_order=True)
    ]
    if len(models) < 2:
        raise BadInput(
            f"there is only one model to compare: {models[0][1]}",
            allowed="two runs, or one run of several models",
            do="psycheck diff RUN RUN",
        )
    often = Counter(model for _, model in models)
    short = [Path(one.name).name for one in sources]
    called = short if len(set(short)) == len(short) else [one.name for one in sources]
    return [
        replace(one, predictions=one.predictions.with_columns(model=_renamed(often, called[k])))
        for k, one in enumerate(sources)
    ]


def _renamed(often: Counter[str], run: str) -> pl.Expr:
    twice = [model for model, times in often.items() if times > 1]
    named = pl.col("model") + pl.lit(f" ({run})")
    return pl.when(pl.col("model").is_in(twice)).then(named).otherwise(pl.col("model"))


def _texts_of(shared: SharedCorpus, sources: Sequence[Source], corpora: Sequence[CorpusLike]) -> Corpus:
    """The corpus with its texts, from the first run that can tell where they are."""
    errors = []
    for at, name in shared.names.items():
        try:
            return corpus_of(sources[at].run, name, corpora)
        except BadInput as error:
            errors.append(error)
    raise errors[0]


def _cues(corpus: Corpus, one: Answered) -> Cues:
    """The cues of each text that was annotated for a label."""
    wanted = {id_ for id_, gold in zip(one.ids, one.gold, strict=True) if not np.isnan(gold)}
    rows = corpus.table.select("id", "text").iter_rows()
    return {id_: cues_of(text, one.label) for id_, text in rows if id_ in wanted}


def _measured(corpus: Corpus, cues: Cues, one: Answered) -> Texts:
    """The characters of each text and whether it has each cue, all (n,)."""
    lengths = dict(zip(corpus.ids, map(len, corpus.texts), strict=True))
    has = {cue: np.array([cue in cues.get(id_, ()) for id_ in one.ids]) for cue in cue_names()}
    return np.array([lengths[id_] for id_ in one.ids], np.float64), has


def _outcomes(one: Answered, read: dict[str, Corpus], cues: dict[tuple[str, str], Cues]) -> pl.DataFrame:
    """One row for each annotated text: which models are right, wrong or silent, and its cues; ids only."""
    names, right = np.array(one.models), one.right
    mine = cues.get((one.corpus, one.label))
    rows = [
        {
            "corpus": one.corpus,
            "label": one.label,
            "id": one.ids[i],
            "gold": int(one.gold[i]),
            **{how: names[test].tolist() for how, test in _sides(right[i])},
            "cues": None if mine is None else list(mine[one.ids[i]]),
        }
        for i in np.flatnonzero(~np.isnan(one.gold))
    ]
    kinds: dict[str, Any] = dict.fromkeys(("corpus", "label", "id"), pl.String) | {"gold": pl.Int8}
    kinds |= dict.fromkeys(("right", "wrong", "unanswered", "cues"), pl.List(pl.String))
    return pl.DataFrame(rows, schema=kinds)


def _sides(right: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    yield from (("right", right == 1), ("wrong", right == 0), ("unanswered", np.isnan(right)))


def _shown(
    outcomes: pl.DataFrame, read: dict[str, Corpus], cues: dict[tuple[str, str], Cues]
) -> Iterator[Shown]:
    """The texts of the cases on the page, with their cues marked."""
    texts = {name: dict(corpus.table.select("id", "text").iter_rows()) for name, corpus in read.items()}
    cases = outcomes.filter(pl.col("wrong").list.len() + pl.col("unanswered").list.len() > 0)
    for row in cases.head(MOST_SHOWN).iter_rows(named=True):
        corpus, label, id_ = row["corpus"], row["label"], row["id"]
        spans = {span for some in cues[corpus, label][id_].values() for span in some}
        yield Shown(
            model="",
            corpus=corpus,
            suite=DIFF,
            check=label,
            id=id_,
            outcome="parted",
            before=np.nan,
            after=np.nan,
            variant=1,
            text=texts[corpus][id_],
            spans=tuple(sorted(spans)),
        )


def _models(sources: Sequence[Source]) -> Iterator[dict[str, object]]:
    for one in sources:
        for model in one.predictions["model"].unique(maintain_order=True):
            yield {"name": model, "run": one.name, "threshold": one.run.plan.get("threshold", 0.5)}


def _sizes(answered: Sequence[Answered]) -> dict[str, int]:
    return {one.corpus: len(one.ids) for one in answered}


def _environment(sources: Sequence[Source], answered: Sequence[Answered]) -> dict[str, object]:
    """Versions, and the fingerprints that the runs recorded."""
    corpora = {f"{one.name}, {name}": one.mark(name) for one in sources for name in one.corpora}
    models = {one.name: dict(one.run.environment.get("models", {})) for one in sources}
    return {**environment_of((), ()), "models": models, "corpora": corpora}


def _thresholds(sources: Sequence[Source]) -> Iterator[str]:
    thresholds = {one.name: float(one.run.plan.get("threshold", 0.5)) for one in sources}
    if len(set(thresholds.values())) > 1:
        listed = ", ".join(f"{name} {value:g}" for name, value in thresholds.items())
        yield f"the runs decide at different thresholds ({listed}); each model is compared at its own"


def _clustering(answered: Sequence[Answered]) -> Iterator[str]:
    for name, n in _sizes(answered).items():
        units = next(one.clusters.count for one in answered if one.corpus == name)
        if units < n:
            yield f"{name}: intervals and tests are clustered by author or text ({units:,} in {n:,} texts)"


def _nothing_shared(sources: Sequence[Source]) -> BadInput:
    labels = [", ".join(one.predictions["label"].unique(maintain_order=True)) for one in sources]
    has = "; ".join(
        f"{one.name}: {', '.join(one.corpora)} with {names}"
        for one, names in zip(sources, labels, strict=True)
    )
    return BadInput(
        "the models share no texts with a label that both have",
        where=has,
        allowed="runs on the same corpus with at least one label in common",
        do="audit the models on the same corpus",
    )
