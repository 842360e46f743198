"""The study of PsySym: the whole of it on a part of the demo, its tables on figures worked out by hand."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from psycheck.core.corpus import LABEL, Corpus
from psycheck.core.finding import Finding, Findings
from psycheck.corpora.opening import open_corpus
from psycheck.report.studies.psysym_tables import answers, detection_table, relevance_table
from psycheck.runs.folder import open_run
from psycheck.runs.pages import redraw
from psycheck.studies.psysym_study import conditions, study_psysym
from psycheck.training.recipe import TFIDF, Recipe
from refusals import refused


def part() -> Corpus:
    """The sentences of two diseases and the controls, with their symptoms and the status."""
    corpus = open_corpus("demo:sentences")
    kept = corpus.only([name in ("adhd", "ocd", "control") for name in corpus.group("disease")])
    known = kept.only([name in ("adhd", "ocd") for name in kept.group("disease")]).table
    empty = [column for column in kept.table.columns if column.startswith(LABEL) and not known[column].sum()]
    return replace(kept, table=kept.table.drop(empty))


def figure(measure: str, value: float, experiment: str, arm: str, seed: str = "0", **where: str) -> Finding:
    place = {"study": "psysym", "experiment": experiment, "arm": arm, "seed": seed, **where}
    return Finding(
        measure, value, 50, interval=(value - 0.1, value + 0.1), where=place, counts={"annotated": 5}
    )


def test_all_parts_are_trained_measured_and_drawn(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    run = study_psysym(part(), None, out=folder, recipe=Recipe(start=TFIDF), store=tmp_path / "scores.sqlite")
    found = run.findings
    table = {tuple(row[1:3]): row[3] for row in relevance_table(found).rows if row[0] == "ours"}
    assert table.keys() == {
        ("one model per disease", "TF–IDF + LR"),
        *(("one model for all", way) for way in ("negative", "masked", "enhanced")),
    }
    means = found.where(measure="symptom_auc_by_disease", disease="all")
    assert all(0.5 < one.value <= 1 and one.interval is not None for one in means)
    # The mean of the models per disease is that of the two diseases.
    each = found.where(measure="symptom_auc_by_disease", experiment="one model per disease")
    of = {one.where["disease"]: one.value for one in each}
    assert of["all"] == pytest.approx((of["adhd"] + of["ocd"]) / 2)
    assert {one.where["of"] for one in found.where(measure="status_mae")} == {
        "model",
        "constant",
        "annotator",
    }
    page = (folder / "report.html").read_text("utf-8")
    assert "67.03" in page  # published
    assert "Tables 5 and 9" not in page
    again = (folder / "study.md").read_text("utf-8")
    redraw(folder)
    assert (folder / "study.md").read_text("utf-8") == again
    assert open_run(folder).plan["verb"] == "study psysym"


def test_a_corpus_without_a_test_split_is_refused_before_anything_is_trained(tmp_path: Path) -> None:
    corpus = replace(part(), table=part().table.with_columns(split=pl.lit("train")))
    with refused("corpus.no-test-split"):
        study_psysym(corpus, None, out=tmp_path / "study", recipe=Recipe(start=TFIDF))
    assert not (tmp_path / "study" / "models").exists()


def test_conditions_stand_beside_those_of_the_paper() -> None:
    found = Findings(
        [
            figure("f1", 0.5, "histories", "symptoms", label="depression"),
            figure("f1", 0.7, "histories", "symptoms", label="ptsd"),
            figure("macro_f1_across_labels", 0.6, "histories", "symptoms"),
        ]
    )
    rows = {row[:2]: row[2:] for row in detection_table(found).rows}
    assert rows["ours", "symptoms"][0] == "60.00 (50.0 to 70.0)"
    assert rows["published", "Symp"] == ("59.34", "66.67", "48.48")


def test_the_mean_over_conditions_is_that_of_their_f1_with_an_interval() -> None:
    # The last 20 are not annotated for ocd. Its F1 is 2·20 / (30 + 20) = 0.8, that of ptsd 2·20 / (20 + 40).
    annotated: dict[str, Sequence[float | None]] = {
        "ocd": [1.0] * 30 + [0.0] * 30 + [None] * 20,
        "ptsd": [0.0] * 60 + [1.0] * 20,
    }
    people = Corpus.of("people", [str(k) for k in range(80)], labels=annotated)
    said = np.zeros((80, 2))
    said[:20, 0] = said[60:, 0] = said[40:, 1] = 0.9
    found = {(f.measure, f.where.get("label")): f for f in conditions(people, said, {})}
    assert found["f1", "ocd"].value == pytest.approx(0.8)
    mean = found["macro_f1_across_labels", None]
    assert mean.value == pytest.approx((0.8 + 2 / 3) / 2)
    assert mean.interval is not None
    assert mean.interval[0] < mean.value < mean.interval[1]


def test_ways_are_listed_from_the_highest_on_and_the_rarest_condition_is_named() -> None:
    ways = [
        figure("symptom_auc_by_disease", value, "one model for all", way, disease="all")
        for way, value in (("negative", 0.8), ("masked", 0.9), ("enhanced", 0.85))
    ]
    rare = replace(figure("f1", 0.4, "histories", "symptoms", label="ocd"), counts={"annotated": 2})
    common = figure("f1", 0.9, "histories", "symptoms", label="anxiety")
    lines = [answer.sentence for answer in answers(Findings([*ways, rare, common]))]
    assert lines[0].endswith("masked 90.0, enhanced 85.0, negative 80.0")
    assert lines[1].startswith("ocd, the rarest condition (2 authors in test): F1 symptoms 40")
    assert answers(Findings([])) == []
