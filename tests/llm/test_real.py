"""A real LLM behind a real server: SmolLM2-135M-Instruct, which proves the plumbing and not its quality."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from psycheck import audit
from psycheck.commands.llm_cascade import choose_cascade
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.llm.model import LlmModel
from psycheck.models.opening import open_model
from psycheck.scoring.answers import Answers, answers
from psycheck.scoring.store import Store
from smollm2 import serving_smollm2
from tools.demo_corpora.domains import generate

POSTS = [text for text in dict.fromkeys(generate("tweets", 60, 5).texts) if len(text) < 90][:8]


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    with serving_smollm2() as address:
        yield address


def _model(base_url: str, more: str, decoding: str = "temperature=0") -> LlmModel:
    model = open_model(f"llm:smollm2?base_url={base_url}&concurrency=2&{decoding}&seed=1&{more}")
    assert isinstance(model, LlmModel)
    return model


def _answered(model: LlmModel, texts: list[str], store: Path) -> Answers:
    """Ask all texts, and check that the ledger adds up to what the store holds."""
    with answers([model], [(1.0, texts)], store=store) as found:
        tally, view = found.tallies[model.name], found.views[0]
        scores = view.of(texts)
    assert tally.remembered + tally.scored + tally.failed == tally.distinct == len(set(texts))
    assert tally.failed == 0
    assert tally.requests == tally.scored * len(model.settings)
    assert tally.unreadable == int(np.isnan(scores).all(axis=1).sum())
    kept = Store(store)
    replies = [reply for _, batch in kept.batches(kept.enter(model)) for reply in batch.replies]
    kept.close()
    assert len(replies) == len(texts)
    if not tally.remembered:
        assert tally.prompt_tokens == sum(reply.prompt_tokens or 0 for reply in replies) > 0
        assert tally.completion_tokens == sum(reply.completion_tokens or 0 for reply in replies) > 0
    assert all(reply.finish in ("stop", "length") for reply in replies)
    return found


def test_zero_shot_with_a_schema_and_token_probabilities(base_url: str, tmp_path: Path) -> None:
    model = _model(base_url, "prompt=depression&max_tokens=24")
    found = _answered(model, POSTS, tmp_path / "store.sqlite")
    scores = found.views[0].of(POSTS)
    assert np.isfinite(scores).all()  # the server keeps to the schema
    assert ((scores > 0) & (scores < 1)).all()  # confidence from the tokens, no hard 0 or 1
    again = _answered(model, POSTS, tmp_path / "store.sqlite").tallies[model.name]
    assert (again.requests, again.remembered) == (0, len(POSTS))


@pytest.mark.slow
def test_without_schema_and_probabilities_scores_are_hard_or_missing(base_url: str, tmp_path: Path) -> None:
    found = _answered(
        _model(base_url, "prompt=depression&schema=no&logprobs=no"), POSTS, tmp_path / "s.sqlite"
    )
    scores = found.views[0].of(POSTS)
    assert np.isin(scores[np.isfinite(scores)], (0.0, 1.0)).all()


@pytest.mark.slow
def test_several_samples_give_their_share(base_url: str, tmp_path: Path) -> None:
    model = _model(base_url, "prompt=depression&samples=4&max_tokens=24", decoding="temperature=1")
    found = _answered(model, POSTS[:4], tmp_path / "s.sqlite")
    scores = found.views[0].of(POSTS[:4])
    assert np.isin(scores * 4, range(5)).all()


@pytest.mark.slow
def test_few_shot_from_a_pool(base_url: str, tmp_path: Path) -> None:
    model = _model(base_url, "prompt=depression-few-shot&pool=demo:tweets&encoder=tfidf&max_tokens=24")
    assert model.capabilities.parts["examples"] != "none"
    shown = (
        model.expected(POSTS).prompt_tokens
        - _model(base_url, "prompt=depression").expected(POSTS).prompt_tokens
    )
    assert shown > 0
    found = _answered(model, POSTS[:4], tmp_path / "s.sqlite")
    assert np.isfinite(found.views[0].of(POSTS[:4])).all()


@pytest.mark.slow
def test_a_rating_scale_has_a_verdict_and_items(base_url: str, tmp_path: Path) -> None:
    model = _model(base_url, "prompt=phq9-points&max_tokens=160")
    found = _answered(model, POSTS[:2], tmp_path / "s.sqlite")
    scores = found.views[0].of(POSTS[:2])
    assert scores.shape == (2, len(model.labels))
    assert len(model.labels) == 1 + 9
    assert np.isfinite(scores).all()


@pytest.mark.slow
def test_deck_on_a_few_posts_adds_up(base_url: str, tmp_path: Path) -> None:
    posts = {"text": POSTS[:2], "depression": [1, 0]}
    model = _model(base_url, "prompt=depression&max_tokens=24")
    how: dict[str, Any] = {"suites": ["deck"], "audits": ["performance", "behaviour"], "variants": "one"}
    run = audit(model, pl.DataFrame(posts), out=tmp_path / "run", store=tmp_path / "s.sqlite", **how)
    rates = [
        finding for finding in run.findings if finding.measure == "pass_rate" and "check" in finding.where
    ]
    assert len(rates) >= 20
    for finding in rates:
        counts = dict(finding.counts)
        kinds = ("passed", "failed", "unchanged", "unseen", "unanswered")
        assert counts["generated"] == sum(counts[kind] for kind in kinds)
        assert counts["unseen"] == 0
    (texts,) = run.environment["texts"].values()
    assert texts["remembered"] + texts["scored"] + texts["failed"] == texts["distinct"]
    assert texts["requests"] == texts["distinct"]
    assert texts["failed"] == 0


@pytest.mark.slow
def test_deck_within_a_budget_asks_no_more_and_a_larger_one_goes_on(base_url: str, tmp_path: Path) -> None:
    posts = pl.DataFrame({"text": POSTS, "depression": [1, 0] * 4})
    model = _model(base_url, "prompt=depression&max_tokens=24")
    how: dict[str, Any] = {"audits": ["behaviour"], "variants": "one", "store": tmp_path / "s.sqlite"}
    first = audit(model, posts, budget=45, max_requests=45, **how).environment["texts"][model.name]
    assert first["requests"] == first["distinct"] == first["scored"] <= 45
    with pytest.raises(BadInput, match="max_requests"):
        audit(model, posts, budget=60, max_requests=5, **how)
    more = audit(model, posts, budget=60, max_requests=15 + 45 - first["distinct"], **how)
    then = more.environment["texts"][model.name]
    assert (then["remembered"], then["failed"]) == (first["distinct"], 0)
    assert then["requests"] == then["distinct"] - first["distinct"] > 0
    assert more.plan["budget"] == 60
    counts = [f.counts for f in more.findings if f.measure == "pass_rate" and "check" in f.where]
    assert sum(one["not_asked"] for one in counts) > 0


@pytest.mark.slow
def test_a_scale_with_quotes_adds_up(base_url: str, tmp_path: Path) -> None:
    """What a model of 135M quotes is worth little; every item has a status, and bounds hold the total."""
    posts = pl.DataFrame({"text": POSTS[:2], "anxiety": [0, 1]})
    model = _model(base_url, "prompt=gad7-quotes&max_tokens=400")
    how: dict[str, Any] = {"audits": ["performance"], "store": tmp_path / "s.sqlite", "show_texts": True}
    run = audit(model, posts, **how)
    (without,) = run.findings.where(measure="items_without_evidence")
    counts = dict(without.counts)
    assert sum(counts.values()) == 2 * 7
    assert without.n == 2 * 7 - counts["unread"]
    assert run.replies["id"].len() == 2


@pytest.mark.slow
def test_wordings_of_one_question_are_compared(base_url: str, tmp_path: Path) -> None:
    words = 'title = "t"\nlabels = ["depression"]\nuser = "Is it depression, yes or no? {post}"\n'
    variant = '[[variant]]\nname = "mood"\nuser = "Does the writer have low mood, yes or no? {post}"\n'
    (tmp_path / "asked.toml").write_text(words + variant)
    models = [
        _model(base_url, f"prompt={tmp_path}/asked.toml{which}&max_tokens=24") for which in ("", "%23mood")
    ]
    posts = pl.DataFrame({"text": POSTS, "depression": [1, 0] * 4})
    run = audit(models, posts, audits=["performance"], store=tmp_path / "s.sqlite")
    (changed,) = run.findings.where(measure="wording_changes")
    (spread,) = run.findings.where(measure="wording_f1_range")
    assert changed.n == spread.n == len(POSTS)
    assert changed.counts["wordings"] == 2
    if changed.value == 0:
        assert spread.value == 0


@pytest.mark.slow
def test_a_cascade_asks_inside_its_band_alone(base_url: str, tmp_path: Path) -> None:
    (tmp_path / "cheap.py").write_text(
        "import numpy as np\n"
        "labels = ['depression']\n"
        "class Cheap:\n"
        "    labels = ('depression',)\n"
        "    def score(self, texts):\n"
        "        return np.array([[len(text) % 10 / 10] for text in texts])\n"
        "cheap = Cheap()\n"
    )
    llm = f"llm:smollm2?base_url={base_url}&concurrency=1&temperature=0&prompt=depression&max_tokens=24"
    dev = Corpus.of("dev", POSTS, labels={"depression": [1.0, 0.0] * 4})
    store = tmp_path / "s.sqlite"
    chosen = choose_cascade(f"python:{tmp_path}/cheap.py:cheap", llm, dev, budget=0.5, store=store)
    assert chosen.point.asked <= 4

    cascade = open_model(chosen.spec)
    with answers([cascade], [(1.0, POSTS)], store=store) as found:
        decided = found.views[0].of(POSTS)[:, 0] >= 0.5
        tally = found.tallies[cascade.name]
    assert tally.requests == 0  # dev was asked about when the band was chosen
    right = decided == (np.array([1, 0] * 4) == 1)
    assert right.mean() == pytest.approx(chosen.point.accuracy)
