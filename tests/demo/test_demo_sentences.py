import re
from importlib.resources import files

import numpy as np
import polars as pl
import pytest

from psycheck.core.corpus import Corpus
from psycheck.corpora.near_duplicates import near_duplicates
from psycheck.demo.opening import corpus_from_prefixed_rows, open_demo
from psycheck.symptoms.graph import read_graph
from psycheck.text.clean import split_sentences
from refusals import refused
from tools.demo_corpora.files import SHIPPED_GRAPH_N, SHIPPED_SEED
from tools.demo_corpora.sentences import STATUSES, generate_sentences, judgements, sentence_rows
from tools.demo_corpora.wording import bank

GRAPH = read_graph()
NAMES = [one.name for one in GRAPH.symptom]


@pytest.fixture(scope="module")
def shipped() -> Corpus:
    return open_demo("sentences")


@pytest.fixture(scope="module")
def generated() -> tuple[Corpus, Corpus]:
    return generate_sentences(SHIPPED_GRAPH_N["sentences"], SHIPPED_SEED)


def _runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[a-z']+", text.lower())
    return {tuple(words[i : i + 4]) for i in range(len(words) - 3)}


def test_what_is_shipped_is_what_the_generator_writes(
    shipped: Corpus, generated: tuple[Corpus, Corpus]
) -> None:
    assert shipped.fingerprint() == generated[0].fingerprint()
    assert len(files("psycheck.demo").joinpath("shipped", "sentences.jsonl.zst").read_bytes()) < 250_000


def test_every_symptom_has_phrases_of_every_sort() -> None:
    assert set(bank("posted")) == set(NAMES)
    for phrases in bank("posted").values():
        assert len(phrases["verb"]) + len(phrases["said"]) >= 8
        assert len(phrases["implied"]) >= 2
        assert len(phrases["absent"]) >= 2


def test_no_sentence_repeats_four_words_of_a_description(shipped: Corpus) -> None:
    described = {run for one in GRAPH.symptom for text in one.descriptions for run in _runs(text)}
    about = shipped.table.filter(pl.col("label:uncertain").is_not_null())["text"]
    assert described & {run for text in about for run in _runs(text)} == set()


def test_each_row_is_one_sentence_without_open_slots(shipped: Corpus) -> None:
    assert all(len(split_sentences(text)) == 1 for text in shipped.texts)
    assert not [text for text in shipped.texts if re.search(r"[{}\[\]|*]", text)]


def test_no_sentence_is_nearly_that_of_another_split(shipped: Corpus) -> None:
    split = shipped.strings("split")
    assert [(a, b) for a, b in near_duplicates(shipped.texts) if split[a] != split[b]] == []
    shares = [split.count(name) / len(split) for name in ("train", "dev", "test")]
    assert shares == pytest.approx([0.5, 0.1, 0.4], abs=0.02)


def test_only_the_symptoms_of_the_queue_are_annotated(shipped: Corpus) -> None:
    targets = shipped.targets(NAMES)
    for row, queue in zip(targets, shipped.group("disease"), strict=True):
        if queue == "control":
            assert not row.any()
        else:
            known = {name for name, mark in zip(NAMES, row, strict=True) if not np.isnan(mark)}
            assert known == {one.name for one in GRAPH.of(str(queue))}


def test_every_symptom_has_sentences_to_train_and_to_test_on(shipped: Corpus) -> None:
    for split, least in (("train", 8), ("test", 5)):
        assert np.nansum(shipped.part(split).targets(NAMES), axis=0).min() >= least


def test_status_is_known_where_a_symptom_is_and_is_a_share(shipped: Corpus) -> None:
    share = shipped.targets(["uncertain"])[:, 0]
    found = np.nansum(shipped.targets(NAMES), axis=1) > 0
    assert np.array_equal(found, ~np.isnan(share))
    assert {round(value, 2) for value in share[found]} == {0, 0.33, 0.5, 0.67, 1}


def test_the_truth_knows_what_the_queue_does_not(generated: tuple[Corpus, Corpus]) -> None:
    annotated, truth = generated
    marks, full = annotated.targets(NAMES), truth.targets(NAMES)
    assert annotated.ids == truth.ids
    assert not np.isnan(full).any()
    missing = np.isnan(marks)
    assert full[missing].sum() > 300  # missing as negative would be wrong so often
    assert np.mean(marks[~missing] != full[~missing]) < 0.005  # annotators err
    assert set(truth.group("status")) == {*STATUSES, None}


def test_merged_judgements_are_the_labels() -> None:
    corpus, said = corpus_from_prefixed_rows("sentences", sentence_rows(300, 4)), judgements(300, 4)
    assert said.columns == ["item", "annotator", "label", "value", "status", "time", "seconds"]
    assert said.group_by("item").agg(pl.col("annotator").n_unique())["annotator"].unique().to_list() == [3]
    merged = said.group_by("item", "label").agg(pl.col("value").max())
    values = {(item, label): value for item, label, value in merged.iter_rows()}
    for name, row, queue in zip(corpus.ids, corpus.targets(NAMES), corpus.group("disease"), strict=True):
        for label, mark in zip(NAMES, row, strict=True):
            assert values.get((name, label)) == (None if queue == "control" or np.isnan(mark) else mark)


def test_the_same_seed_writes_the_same_sentences_and_no_number_below_one() -> None:
    assert sentence_rows(40, 3) == sentence_rows(40, 3) != sentence_rows(40, 4)
    with refused("demo.too-few-texts", allowed="1 or more"):
        sentence_rows(0, 3)
