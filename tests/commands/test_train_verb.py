import json
import re
from pathlib import Path

import numpy as np
import polars as pl

from process import psycheck
from psycheck.corpora.opening import open_corpus


def test_a_baseline_is_trained_and_audited_in_two_commands(tmp_path: Path) -> None:
    words = ("train", "demo:tweets", "--start", "tfidf+lr", "--label", "depression", "--out", "models/plain")
    done = psycheck(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "model: sklearn:models/plain/model.npz"
    assert "nothing to do" in psycheck(tmp_path, *words).stdout
    audit = (
        "audit",
        "models/plain",
        "demo:tweets",
        "--split",
        "test",
        "--variants",
        "one",
    )
    done = psycheck(tmp_path, *audit, "--trained-on", "tweets")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "runs/audit/report.html").is_file()


def test_seeds_give_a_mean_and_a_deviation(tmp_path: Path) -> None:
    words = ("train", "demo:tweets", "--start", "tfidf+lr", "--label", "depression", "--out", "models/s")
    done = psycheck(tmp_path, *words, "--seeds", "2")
    assert done.returncode == 0, done.stderr
    assert "2 seeds)" in done.stdout
    assert "test n: 237" in done.stdout.splitlines()


def test_a_corpus_without_dev_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_text(
        "text,depression\n" + "".join(f"text {i},{i % 2}\n" for i in range(20))
    )
    done = psycheck(tmp_path, "train", "posts.csv", "--start", "tfidf+lr", "--out", "m")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "--dev-share 0.1" in done.stderr


def test_a_label_can_be_the_upper_levels_of_a_scale(tmp_path: Path) -> None:
    rows = "".join(f"text {i} {'low' if i % 4 > 1 else 'fine'},{i % 4}\n" for i in range(80))
    (tmp_path / "posts.csv").write_text(f"text,phq_sleep\n{rows}")
    words = ("train", "posts.csv", "--start", "tfidf+lr", "--dev-share", "0.2", "--out", "m")
    done = psycheck(tmp_path, *words, "--label", "phq_sleep=sleep")
    assert (done.returncode, "--label 'phq_sleep=sleep@2'" in done.stderr) == (2, True)
    done = psycheck(tmp_path, *words, "--label", "phq_sleep=sleep@2")
    assert done.returncode == 0, done.stderr
    assert "dev: accuracy 1.000" in done.stdout


def test_half_the_name_of_a_start_is_answered_with_the_whole(tmp_path: Path) -> None:
    done = psycheck(tmp_path, "train", "demo:tweets", "--start", "tfidf", "--out", "m")
    assert (done.returncode, "did you mean 'tfidf+lr'?" in done.stderr) == (2, True)


def test_a_file_with_splits_gives_its_dev_split_and_the_test_figures_stay(tmp_path: Path) -> None:
    words = ["fine", "low"]
    rows = [
        f"{words[i % 2]} {part} {i},{i % 2},{part}\n" for part in ("train", "dev", "test") for i in range(20)
    ]
    (tmp_path / "posts.csv").write_text("text,depression,split\n" + "".join(rows))
    train = ("train", "posts.csv", "--start", "tfidf+lr", "--dev", "posts.csv", "--out", "m")
    done = psycheck(tmp_path, *train)
    assert done.returncode == 0, done.stderr
    assert "test: no such split" not in done.stdout
    assert "warning" not in done.stderr
    (tmp_path / "again.csv").write_text("text,depression\n" + "fine train 0,0\n" + "low again,1\n")
    done = psycheck(tmp_path, *train[:5], "again.csv", "--out", "n")
    assert "warning: 1 of 2 texts of dev 'again' also occurs in train 'posts'" in done.stderr


BASELINE = ("train", "demo:tweets", "--start", "tfidf+lr", "--label", "depression", "--out", "m")


def test_an_option_that_a_baseline_has_no_use_for_is_refused(tmp_path: Path) -> None:
    for option, value in (("--epochs", "3"), ("--learning-rate", "0.3"), ("--max-length", "64")):
        done = psycheck(tmp_path, *BASELINE, option, value)
        assert (done.returncode, "Traceback" in done.stderr) == (2, False)
        assert f"--start tfidf+lr takes no {option}" in done.stderr
    assert not (tmp_path / "m").exists()


def test_the_options_that_a_baseline_uses_are_taken_and_n_is_a_count(tmp_path: Path) -> None:
    done = psycheck(tmp_path, *BASELINE, "--criterion", "dev_f1", "--class-weights")
    assert done.returncode == 0, done.stderr
    assert ".000" not in done.stdout.split(" n ")[1].split()[0]


