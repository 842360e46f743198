import json
import resource
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file

from psycheck.commands.audit import audit
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput, PsycheckWarning
from psycheck.corpora.fixed_order import in_fixed_order
from psycheck.models.opening import open_model
from psycheck.training.fit import train, with_dev
from psycheck.training.recipe import Recipe
from psycheck.training.search import spread, train_seeds
from refusals import refused

Tiny = Callable[[str], str]
QUICK = Recipe(epochs=2, batch=4, learning_rate=5e-3, max_length=16)


@pytest.mark.parametrize("kind", ["bert", "roberta", "albert", "xlnet", "longformer"])
def test_each_architecture_is_trained_saved_and_opened(
    kind: str, tiny: Tiny, corpus: Corpus, tmp_path: Path
) -> None:
    trained = train(corpus, QUICK.with_(start=tiny(kind), epochs=1), tmp_path / "model")
    network = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / "model").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "model")
    assert network.config.id2label == {0: "not low", 1: "low"}
    assert tokenizer.model_max_length == 16
    test = corpus.part("test")
    with torch.inference_mode():
        theirs = [
            network(**tokenizer(text, return_tensors="pt")).logits.softmax(-1)[0, 1] for text in test.texts
        ]
    model = open_model(trained.spec)
    assert model.labels == ("low",)
    np.testing.assert_allclose(model.score(test.texts)[:, 0], np.array(theirs), atol=1e-5)
    decided = np.array(theirs) >= 0.5
    assert trained.test["accuracy"] == pytest.approx((decided == test.targets()[:, 0]).mean())


