"""Silver labels: worked out by hand, read back as a corpus, with card, agreement and reasons."""

import json
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from process import psycheck
from psycheck.commands.silver_labels import Labelling, SilverCorpus, label_corpus, write_silver
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.core.model import Model, Reply
from psycheck.corpora.opening import open_corpus
from psycheck.io.settings import read_settings
from psycheck.models.opening import open_model
from refusals import refused

TEXTS = ("first", "second", "third", "fourth")
NAN = float("nan")


def fixed(name: str, *scores: float, label: str = "depression") -> Model:
    """A model that gives the four texts these scores."""
    known = dict(zip(TEXTS, scores, strict=True))
    return open_model(lambda texts: [known[text] for text in texts], name=name, label=label)


@dataclass(frozen=True)
class Talker:
    """A model that replies in words: yes or no, and a reason after a colon."""

    replies: dict[str, Reply]
    name: str = "talker"
    labels: tuple[str, ...] = ("depression",)
    fingerprint: str = "talker"

    def ask(self, items: Sequence[str], /) -> Iterator[tuple[int, Reply | Exception]]:
        yield from ((place, self.replies[item]) for place, item in enumerate(items))

    def read_reply(self, reply: Reply, /) -> FloatArray:
        said = [text.partition(":")[0] for text in (reply.text, *reply.others)]
        votes = [float(word == "yes") for word in said if word in ("yes", "no")]
        return np.array([sum(votes) / len(votes) if votes else NAN])

    def rationale(self, reply: Reply, /) -> str:
        return reply.text.partition(":")[2].strip()

    def score(self, items: Sequence[str], /) -> FloatArray:
        return np.stack([self.read_reply(self.replies[item]) for item in items])


def labelled(
    *models: Model, corpus: Corpus | None = None, unlabelled: int = 0, **how: object
) -> SilverCorpus:
    made, failed = label_corpus(models, corpus or Corpus.of("posts", TEXTS), read_settings(Labelling, how))
    assert failed == unlabelled
    return made


def marks(made: SilverCorpus, label: str = "depression") -> dict[str, float]:
    return dict(zip(made.corpus.ids, made.corpus.targets([label])[:, 0].tolist(), strict=True))


def test_hard_labels_of_one_model_lie_at_its_threshold() -> None:
    assert marks(labelled(fixed("a", 0.2, 0.5, 0.9, NAN))) == {"1": 0, "2": 1, "3": 1}
    assert marks(labelled(fixed("a", 0.2, 0.5, 0.9, NAN), threshold=0.6)) == {"1": 0, "2": 0, "3": 1}


def test_soft_labels_are_the_mean_of_those_that_answered_and_votes_their_share() -> None:
    models = fixed("a", 0.2, 0.6, 0.9, NAN), fixed("b", 0.4, 0.3, NAN, NAN), fixed("c", 0.9, 0.9, 0.7, NAN)
    soft = {"1": 0.5, "2": 0.6, "3": 0.8}
    assert marks(labelled(*models, as_labels="soft")) == pytest.approx(soft)
    assert marks(labelled(*models, as_labels="votes")) == pytest.approx({"1": 1 / 3, "2": 2 / 3, "3": 1})
    assert marks(labelled(*models)) == {"1": 1, "2": 1, "3": 1}  # the mean score is at least 0.5


def test_labels_outside_the_filters_are_dropped_and_counted() -> None:
    models = fixed("a", 0.1, 0.6, 0.9, 0.4), fixed("b", 0.2, 0.7, 0.9, 0.8)
    made = labelled(*models, as_labels="soft", confidence=[0.6, 0.9], min_agreement=0.8)
    # Means .15, .65, .9, .6; the models disagree on the fourth alone.
    assert marks(made) == pytest.approx({"1": 0.15, "2": 0.65, "3": 0.9})
    assert made.card["counts"]["labels with too little agreement"] == 1
    assert made.card["counts"]["texts written"] == 3
    narrow = labelled(*models, as_labels="soft", confidence=[0.6, 0.7])
    assert marks(narrow) == pytest.approx({"2": 0.65, "4": 0.6})
    with refused("silver.no-label-left"):
        labelled(*models, confidence=[0.99, 1.0])


def test_only_texts_that_are_1_for_a_label_are_kept_and_the_others_counted() -> None:
    models = fixed("a", 0.1, 0.6, NAN, 0.4), fixed("b", 0.2, 0.7, 0.9, NAN, label="anxiety")
    made = labelled(*models, keep_positive=True)
    assert made.corpus.ids == ["2", "3"]
    assert made.card["counts"]["texts without a label of 1"] == 2
    assert made.card["counts"]["texts written"] == 2


def test_complete_keeps_only_texts_with_every_label() -> None:
    models = fixed("a", 0.1, 0.6, NAN, 0.4), fixed("b", 0.2, 0.7, 0.9, NAN, label="anxiety")
    made = labelled(*models)
    assert made.corpus.labels == ("depression", "anxiety")
    assert made.corpus.ids == ["1", "2", "3", "4"]
    assert labelled(*models, complete=True).corpus.ids == ["1", "2"]
    assert made.card["labels"]["anxiety"] == {"one": 2, "zero": 1, "undecided": 0, "none": 1}


def test_a_threshold_from_dev_leaves_the_dev_texts_out() -> None:
    corpus = Corpus.of(
        "posts", TEXTS, labels={"depression": [0, 1, None, None]}, split=["dev", "dev", "train", "train"]
    )
    made = labelled(fixed("a", 0.1, 0.3, 0.25, 0.15), corpus=corpus, threshold="dev")  # the cut is 0.2
    assert marks(made) == {"3": 1, "4": 0}
    assert made.card["thresholds"] == {"a": {"depression": pytest.approx(0.2)}}
    assert "on 2 dev texts" in made.card["notes"][0]


