"""Exports as files and downloads: corpora, tables and the formats of other programs."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

import polars as pl

from psycheck.annotate.answered_items import answered_items
from psycheck.annotate.argilla import to_argilla
from psycheck.annotate.database import Database
from psycheck.annotate.export import judgements, merged, project_name, trail
from psycheck.annotate.exported_agreement import agreed
from psycheck.annotate.exported_evidence import evidence, flagged_items, gold_evidence
from psycheck.annotate.label_studio import label_studio_setup, to_label_studio
from psycheck.annotate.membership import Person, stored_task
from psycheck.core.corpus import LABEL, Corpus
from psycheck.core.errors import BadInput, nearest
from psycheck.core.finding import spreadsheet_safe
from psycheck.corpora.judgements import MERGES, Merge
from psycheck.corpora.remedies import SPLITS, split_anew
from psycheck.corpora.writing import write_corpus
from psycheck.io.tables import stem
from psycheck.io.writing import writing, written

Export = (
    Literal[
        "judgements",
        "agreement",
        "trail",
        "evidence",
        "gold-evidence",
        "flagged",
        "label-studio",
        "argilla",
    ]
    | Merge
)
EXPORTS: Final[tuple[Export, ...]] = (
    "judgements",
    "agreement",
    "trail",
    "evidence",
    "gold-evidence",
    "flagged",
    "label-studio",
    "argilla",
    *MERGES,
)
# Exports that are one JSON array, with the texts; all others are JSON lines.
_ARRAYS: Final = ("label-studio", "argilla")
SHARES: Final = "6:2:2"
NO_SPLITS: Final = "none"
# A label of a project's own: a text that is 1 for it has nothing to do with what is asked.
OFF_TOPIC: Final = "off_topic"


@dataclass(frozen=True, slots=True)
class Exporting:
    """What to export of a project, for whom (None: the command line), and whether with flagged posts.

    Corpora also leave out what is 1 for the label `off_topic`, unless flagged posts are kept.

    Corpora are split by `split`: shares of train, dev and test, or "none"; None keeps the splits that texts
    were imported with, and gives texts without any of them the usual shares.
    """

    db: Database
    who: Person | None
    project: int
    what: str
    flagged: bool = False
    split: str | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Written:
    """What an export wrote: rows, files beside it, how its texts were split, how many were off topic."""

    rows: int
    files_beside: tuple[Path, ...] = ()
    splits: str = ""
    off_topic: int = 0


def exported(export: Exporting) -> tuple[str, bytes]:
    """A file to download: its name, made of the project's, and its content."""
    name = project_name(export.db, export.who, export.project)
    extension = "json" if export.what in _ARRAYS else "jsonl"
    content = "".join(_content(export))
    return f"{name}-{export.what}.{extension}", content.encode("utf-8")


def write_export(export: Exporting, path: Path) -> Written:
    """Write an export by the file's extension.

    Beside a corpus comes its evidence, if it has any (NAME.evidence.jsonl); beside tasks for Label Studio
    the labelling set-up of their project (NAME.xml).
    """
    if export.what in MERGES:
        corpus, splits, off_topic = _merged(export)
        # Only text formats are opened by spreadsheets, which take "=" for a formula.
        write_corpus(_spreadsheet_safe(corpus) if path.suffix in (".csv", ".tsv") else corpus, path)
        return Written(
            rows=len(corpus),
            files_beside=tuple(_write_evidence(export, corpus, path)),
            splits=splits,
            off_topic=off_topic,
        )

    if export.what not in EXPORTS:
        raise BadInput(
            f"unknown export '{export.what}'",
            code="export.unknown",
            allowed=nearest(export.what, EXPORTS),
            key="what",
        )
    # Refused before anything is read: an export of a large project can take long.
    extensions = _extensions(export.what)
    if path.suffix not in extensions:
        raise BadInput(
            f"cannot write this to '{path.suffix}' files",
            code="export.unknown-extension",
            where=str(path),
            allowed=", ".join(extensions),
        )

    with writing(path), written(path) as part:
        if path.suffix in (".csv", ".parquet"):
            table = judgements(export.db, export.who, export.project, flagged=export.flagged)
            rows = _write_table(table, part, path.suffix)
        else:
            rows = _write_json(_content(export), part)

    if export.what == "label-studio":
        return Written(rows, (_write_setup(export, path.with_suffix(".xml")),))
    return Written(rows)


def _merged(export: Exporting) -> tuple[Corpus, str, int]:
    """The corpus of an export with its splits, what to say of these, and how many texts were off topic."""
    how: Any = export.what
    answered = merged(export.db, export.who, export.project, how, flagged=export.flagged)
    corpus = answered if export.flagged else _on_topic(answered)
    with_splits, splits = _with_splits(export, corpus)
    return with_splits, splits, len(answered) - len(corpus)


def _on_topic(corpus: Corpus) -> Corpus:
    """The texts that are not 1 for the label `off_topic`, without this label; all where nobody was asked."""
    if OFF_TOPIC not in corpus.labels:
        return corpus
    marks = corpus.targets([OFF_TOPIC])[:, 0]
    # Half of the annotators are enough, as for a conflict that nobody decided.
    kept = corpus.only(~(marks >= 0.5))
    return replace(kept, table=kept.table.drop(LABEL + OFF_TOPIC))


