"""The same findings, byte for byte: under another hash seed, and with the rows of a corpus shuffled."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from psycheck.audits.direct_bias.word_lists import common_words, gender, word_list
from psycheck.core.corpus import Corpus
from psycheck.corpora.fixed_order import in_fixed_order
from psycheck.corpora.opening import open_corpus

# One process for all verbs: what takes longest is to import them.
_SESSION = """
import psycheck

psycheck.train("a.csv", start="tfidf+lr", out="model")
psycheck.train("b.csv", start="tfidf+lr", out="other")
psycheck.audit("sklearn:model", ["a.csv", "b.csv"], split="all", out="audit")
psycheck.audit("sklearn:model", "a.csv", split="all", budget=600, out="budget")
psycheck.compare(["a.csv", "b.csv"], encoder="tfidf", permutations=49, out="compare")
psycheck.score("sklearn:model", "a.csv").sort("id").write_csv("scores.csv")
psycheck.bias("vectors:words.txt", random_lists=200, out="bias")
psycheck.audit("sklearn:other", ["a.csv", "b.csv"], split="all", out="audit_of_other")
psycheck.diff("audit", "audit_of_other", out="diff")

psycheck.audit("sklearn:model", ["a.csv", "b.csv"], split="all", out="audit_again")
psycheck.compare(["a.csv", "b.csv"], encoder="tfidf", permutations=49, out="compare_again")
"""
# What encodes, and what trains several models, takes longer.
_LONG_SESSION = """
import psycheck
from psycheck.commands.retrieve import Retrieving, retrieve
from psycheck.commands.tag import tag_corpus
from psycheck.corpora.opening import CorpusPlan, open_corpus

retrieve([CorpusPlan("a.csv")], out="candidates.csv", how=Retrieving(queue=5))
tag_corpus(psycheck.open_model("symptoms:descriptions"), open_corpus("a.csv").slices(), Path("tags.parquet"))
psycheck.train("a.csv", start="tfidf+lr", out="model")
psycheck.improve("model", "a.csv", "b.csv", out="improve")
"""
_FINDINGS = ("audit", "budget", "compare", "bias", "diff")


def run_sessions(code: str, factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """The folders of two sessions: as the files are, and with shuffled rows under another hash seed."""
    corpora = {name: open_corpus(f"demo:{name}").table.sample(100, seed=1) for name in ("tweets", "forum")}
    folders = {}
    for hash_seed, session in enumerate(("plain", "shuffled")):
        folder = folders[session] = factory.mktemp(session)
        for file, table in zip(("a.csv", "b.csv"), corpora.values(), strict=True):
            rows = table if session == "plain" else table.sample(fraction=1, shuffle=True, seed=3)
            rows.write_csv(folder / file)
        write_vectors(folder / "words.txt")
        environment = {
            **os.environ,
            "PYTHONHASHSEED": str(hash_seed),
            "PSYCHECK_STORE": str(folder / "scores.sqlite"),
        }
        subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=folder, env=environment, check=True)
    return folders


def write_vectors(file: Path) -> None:
    """Random vectors of all words that Direct Bias looks up."""
    random = np.random.default_rng(0)
    targets = [target.word for name in ("depression", "anxiety") for target in word_list(name).targets]
    known = gender()
    sides = [word for pair in known.pairs for word in pair]
    words = dict.fromkeys([*common_words(), *targets, *sides, *known.female, *known.male])
    rows = (f"{word} {' '.join(f'{number:.4f}' for number in random.standard_normal(20))}" for word in words)
    file.write_text("\n".join(row for row in rows if row.count(" ") == 20), "utf-8")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """The folders of the two short sessions."""
    return run_sessions(_SESSION, tmp_path_factory)


@pytest.mark.parametrize("verb", _FINDINGS)
def test_a_verb_that_measures_gives_the_same_bytes_of_findings(
    folders: Mapping[str, Path], verb: str
) -> None:
    plain = (folders["plain"] / verb / "findings.jsonl").read_bytes()
    assert plain.count(b"\n") > 50
    assert (folders["shuffled"] / verb / "findings.jsonl").read_bytes() == plain


@pytest.mark.parametrize("verb", ["audit", "compare"])
def test_a_plain_repeat_gives_the_same_bytes_of_findings(folders: Mapping[str, Path], verb: str) -> None:
    first, again = (folders["plain"] / name / "findings.jsonl" for name in (verb, f"{verb}_again"))
    assert again.read_bytes() == first.read_bytes()


@pytest.mark.slow
def test_candidates_tags_and_improved_models_are_the_same(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    plain, shuffled = run_sessions(f"from pathlib import Path\n{_LONG_SESSION}", tmp_path_factory).values()
    findings = (plain / "improve" / "findings.jsonl").read_bytes()
    assert findings.count(b"\n") > 10
    assert (shuffled / "improve" / "findings.jsonl").read_bytes() == findings

    # Sentences stand in the order of the file; what is said of each does not depend on it.
    candidates = [pl.read_csv(folder / "candidates.csv").sort("id") for folder in (plain, shuffled)]
    assert candidates[1].equals(candidates[0])
    tags = [pl.read_parquet(folder / "tags.parquet").sort("id", "sentence") for folder in (plain, shuffled)]
    assert tags[1].equals(tags[0])


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
