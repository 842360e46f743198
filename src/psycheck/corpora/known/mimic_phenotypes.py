"""Notes of MIMIC-III with the phenotype annotations of Moseley et al., and the gender of each record.

`NOTEEVENTS.csv` and `PATIENTS.csv` are tables of MIMIC-III 1.4; `ACTdb102003.csv` is version 1.20.03 of the
annotations: SUBJECT_ID, HADM_ID, ROW_ID, BATCH.ID, OPERATOR, one column of 0 or 1 a phenotype, NONE and
UNSURE, one row for each note and annotator, as public programs read it; the files themselves need a
credential.

As in the study of gender bias (2.2), a note is kept if an annotator marked DEPRESSION or NONE. The study does
not say how it joined annotators: here the label is the share of them who marked DEPRESSION, without those who
were unsure.
"""

from collections import Counter, defaultdict
from pathlib import Path

import polars as pl

from psycheck.core.errors import counted
from psycheck.corpora.known.release import Item, Loaded, Release, gender

_COLUMNS = ("ROW_ID", "SUBJECT_ID", "CATEGORY", "CHARTDATE", "TEXT")


def load(release: Release) -> Loaded:
    """The notes that annotators found to tell of depression, or of no phenotype at all."""
    notes_path = release.file("NOTEEVENTS.csv")
    patients = release.table(release.file("PATIENTS.csv"), "SUBJECT_ID", "GENDER")
    patient_genders = map(gender, patients.words("GENDER"))
    genders = dict(zip(patients.keys("SUBJECT_ID"), patient_genders, strict=True))
    shares, left_out = _shares(release, release.file("ACTdb*.csv"))
    notes = _notes(release, notes_path, list(shares))

    items = []
    for row_id, patient, category, date, text in notes.iter_rows():
        item = Item(
            id=row_id,
            text=text or "",
            labels={"depression": shares[row_id]},
            author=patient,
            time=date,
            groups={
                "gender": genders.get(patient),
                "category": category.strip() if category else None,
            },
        )
        items.append(item)
    left_out["annotated note that NOTEEVENTS.csv does not have"] = len(shares) - len(items)

    disputed = sum(0 < share < 1 for share in shares.values())
    remark = f"Annotators differ on {counted(disputed, 'note')}; the label is their share."
    return Loaded(
        items=items,
        left_out=left_out,
        notes=(remark,) if disputed else (),
    )


def _shares(release: Release, path: Path) -> tuple[dict[str, float], Counter[str]]:
    """For each note by its ROW_ID the share of annotators who marked depression, and what was left out."""
    sheet = release.table(
        path,
        "ROW_ID",
        "DEPRESSION",
        "NONE",
    )
    # A table without the column UNSURE is read as if no annotator was unsure.
    unsure_marks: list[float | None] = [None] * len(sheet)
    if sheet.find("UNSURE"):
        unsure_marks = sheet.marks("UNSURE")

    rows = zip(
        sheet.keys("ROW_ID"),
        sheet.marks("DEPRESSION"),
        sheet.marks("NONE"),
        unsure_marks,
        strict=True,
    )
    marks_of_notes: dict[str, list[float]] = defaultdict(list)
    relevant_notes: set[str] = set()
    left_out: Counter[str] = Counter()
    for note, depression, no_phenotype, unsure in rows:
        if unsure or depression is None:
            left_out["annotation that is unsure or empty"] += 1
            continue
        marks_of_notes[note].append(depression)
        # A note with other phenotypes only belongs to neither class, as in the study (2.2).
        if depression or no_phenotype:
            relevant_notes.add(note)

    left_out["note with other phenotypes only"] = len(marks_of_notes) - len(relevant_notes)
    shares = {}
    for note, marks in marks_of_notes.items():
        if note in relevant_notes:
            shares[note] = sum(marks) / len(marks)
    return shares, left_out


def _notes(release: Release, path: Path, row_ids: list[str]) -> pl.DataFrame:
    """The rows with these ids of a table of some gigabytes, without holding the others."""
    try:
        # Every column as a string: ids keep their digits, and no cell can fail to be a number.
        scan = pl.scan_csv(path, infer_schema=False)
        columns = {column.upper(): column for column in scan.collect_schema().names()}
        for column in _COLUMNS:
            if column not in columns:
                raise release.wrong(
                    f"there is no column '{column}'",
                    str(path),
                    code="release.missing-column",
                )
        selected = scan.select(pl.col(columns[column]).alias(column) for column in _COLUMNS)
        annotated = selected.filter(pl.col("ROW_ID").is_in(row_ids))
        return annotated.collect(engine="streaming")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        # What Polars says may quote a note.
        raise release.wrong(
            f"the table cannot be read ({type(error).__name__})",
            str(path),
            code="release.unreadable-file",
        ) from None