def test_samples_of_one_model_are_raters() -> None:
    replies = {
        "first": Reply("yes: tired for weeks", others=("yes", "yes")),
        "second": Reply("no: a recipe", others=("yes", "no")),
        "third": Reply("what?", others=("no", "no")),
        "fourth": Reply("what?", others=("", "")),
    }
    made = labelled(Talker(replies), as_labels="votes", unlabelled=1)
    assert marks(made) == pytest.approx({"1": 1, "2": 1 / 3, "3": 0})
    # Votes: 3 of 3, 1 of 3, 0 of 2: Do = (2·1·2/2) / 8 votes, De = 2·4·4 / (8·7).
    agreed = made.card["agreement"]["depression"]
    assert (made.card["raters"], agreed["texts"]) == (3, 3)
    assert agreed["krippendorff_alpha"] == pytest.approx(1 - (2 / 8) / (32 / 56))
    assert list(made.rationales) == [
        {"id": "1", "model": "talker", "rationale": "tired for weeks"},
        {"id": "2", "model": "talker", "rationale": "a recipe"},
    ]


@dataclass(frozen=True)
class Open(Talker):
    """A model that replies with the name of a disorder, and a reason after a colon."""

    def read_reply(self, reply: Reply, /) -> FloatArray:
        return np.array([float("depress" in reply.text)])

    def named_disorder(self, reply: Reply, /) -> str:
        return reply.text.partition(":")[0]


def test_the_disorder_of_an_open_ended_reply_is_exported() -> None:
    replies = {text: Reply("panic disorder: racing heart") for text in TEXTS}
    replies["first"] = Reply("major depressive disorder: low mood")
    made = labelled(Open(replies), keep_positive=True)
    (row,) = made.rationales
    assert row["disorder"] == "major depressive disorder"
    assert (row["id"], row["rationale"], row["named"]) == ("1", "low mood", "depression")
    assert made.card["counts"]["texts without a label of 1"] == 3


def test_the_files_are_private_and_every_verb_reads_the_corpus(tmp_path: Path) -> None:
    corpus = Corpus.of("posts", TEXTS, author=["a", "a", "b", "b"], labels={"depression": [1, 0, 1, 0]})
    talker = Talker({text: Reply("yes: because") for text in TEXTS})
    path = tmp_path / "silver.csv"
    made = labelled(talker, corpus=corpus, as_labels="soft")
    files = write_silver(made, path)
    assert [file.name for file in files] == [
        "silver.csv", "silver.card.json", "silver.card.md", "silver.rationale.jsonl"
    ]  # fmt: skip
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    again = open_corpus(str(path))
    assert again.table.equals(made.corpus.table)
    assert again.targets(["depression"])[:, 0].tolist() == [1, 1, 1, 1]  # not the annotations
    card = json.loads((tmp_path / "silver.card.json").read_text())
    assert card["models"] == {"talker": {"fingerprint": "talker"}}
    assert card["corpora"] == {"posts": corpus.fingerprint()}
    assert not any(text in (tmp_path / "silver.card.md").read_text() for text in TEXTS)
    assert "because" not in path.read_text()
    write_silver(labelled(fixed("a", 1, 1, 1, 1), corpus=corpus), path)
    assert not (tmp_path / "silver.rationale.jsonl").exists()  # of other labels


def test_the_verb_writes_a_corpus_and_tells_the_agreement(tmp_path: Path) -> None:
    (tmp_path / "mod.py").write_text(
        "def a(texts):\n    return [len(t) % 2 for t in texts]\n"
        "def b(texts):\n    return [0 if t.endswith('9') else len(t) % 2 for t in texts]\n"
    )
    rows = "\n".join(f"{n},{'x' * (n % 7)} {n}" for n in range(60))
    (tmp_path / "posts.csv").write_text(f"id,text\n{rows}\n")
    options = ("-m", "python:mod:b?label=depression", "--as-labels", "hard", "--out", "silver.csv")
    done = psycheck(tmp_path, "score", "python:mod:a?label=depression", "posts.csv", *options)
    assert done.returncode == 0, done.stderr
    assert "60 texts of 60 labelled: silver.csv, silver.card.json, silver.card.md" in done.stdout
    assert "agreement on depression: Krippendorff's alpha 0." in done.stdout
    assert len(open_corpus(str(tmp_path / "silver.csv"))) == 60


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--confidence", "0.6:0.9"), "add --as-labels hard"),
        (("--as-labels", "hard", "--confidence", "0.9:0.6"), "LOW:HIGH, both from 0.5 to 1"),
        (("--as-labels", "hard", "--confidence", "0.9"), "LOW:HIGH, both from 0.5 to 1"),
        (("--as-labels", "hard", "--min-agreement", "0.3"), "'min_agreement' is out of range"),
        (("--as-labels", "maybe"), "unknown as_labels 'maybe'"),
        (("--as-labels", "hard", "--threshold", "dev"), "no corpus has a dev split"),
        (("--as-labels", "hard", "--out", "posts.csv"), "the output is the input"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_scored(
    tmp_path: Path, options: tuple[str, ...], what: str
) -> None:
    (tmp_path / "mod.py").write_text("def a(texts):\n    raise SystemExit\n")
    (tmp_path / "posts.csv").write_text("id,text\n1,a walk\n")
    done = psycheck(tmp_path, "score", "python:mod:a?label=depression", "posts.csv", *options)
    assert (done.returncode, what in done.stderr) == (2, True), done.stderr
