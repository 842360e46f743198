from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log2
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from found import of
from psycheck.commands.main import app
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.corpora.distances import PARTS, Comparing
from psycheck.report.studies.corpora_tables import corpora_tables, paper_notes, tables_of
from psycheck.report.studies.published_figures import published
from psycheck.runs.folder import open_run
from psycheck.studies.corpora_study import study_corpora
from refusals import refused

QUICK = Comparing(sample=20, permutations=10, repeats=2)


@dataclass(frozen=True)
class Points:
    """Texts with "far" in them stand at (3, 4), all others at the origin."""

    name: str = "points"
    fingerprint: str = "points"

    def encode(self, texts: Sequence[str], /) -> FloatArray:
        return np.array([(3.0, 4.0) if "far" in text else (0.0, 0.0) for text in texts])

    def encode_spans(self, texts: Sequence[str], spans: Sequence[tuple[int, int]], /) -> FloatArray:
        return self.encode(texts)


def near() -> Corpus:
    texts = ["aa bb"] * 12 + ["aa cc"] * 12
    return Corpus.of("near", texts, labels={"low": [1] * 12 + [0] * 12})


def far() -> Corpus:
    return Corpus.of("far", [f"far away {word}" for word in "mnopqrstuvwx"])


def test_the_distances_are_those_worked_out_by_hand() -> None:
    run = study_corpora([near(), far()], encoder=Points(), how=QUICK)
    # Every text of one corpus is moved from (0, 0) to (3, 4).
    (between,) = of(run.findings, "wasserstein")[:1]
    assert between.value == pytest.approx(5)
    assert (between.where["first"], between.where["second"]) == ("near", "far")
    # Smoothed counts of aa, bb, cc are 13, 13, 1 and 13, 1, 13, their mean 13, 7, 7, all of 27.
    (words,) = of(run.findings, "jsd_unigram")
    assert words.value == pytest.approx(13 / 27 * log2(13 / 7) + 1 / 27 * log2(1 / 7))
    assert (words.where["corpus"], words.where["first"], words.where["second"]) == ("near", "low 1", "low 0")
    # No class differs from the other in these vectors.
    (inside,) = [f for f in of(run.findings, "mmd2_pair_mean") if f.where["level"] == "between classes"]
    assert inside.value == 0
    (accuracy,) = of(run.findings, "adversarial_accuracy")
    assert accuracy.value == 1
    assert any("Table 2 omits far: it has no labels" in note for note in run.notes)


def test_two_labels_make_four_classes_and_small_ones_are_left_out() -> None:
    marks = [(1, 0)] * 10 + [(0, 1)] * 10 + [(1, 1)] * 10 + [(0, 0)] * 9
    corpus = Corpus.of(
        "made",
        [f"word{i % 7} and {i % 3}" for i in range(39)],
        labels={"depression": [a for a, _ in marks], "anxiety": [b for _, b in marks]},
    )
    run = study_corpora([corpus], encoder="tfidf", how=QUICK)
    pairs = {(f.where["first"], f.where["second"]) for f in of(run.findings, "jsd_bigram")}
    assert len(pairs) == 3
    assert any("'none': fewer than 10 texts" in note for note in run.notes)


def test_the_tables_show_ours_below_the_published_ones(tmp_path: Path) -> None:
    run = study_corpora([near(), far()], encoder=Points(), how=QUICK, out=tmp_path)
    third, second, eighth = tables_of(run.findings)
    assert third.rows[0][:4] == ("published", "TwSelfDiag", "TwPHMDepr", "6.86")
    assert third.rows[-1][:3] == ("ours", "near", "far")
    assert third.rows[-1][3].startswith("5.000")
    assert second.rows[0][:5] == ("published", "ANGST", "control", "comorbid", "0.036")
    assert second.rows[0][6] == "0.047†"
    assert eighth.rows[3] == ("published", "SDCNL", "ANGST", "1.000", "1.000", "1.000", "0.990†")
    assert (tmp_path / "study.md").read_text("utf-8") == corpora_tables(run)


def test_the_published_tables_are_whole() -> None:
    assert {len(published(name)) for name in ("deck-table-3", "angst-table-2", "angst-table-8")} == {
        3,
        40,
        16,
    }
    notes = "\n".join(paper_notes())
    assert "0.47 against the control group" in notes
    assert "0.990 − 0.857 = 0.133" in notes


def test_the_page_keeps_the_classes_of_each_corpus_apart(tmp_path: Path) -> None:
    texts = [f"far away {word}" for word in "mnopqrstuvwx"] * 2
    other = Corpus.of("other", texts, labels={"low": [1] * 12 + [0] * 12})
    run = study_corpora([near(), other], encoder=Points(), how=QUICK, out=tmp_path)
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "near and other: MMD², unbiased" in page
    assert page.count("<h2>Classes of ") == 2
    assert "ANGST Table 2" in page
    assert "no figure here means that a person has a disorder" in page
    assert set(run.tables["map"]["corpus"]) == {"near", "other"}
    # Bigrams of "near" are aa bb and aa cc, none in common; those of "other" are the same in both classes.
    held = {f.where["corpus"]: f.value for f in of(run.findings, "jsd_bigram")}
    assert held["near"] > 0.5
    assert held["other"] == 0
    first, second = page.split("<h2>Classes of ")[1:]
    assert f"{held['near']:.3f}" in first
    assert f"{held['near']:.3f}" not in second


def test_only_the_parts_that_are_asked_for_are_measured() -> None:
    run = study_corpora([near(), far()], encoder=Points(), how=replace(QUICK, parts=("words", "adversarial")))
    assert {f.where["part"] for f in run.findings if f.where["level"] == "between corpora"} == {"adversarial"}
    assert not of(run.findings, "mmd2")
    assert [table.caption.partition(":")[0] for table in tables_of(run.findings)] == [
        "ANGST Table 2",
        "ANGST Table 8",
    ]


@pytest.mark.parametrize(("corpora", "parts"), [([far()], PARTS), ([near()], ("adversarial", "map"))])
def test_nothing_to_compare_is_said(corpora: list[Corpus], parts: tuple[str, ...]) -> None:
    with refused("study.nothing-to-compare"):
        study_corpora(corpora, encoder="tfidf", how=replace(QUICK, parts=parts))


def test_two_corpora_of_one_name_are_refused() -> None:
    with refused("corpus.same-name"):
        study_corpora([near(), near()], encoder="tfidf")


def test_the_verb_prints_the_tables(tmp_path: Path) -> None:
    rows = "\n".join(f"{i},word{i % 5} and thing{i % 4},{i % 2}" for i in range(40))
    (tmp_path / "posts.csv").write_text(f"id,text,depression\n{rows}\n")
    command = [
        "study",
        "corpora",
        str(tmp_path / "posts.csv"),
        "--encoder",
        "tfidf",
        "--out",
        str(tmp_path / "s"),
        *("--part", "words", "--sample", "15", "--seed", "3"),
    ]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert "| ours | posts | depression 1 | depression 0 |" in result.output
    assert f"report: {tmp_path / 's' / 'report.html'}" in result.output
    plan = open_run(tmp_path / "s").plan
    assert (plan["parts"], plan["sample"], plan["seed"]) == (["words"], 15, 3)
