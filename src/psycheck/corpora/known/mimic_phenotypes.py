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

from psycheck.corpora.known.release import Item, Loaded, Release, gender
from psycheck.errors import counted

_COLUMNS = ("ROW_ID", "SUBJECT_ID", "CATEGORY", "CHARTDATE", "TEXT")


def load(release: Release) -> Loaded:
    """The notes that annotators found to tell of depression, or of no phenotype at all."""
    notes = release.file("NOTEEVENTS.csv")
    patients = release.table(release.file("PATIENTS.csv"), "SUBJECT_ID", "GENDER")
    genders = dict(zip(patients.keys("SUBJECT_ID"), map(gender, patients.words("GENDER")), strict=True))
    shares, left_out = _shares(release, release.file("ACTdb*.csv"))
    table = _notes(release, notes, list(shares))
    items = [
        Item(
            row,
            text or "",
            {"depression": shares[row]},
            author=patient,
            time=date,
            groups={"gender": genders.get(patient), "category": category.strip() if category else None},
        )
        for row, patient, category, date, text in table.iter_rows()
    ]
    left_out["annotated note that NOTEEVENTS.csv does not have"] = len(shares) - len(items)
    soft = sum(0 < share < 1 for share in shares.values())
    remarks = (f"Annotators differ on {counted(soft, 'note')}; the label is their share.",) if soft else ()
    return Loaded(items, left_out, remarks)


def _shares(release: Release, path: Path) -> tuple[dict[str, float], Counter[str]]:
    """For each note by its ROW_ID the share of annotators who marked depression, and what was left out."""
    sheet = release.table(path, "ROW_ID", "DEPRESSION", "NONE")
    depression, none = sheet.marks("DEPRESSION"), sheet.marks("NONE")
    unsure = sheet.marks("UNSURE") if sheet.find("UNSURE") else [None] * len(sheet)
    marked: dict[str, list[float]] = defaultdict(list)
    wanted: set[str] = set()
    left_out: Counter[str] = Counter()
    notes = sheet.keys("ROW_ID")
    for note, low, nothing, doubt in zip(notes, depression, none, unsure, strict=True):
        if doubt or low is None:
            left_out["annotation that is unsure or empty"] += 1
            continue
        marked[note].append(low)
        if low or nothing:
            wanted.add(note)
    left_out["note with other phenotypes only"] = len(marked) - len(wanted)
    return {note: sum(marks) / len(marks) for note, marks in marked.items() if note in wanted}, left_out


def _notes(release: Release, path: Path, wanted: list[str]) -> pl.DataFrame:
    """The wanted rows of a table of some gigabytes, without holding the others."""
    try:
        scan = pl.scan_csv(path, infer_schema=False)
        known = {column.upper(): column for column in scan.collect_schema().names()}
        for column in _COLUMNS:
            if column not in known:
                raise release.wrong(f"there is no column '{column}'", str(path))
        return (
            scan.select(pl.col(known[column]).alias(column) for column in _COLUMNS)
            .filter(pl.col("ROW_ID").is_in(wanted))
            .collect(engine="streaming")
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        # What Polars says may quote a note.
        raise release.wrong(f"the table cannot be read ({type(error).__name__})", str(path)) from None
