"""The verbs with a model that scores histories: it gets them by itself, and what is for texts is left out."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from psycheck.commands.audit import audit
from psycheck.commands.diff import diff
from psycheck.commands.score import score_corpus
from psycheck.commands.silver_labels import Labelling, label_corpus
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus, History
from psycheck.core.errors import BadInput
from psycheck.core.item import digest_of
from psycheck.corpora.posting_histories import by_author
from psycheck.models.opening import open_model
from refusals import refused


@dataclass(frozen=True)
class Share:
    """The share of posts that hold a word."""

    word: str = "low"
    name: str = "share"
    labels: tuple[str, ...] = ("mood",)
    takes: str = "histories"

    @property
    def fingerprint(self) -> str:
        return f"share-{self.word}"

    def score(self, histories: Sequence[History]) -> FloatArray:
        found = [[self.word in post for post in history.posts] or [False] for history in histories]
        return np.array([[np.mean(one)] for one in found])


def people() -> Corpus:
    """Forty authors with three posts; every second one writes "low" in two of them."""
    rows = [
        (f"u{k}", f"post {k} {p} " + ("low" if k % 2 and p else "fine"), k)
        for k in range(40)
        for p in range(3)
    ]
    return Corpus.of(
        "people",
        [text for _, text, _ in rows],
        author=[author for author, _, _ in rows],
        labels={"mood": [k % 2 for *_, k in rows]},
        groups={"gender": ["f" if k % 3 else "m" for *_, k in rows]},
        split=["dev" if k < 8 else "test" for *_, k in rows],
    )


def test_an_audit_judges_authors_and_leaves_out_what_edits_texts() -> None:
    run = audit(Share(), people(), split="all", audits=["performance", "behaviour", "fairness", "length"])
    (accuracy,) = run.findings.where(measure="accuracy")
    assert (accuracy.value, accuracy.n) == (1.0, 40)
    assert (
        "not judged by audit 'behaviour:deck': its checks edit texts, and are not for histories" in run.notes
    )
    assert {f.where["group"] for f in run.findings.where(measure="fnr")} == {"f", "m"}
    assert not run.findings.where(measure="flip_rate")
    assert run.plan["corpora"][0]["texts"] == 40


def test_the_threshold_of_histories_comes_from_the_authors_of_dev() -> None:
    run = audit(Share(), people(), audits=["performance"], threshold="dev")
    (threshold,) = run.findings.where(measure="threshold")
    assert threshold.n == 8
    assert next(iter(run.findings.where(measure="accuracy"))).n == 32


def test_scores_are_those_of_authors() -> None:
    table, failed, _ = score_corpus(open_model(Share()), people())
    assert (failed, table.columns) == (0, ["id", "mood", "text_hash"])
    assert table["id"].to_list()[:2] == ["u0", "u1"]
    assert table["mood"].to_list()[:2] == pytest.approx([0, 2 / 3])
    assert table["text_hash"][0] == digest_of(by_author(people()).items[0]).hex()


def test_two_runs_on_the_same_posts_are_compared_by_author(tmp_path: Path) -> None:
    pl.DataFrame(
        {
            "text": people().texts,
            "author": people().strings("author"),
            "mood": people().targets()[:, 0].astype(int),
        }
    ).write_csv(tmp_path / "people.csv")
    for word in ("low", "fine"):
        audit(
            Share(word, f"share {word}"),
            tmp_path / "people.csv",
            labels="mood",
            audits=["performance"],
            out=tmp_path / word,
            gates=["accuracy >= 0"],
        )
    run = diff([tmp_path / "low", tmp_path / "fine"])
    (agreement,) = run.findings.where(measure="agreement")
    assert agreement.n == 40
    assert not [note for note in run.notes if "left out" in note]  # the histories were read again


def test_texts_and_histories_are_not_audited_together() -> None:
    with pytest.raises(BadInput, match="scores texts and model 'share' histories"):
        audit([Share(), lambda texts: [0.5 for _ in texts]], people(), labels="mood")


def test_silver_labels_are_for_texts() -> None:
    with refused("silver.model-of-histories", key="as_labels"):
        label_corpus([open_model(Share())], people(), Labelling())
