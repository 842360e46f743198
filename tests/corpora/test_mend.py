import csv
import json
import shlex
from pathlib import Path
from random import Random

import numpy as np
import pytest
from typer.testing import CliRunner

from psycheck.commands.main import app
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.corpora.cautions import warnings_of
from psycheck.corpora.columns import Columns
from psycheck.corpora.opening import corpus_plan, open_corpus
from psycheck.corpora.reading import read_corpus
from psycheck.corpora.remedies import (
    annotated,
    even_lengths,
    mended,
    split_anew,
    without_near_copies,
    without_word,
)
from refusals import refused
from tools.demo_corpora.distinct import NearDuplicateIndex

THINGS = [f"{a}{b}{c}" for a in "bdfgklm" for b in ("a", "e", "o", "ui") for c in ("lt", "rn", "st", "p")]


def say(random: Random, words: int) -> str:
    return " ".join(random.choice(THINGS) for _ in range(words))


def test_of_near_copies_one_outside_train_stays() -> None:
    long = "a quite long sentence about nothing much that nobody else would ever write like this"
    corpus = Corpus.of(
        "made",
        [long, f"{long} today", "something else entirely, and short", long.upper(), "a fifth one about tea"],
        split=["train", "test", "train", "dev", "train"],
    )
    done = without_near_copies(corpus)
    assert done.ids == ["2", "3", "5"]
    assert done.left_out == {"nearly the same as another text": 2}


def test_a_new_split_keeps_authors_together() -> None:
    corpus = Corpus.of("made", [f"t{i}" for i in range(100)], author=[f"a{i % 20}" for i in range(100)])
    done = split_anew(corpus, "6:2:2")
    assert done.table["split"].value_counts().sort("split").rows() == [
        ("dev", 20),
        ("test", 20),
        ("train", 60),
    ]
    homes = done.table.group_by("author").n_unique()
    assert homes["split"].max() == 1
    assert set(split_anew(corpus, "8:0:2").table["split"]) == {"train", "test"}
    with refused("split.unreadable-shares", what="'80/20'"):
        split_anew(corpus, "80/20")


def test_only_annotated_texts_stay() -> None:
    corpus = Corpus.of("made", ["a", "b", "c"], labels={"low": [1, None, 0]})
    assert annotated(corpus, "low").ids == ["1", "3"]


def test_even_lengths_keep_the_proportion_of_classes_at_each_length() -> None:
    texts = ["w " * 5] * 30 + ["w " * 5] * 10 + ["w " * 9] * 10 + ["w " * 9] * 30
    corpus = Corpus.of(
        "made", [text.strip() for text in texts], labels={"low": [1] * 30 + [0] * 10 + [1] * 10 + [0] * 30}
    )
    done = even_lengths(corpus, "low")
    # As many of each class as of the other: 10 + 10 of each length.
    lengths = np.array([len(text.split()) for text in done.texts])
    marks = done.targets(["low"])[:, 0]
    assert [(int((marks[lengths == n] == k).sum())) for n in (5, 9) for k in (0, 1)] == [10, 10, 10, 10]


def test_texts_with_a_label_of_one_half_are_no_class_to_balance() -> None:
    labels = ([1.0] * 10 + [0.0] * 10) * 2 + [0.5] * 15
    corpus = Corpus.of("made", ["w w w"] * 20 + ["w w w w w"] * 35, labels={"low": labels})
    assert even_lengths(corpus, "low").targets(["low"])[:, 0].tolist() == labels


def test_lengths_that_do_not_overlap_cannot_be_made_even() -> None:
    corpus = Corpus.of(
        "made", ["w w w"] * 5 + ["w w w w"] * 5 + ["w"], labels={"low": [0] * 5 + [1] * 5 + [None]}
    )
    with refused("label.lengths-apart", what="low", where="made"):
        even_lengths(corpus, "low")


def test_a_word_goes_in_all_its_forms() -> None:
    corpus = Corpus.of(
        "made", ["Depressed, and depression again", "no DEPRESSION here", "depressed", "impressed"]
    )
    done = without_word(corpus, "depress")
    assert done.texts == [", and again", "no here", "impressed"]
    assert done.left_out == {"no other word in them": 1}


def test_mends_are_counted_in_their_order() -> None:
    corpus = Corpus.of("made", ["so sad today", "so glad", "sad"], author=["a", "b", "c"])
    done, counts = mended(corpus, {"resplit": "1:1:1", "without-word": ["sad"], "annotated": None})
    assert [(c.name, c.texts_before, c.texts_after, c.changed, c.dropped) for c in counts] == [
        ("without-word", 3, 2, 1, 1),
        ("resplit", 2, 2, 2, 0),
    ]
    assert done.texts == ["so today", "so glad"]


