import json
from pathlib import Path

import polars as pl

from process import psycheck
from tools.demo_corpora.sentences import generate_sentences, judgements

TRAIN = ("symptoms", "train", "demo:sentences", "--start", "tfidf+lr", "--out", "model")


def test_train_evaluate_and_tag_in_three_commands(tmp_path: Path) -> None:
    done = psycheck(tmp_path, *TRAIN, "--balanced")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "model: symptoms:model"
    done = psycheck(
        tmp_path, "symptoms", "evaluate", "model", "demo:sentences", "--json", "-o", "found.jsonl"
    )
    assert done.returncode == 0, done.stderr
    findings = json.loads(done.stdout)["findings"]
    found = {(one["measure"], one["where"].get("label")): one for one in findings}
    assert found["symptom_auc", "all"]["value"] > 0.8
    assert found["symptom_auc", "all"]["n"] == 38
    assert len((tmp_path / "found.jsonl").read_text().splitlines()) == len(findings)
    done = psycheck(tmp_path, "symptoms", "tag", "model", "demo:people", "--split", "dev", "-o", "t.parquet")
    assert done.returncode == 0, done.stderr
    assert "tagged for 38 symptoms" in done.stdout
    assert pl.read_parquet_schema(tmp_path / "t.parquet")["weight:sleep_disturbance"] == pl.Float32
    (tmp_path / "posts.csv").write_text('text,user\nI cannot sleep at all.,x\n"",y\n')
    done = psycheck(tmp_path, "symptoms", "tag", "model", "posts.csv", "-o", "u.parquet")
    assert "note: 1 row left out (empty text)" in done.stderr


def test_annotators_are_merged_while_training(tmp_path: Path) -> None:
    corpus, _ = generate_sentences(900, 5)
    corpus.table.select("id", "text", "split").write_csv(tmp_path / "texts.csv")
    judgements(900, 5).write_csv(tmp_path / "judged.csv")
    words = ("symptoms", "train", "texts.csv", "--judgements", "judged.csv", "--start", "tfidf+lr")
    done = psycheck(tmp_path, *words, "--missing", "masked", "--out", "m", "--id", "id")
    assert done.returncode == 0, done.stderr
    trained = json.loads((tmp_path / "m" / "training.json").read_text())
    assert trained["labels"][-1] == "uncertain"


def test_mistakes_are_one_clear_error(tmp_path: Path) -> None:
    done = psycheck(tmp_path, *TRAIN, "--missing", "guess")
    assert done.returncode == 2
    assert "negative, masked, enhanced" in done.stderr
    done = psycheck(tmp_path, *TRAIN, "--layers", "2")
    assert done.returncode == 2
    assert "takes no --layers" in done.stderr
    done = psycheck(tmp_path, "symptoms", "tag", "descriptions", "demo:people", "-o", "t.csv")
    assert done.returncode == 2
    assert "*.parquet" in done.stderr
    done = psycheck(tmp_path, "symptoms", "evaluate", "nowhere", "demo:sentences")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
