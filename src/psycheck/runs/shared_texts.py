"""What the models of several runs answered about the same texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from psycheck.audits.differences import Answered
from psycheck.core.errors import BadInput, counted, nearest
from psycheck.core.run import Run
from psycheck.corpora.opening import CorpusLike
from psycheck.runs.reopened_corpus import corpus_of
from psycheck.statistics.classification import firm
from psycheck.statistics.clustered import Clusters

_KEYS = ("corpus", "label", "model")
_COMPARED = (*_KEYS, "id", "target", "score", "decided", "unit")


@dataclass(frozen=True, slots=True)
class Source:
    """One run to compare: its name on the page, and its predictions with decisions and units."""

    name: str
    run: Run
    predictions: pl.DataFrame
    notes: tuple[str, ...] = ()

    def mark(self, corpus: str) -> str:
        """The fingerprint of a corpus of the run."""
        return str(self.run.environment.get("corpora", {}).get(corpus, ""))

    @property
    def corpora(self) -> list[str]:
        """The corpora that have predictions."""
        return self.predictions["corpus"].unique(maintain_order=True).to_list()


@dataclass(frozen=True, slots=True)
class SharedCorpus:
    """The same texts in one or several runs: its name in each source, by the source's position."""

    name: str
    names: Mapping[int, str]


def source_of(name: str, run: Run) -> Source:
    """A run with its predictions; a run without any is refused."""
    predictions = run.tables.get("predictions")
    is_audit = not run.plan.get("verb")
    if predictions is None or predictions.is_empty() or not is_audit:
        raise BadInput(
            "the run has no predictions to compare",
            code="diff.no-predictions",
            where=name,
            allowed="a run of `psycheck audit` that judged performance on a corpus with labels",
            do="psycheck audit MODEL CORPUS --audit performance --out FOLDER",
        )

    notes = []
    if run.incomplete:
        texts = counted(run.incomplete, "text")
        notes.append(f"{name}: incomplete, {texts} could not be scored and count as unanswered")
    if "decided" not in predictions.columns:  # older folders
        threshold = float(run.plan.get("threshold", 0.5))
        predictions = _decided_at(threshold, predictions)
        notes.append(
            f"{name}: an older run that records no authors and no decisions; every text counts as "
            f"independent, and scores of at least {threshold:g} as 1"
        )

    predictions = predictions.with_columns(pl.col(_KEYS).cast(pl.String), pl.col("unit").cast(pl.Int64))
    return Source(name=name, run=run, predictions=predictions, notes=tuple(notes))


def _decided_at(threshold: float, predictions: pl.DataFrame) -> pl.DataFrame:
    """Predictions with the columns that older runs lack: decisions at a threshold, each text its own unit."""
    return predictions.with_columns(
        decided=(pl.col("score") >= threshold).cast(pl.Int8),
        unit=pl.col("id").rank("dense").over("corpus").cast(pl.Int64),
    )


def shared_corpora(sources: Sequence[Source]) -> list[SharedCorpus]:
    """Corpora that hold the same texts, by fingerprint, or that have the same name."""
    groups: list[dict[int, str]] = []  # name of the corpus, by position of the source
    for position, source in enumerate(sources):
        for name in source.corpora:
            # Two corpora of one run are never the same.
            open_groups = [group for group in groups if position not in group]
            matching = [
                *(group for group in open_groups if _holds_texts(group, source.mark(name), sources)),
                *(group for group in open_groups if name in group.values()),
            ]
            if matching:
                matching[0][position] = name
            else:
                groups.append({position: name})
    return [SharedCorpus(name=next(iter(group.values())), names=group) for group in groups]


def _holds_texts(group: Mapping[int, str], mark: str, sources: Sequence[Source]) -> bool:
    """Whether one of the corpora has this fingerprint."""
    return mark != "" and any(sources[position].mark(name) == mark for position, name in group.items())


def answers_of(
    shared: SharedCorpus, sources: Sequence[Source], labels: Sequence[str], corpora: Sequence[CorpusLike]
) -> tuple[list[Answered], list[str]]:
    """What the models answered about each label that two or more have, and notes on what was left out.

    `labels` are those to compare, all if there are none.
    """
    notes: list[str] = []
    shared_ids = _shared_ids(shared, sources, corpora, notes)
    predictions = _predictions(shared, sources, shared_ids)

    answered: list[Answered] = []
    for label in predictions["label"].unique(maintain_order=True).to_list():
        if labels and label not in labels:
            continue

        rows = predictions.filter(pl.col("label") == label)
        models = rows["model"].unique(maintain_order=True).to_list()
        if len(models) < 2:
            notes.append(f"{shared.name}: label {label} is left out, only {models[0]} has it")
            continue

        answers = _answered(shared.name, label, models, rows)
        most_texts = max(rows.group_by("model").len()["len"].to_list())
        if len(answers.ids) < most_texts:
            texts = f"{len(answers.ids):,} of {most_texts:,} texts"
            notes.append(f"{shared.name}: compared on the {texts} that all models were asked about ({label})")
        if answers.ids:
            answered.append(answers)
    return answered, notes


