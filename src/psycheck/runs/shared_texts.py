"""What the models of several runs answered about the same texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from psycheck.audits.differences import Answered
from psycheck.audits.performance import stored_clusters
from psycheck.core.errors import BadInput, counted, nearest
from psycheck.core.run import Run
from psycheck.corpora.opening import CorpusLike
from psycheck.runs.reopened_corpus import corpus_of
from psycheck.statistics.classification import firm

_KEYS = ("corpus", "label", "model")
_COMPARED = (*_KEYS, "id", "target", "score", "decided", "unit", "copy")


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

    if "copy" not in predictions.columns:  # older folders
        predictions = predictions.with_columns(copy=pl.lit(None))

    # Another version may have written other types, and tables of two runs are put together later.
    predictions = predictions.with_columns(
        pl.col(_KEYS).cast(pl.String),
        pl.col("unit", "copy").cast(pl.Int64),
    )
    return Source(
        name=name,
        run=run,
        predictions=predictions,
        notes=tuple(notes),
    )


def _decided_at(threshold: float, predictions: pl.DataFrame) -> pl.DataFrame:
    """Predictions with the columns that older runs lack: decisions at a threshold, each text its own unit."""
    is_positive = pl.col("score") >= threshold
    number_of_text = pl.col("id").rank("dense").over("corpus")
    return predictions.with_columns(
        decided=is_positive.cast(pl.Int8),
        unit=number_of_text.cast(pl.Int64),
    )


def shared_corpora(sources: Sequence[Source]) -> list[SharedCorpus]:
    """Corpora that hold the same texts, by fingerprint, or that have the same name."""
    groups: list[dict[int, str]] = []  # name of the corpus, by position of the source
    for position, source in enumerate(sources):
        for name in source.corpora:
            # Two corpora of one run are never the same.
            open_groups = [group for group in groups if position not in group]
            mark = source.mark(name)
            same_texts = [group for group in open_groups if _holds_texts(group, mark, sources)]
            same_name = [group for group in open_groups if name in group.values()]

            # The same texts under another name are more alike than other texts under the same name.
            matching = [*same_texts, *same_name]
            if matching:
                matching[0][position] = name
            else:
                groups.append({position: name})

    shared = []
    for group in groups:
        first_name = next(iter(group.values()))
        shared.append(SharedCorpus(name=first_name, names=group))
    return shared


def _holds_texts(group: Mapping[int, str], mark: str, sources: Sequence[Source]) -> bool:
    """Whether one of the corpora has this fingerprint."""
    if not mark:  # an older run may record none
        return False
    marks = [sources[position].mark(name) for position, name in group.items()]
    return mark in marks


def answers_of(
    shared: SharedCorpus,
    sources: Sequence[Source],
    labels: Sequence[str],
    corpora: Sequence[CorpusLike],
) -> tuple[list[Answered], list[str]]:
    """What the models answered about each label that two or more have, and notes on what was left out.

    `labels` are those to compare, all if there are none.
    """
    notes: list[str] = []
    shared_ids = _shared_ids(shared, sources, corpora, notes)
    predictions = _predictions(shared, sources, shared_ids)

    answered: list[Answered] = []
    labels_there = predictions["label"].unique(maintain_order=True)
    for label in labels_there.to_list():
        if labels and label not in labels:
            continue

        rows = predictions.filter(pl.col("label") == label)
        models = rows["model"].unique(maintain_order=True).to_list()
        # A difference takes two.
        if len(models) < 2:
            notes.append(f"{shared.name}: label {label} is left out, only {models[0]} has it")
            continue

        answers = _answered(shared.name, label, models, rows)
        texts_by_model = rows.group_by("model").len("texts")
        most_texts = max(texts_by_model["texts"].to_list())
        if len(answers.ids) < most_texts:
            texts = f"{len(answers.ids):,} of {most_texts:,} texts"
            notes.append(f"{shared.name}: compared on the {texts} that all models were asked about ({label})")
        if answers.ids:
            answered.append(answers)
    return answered, notes


def _predictions(
    shared: SharedCorpus,
    sources: Sequence[Source],
    shared_ids: Sequence[str] | None,
) -> pl.DataFrame:
    """The predictions of all sources about a shared corpus, about texts with these ids alone."""
    tables = []
    for position, name in shared.names.items():
        predictions = sources[position].predictions
        rows = predictions.filter(pl.col("corpus") == name)
        if shared_ids is not None:
            rows = rows.filter(pl.col("id").is_in(shared_ids))
        tables.append(rows.select(_COMPARED))
    return pl.concat(tables)


def _shared_ids(
    shared: SharedCorpus, sources: Sequence[Source], corpora: Sequence[CorpusLike], notes: list[str]
) -> list[str] | None:
    """The ids that mean the same text in all runs; None where all runs had the same corpus."""
    # Of runs with equal fingerprints, one stands for all: they had the same texts.
    place_of_mark = {}
    for position, name in shared.names.items():
        mark = sources[position].mark(name)
        place_of_mark[mark] = (position, name)
    if len(place_of_mark) < 2:
        return None

    tables = []
    for position, name in place_of_mark.values():
        tables.append(_ids_and_texts(sources[position], name, corpora))
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
        reopened = corpus_of(source.run, corpus, corpora)
        return reopened.table.select("id", "text")
    except BadInput as error:
        raise BadInput(
            f"the runs differ in texts or labels, and what they share cannot be told: {error.what}",
            code="diff.texts-not-found",
            where=error.where,
            allowed="runs on the same corpus, or corpora that can be read again",
            do="audit the models on the same corpus, or name the files with `corpora=PATH`",
        ) from error


def _answered(
    corpus: str,
    label: str,
    models: Sequence[str],
    rows: pl.DataFrame,
) -> Answered:
    """The answers about one label, on the texts that every model was asked about."""
    tables = [rows.filter(pl.col("model") == model) for model in models]
    texts = tables[0].select("id", "target", "unit", "copy")
    for table in tables[1:]:
        texts = texts.join(
            table.select("id"),
            on="id",
            how="semi",
            maintain_order="left",
        )

    # Row by row the same texts, so that columns of several models can stand side by side.
    aligned = []
    for table in tables:
        in_order = texts.select("id").join(
            table,
            on="id",
            how="left",
            maintain_order="left",
        )
        aligned.append(in_order)
    _refuse_different_annotations(corpus, label, texts["target"], aligned)

    return Answered(
        corpus=corpus,
        label=label,
        models=tuple(models),
        ids=tuple(texts["id"].to_list()),
        gold=_gold(texts["target"]),
        scores=_columns(aligned, "score"),
        decided=_columns(aligned, "decided"),
        clusters=stored_clusters(texts),
    )


def _refuse_different_annotations(
    corpus: str,
    label: str,
    target: pl.Series,
    aligned: Sequence[pl.DataFrame],
) -> None:
    """Refuse runs that judged the same text by different annotations: models would differ for that alone."""
    differing = 0
    for table in aligned:
        is_different = table["target"].ne_missing(target)
        differing += int(is_different.sum())
    if differing:
        raise BadInput(
            f"the runs annotate {counted(differing, 'text')} of corpus '{corpus}' differently for '{label}'",
            code="diff.different-annotations",
            allowed="runs with the same annotations",
            do="audit the models on the same corpus",
        )


def _columns(aligned: Sequence[pl.DataFrame], name: str) -> np.ndarray:
    """One column of each model's table side by side, (n, models); NaN where there is no value."""
    columns = [_numbers(table[name]) for table in aligned]
    return np.column_stack(columns)


def _gold(target: pl.Series) -> np.ndarray:
    """The annotations as 0 or 1, (n,); NaN where there is none, or none that decides."""
    marks = firm(_numbers(target))
    is_unknown = np.isnan(marks)
    return np.where(is_unknown, np.nan, marks > 0.5)


def _numbers(column: pl.Series) -> np.ndarray:
    """A column as numbers, (n,); NaN where there is no value."""
    return column.cast(pl.Float64).fill_null(np.nan).to_numpy()


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
