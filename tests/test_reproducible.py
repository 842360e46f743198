"""The same findings, byte for byte: under another hash seed, and with the rows of a corpus shuffled."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

from psycheck.core.corpus import Corpus
from psycheck.corpora.fixed_order import in_fixed_order
from psycheck.corpora.opening import open_corpus

# One process for all verbs: what takes longest is to import them.
_SESSION = """
import psycheck

trained = psycheck.train("a.csv", start="tfidf+lr", out="model")
psycheck.audit("sklearn:model", ["a.csv", "b.csv"], split="all", out="audit")
psycheck.audit("sklearn:model", "a.csv", split="all", budget=600, out="budget")
psycheck.compare(["a.csv", "b.csv"], encoder="tfidf", permutations=49, out="compare")
psycheck.score("sklearn:model", "a.csv").sort("id").write_csv("scores.csv")
"""
_FINDINGS = ("audit", "budget", "compare")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """The folders of two sessions: as the files are, and with shuffled rows under another hash seed."""
    corpora = {name: open_corpus(f"demo:{name}").table.sample(100, seed=1) for name in ("tweets", "forum")}
    folders = {}
    for hash_seed, session in enumerate(("plain", "shuffled")):
        folder = folders[session] = tmp_path_factory.mktemp(session)
        for file, table in zip(("a.csv", "b.csv"), corpora.values(), strict=True):
            rows = table if session == "plain" else table.sample(fraction=1, shuffle=True, seed=3)
            rows.write_csv(folder / file)
        environment = {
            **os.environ,
            "PYTHONHASHSEED": str(hash_seed),
            "PSYCHECK_STORE": str(folder / "scores.sqlite"),
        }
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", _SESSION], cwd=folder, env=environment, check=True
        )
    return folders


@pytest.mark.parametrize("verb", _FINDINGS)
def test_a_verb_that_measures_gives_the_same_bytes_of_findings(
    folders: Mapping[str, Path], verb: str
) -> None:
    plain = (folders["plain"] / verb / "findings.jsonl").read_bytes()
    assert plain.count(b"\n") > 50
    assert (folders["shuffled"] / verb / "findings.jsonl").read_bytes() == plain


def test_training_gives_the_same_file_of_tfidf_weights(folders: Mapping[str, Path]) -> None:
    weights = [folder / "model" / "model.npz" for folder in folders.values()]
    assert weights[0].read_bytes() == weights[1].read_bytes()


def test_scores_are_the_same_to_the_last_digit(folders: Mapping[str, Path]) -> None:
    assert (folders["plain"] / "scores.csv").read_bytes() == (folders["shuffled"] / "scores.csv").read_bytes()


def test_rows_are_ordered_by_what_they_say_and_only_copies_by_label_and_id() -> None:
    corpus = Corpus.of(
        "posts",
        ["same", "other", "same", "same"],
        ids=["4", "3", "2", "1"],
        labels={"depression": [1.0, 0.0, 0.0, 1.0]},
    )
    ordered = in_fixed_order(corpus)
    copies = ordered.table.filter(pl.col("text") == "same")
    assert copies["id"].to_list() == ["2", "1", "4"]
    backwards = in_fixed_order(Corpus("posts", corpus.table.reverse()))
    assert backwards.table.equals(ordered.table)