def _predictions(
    shared: SharedCorpus, sources: Sequence[Source], shared_ids: Sequence[str] | None
) -> pl.DataFrame:
    """The predictions of all sources about a shared corpus, about texts with these ids alone."""
    tables = []
    for position, name in shared.names.items():
        rows = sources[position].predictions.filter(pl.col("corpus") == name)
        if shared_ids is not None:
            rows = rows.filter(pl.col("id").is_in(shared_ids))
        tables.append(rows.select(_COMPARED))
    return pl.concat(tables)


def _shared_ids(
    shared: SharedCorpus, sources: Sequence[Source], corpora: Sequence[CorpusLike], notes: list[str]
) -> list[str] | None:
    """The ids that mean the same text in all runs; None where all runs had the same corpus."""
    place_of_mark = {
        sources[position].mark(name): (position, name) for position, name in shared.names.items()
    }
    if len(place_of_mark) < 2:
        return None

    tables = [_ids_and_texts(sources[position], name, corpora) for position, name in place_of_mark.values()]
    same_texts = tables[0]
    same_ids = tables[0]
    for table in tables[1:]:
        same_texts = same_texts.join(table, on=["id", "text"], how="semi")
        same_ids = same_ids.join(table, on="id", how="semi")

    note = f"compared on {counted(len(same_texts), 'shared text')}"
    reused_ids = len(same_ids) - len(same_texts)
    if reused_ids:
        note += f"; {counted(reused_ids, 'id')} mean other texts"
    notes.append(f"{shared.name}: the runs differ in texts or labels; {note}")
    return same_texts["id"].to_list()


def _ids_and_texts(source: Source, corpus: str, corpora: Sequence[CorpusLike]) -> pl.DataFrame:
    """The ids and texts of a corpus of a run, read again."""
    try:
        return corpus_of(source.run, corpus, corpora).table.select("id", "text")
    except BadInput as error:
        raise BadInput(
            f"the runs differ in texts or labels, and what they share cannot be told: {error.what}",
            code="diff.texts-not-found",
            where=error.where,
            allowed="runs on the same corpus, or corpora that can be read again",
            do="audit the models on the same corpus, or name the files with `corpora=PATH`",
        ) from error


def _answered(corpus: str, label: str, models: Sequence[str], rows: pl.DataFrame) -> Answered:
    """The answers about one label, on the texts that every model was asked about."""
    tables = [rows.filter(pl.col("model") == model) for model in models]
    texts = tables[0].select("id", "target", "unit")
    for table in tables[1:]:
        texts = texts.join(table.select("id"), on="id", how="semi", maintain_order="left")
    aligned = [texts.select("id").join(table, on="id", how="left", maintain_order="left") for table in tables]
    _refuse_different_annotations(corpus, label, texts["target"], aligned)

    return Answered(
        corpus=corpus,
        label=label,
        models=tuple(models),
        ids=tuple(texts["id"].to_list()),
        gold=_gold(texts["target"]),
        scores=_columns(aligned, "score"),
        decided=_columns(aligned, "decided"),
        clusters=Clusters.of(texts["unit"].to_numpy()),
    )


def _refuse_different_annotations(
    corpus: str, label: str, target: pl.Series, aligned: Sequence[pl.DataFrame]
) -> None:
    differing = sum(int(table["target"].ne_missing(target).sum()) for table in aligned)
    if differing:
        raise BadInput(
            f"the runs annotate {counted(differing, 'text')} of corpus '{corpus}' differently for '{label}'",
            code="diff.different-annotations",
            allowed="runs with the same annotations",
            do="audit the models on the same corpus",
        )


def _columns(aligned: Sequence[pl.DataFrame], name: str) -> np.ndarray:
    """One column of each model's table side by side, (n, models); NaN where there is no value."""
    columns = [table[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for table in aligned]
    return np.column_stack(columns)


def _gold(target: pl.Series) -> np.ndarray:
    """The annotations as 0 or 1, (n,); NaN where there is none, or none that decides."""
    marks = firm(target.cast(pl.Float64).fill_null(np.nan).to_numpy())
    return np.where(np.isnan(marks), np.nan, marks > 0.5)


def refuse_unknown_labels(labels: Sequence[str], sources: Sequence[Source]) -> None:
    """Refuse a label that no run has."""
    labels_of_runs: set[str] = set()
    for source in sources:
        labels_of_runs.update(source.predictions["label"].unique())

    for label in labels:
        if label not in labels_of_runs:
            raise BadInput(
                f"no run has the label '{label}'",
                code="diff.unknown-label",
                key="labels",
                allowed=nearest(label, labels_of_runs),
            )