def faulty() -> list[dict[str, object]]:
    """Rows with copies and authors across splits, a telling word, a telling length and names."""
    random = Random(1)
    rows: list[dict[str, object]] = []
    for i in range(400):
        low = i % 2
        rows.append(
            {
                "nr": i,
                "words": say(random, random.randint(14, 24) if low else random.randint(8, 17))
                + " zebra" * low,
                "who": f"a{i % 60}",
                "part": "train" if i < 260 else "test",
                "low": low if i % 3 or i >= 260 else "",
            }
        )
    for i in range(270, 300):
        rows[i]["words"] = rows[i - 260]["words"]
    for i in range(300, 330):
        rows[i]["words"] = f"{rows[i]['words']} and my sister Ngozi left"
    return rows


def test_every_caution_has_a_command_that_runs_and_takes_it_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = faulty()
    with Path("my posts.csv").open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, list(rows[0]))
        out.writeheader()
        out.writerows(rows)
    columns = Columns(text="words", id="nr", labels=("low",), author="who", split="part")
    plan = corpus_plan("my posts.csv", columns)
    cautions = warnings_of(open_corpus(plan))
    assert {c.name for c in cautions} == {
        "authors_across_splits", "duplicates_across_splits", "near_duplicates_across_splits", "personal_data",
        "single_word", "length", "missing_labels",
    }  # fmt: skip
    # One command mends them all, and none of them overwrites what another wrote.
    (command,) = {c.command for c in cautions}
    for part in command.split(" && "):
        words = shlex.split(part)
        assert words[0] == "psycheck"
        result = CliRunner().invoke(app, words[1:])
        assert result.exit_code == 0, result.output
    assert shlex.split(command)[2:5] == ["my posts.csv", "--text", "words"]
    assert warnings_of(read_corpus("redacted.csv")) == ()
    again = CliRunner().invoke(app, shlex.split(command.split(" && ")[0])[1:])
    assert isinstance(again.exception, BadInput)
    assert "already exists" in str(again.exception)


def test_two_labels_are_balanced_in_one_command() -> None:
    random = Random(3)
    marks = [(i % 2, i // 2 % 2) for i in range(400)]
    texts = [say(random, random.randint(6, 12) + 3 * a + 3 * b) for a, b in marks]
    labels = {"low": [float(a) for a, _ in marks], "fear": [float(b) for _, b in marks]}
    done, counts = mended(Corpus.of("made", texts, labels=labels), {"balance-length": ["low", "fear"]})
    assert [c.name for c in counts] == ["balance-length"]
    assert set(done.left_out) == {
        "too many of one class of low for their length", "too many of one class of fear for their length"
    }  # fmt: skip


def one_fault(fault: str) -> list[dict[str, object]]:
    """Rows that are searched by a word, nearly all of one class, or annotated wrongly in places."""
    random = Random(2)
    rows: list[dict[str, object]] = []
    for i in range(300):
        low = int(i % 20 == 0) if fault == "imbalance" else i % 2
        words = say(random, 12)
        if fault == "keyword_label" and (low or i % 5 == 0):
            words += random.choice((" thunder", " thundering", " thunderous"))
        if fault == "label_noise":
            words += " lion zebra" if bool(low) != (i % 7 == 0) else " oak elm"
        rows.append({"nr": i, "words": words, "low mood": low})
    return rows


@pytest.mark.parametrize("fault", ["keyword_label", "label_noise", "imbalance"])
def test_the_command_of_a_caution_runs_as_it_is_pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = one_fault(fault)
    with Path("my posts.csv").open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, list(rows[0]))
        out.writeheader()
        out.writerows(rows)
    plan = corpus_plan("my posts.csv", Columns(text="words", id="nr", labels=("low mood",)))
    (caution,) = (c for c in warnings_of(open_corpus(plan), show=True) if c.name == fault)
    # What is pasted is whole; the fastest of the learners is added, so that the test is quick.
    quick = ["--start", "tfidf+lr"] if fault == "imbalance" else []
    result = CliRunner().invoke(app, [*shlex.split(caution.command)[1:], *quick])
    assert result.exit_code == 0, result.output
    if fault == "keyword_label":
        assert fault not in {c.name for c in warnings_of(read_corpus("mended.csv"))}
    elif fault == "label_noise":
        (found,) = (f for f in json.loads(result.stdout)["findings"] if f["where"].get("caution") == fault)
        assert found["examples"] == list(caution.ids)
    else:
        assert list(Path("models/weighted").iterdir())


def test_a_text_is_admitted_where_no_other_split_has_nearly_the_same() -> None:
    others = NearDuplicateIndex()
    others.add("so tired of this long week and of everyone in it", "train")
    assert not others.admits("so tired of this long week and of everyone in it!!", "test")
    assert others.admits("so tired of this long week and of everyone in it!!", "train")
    assert others.admits("the week was long but the cake was good", "test")