def test_what_can_be_learned_is_learned(tiny: Tiny, corpus: Corpus, tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    trained = train(
        corpus,
        QUICK.with_(start=tiny("bert"), epochs=12, learning_rate=1e-2),
        tmp_path / "model",
        progress=lambda done, total: steps.append((done, total)),
    )
    assert trained.dev["accuracy"] == trained.test["accuracy"] == 1.0
    assert trained.curve[-1]["loss"] < trained.curve[0]["loss"] / 2
    # 16 texts of train in batches of 4, 12 times.
    assert (steps[0], steps[-1], len(trained.curve)) == ((1, 48), (48, 48), 12)


def test_the_folder_is_complete_and_says_what_it_is(tiny: Tiny, corpus: Corpus, tmp_path: Path) -> None:
    recipe = QUICK.with_(start=tiny("bert"), seed=5)
    trained = train(corpus, recipe, tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir() if "model" in path.name] == ["model"]
    assert not list((tmp_path / "model").glob("*.bin")), "nothing in it is pickled"
    record = json.loads((tmp_path / "model" / "training.json").read_text())
    assert record["recipe"] == recipe.as_dict()
    assert record["trained_on"]["corpus"] == "mixed"
    assert record["trained_on"]["fingerprint"] == in_fixed_order(corpus).fingerprint()
    assert (record["trained_on"]["train"]["n"], record["trained_on"]["train"]["positive"]) == (16, {"low": 8})
    assert record["key"] == trained.key
    card = (tmp_path / "model" / "README.md").read_text()
    for part in (
        "not a diagnosis",
        in_fixed_order(corpus).fingerprint(),
        "| seed | 5 |",
        "first 16 tokens",
        "## Intended use",
    ):
        assert part in card
    assert not any(text in card for text in corpus.texts)


def test_what_was_trained_is_not_trained_again(tiny: Tiny, corpus: Corpus, tmp_path: Path) -> None:
    recipe = QUICK.with_(start=tiny("bert"))
    first = train(corpus, recipe, tmp_path / "model")
    steps: list[int] = []
    again = train(corpus, recipe, tmp_path / "model", progress=lambda done, _: steps.append(done))
    assert again.reused
    assert not steps
    assert (again.key, again.dev, again.test) == (first.key, first.dev, first.test)
    # Another test corpus is measured on the same weights.
    other = train(corpus, recipe, tmp_path / "model", test=corpus.part("dev"))
    assert other.reused
    assert other.test["accuracy"] == first.dev["accuracy"]
    with refused("train.other-training"):
        train(corpus, recipe.with_(seed=1), tmp_path / "model")


def test_the_seed_decides_the_weights(tiny: Tiny, corpus: Corpus, tmp_path: Path) -> None:
    recipe = QUICK.with_(start=tiny("bert"), epochs=1)
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        train(corpus, recipe.with_(seed=seed), tmp_path / name)
    a, b, c = (load_file(tmp_path / name / "model.safetensors") for name in "abc")
    assert all(torch.equal(a[key], b[key]) for key in a)
    assert not all(torch.equal(a[key], c[key]) for key in a)


def test_accumulated_batches_give_the_weights_of_whole_ones(
    tmp_path: Path, tiny: Tiny, corpus: Corpus
) -> None:
    # Without dropout, 4 batches of 4 are one of 16 (all of train), up to rounding.
    config = json.loads((Path(tiny("bert")) / "config.json").read_text())
    start = tmp_path / "start"
    start.mkdir()
    for path in Path(tiny("bert")).iterdir():
        (start / path.name).write_bytes(path.read_bytes())
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (start / "config.json").write_text(json.dumps(config))
    recipe = QUICK.with_(start=str(start), epochs=3, learning_rate=1e-3)
    train(corpus, recipe.with_(batch=16), tmp_path / "whole")
    train(corpus, recipe.with_(batch=4, accumulate=4), tmp_path / "four")
    whole, four = (load_file(tmp_path / name / "model.safetensors") for name in ("whole", "four"))
    assert all(torch.allclose(whole[key], four[key], atol=1e-4) for key in whole)


def test_seeds_of_a_multi_label_model_are_audited_with_figures_over_labels(
    tiny: Tiny, corpus: Corpus, tmp_path: Path
) -> None:
    marks = {"low": list(corpus.targets()[:, 0]), "worry": [float(i // 8 % 2) for i in range(len(corpus))]}
    split = corpus.table["split"].to_list()
    both = Corpus.of("both", corpus.texts, labels=marks, split=split)
    recipe = QUICK.with_(start=tiny("bert"), criterion="dev_f1", patience=1, dev_share=0.0)
    several = train_seeds(both, recipe, tmp_path / "seeds", seeds=3)
    assert [one.recipe.seed for one in several] == [0, 1, 2]
    mean, deviation = spread(several)["f1:worry"]
    assert 0 <= mean <= 1
    assert deviation >= 0
    run = audit(several[0].spec, both.part("test"), audits=["performance"])
    together = {f.measure for f in run.findings if f.where.get("label") == "all"}
    weighted = {f"weighted_{name}_across_labels" for name in ("precision", "recall", "f1")}
    assert together == {"hamming", "exact_match", "macro_f1_across_labels", *weighted}


def test_several_labels_with_missing_and_soft_annotations(tiny: Tiny, corpus: Corpus, tmp_path: Path) -> None:
    low = corpus.targets()[:, 0]
    worry = [None if i % 3 == 0 else 0.9 - 0.8 * mark for i, mark in enumerate(low)]
    both = Corpus.of(
        "both",
        corpus.texts,
        labels={"low": list(low), "worry": worry},
        split=corpus.table["split"].to_list(),
    )
    recipe = QUICK.with_(start=tiny("bert"), epochs=15, learning_rate=1e-2)
    trained = train(both, recipe, tmp_path / "model")
    model = open_model(trained.spec)
    assert model.labels == ("low", "worry")
    assert trained.test["accuracy:low"] == trained.test["accuracy:worry"] == 1.0
    # The soft label is met near its own values, 0.9 and 0.1, not driven to 1 and 0.
    scores = model.score(both.part("test").texts)[:, 1]
    assert 0.02 < scores.min() < 0.3
    assert 0.7 < scores.max() < 0.98


def test_class_weights_raise_what_is_rare(tiny: Tiny, tmp_path: Path) -> None:
    # The text says nothing, 1 of 5 is positive: the best score is 0.2, with balanced weights 0.5.
    same = Corpus.of(
        "same",
        ["i feel the day"] * 60,
        labels={"low": [float(i % 5 == 0) for i in range(60)]},
        split=["train"] * 40 + ["dev"] * 20,
    )
    recipe = QUICK.with_(start=tiny("bert"), epochs=8, batch=10, learning_rate=1e-2, warmup=0.0)
    scores = []
    for weighted in (False, True):
        trained = train(same, recipe.with_(class_weights=weighted), tmp_path / str(weighted))
        scores.append(open_model(trained.spec).score(["i feel the day"])[0, 0])
    assert scores == pytest.approx([0.2, 0.5], abs=0.07)


def test_early_stopping_keeps_the_best_weights(tiny: Tiny, corpus: Corpus, tmp_path: Path) -> None:
    # Dev says the opposite of train: what is learned only makes it worse.
    train_part, dev = corpus.part("train"), corpus.part("dev")
    wrong = Corpus.of("wrong", dev.texts, labels={"low": list(1 - dev.targets()[:, 0])})
    recipe = QUICK.with_(start=tiny("bert"), epochs=20, patience=2)
    trained = train((train_part, wrong), recipe, tmp_path / "model")
    losses = [point["loss"] for point in trained.curve]
    best = losses.index(min(losses))
    assert len(losses) == best + 3 < 20
    assert trained.dev["loss"] == min(losses)
    scores = open_model(trained.spec).score(wrong.texts)[:, 0]
    targets = wrong.targets()[:, 0]
    mine = -np.mean(targets * np.log(scores) + (1 - targets) * np.log(1 - scores))
    assert mine == pytest.approx(min(losses), abs=1e-4)


def test_wrong_input_is_one_clear_error(tiny: Tiny, corpus: Corpus, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "notes.txt").write_text("nothing here")
    with pytest.raises(BadInput, match="holds no model"):
        train(corpus, QUICK.with_(start=str(empty)), tmp_path / "model")
    with pytest.raises(BadInput, match="no model folder"):
        train(corpus, QUICK.with_(start=str(tmp_path / "absent")), tmp_path / "model")
    with pytest.raises(BadInput, match="no label 'sad'"):
        train(corpus, QUICK.with_(labels=["sad"]), tmp_path / "model")
    with refused("train.folder-not-empty"):
        train(corpus, QUICK.with_(start=tiny("bert")), empty)
    assert not (tmp_path / "model").exists()


def test_a_full_disk_is_one_clear_error_and_loses_nothing(tiny: Tiny, corpus: Corpus, tmp_path: Path) -> None:
    recipe = QUICK.with_(start=tiny("bert"))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, hard))
    try:
        with refused("train.cannot-write"):
            train(corpus, recipe, tmp_path / "model")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not (tmp_path / "model").exists()
    assert not train(corpus, recipe, tmp_path / "model").reused


def test_out_of_memory_says_what_to_try(tiny: Tiny, corpus: Corpus, tmp_path: Path) -> None:
    many = Corpus.of(
        "many",
        ["i feel very tired again and again the day was a day"] * 8_000,
        labels={"low": [0.0, 1.0] * 4_000},
        split=["train"] * 7_990 + ["dev"] * 10,
    )
    recipe = QUICK.with_(start=tiny("bert"), batch=7_990, max_length=16)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (60 << 20), hard))
    try:
        with refused("train.out-of-memory", what="batch = 7990") as caught:
            train(many, recipe, tmp_path / "model")
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    assert "batch = 3995 and accumulate = 2" in caught.value.do
    assert not (tmp_path / "model").exists()


def _parted(name: str, split: list[str] | None, start: int = 0) -> Corpus:
    texts = [f"text number {start + i}" for i in range(6)]
    return Corpus.of(name, texts, labels={"low": [i % 2 for i in range(6)]}, split=split)


def test_another_file_gives_its_dev_split_and_test_is_kept() -> None:
    own = ["train", "train", "train", "dev", "test", "test"]
    (train_part, dev), test = with_dev(_parted("a", own), _parted("b", own, 10))
    assert train_part.texts == ["text number 0", "text number 1", "text number 2"]
    assert dev.texts == ["text number 13"]
    assert test is not None
    assert test.texts == ["text number 4", "text number 5"]


def test_another_file_without_splits_is_dev_as_a_whole() -> None:
    (train_part, dev), test = with_dev(_parted("a", None), _parted("b", None, 10))
    assert (len(train_part), len(dev), test) == (6, 6, None)


def test_texts_of_dev_that_stand_in_train_are_told() -> None:
    with pytest.warns(PsycheckWarning, match="2 of 6 texts of dev 'b' also occur in train 'a'"):
        with_dev(_parted("a", None), _parted("b", None, 4))
