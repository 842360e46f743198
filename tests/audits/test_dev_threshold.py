"""Thresholds from dev: worked out by hand, and never judged on the texts that they were chosen on."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from psycheck import audit
from psycheck.audits.plan import read_plan, settings_of
from psycheck.audits.thresholds import open_with_dev
from psycheck.commands.score import score_corpus
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.corpora.opening import CorpusPlan
from psycheck.corpora.writing import write_corpus
from psycheck.models.opening import open_model
from refusals import refused

# dev: 0.2 and 0.3 annotated 0, 0.4 and 0.9 annotated 1: the cut lies at 0.35. test: 0.4 is right only there.
TEXTS = ("0.2", "0.3", "0.4", "0.9", "0.4 test", "0.1 test", "0.8 train")
LABELS = (0, 0, 1, 1, 1, 0, 1)
SPLITS = ("dev", "dev", "dev", "dev", "test", "test", "train")


def first_number(texts: Sequence[str]) -> list[float]:
    return [float(text.split()[0]) for text in texts]


def corpus_of(splits: Sequence[str] = SPLITS) -> Corpus:
    return Corpus.of("posts", TEXTS, labels={"depression": LABELS}, split=splits)


def test_the_rest_is_judged_at_the_threshold_of_dev() -> None:
    run = audit(first_number, corpus_of(), split="all", audits=["performance"], threshold="dev")
    found = {f.measure: f for f in run.findings if f.where.get("audit") == "performance"}
    assert found["threshold"].value == pytest.approx(0.35)
    assert found["threshold"].n == 4
    assert (found["accuracy"].value, found["accuracy"].n) == (1.0, 3)
    told = (
        "decision threshold of 'depression' 0.35 (the highest macro-F1 on 4 dev texts, which are not judged)"
    )
    assert any(note.endswith(told) for note in run.notes)
    fixed = audit(first_number, corpus_of(), split="all", audits=["performance"])
    accuracy = next(f for f in fixed.findings if f.measure == "accuracy")
    assert accuracy.value == pytest.approx(5 / 7)
    assert accuracy.n == 7


def test_checks_and_pairs_use_it_too(tmp_path: Path) -> None:
    suite = tmp_path / "mine.toml"
    suite.write_text(
        'name = "mine"\ntitle = "Mine"\nlabel = "depression"\n[[check]]\nid = "A"\nkind = "MFT"\n'
        'title = "stays"\nedit = { append = ["yes"] }\nexpect = { label = 1 }\ngold = 1\n'
    )
    choices: dict[str, Any] = {"suites": [str(suite)], "audits": ["behaviour"]}
    at_half, at_dev = (
        next(f for f in run.findings if f.measure == "pass_rate").value
        for run in (
            audit(first_number, corpus_of().part("test"), **choices),
            audit(first_number, corpus_of(), threshold="dev", **choices),
        )
    )
    assert (at_half, at_dev) == (0.0, 1.0)  # of 0.4 test, at 0.5 and at 0.35


def test_a_named_split_is_judged_and_dev_is_kept_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "posts.csv"
    write_corpus(corpus_of(), path)
    kept = open_with_dev(CorpusPlan(str(path), split="test"))
    assert kept.strings("split") == ["dev"] * 4 + ["test"] * 2
    run = audit(first_number, str(path), split="test", audits=["performance"], threshold="dev")
    assert next(f for f in run.findings if f.measure == "accuracy").n == 2
    with pytest.raises(BadInput, match="has no split 'tset'"):
        open_with_dev(CorpusPlan(str(path), split="tset"))


def test_one_class_on_dev_leaves_the_default_and_says_so() -> None:
    splits = ("dev", "dev", "test", "test", "test", "test", "test")
    run = audit(first_number, corpus_of(splits), audits=["performance"], threshold="dev")
    assert any("0.5 (the default: dev has one class)" in note for note in run.notes)


@pytest.mark.parametrize(
    ("splits", "code"),
    [(("test",) * 7, "threshold.no-dev"), (("dev",) * 7, "threshold.only-dev")],
)
def test_without_dev_or_without_a_rest_it_is_refused(splits: Sequence[str], code: str) -> None:
    with refused(code):
        audit(first_number, corpus_of(splits), audits=["performance"], threshold="dev")


def test_score_leaves_the_labels_of_dev_texts_empty() -> None:
    model = open_model(first_number, label="depression")
    table, failed, notes = score_corpus(model, corpus_of(), threshold="dev")
    assert table["depression_silver"].to_list() == [None, None, None, None, 1, 0, 1]
    assert (failed, len(notes)) == (0, 1)
    assert table["depression"].null_count() == 0


def test_plans_and_options_take_a_number_or_dev(tmp_path: Path) -> None:
    plan = tmp_path / "psycheck.toml"
    plan.write_text('threshold = "dev"\n')
    assert read_plan(plan).settings.threshold == "dev"
    assert settings_of({"threshold": "0.4"}).threshold == 0.4
    for wrong in ("test", 1.0, "1.5"):
        with pytest.raises(BadInput, match="threshold"):
            settings_of({"threshold": wrong})


def test_the_run_folder_keeps_the_thresholds(tmp_path: Path) -> None:
    audit(first_number, corpus_of(), audits=["performance"], threshold="dev", out=tmp_path / "run")
    plan = json.loads((tmp_path / "run" / "run.json").read_text())["plan"]
    assert plan["threshold"] == "dev"
    assert list(plan["thresholds"].values()) == [{"depression": pytest.approx(0.35)}]
    page = (tmp_path / "run" / "report.html").read_text()
    assert "The decision thresholds were chosen on dev texts, which are not judged." in page
    assert pl.read_parquet(tmp_path / "run" / "predictions.parquet")["id"].to_list() == ["5", "6"]


def test_a_model_that_scores_none_of_the_labels_of_dev_is_refused_before_it_is_asked() -> None:
    def never(texts: Sequence[str]) -> list[float]:
        raise SystemExit

    model = open_model(never, label="anxiety", name="never")
    with refused("threshold.no-dev-label", allowed="depression"):
        score_corpus(model, corpus_of(), threshold="dev")
