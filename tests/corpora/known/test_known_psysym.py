from pathlib import Path

import pytest

from psycheck.corpora.known.opening import known_corpora, open_known
from refusals import refused

HEAD = "subreddit_id,post_id,sentence_id,disease,sentence,Anxious_Mood,more_talktive,poor_memory,uncertain\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "symp_data"
    home.mkdir()
    (home / "train.csv").write_text(HEAD + "s,p,1,anxiety,I worry a lot,1,-1,0,0.333333\n")
    (home / "val.csv").write_text(HEAD + "s,p,2,bipolar_disorder,I talk on and on,-1.0,1.0,,0\n")
    (home / "test.csv").write_text(HEAD + "s,q,1,control,The bus was late,0,0,0,-1\n")
    return tmp_path


def test_a_symptom_that_was_not_asked_about_is_not_annotated(folder: Path) -> None:
    corpus = open_known("psysym", folder)
    assert corpus.table.to_dict(as_series=False) == {
        "id": ["train-s-p-1", "dev-s-p-2", "test-s-q-1"],
        "text": ["I worry a lot", "I talk on and on", "The bus was late"],
        "split": ["train", "dev", "test"],
        "label:Anxious_Mood": [1.0, None, 0.0],
        "label:more_talkative": [None, 1.0, 0.0],
        "label:poor_memory": [0.0, None, 0.0],
        "label:uncertain": [0.333333, 0.0, None],
        "group:disease": ["anxiety", "bipolar_disorder", "control"],
    }


def test_the_catalogue_has_the_38_symptoms_and_the_status() -> None:
    assert len(known_corpora()["psysym"].labels) == 39


def test_the_sentences_with_controls_come_first(folder: Path) -> None:
    other = folder / "symp_data_w_control"
    other.mkdir()
    for name in ("train", "val", "test"):
        (other / f"{name}.csv").write_text(HEAD + f"s,p,{name},control,Words,0,0,0,0\n")
    assert open_known("psysym", folder).ids == ["train-s-p-train", "dev-s-p-val", "test-s-p-test"]


def test_marks_out_of_range_and_tables_without_symptoms_are_refused(folder: Path) -> None:
    path = folder / "symp_data" / "val.csv"
    path.write_text(HEAD + "s,p,2,ocd,Words,2,0,0,0\n")
    place = "val.csv, row 1 (line 2), column 'Anxious_Mood'"
    with refused("release.label-outside-0-1", where=place):
        open_known("psysym", folder)
    path.write_text("sentence,disease,uncertain\nWords,ocd,0\n")
    with refused("release.no-labels", where="val.csv"):
        open_known("psysym", folder)
