"""What the models of several runs answered about the same texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from psycheck.audits.differences import Answered
from psycheck.corpora.open import CorpusLike
from psycheck.errors import BadInput, counted, nearest
from psycheck.measures.classification import firm
from psycheck.measures.clustered import Clusters
from psycheck.run import Run
from psycheck.runs.reopen import corpus_of

_KEYS = ("corpus", "label", "model")


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
    table = run.tables.get("predictions")
    if table is None or table.is_empty() or run.plan.get("verb"):
        raise BadInput(
            "the run has no predictions to compare",
            where=name,
            allowed="a run of `psycheck audit` that judged performance on a corpus with labels",
            do="psycheck audit MODEL CORPUS --audit performance --out FOLDER",
        )
    notes = []
    if run.incomplete:
        texts = counted(run.incomplete, "text")
        notes.append(f"{name}: incomplete, {texts} could not be scored and count as unanswered")
    if "decided" not in table.columns:  # older folders
        threshold = float(run.plan.get("threshold", 0.5))
        decided = (pl.col("score") >= threshold).cast(pl.Int8)
        unit = pl.col("id").rank("dense").over("corpus").cast(pl.Int64)
        table = table.with_columns(decided=decided, unit=unit)
        notes.append(
            f"{name}: an older run that records no authors and no decisions; every text counts as "
            f"independent, and scores of at least {threshold:g} as 1"
        )
    table = table.with_columns(pl.col(_KEYS).cast(pl.String), pl.col("unit").cast(pl.Int64))
    return Source(name, run, table, tuple(notes))


def shared_corpora(sources: Sequence[Source]) -> list[SharedCorpus]:
    """Corpora that hold the same texts, by fingerprint, or that have the same name."""
    found: list[dict[int, str]] = []
    for at, source in enumerate(sources):
        for name in source.corpora:
            mark, free = source.mark(name), [group for group in found if at not in group]
            equal = [
                group for group in free if any(sources[k].mark(o) == mark != "" for k, o in group.items())
            ]
            named = [group for group in free if name in group.values()]
            for group in [*equal, *named][:1]:
                group[at] = name
            found += [] if equal or named else [{at: name}]
    return [SharedCorpus(next(iter(group.values())), group) for group in found]


def answers_of(
    shared: SharedCorpus, sources: Sequence[Source], labels: Sequence[str], corpora: Sequence[CorpusLike]
) -> tuple[list[Answered], list[str]]:
    """What the models answered about each label that two or more have, and notes on what was left out."""
    notes: list[str] = []
    kept = _same_texts(shared, sources, corpora, notes)
    tables = []
    for at, name in shared.names.items():
        mine = sources[at].predictions.filter(pl.col("corpus") == name)
        tables.append(mine if kept is None else mine.filter(pl.col("id").is_in(kept)))
    rows = pl.concat([table.select(*_KEYS, "id", "target", "score", "decided", "unit") for table in tables])
    found = []
    for label in rows["label"].unique(maintain_order=True).to_list():
        mine = rows.filter(pl.col("label") == label)
        models = mine["model"].unique(maintain_order=True).to_list()
        if labels and label not in labels:
            continue
        if len(models) < 2:
            notes.append(f"{shared.name}: label {label} is left out, only {models[0]} has it")
            continue
        one = _answered(shared.name, label, models, mine)
        most = max(mine.group_by("model").len()["len"].to_list())
        if len(one.ids) < most:
            texts = f"{len(one.ids):,} of {most:,} texts"
            notes.append(f"{shared.name}: compared on the {texts} that all models were asked about ({label})")
        found.append(one)
    return [one for one in found if one.ids], notes


def _same_texts(
    shared: SharedCorpus, sources: Sequence[Source], corpora: Sequence[CorpusLike], notes: list[str]
) -> list[str] | None:
    """The ids that mean the same text in all runs; None where all runs had the same corpus."""
    marks = {sources[at].mark(name): (at, name) for at, name in shared.names.items()}
    if len(marks) < 2:
        return None
    tables = []
    for at, name in marks.values():
        try:
            tables.append(corpus_of(sources[at].run, name, corpora).table.select("id", "text"))
        except BadInput as error:
            raise BadInput(
                f"the runs differ in texts or labels, and what they share cannot be told: {error.what}",
                where=error.where,
                allowed="runs on the same corpus, or corpora that can be read again",
                do="audit the models on the same corpus, or name the files with `corpora=PATH`",
            ) from error
    same, named = tables[0], tables[0]
    for table in tables[1:]:
        same = same.join(table, on=["id", "text"], how="semi")
        named = named.join(table, on="id", how="semi")
    other = f"; {counted(len(named) - len(same), 'id')} mean other texts" if len(named) > len(same) else ""
    texts = counted(len(same), "shared text")
    notes.append(f"{shared.name}: the runs differ in texts or labels; compared on {texts}{other}")
    return same["id"].to_list()


def _answered(corpus: str, label: str, models: Sequence[str], rows: pl.DataFrame) -> Answered:
    """The answers about one label, on the texts that every model was asked about."""
    tables = [rows.filter(pl.col("model") == model) for model in models]
    shared = tables[0].select("id", "target", "unit")
    for table in tables[1:]:
        shared = shared.join(table.select("id"), on="id", how="semi", maintain_order="left")
    aligned = [
        shared.select("id").join(table, on="id", how="left", maintain_order="left") for table in tables
    ]
    differ = sum(one.filter(one["target"].ne_missing(shared["target"])).height for one in aligned)
    if differ:
        raise BadInput(
            f"the runs annotate {counted(differ, 'text')} of corpus '{corpus}' differently for '{label}'",
            allowed="runs with the same annotations",
            do="audit the models on the same corpus",
        )

    def columns(name: str) -> np.ndarray:
        return np.column_stack([one[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for one in aligned])

    return Answered(
        corpus=corpus,
        label=label,
        models=tuple(models),
        ids=tuple(shared["id"].to_list()),
        gold=_gold(shared["target"]),
        scores=columns("score"),
        decided=columns("decided"),
        clusters=Clusters.of(shared["unit"].to_numpy()),
    )


def _gold(target: pl.Series) -> np.ndarray:
    marks = firm(target.cast(pl.Float64).fill_null(np.nan).to_numpy())
    return np.where(np.isnan(marks), np.nan, marks > 0.5)


def refuse_unknown_labels(wanted: Sequence[str], sources: Sequence[Source]) -> None:
    """Refuse a label that no run has."""
    known = sorted({label for one in sources for label in one.predictions["label"].unique()})
    for label in wanted:
        if label not in known:
            raise BadInput(f"no run has the label '{label}'", key="labels", allowed=nearest(label, known))
