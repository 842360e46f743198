"""Which texts are judged: the test split where there is one, and nothing that a model learned from."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from psycheck import audit
from psycheck.core.corpus import Corpus, CorpusSource
from psycheck.corpora.judged_split import judged_part
from psycheck.corpora.opening import open_corpus
from psycheck.corpora.writing import write_corpus
from psycheck.runs.folder import open_run
from psycheck.runs.reopened_corpus import corpus_of
from refusals import refused

SPLITS = ("train", "train", "dev", "test", "test")
TEXTS = ("0.1 a", "0.9 b", "0.2 c", "0.3 d", "0.8 e")


def corpus(
    splits: Sequence[str | None] | None = SPLITS, labels: Sequence[float | None] = (0, 1, 0, 0, 1)
) -> Corpus:
    return Corpus.of("posts", TEXTS, labels={"low": labels}, split=splits)


def first_number(texts: Sequence[str]) -> list[float]:
    return [float(text.split()[0]) for text in texts]


def test_the_test_split_is_judged_and_the_note_counts_it() -> None:
    judged = judged_part(corpus())
    assert judged.ids == ["4", "5"]
    assert judged.notes == ("judging the test split: 2 of 5 texts; `split=all` judges everything",)
    assert judged.whole is not None
    assert judged.whole.ids == ["1", "2", "3", "4", "5"]


def test_all_judges_everything_without_a_note() -> None:
    judged = judged_part(corpus(), "all")
    assert (len(judged), judged.notes, judged.whole) == (5, (), None)


@pytest.mark.parametrize("splits", [None, ("test",) * 5, ("train",) * 5, (None,) * 5])
def test_without_a_choice_to_make_everything_is_judged(splits: Sequence[str | None] | None) -> None:
    judged = judged_part(corpus(splits))
    assert (len(judged), judged.notes) == (5, ())


def test_a_test_split_without_labels_cannot_be_judged() -> None:
    judged = judged_part(corpus(labels=(0, 1, 0, None, None)))
    assert len(judged) == 5
    assert len(judged.notes) == 1


def test_a_corpus_without_any_label_is_still_cut_to_test() -> None:
    unlabelled = Corpus.of("posts", TEXTS, split=SPLITS)
    assert judged_part(unlabelled).ids == ["4", "5"]


def test_dev_stays_beside_the_judged_split_where_it_is_asked_for() -> None:
    assert judged_part(corpus(), with_dev=True).ids == ["3", "4", "5"]
    assert judged_part(corpus(), "train", with_dev=True).ids == ["1", "2", "3"]


def test_an_unknown_split_is_refused_and_other_names_of_one_are_known() -> None:
    assert judged_part(corpus(), "validation").ids == ["3"]
    with refused("corpus.unknown-split"):
        judged_part(corpus(), "tset")


def test_held_out_texts_are_a_test_split(tmp_path: Path) -> None:
    path = tmp_path / "posts.csv"
    path.write_text("text,low,split\n0.1 a,0,train\n0.9 b,1,train\n0.3 d,0,held-out\n0.8 e,1,held-out\n")
    assert judged_part(open_corpus(path)).ids == ["3", "4"]


def test_the_source_says_which_split_was_judged() -> None:
    judged = judged_part(Corpus("posts", corpus().table, source=CorpusSource("posts.csv")))
    assert judged.source == CorpusSource("posts.csv", split="test")
    assert judged.whole is not None
    assert judged.whole.source == CorpusSource("posts.csv")


def test_an_audit_judges_test_and_its_corpus_opens_again(tmp_path: Path) -> None:
    path = tmp_path / "posts.csv"
    write_corpus(corpus(), path)
    run = audit(first_number, str(path), audits=["performance"], out=tmp_path / "run")
    assert next(f for f in run.findings if f.measure == "accuracy").n == 2
    assert any("judging the test split: 2 of 5 texts" in note for note in run.notes)
    assert corpus_of(open_run(tmp_path / "run"), "posts").ids == ["4", "5"]

    whole = audit(first_number, str(path), split="all", audits=["performance"])
    assert next(f for f in whole.findings if f.measure == "accuracy").n == 5