def test_a_precision_without_a_positive_decision_is_undefined_and_says_why(tmp_path: Path) -> None:
    # One word in all texts and 1 of 5 annotated 1: every score is 0.2, so that none is decided 1.
    rows = [f"plain,{int(i % 5 == 0)},{part}\n" for part in ("train", "dev", "test") for i in range(20)]
    (tmp_path / "posts.csv").write_text("text,depression,split\n" + "".join(rows))
    words = ("train", "posts.csv", "--start", "tfidf+lr", "--out")
    done = psycheck(tmp_path, *words, "m")
    assert done.returncode == 0, done.stderr
    assert "f1 0.000" in done.stdout
    assert done.stdout.count("precision – (no text scores 0.5 or more)") == 2  # dev and test
    record = json.loads((tmp_path / "m" / "training.json").read_text())
    assert record["dev"]["precision"] is record["test"]["figures"]["precision"] is None
    assert "| precision | – (no text scores 0.5 or more) |" in (tmp_path / "m" / "README.md").read_text()
    done = psycheck(tmp_path, *words, "s", "--seeds", "2")
    assert "dev precision: – (no text scores 0.5 or more, 2 seeds)" in done.stdout.splitlines()


def test_one_class_is_refused_and_no_weight_is_promised_to_help(tmp_path: Path) -> None:
    rows = [f"text {part} {i},0,{part}\n" for part in ("train", "dev") for i in range(20)]
    (tmp_path / "posts.csv").write_text("text,depression,split\n" + "".join(rows))
    done = psycheck(tmp_path, "train", "posts.csv", "--start", "tfidf+lr", "--class-weights", "--out", "m")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "a model cannot learn from one class, even with class weights" in done.stderr


def test_the_command_of_the_card_opens_the_model(tmp_path: Path) -> None:
    done = psycheck(tmp_path, *BASELINE[:-1], "models/plain")
    assert done.returncode == 0, done.stderr
    card = (tmp_path / "models/plain/README.md").read_text()
    (command,) = re.findall(r"`psycheck (score FOLDER CORPUS .*?|audit FOLDER CORPUS)`", card)
    said = command.replace("FOLDER", "models/plain").replace("CORPUS", "demo:tweets").split()
    done = psycheck(tmp_path, *said, "--split", "test", "--variants", "one")
    assert done.returncode == 0, done.stderr


def test_an_svm_on_static_vectors_is_audited_and_improved(tmp_path: Path) -> None:
    rows = open_corpus("demo:tweets").table.group_by("split").head(60)
    rows.select("text", pl.col("label:depression").alias("depression"), "split").write_csv(
        tmp_path / "posts.csv"
    )
    words = sorted({word for text in rows["text"] for word in re.findall(r"\w+", text.lower())})
    random = np.random.default_rng(0)
    lines = [f"{word} {' '.join(map('{:.3f}'.format, random.normal(size=6)))}" for word in words]
    (tmp_path / "words.txt").write_text(f"{len(words)} 6\n" + "\n".join(lines) + "\n")

    train = ("train", "posts.csv", "--label", "depression", "--start", "svm", "--out", "models/svm")
    done = psycheck(tmp_path, *train, "--features", "vectors:words.txt")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "model: learner:models/svm"
    # Nothing in the folder runs code when it is opened.
    endings = {file.suffix for file in (tmp_path / "models/svm").iterdir()}
    assert endings <= {".json", ".skops", ".md", ".npz"}

    done = psycheck(tmp_path, "audit", "models/svm", "posts.csv", "--split", "dev", "--variants", "one")
    assert done.returncode == 0, done.stderr
    audited = (tmp_path / "runs/audit/findings.jsonl").read_text()
    assert '"model": "svm"' in audited

    improve = ("improve", "learner:models/svm", "posts.csv", "demo:interviews", "--texts", "8")
    done = psycheck(tmp_path, *improve, "--no-control")
    assert done.returncode == 0, done.stderr
    arms = {"plain", "balanced", "augmented"}
    found = map(json.loads, (tmp_path / "runs/improve/findings.jsonl").read_text().splitlines())
    assert {finding["where"].get("arm") for finding in found} >= arms
    assert list((tmp_path / "runs/improve/models").rglob("learner.skops"))


def test_features_are_for_learners_alone(tmp_path: Path) -> None:
    words = ("train", "demo:tweets", "--start", "tfidf+lr", "--features", "encoder", "--out", "m")
    done = psycheck(tmp_path, *words)
    assert done.returncode == 2
    assert "svm, forest, mlp, lr" in done.stderr
