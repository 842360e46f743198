"""An audit says so first where it judges texts, or near copies, that the model has learned from."""

import json
from pathlib import Path

import pytest

from made_words import clean
from psycheck import audit
from psycheck.core.corpus import Corpus
from psycheck.core.run import Run
from psycheck.corpora.text_digests import DIGESTS
from psycheck.training.fit import Trained, train
from psycheck.training.recipe import Recipe


def posts(n: int, seed: int, split: str | None = None) -> Corpus:
    made = clean(n, seed)
    splits = [split or ("train" if i % 4 else "dev") for i in range(n)]
    return Corpus.of(
        f"posts-{seed}",
        [f"{text} {seed}" for text in made["text"]],
        labels={"depression": [float(i % 2) for i in range(n)]},
        split=splits,
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return train(posts(200, 1), Recipe(start="tfidf+lr"), tmp_path_factory.mktemp("m") / "model")


def judged(trained: Trained, corpus: Corpus) -> Run:
    return audit(trained.spec, corpus, audits=["performance"])


def seen_in(run: Run) -> list[tuple[float, int, dict[str, int]]]:
    cautions = [f for f in run.findings.where(measure="caution") if f.where["caution"] == "training_texts"]
    return [(f.value, f.n, dict(f.counts)) for f in cautions]


def test_other_texts_give_no_caution(trained: Trained) -> None:
    run = judged(trained, posts(100, 2))
    assert seen_in(run) == []
    assert not any("training texts" in note for note in run.notes)


def test_training_texts_and_near_copies_in_test_are_told_before_other_claims(trained: Trained) -> None:
    other = posts(100, 2)
    texts = other.texts
    texts[:10] = posts(200, 1).texts[:10]
    texts[10:15] = [f"{text} indeed" for text in posts(200, 1).texts[10:15]]
    corpus = Corpus.of("mixed", texts, labels={"depression": [float(i % 2) for i in range(100)]})
    run = judged(trained, corpus)
    assert seen_in(run) == [(0.15, 100, {"exact": 10, "near": 5, "too_short": 0})]
    # What makes a model useless comes before the reason why its figures may mean little.
    assert [claim.rule for claim in run.headlines[:2]] == ["performance.both", "caution.training_texts"]
    (finding,) = run.findings.where(measure="caution")
    assert sorted(map(int, finding.examples)) == list(range(1, 16))
    assert finding.where["model"] == "model"


def test_judging_all_splits_of_its_own_corpus_is_said(trained: Trained) -> None:
    run = audit(trained.spec, posts(200, 1), split="all", audits=["performance"])
    ((share, n, _),) = seen_in(run)
    assert (share, n) == (1.0, 200)


def test_only_the_judged_texts_count(trained: Trained) -> None:
    own = posts(200, 1)
    test = posts(60, 3, "test")
    both = Corpus.of(
        "both",
        [*own.texts, *test.texts],
        labels={"depression": [float(i % 2) for i in range(260)]},
        split=[*own.strings("split"), *test.strings("split")],
    )
    assert seen_in(judged(trained, both)) == []


def test_a_card_without_digests_opens_and_the_audit_says_that_it_cannot_tell(
    trained: Trained, tmp_path: Path
) -> None:
    older = tmp_path / "older"
    older.mkdir()
    for file in trained.folder.iterdir():
        if file.name != DIGESTS:
            (older / file.name).write_bytes(file.read_bytes())
    spec = trained.spec.replace(str(trained.folder), str(older))
    run = audit(spec, posts(200, 1), split="all", audits=["performance"])
    assert seen_in(run) == []
    assert any("training texts are not known" in note for note in run.notes)


def test_the_card_holds_no_text(trained: Trained) -> None:
    record = json.dumps(json.loads((trained.folder / "training.json").read_text("utf-8")))
    assert not any(text in record for text in posts(200, 1).texts)
    assert (trained.folder / DIGESTS).stat().st_mode & 0o077 == 0
