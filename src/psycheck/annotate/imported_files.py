"""Files into a project: which of their columns mean what, reasons for gold labels, and uploads."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from psycheck.annotate.database import Database
from psycheck.annotate.gold_items import UNCERTAIN
from psycheck.annotate.membership import OWNS, Person, role_in, stored_task
from psycheck.annotate.transfer import QUEUE_GROUPS, RETRIEVED, Imported, import_corpus
from psycheck.core.corpus import PLAIN
from psycheck.core.errors import BadInput, PsycheckError
from psycheck.corpora.columns import Columns, assign
from psycheck.corpora.reading import read_corpus
from psycheck.io.tables import read_table, readable_endings

LARGEST_UPLOAD: Final = 64_000_000  # bytes
WHY: Final = "why"  # the column with reasons for gold labels


def reasons_in(path: Path, columns: Columns | None = None, format: str | None = None) -> dict[str, str]:
    """The reasons for gold labels by text, from the column `why` of a file: corpora have no long columns."""
    table = read_table(path, format)
    if WHY not in table.columns:
        return {}
    texts = table.columns[assign(table, columns or Columns()).text]
    return {str(text): str(why) for text, why in zip(texts, table.columns[WHY], strict=True) if why}


def columns_for(
    db: Database,
    project_id: int,
    kind: str,
    path: Path,
    columns: Columns,
    format: str | None = None,
) -> Columns:
    """The columns of a file for a project: `queue` or `disease` is a group; its labels are known by name.

    A test seldom has both answers to every label, and a column of zeros is not guessed to be a label.
    """
    with db.read() as connection:
        task = stored_task(connection, project_id)
    table = read_table(path, format)

    labels = columns.labels
    if not labels and kind != "item":
        project_labels = {UNCERTAIN}
        for queue in task.queues:
            project_labels.update(task.labels(queue))
        labels = tuple(name for name in table.columns if name in project_labels)
    columns = replace(columns, labels=labels)

    groups = assign(table, columns).groups
    taken_columns = {*groups, *(getattr(columns, role) for role in PLAIN)}
    free_columns = set(table.columns) - taken_columns
    queue_columns: list[str] = [name for name in QUEUE_GROUPS if name in free_columns]
    # Both columns tell that the file is from `retrieve`, whose order is kept.
    if {*groups, *free_columns} - {*labels} >= RETRIEVED:
        queue_columns += sorted(RETRIEVED - {*groups, *queue_columns})
    return replace(columns, groups=(*groups, *queue_columns))


def import_upload(
    db: Database,
    who: Person,
    project_id: int,
    name: str,
    content: bytes,
    *,
    kind: str = "item",
    queue: str | None = None,
) -> Imported:
    """Import a file that a browser sent; of its name only the extension counts."""
    if len(content) > LARGEST_UPLOAD:
        raise BadInput(
            "the file is too large",
            code="upload.too-large",
            allowed=f"at most {LARGEST_UPLOAD // 1_000_000} MB",
        )
    # Of the name only this is used: it is somebody else's.
    extensions = [ending for ending in readable_endings() if name.casefold().endswith(ending)]
    if not extensions:
        raise BadInput(
            "this kind of file cannot be imported",
            code="upload.unknown-kind",
            allowed=", ".join(readable_endings()),
        )
    with db.read() as connection:
        role_in(connection, who, project_id, *OWNS)

    # The folder is readable for its owner alone.
    with TemporaryDirectory(prefix="psycheck-") as folder:
        path = Path(folder) / f"upload{extensions[0]}"
        # A file, because readers of tables work on files.
        path.write_bytes(content)
        try:
            columns = columns_for(db, project_id, kind, path, Columns())
            corpus = read_corpus(path, columns)
            reasons = reasons_in(path, columns)
        except PsycheckError as error:
            # The folder is gone when the error is read, and means nothing to the person who uploaded.
            for part in ("what", "where", "allowed", "do"):
                setattr(error, part, getattr(error, part).replace(f"{folder}/", ""))
            raise
    return import_corpus(db, who, project_id, corpus, kind=kind, queue=queue, reasons=reasons)
