from pathlib import Path

import pytest

from psycheck.core.corpus import CorpusSource
from psycheck.corpora.known.opening import open_known
from refusals import refused

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
    assert corpus.source == CorpusSource(f"daic-woz:{folder}")


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
    apply = "https://dcapswoz.ict.usc.edu/"
    with refused("release.missing-column", what="'speaker'", where="302_TRANSCRIPT.csv", do=apply):
        open_known("daic-woz", folder)
    (folder / "dev_split_Depression_AVEC2017.csv").write_text("Participant_ID,PHQ8_Binary\n302,maybe\n")
    with refused("release.label-outside-0-1", where="row 1 (line 2), column 'PHQ8_Binary'"):
        open_known("daic-woz", folder)
    (folder / "dev_split_Depression_AVEC2017.csv").unlink()
    with refused("release.missing-file", what="'dev_split_Depression_AVEC2017.csv'"):
        open_known("daic-woz", folder)


def test_marks_scrubbed_entries_and_interruptions_are_no_utterances(folder: Path) -> None:
    rows = [
        (1, 2, "Participant", "<synch>"),
        (3, 4, "Participant", "[syncing] okay <Sync> then"),
        (5, 6, "Participant", "my name is scrubbed_entry you know"),
        (390, 396, "Participant", "who is that"),
        (427.5, 430, "Participant", "they left"),
        (428, 431, "Participant", "where were we"),
    ]
    (folder / "373_P").mkdir()
    (folder / "373_P" / "373_TRANSCRIPT.csv").write_text(
        HEADER + "".join("\t".join(map(str, row)) + "\n" for row in rows)
    )
    split = folder / "dev_split_Depression_AVEC2017.csv"
    split.write_text(split.read_text() + "373,0,2,1,0\n")
    corpus = open_known("daic-woz", folder, "dev")
    texts = dict(zip(corpus.ids, corpus.texts, strict=True))
    assert texts == {"302-2": "tired", "373-2": "okay then", "373-6": "where were we"}
    whole = open_known("daic-woz", folder).left_out
    assert whole["mark of synchronisation"] == 1
    assert whole["scrubbed utterance"] == 1
    assert whole["utterance during an interruption"] == 2


def test_e_daic_has_comma_separated_transcripts_without_speakers(tmp_path: Path) -> None:
    head = "Participant_ID,Gender,PHQ_Binary,PHQ_Score,PCL-C (PTSD),PTSD Severity\n"
    (tmp_path / "labels").mkdir()
    for split, row in {"train": "302,male,0,4,0,28", "dev": "303,female,1,12,0,17"}.items():
        (tmp_path / "labels" / f"{split}_split.csv").write_text(f"{head}{row}\n")
    (tmp_path / "labels" / "test_split.csv").write_text("Participant_ID,Gender\n600,female\n")
    for number in (302, 303, 600):
        (tmp_path / f"{number}_P").mkdir()
        (tmp_path / f"{number}_P" / f"{number}_Transcript.csv").write_text(
            'Start_Time,End_Time,Text,Confidence\n14.3,15.1,"so, I am going",0.93\n16,17,home,0.9\n'
        )
    corpus = open_known("e-daic", tmp_path)
    assert corpus.ids == ["302-1", "302-2", "303-1", "303-2", "600-1", "600-2"]
    assert corpus.texts[:2] == ["so, I am going", "home"]
    assert corpus.table["label:depression"].to_list() == [0.0, 0.0, 1.0, 1.0, None, None]
    assert corpus.table["group:gender"].to_list()[::2] == ["male", "female", "female"]
    assert any("name no speaker" in note for note in corpus.notes)
    assert open_known("e-daic-interviews", tmp_path, "dev").texts == ["so, I am going\nhome"]
