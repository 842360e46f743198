import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from psycheck.demo.opening import read_rows
from refusals import refused
from tools.demo_corpora import files as shipped_files
from tools.demo_corpora.compose import WORDS
from tools.demo_corpora.domains import domain_rows, generate
from tools.demo_corpora.files import write_files
from tools.demo_corpora.wording import bank, inflect, retell


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("base", "wake and cry and don't be"),
        ("first", "wake and cry and don't am"),
        ("third", "wakes and cries and doesn't is"),
        ("plural", "wake and cry and don't are"),
        ("past", "woke and cried and didn't was"),
        ("past_plural", "woke and cried and didn't were"),
    ],
)
def test_starred_verbs_take_person_and_tense(form: str, said: str) -> None:
    assert inflect("wake* and cry* and don't* be*", form) == said


def test_a_predicate_is_retold_of_another_person() -> None:
    assert (
        retell("blame myself for what I did to my cat", "woman")
        == "blame herself for what she did to her cat"
    )
    assert retell("think nobody likes me", "man") == "think nobody likes him"


def test_the_same_seed_writes_the_same_texts_and_another_seed_others() -> None:
    first, again, other = (domain_rows("tweets", 60, seed) for seed in (3, 3, 4))
    assert first == again
    assert not {row["text"] for row in first} & {row["text"] for row in other}


@pytest.mark.parametrize("domain", list(WORDS))
def test_every_slot_is_filled_and_lengths_are_kept(domain: str) -> None:
    least, most = WORDS[domain]
    for text in generate(domain, 400, 5).texts:
        assert not re.search(r"[{}\[\]|*]", text)
        assert least <= len(text.split()) <= most


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_any_number_of_texts_can_be_asked_for(n: int) -> None:
    for domain in WORDS:
        corpus = generate(domain, n, 1)
        assert len(corpus) == n == len(set(corpus.ids))


def test_an_association_of_gender_and_state_is_planted_on_demand() -> None:
    corpus = generate("notes", 2_000, 2, association=0.6)
    woman = np.array([gender == "woman" for gender in corpus.group("gender")])
    depressed = corpus.targets(["depression"])[:, 0] == 1
    gap = woman[depressed].mean() - woman[~depressed].mean()
    # Four per cent of flipped labels: P(state | 1) = .336/.362 = .928, P(state | 0) = .014/.638 = .022,
    # so 0.6 × (.928 − .022) = .544 of the planted 0.6 is left.
    assert gap == pytest.approx(0.544, abs=0.06)
    assert abs(woman.mean() - 0.41) < 0.04  # 0.35 × 0.8 + 0.65 × 0.2


def test_no_association_means_equal_shares_of_women() -> None:
    authors = {(row["author"], row["gender"]) for row in domain_rows("notes", 600, 2)}
    assert Counter(gender for _, gender in authors)["woman"] == pytest.approx(len(authors) / 2, abs=1)


@pytest.mark.parametrize(
    ("domain", "n", "association", "code", "allowed"),
    [
        ("tweet", 5, 0.0, "demo.unknown-domain", "tweets"),
        ("notes", 0, 0.0, "demo.too-few-texts", "1 or more"),
        ("notes", 5, 1.5, "demo.association-out-of-range", "-1 to 1"),
    ],
)
def test_what_cannot_be_generated_is_refused(
    domain: str, n: int, association: float, code: str, allowed: str
) -> None:
    with refused(code, allowed=allowed):
        generate(domain, n, 1, association=association)


def test_files_are_written_with_the_same_bytes_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipped_files, "SHIPPED_N", dict.fromkeys(WORDS, 20))
    monkeypatch.setattr(shipped_files, "SHIPPED_GRAPH_N", {"sentences": 20, "people": 3})
    first, again = write_files(tmp_path / "first"), write_files(tmp_path / "again")
    assert [path.name for path in first] == [f"{name}.jsonl.zst" for name in (*WORDS, "sentences", "people")]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]
    assert [len(read_rows(path.read_bytes())) for path in first[:5]] == [20] * 5


def test_the_phrase_banks_are_large() -> None:
    def size(node: object) -> int:
        if isinstance(node, dict):
            return sum(size(child) for child in node.values())
        return sum(size(child) for child in node) if isinstance(node, list) else 1

    assert size(bank("symptoms")) > 500
    assert size(bank("everyday")) > 300


def test_the_command_prints_how_it_is_used() -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "tools.demo_corpora"], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "python -m tools.demo_corpora OUTDIR" in done.stderr
