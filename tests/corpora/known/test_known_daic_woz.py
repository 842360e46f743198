from pathlib import Path

import pytest

from psycheck.corpora.known.open import open_known
from psycheck.errors import BadInput

HEADER = "start_time\tstop_time\tspeaker\tvalue\n"
SAID = {
    300: [("Ellie", "how are you"), ("Participant", "fine i guess"), ("Participant", 'i said "no" to it')],
    301: [("Participant", "not so good"), ("Participant", "")],
    302: [("Ellie", "hello"), ("Participant", "tired")],
    303: [("Participant", "nobody knows my score")],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number, turns in SAID.items():
        session = tmp_path / f"{number}_P"
        session.mkdir()
        rows = "".join(f"1.0\t2.0\t{speaker}\t{value}\n" for speaker, value in turns)
        (session / f"{number}_TRANSCRIPT.csv").write_text(HEADER + rows)
        (session / f"{number}_AUDIO.wav").write_bytes(b"RIFF\0")
    (tmp_path / "300_P" / "._300_TRANSCRIPT.csv").write_bytes(b"\0\5\x16\7")
    head = "Participant_ID,PHQ8_Binary,PHQ8_Score,Gender,PHQ8_Sleep\n"
    (tmp_path / "train_split_Depression_AVEC2017.csv").write_text(
        head + "300,0,3,1,0\n301,0,12,0,2\n399,1,20,1,3\n"
    )
    (tmp_path / "dev_split_Depression_AVEC2017.csv").write_text(head + "302,1,11,0,1\n")
    (tmp_path / "full_test_split.csv").write_text("Participant_ID,PHQ_Binary,PHQ_Score,Gender\n310,1,14,1\n")
    return tmp_path


def test_a_text_is_one_utterance_of_the_participant(folder: Path) -> None:
    corpus = open_known("daic-woz", folder)
    assert corpus.table.to_dict(as_series=False) == {
        "id": ["300-2", "300-3", "301-1", "302-2"],
        "text": ["fine i guess", 'i said "no" to it', "not so good", "tired"],
        "author": ["300", "300", "301", "302"],
        "split": ["train", "train", "train", "dev"],
        "label:depression": [0.0, 0.0, 0.0, 1.0],
        "group:gender": ["female", "female", "male", "male"],
    }
    assert corpus.left_out == {
        "interview without a transcript": 2,
        "interview in no split file": 1,
        "empty utterance": 1,
    }
    assert corpus.called == f"daic-woz:{folder}"


def test_a_text_can_be_the_whole_interview(folder: Path) -> None:
    corpus = open_known("daic-woz-interviews", folder, "training")
    assert (corpus.ids, corpus.texts) == (["300", "301"], ['fine i guess\ni said "no" to it', "not so good"])


def test_scores_that_disagree_are_said(folder: Path) -> None:
    (note,) = open_known("daic-woz", folder).notes
    assert "disagree for 1 interview;" in note


def test_without_its_scores_the_test_split_is_not_annotated(folder: Path) -> None:
    (folder / "full_test_split.csv").unlink()
    (folder / "test_split_Depression_AVEC2017.csv").write_text("participant_ID,Gender\n303,1\n")
    corpus = open_known("daic-woz", folder, "test")
    assert (corpus.ids, corpus.table["label:depression"].to_list()) == (["303-1"], [None])


def test_a_missing_file_and_another_shape_are_said_with_where_to_apply(folder: Path) -> None:
    (folder / "302_P" / "302_TRANSCRIPT.csv").write_text("when\twho\twords\n1\tParticipant\ttired\n")
    with pytest.raises(BadInput, match="no column 'speaker'") as caught:
        open_known("daic-woz", folder)
    assert "302_TRANSCRIPT.csv" in str(caught.value)
    assert "https://dcapswoz.ict.usc.edu/" in str(caught.value)
    (folder / "dev_split_Depression_AVEC2017.csv").write_text("Participant_ID,PHQ8_Binary\n302,maybe\n")
    with pytest.raises(BadInput, match=r"row 1 \(line 2\), column 'PHQ8_Binary'"):
        open_known("daic-woz", folder)
    (folder / "dev_split_Depression_AVEC2017.csv").unlink()
    with pytest.raises(BadInput, match=r"'dev_split_Depression_AVEC2017.csv' is missing"):
        open_known("daic-woz", folder)