def _with_splits(export: Exporting, corpus: Corpus) -> tuple[Corpus, str]:
    """The corpus with the splits of an export, and what to say of these."""
    if export.split == NO_SPLITS:
        # The corpus may have come with splits of its own: "none" means none.
        return Corpus(corpus.name, corpus.table.drop("split", strict=False)), ""
    if export.split is None and "split" in corpus.table:
        return corpus, f"{_sizes(corpus)} (as imported)"
    # Shares of nothing cannot be drawn.
    if not len(corpus):
        return corpus, ""

    shares = export.split or SHARES
    # An author in two splits would let a model recognise the person instead of the symptom.
    units = "by author" if "author" in corpus.table else "text by text, since no author is known"
    with_splits = split_anew(corpus, shares, seed=export.seed)
    return with_splits, f"{_sizes(with_splits)} ({shares} {units}, seed {export.seed})"


def _sizes(corpus: Corpus) -> str:
    """How many texts each split has."""
    counts = Counter(split or "no split" for split in corpus.strings("split"))
    return ", ".join(f"{name} {counts[name]:,}" for name in (*SPLITS, "no split") if counts[name])


def _spreadsheet_safe(corpus: Corpus) -> Corpus:
    """The corpus with an apostrophe before each cell that a spreadsheet would run."""
    safe_columns = [
        pl.col(name).map_elements(spreadsheet_safe, pl.String)
        for name, kind in corpus.table.schema.items()
        if kind == pl.String
    ]
    return Corpus(corpus.name, corpus.table.with_columns(safe_columns))


def _write_evidence(export: Exporting, corpus: Corpus, corpus_path: Path) -> list[Path]:
    """Write the evidence that stands beside a corpus, of its texts alone; no file if there is none."""
    ids = set(corpus.ids)
    of_project = gold_evidence(export.db, export.who, export.project, flagged=export.flagged)
    records = [record for record in of_project if record["item"] in ids]
    if not records:
        return []
    path = corpus_path.with_name(f"{stem(corpus_path)}.evidence.jsonl")
    with writing(path), written(path) as part:
        part.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return [path]


def _write_setup(export: Exporting, path: Path) -> Path:
    """Write the labelling set-up of a Label Studio project for the tasks of an export."""
    with writing(path), written(path) as part:
        part.write_text(setup_of(export), "utf-8")
    return path


def setup_of(export: Exporting) -> str:
    """The labelling set-up of a Label Studio project for all labels that a project asks about."""
    with export.db.read() as connection:
        task = stored_task(connection, export.project)
    # Queues share symptoms: each label is a control of the set-up once.
    labels = dict.fromkeys(label for queue in task.queues for label in task.labels(queue))
    return label_studio_setup(list(labels))


def _extensions(what: str) -> tuple[str, ...]:
    """The files that an export can be written to."""
    if what == "judgements":
        return (".csv", ".jsonl", ".parquet")
    if what in _ARRAYS:
        return (".json",)
    return (".jsonl",)


def _write_table(table: pl.DataFrame, path: Path, extension: str) -> int:
    if extension == ".csv":
        safe_names = pl.col("item", "annotator").map_elements(spreadsheet_safe, pl.String)
        table.with_columns(safe_names).write_csv(path)
    else:
        table.write_parquet(path)
    return table.height


def _write_json(pieces: Iterator[str], path: Path) -> int:
    """Write pieces of JSON, and return how many of them are records."""
    records = 0
    with path.open("w", encoding="utf-8") as file:
        for piece in pieces:
            file.write(piece)
            # Brackets and separators are pieces, too, but no records.
            if piece.startswith("{"):
                records += 1
    return records


def _content(export: Exporting) -> Iterator[str]:
    """The records as JSON, each a piece by itself: one per line, or all in one array."""
    if export.what in _ARRAYS:
        yield "["
        separator = ""
        for record in _records(export):
            # Piece by piece: the array of a large project does not fit into memory as one string.
            yield separator
            yield json.dumps(record, ensure_ascii=False)
            separator = ",\n"
        yield "]\n"
        return

    for record in _records(export):
        yield json.dumps(record, ensure_ascii=False)
        yield "\n"


def _records(export: Exporting) -> Iterator[dict[str, Any]]:
    if export.what in MERGES:
        corpus, _, _ = _merged(export)
        return corpus.table.iter_rows(named=True)
    if export.what in _WITHOUT_TEXTS:
        return _WITHOUT_TEXTS[export.what](export.db, export.who, export.project)

    db, who, project_id = export.db, export.who, export.project
    match export.what:
        case "evidence":
            return evidence(db, who, project_id, flagged=export.flagged)
        case "gold-evidence":
            return gold_evidence(db, who, project_id, flagged=export.flagged)
        case "judgements":
            return judgements(db, who, project_id, flagged=export.flagged).iter_rows(named=True)
        case "label-studio":
            return to_label_studio(answered_items(db, who, project_id, flagged=export.flagged))
        case "argilla":
            return to_argilla(answered_items(db, who, project_id, flagged=export.flagged))
    raise BadInput("there is no such export", code="export.unknown", allowed=nearest(export.what, EXPORTS))


# Nothing in these quotes a post, so that flagged ones need not be left out.
_WITHOUT_TEXTS: Final[dict[str, Callable[[Database, Person | None, int], Iterator[dict[str, Any]]]]] = {
    "trail": trail,
    "agreement": agreed,
    "flagged": flagged_items,
}
