"""First-person texts: a probe of the writer's gender, and fairness by record and probe, on planted texts."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from process import psycheck
from psycheck.core.corpus import Corpus
from psycheck.core.run import Run
from psycheck.studies.gender_writers import FOLDS, study_writers
from refusals import refused

WORDS = ("train", "soup", "river", "paint", "market", "kettle", "window", "paper")
PER_CELL = 20


def posts(*, female: str, male: str, seed: int = 0) -> Corpus:
    """Two posts each of 40 authors of either gender, whose words besides random ones are these."""
    random = np.random.default_rng(seed)
    texts, authors, genders, labels = [], [], [], []
    for number in range(4 * PER_CELL):
        gender, mark = number % 2, number // 2 % 2
        for _ in range(2):
            drawn = " ".join(random.choice(WORDS, 5))
            feeling = "I feel hopeless" if mark else "I feel fine"
            texts.append(f"{(female, male)[gender]} {feeling}, {drawn}.")
            authors.append(f"a{number}")
            genders.append(("F", "male")[gender])
            labels.append(float(mark))
    # One text without a record, and one without an annotation.
    return Corpus.of(
        "posts",
        [*texts, "No record.", "No label."],
        author=[*authors, "x", "y"],
        labels={"depression": [*labels, 1.0, None]},
        groups={"gender": [*genders, None, "F"]},
    )


def study(corpus: Corpus, folder: Path) -> Run:
    return study_writers(corpus, out=folder, record="gender", encoder="tfidf", names=["lr"])


def aucs(run: Run) -> list[float]:
    return [finding.value for finding in run.findings.where(measure="writer_auc")]


def test_a_style_is_told_with_and_without_gendered_words(tmp_path: Path) -> None:
    run = study(posts(female="In the garden", male="On the pitch"), tmp_path)
    assert aucs(run) == [1.0, 1.0]
    (written, _) = run.findings.where(measure="writer_auc")
    assert (written.n, written.counts["female"], written.counts["units"]) == (160, 80, 80)
    assert written.interval is not None
    assert written.interval[0] > 0.9
    # The probe is always right, so both ways to tell the gender give one figure.
    by_record = [finding.value for finding in run.findings.where(column="record")]
    by_probe = [finding.value for finding in run.findings.where(column="probe")]
    assert by_record == pytest.approx(by_probe, nan_ok=True)


def test_words_that_name_a_gender_tell_it_until_they_are_neutral(tmp_path: Path) -> None:
    run = study(posts(female="As a woman", male="As a man"), tmp_path)
    written, neutral = run.findings.where(measure="writer_auc")
    assert written.value == 1.0
    assert neutral.value < 0.7
    assert neutral.interval is not None
    assert neutral.interval[0] < 0.5
    assert "without gendered words it is not told beyond chance" in run.verdict


def test_what_is_not_in_the_texts_is_not_told(tmp_path: Path) -> None:
    run = study(posts(female="Well", male="Well"), tmp_path)
    for finding in run.findings.where(measure="writer_auc"):
        assert finding.interval is not None
        assert finding.interval[0] < 0.5


def test_figures_follow_from_the_table_of_texts(tmp_path: Path) -> None:
    # Women who are low say so, men do not: a classifier of words misses the men.
    corpus = posts(female="In the garden", male="On the pitch")
    texts = [text.replace("hopeless", "fine") if "pitch" in text else text for text in corpus.texts]
    run = study(replace(corpus, table=corpus.table.with_columns(text=pl.Series(texts))), tmp_path)
    table = pl.read_parquet(tmp_path / "writers.parquet")
    assert len(table) == 160
    assert "text" not in table.columns

    missed: dict[str, float] = {}
    for gender, is_female in (("female", True), ("male", False)):
        positive = table.filter(pl.col("annotated") & (pl.col("recorded_female") == is_female))
        missed[gender] = 1 - float(np.mean(positive["decided"].to_list()))
        (rate,) = run.findings.where(measure="fnr", column="record", group=gender)
        assert rate.value == pytest.approx(missed[gender])
        assert rate.n == 40
    assert missed["female"] < 0.1 < missed["male"]
    (gap,) = run.findings.where(measure="equal_opportunity_difference", column="record")
    assert gap.value == pytest.approx(missed["male"] - missed["female"])
    page = (tmp_path / "study.md").read_text("utf-8")
    assert "hopeless" not in page


def test_too_few_writers_are_refused(tmp_path: Path) -> None:
    corpus = posts(female="In the garden", male="On the pitch")
    few = corpus.only([row < 16 for row in range(len(corpus))])
    with refused("gender-study.too-few-writers"):
        study(few, tmp_path)
    with refused("gender-study.no-record"):
        study_writers(corpus, out=tmp_path, record="sex", encoder="tfidf")
    assert FOLDS == 5


def test_the_verb_asks_for_the_record(tmp_path: Path) -> None:
    corpus = posts(female="In the garden", male="On the pitch")
    marks = corpus.targets()[:, 0]
    rows = zip(corpus.texts, corpus.group("gender"), marks, strict=True)
    lines = [f'"{text}",{gender or ""},{mark:.0f}' for text, gender, mark in rows if not np.isnan(mark)]
    (tmp_path / "posts.csv").write_text("text,gender,depression\n" + "\n".join(lines) + "\n")
    command = (
        "study",
        "gender",
        "posts.csv",
        "--label",
        "depression",
        "--encoder",
        "tfidf",
        "--first-person",
    )
    done = psycheck(tmp_path, *command, "--group", "gender", "--out", "run")
    assert done.returncode == 0, done.stderr
    assert "Can the writer's gender be told?" in done.stdout
    assert psycheck(tmp_path, *command).returncode == 2
