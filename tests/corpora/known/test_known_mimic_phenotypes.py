import gzip
from pathlib import Path

import pytest

from psycheck.corpora.known.opening import open_known
from refusals import refused

NOTES = (
    '"ROW_ID","SUBJECT_ID","HADM_ID","CHARTDATE","CHARTTIME","STORETIME","CATEGORY","DESCRIPTION","CGID","ISERROR","TEXT"\n'
    '1,11,100,"2101-01-01",,,"Nursing","Report",,,"She is low.\n\nShe says ""tired""."\n'
    '2,12,101,"2102-01-01",,,"Physician ","Report",,,"He is well, all in all."\n'
    '3,13,102,"2103-01-01",,,"Nursing","Report",,,"He has pain."\n'
    '4,11,103,"2104-01-01",,,"Nursing","Report",,,"She may be low."\n'
    '5,12,104,"2105-01-01",,,"Nursing","Report",,,"Nobody annotated this."\n'
)
MARKS = (
    "SUBJECT_ID,HADM_ID,ROW_ID,BATCH.ID,OPERATOR,OBESITY,DEPRESSION,NONE,UNSURE\n"
    "11,100,1,b,x,0,1,0,0\n11,100,1,b,y,0,1,0,0\n"
    "12,101,2,b,x,0,0,1,0\n12,101,2,b,y,0,0,1,0\n"
    "13,102,3,b,x,1,0,0,0\n13,102,3,b,y,1,0,0,0\n"
    "11,103,4,b,x,0,1,0,0\n11,103,4,b,y,0,0,1,0\n11,103,4,b,z,0,1,0,1\n"
    "14,105,9,b,x,0,1,0,0\n"
)
PATIENTS = '"ROW_ID","SUBJECT_ID","GENDER","DOB"\n1,11,"F","2050-01-01"\n2,12,"M","2050-01-01"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "NOTEEVENTS.csv").write_text(NOTES)
    (tmp_path / "ACTdb102003.csv").write_text(MARKS)
    (tmp_path / "PATIENTS.csv").write_text(PATIENTS)
    return tmp_path


def test_notes_of_depression_or_of_nothing_with_the_gender_of_the_record(folder: Path) -> None:
    corpus = open_known("mimic-phenotypes", folder)
    assert corpus.table.sort("id").to_dict(as_series=False) == {
        "id": ["1", "2", "4"],
        "text": ['She is low.\n\nShe says "tired".', "He is well, all in all.", "She may be low."],
        "author": ["11", "12", "11"],
        "time": ["2101-01-01", "2102-01-01", "2104-01-01"],
        "label:depression": [1.0, 0.0, 0.5],
        "group:gender": ["female", "male", "female"],
        "group:category": ["Nursing", "Physician", "Nursing"],
    }
    assert corpus.left_out == {
        "annotation that is unsure or empty": 1,
        "note with other phenotypes only": 1,
        "annotated note that NOTEEVENTS.csv does not have": 1,
    }
    assert corpus.notes == ("Annotators differ on 1 note; the label is their share.",)


def test_the_notes_may_be_compressed(folder: Path) -> None:
    whole = open_known("mimic-phenotypes", folder).fingerprint()
    (folder / "NOTEEVENTS.csv").unlink()
    (folder / "NOTEEVENTS.csv.gz").write_bytes(gzip.compress(NOTES.encode()))
    assert open_known("mimic-phenotypes", folder).fingerprint() == whole


def test_each_missing_file_is_named(folder: Path) -> None:
    for name in ("ACTdb102003.csv", "PATIENTS.csv", "NOTEEVENTS.csv"):
        (folder / name).unlink()
        pattern = name.replace("102003", "*")
        with refused("release.missing-file", what=f"'{pattern}'", do="physionet.org"):
            open_known("mimic-phenotypes", folder)


def test_a_damaged_table_is_refused_without_its_words(folder: Path) -> None:
    (folder / "NOTEEVENTS.csv").unlink()
    (folder / "NOTEEVENTS.csv.gz").write_bytes(gzip.compress(NOTES.encode())[:-40])
    with refused("release.unreadable-file", where="NOTEEVENTS.csv.gz") as caught:
        open_known("mimic-phenotypes", folder)
    assert "She" not in str(caught.value)
    (folder / "NOTEEVENTS.csv.gz").unlink()
    (folder / "NOTEEVENTS.csv").write_text("ROW_ID,TEXT\n1,Words\n")
    with refused("release.missing-column", what="'SUBJECT_ID'"):
        open_known("mimic-phenotypes", folder)
