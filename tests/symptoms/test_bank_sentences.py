import csv
from pathlib import Path

import numpy as np

from psycheck.symptoms.bank_sentences import (
    BANK,
    Labelled,
    drawn_frames,
    drawn_lists,
    drawn_pairs,
    read_bank,
    read_sentences,
)
from psycheck.symptoms.graph import read_graph
from refusals import refused

SYMPTOMS = [symptom.name for symptom in read_graph().symptom]
TWO = Labelled(["I can't sleep.", "The sun is out"], np.array([[1.0], [0.0]]), np.array([[1.0], [0.0]]))


def test_every_symptom_has_sentences_in_both_registers_and_each_status() -> None:
    with (BANK / "sentences.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    for symptom in SYMPTOMS:
        mine = [row for row in rows if symptom in row["symptom"].split()]
        assert len(mine) >= 40
        assert {row["register"] for row in mine} >= {"clinical", "everyday"}
        assert {row["status"] for row in mine} == {"present", "denied", "past", "uncertain"}
        assert {row["part"] for row in mine} == {"train", "test"}


def test_only_what_holds_now_in_the_writer_is_present() -> None:
    bank = read_bank("train", SYMPTOMS)
    row = bank.texts.index("I no longer purge.")
    assert bank.mentioned[row].sum() == 1
    assert bank.present[row].sum() == 0
    assert (bank.present <= bank.mentioned).all()


def test_no_sentence_is_in_both_parts() -> None:
    train, test = (read_bank(part, SYMPTOMS).texts for part in ("train", "test"))
    assert not {text.lower() for text in train} & {text.lower() for text in test}


def test_a_list_is_labelled_with_what_it_lists_and_depends_on_the_seed_alone() -> None:
    lists = drawn_lists(SYMPTOMS, 50, seed=1)
    assert (lists.mentioned.sum(1) >= 1).all()
    # A frame speaks of all of its list, or of none of it.
    assert all(
        present in (0, mentioned)
        for present, mentioned in zip(lists.present.sum(1), lists.mentioned.sum(1), strict=True)
    )
    assert drawn_lists(SYMPTOMS, 50, seed=1).texts == lists.texts
    assert drawn_lists(SYMPTOMS, 50, seed=2).texts != lists.texts


def test_a_longer_sentence_keeps_the_labels_of_what_is_in_it() -> None:
    framed = drawn_frames(TWO, 40, seed=0)
    for text, mentioned in zip(framed.texts, framed.mentioned[:, 0], strict=True):
        assert ("sleep" in text) == bool(mentioned)


def test_a_pair_has_the_labels_of_both() -> None:
    paired = drawn_pairs(TWO, 40, seed=0)
    for text, mentioned in zip(paired.texts, paired.mentioned[:, 0], strict=True):
        assert ("sleep" in text) == bool(mentioned)


def sentences_file(folder: Path, *rows: str) -> Path:
    file = folder / "sentences.csv"
    file.write_text("\n".join(["text,symptom,status,subject", *rows]), "utf-8")
    return file


def test_each_symptom_of_a_labelled_sentence_has_a_status_of_its_own(tmp_path: Path) -> None:
    text = "I sleep badly but I don't worry"
    rows = [f"{text},sleep_disturbance,present,writer", f"{text},anxious_mood,denied,writer", "A bus,,,"]
    labelled = read_sentences(sentences_file(tmp_path, *rows), SYMPTOMS)
    sleep, worry = SYMPTOMS.index("sleep_disturbance"), SYMPTOMS.index("anxious_mood")
    assert labelled.texts == [text, "A bus"]
    assert labelled.mentioned[0, [sleep, worry]].tolist() == [1, 1]
    assert labelled.present[0, [sleep, worry]].tolist() == [1, 0]
    assert labelled.mentioned[1].sum() == 0


def test_of_a_sentence_with_many_symptoms_nothing_is_known_of_others(tmp_path: Path) -> None:
    rows = [f"a list,{symptom},present,writer" for symptom in SYMPTOMS[:4]]
    labelled = read_sentences(sentences_file(tmp_path, *rows), SYMPTOMS)
    assert labelled.mentioned[0, :4].tolist() == [1, 1, 1, 1]
    assert np.isnan(labelled.mentioned[0, 4:]).all()
    assert np.isnan(labelled.present[0, 4:]).all()


def test_words_that_the_bank_does_not_know_are_refused(tmp_path: Path) -> None:
    with refused("symptoms.labelled-value"):
        read_sentences(sentences_file(tmp_path, "tired,tiredness,present,writer"), SYMPTOMS)
    (tmp_path / "short.csv").write_text("text,symptom\nI am,\n", "utf-8")
    with refused("symptoms.labelled-columns"):
        read_sentences(tmp_path / "short.csv", SYMPTOMS)


def test_the_posts_of_the_bank_can_be_read_and_are_not_its_test_sentences() -> None:
    posts = read_sentences(BANK / "posts.csv", SYMPTOMS)
    assert len(posts.texts) > 500
    assert not {text.lower() for text in posts.texts} & {
        text.lower() for text in read_bank("test", SYMPTOMS).texts
    }
