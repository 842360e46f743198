"""Few-shot prompts, silver labels and rated items with a server that answers over the real protocol."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from llm_servers import Asked, Exchange, completion, serving
from psycheck import audit
from psycheck.commands.silver_labels import Labelling, label_corpus, write_silver
from psycheck.core.corpus import Corpus
from psycheck.corpora.opening import open_corpus
from psycheck.corpora.writing import write_corpus
from psycheck.llm.model import LlmModel
from psycheck.models.opening import open_model
from refusals import refused
from smollm2 import serving_smollm2

POOL = (
    "lying awake until four every single day since the move",
    "nobody in the office talks to me and I eat lunch in the car",
    "cooking pasta with basil, the kitchen smells wonderful",
    "the whole platform stood around in the rain waiting for a train",
)


@pytest.fixture
def pool(tmp_path: Path) -> str:
    path = tmp_path / "pool.csv"
    labels = {"depression": [1, 1, 0, 0]}
    write_corpus(Corpus.of("pool", POOL, labels=labels, author=["ann", "ben", "cleo", "dan"]), path)
    return quote(str(path))


def opened(spec: str) -> LlmModel:
    model = open_model(spec)
    assert isinstance(model, LlmModel)
    return model


async def _no(exchange: Exchange, asked: Asked, before: int) -> None:
    await exchange.send(completion('{"depression": "no"}'))


def test_the_nearest_posts_of_the_pool_stand_in_the_question_with_their_answers(pool: str) -> None:
    asked = "awake all night again, four in the morning, every day"
    with serving(_no) as server:
        spec = (
            f"llm:m?base_url={server.base_url}&prompt=depression-few-shot&pool={pool}&encoder=tfidf&shots=2"
        )
        assert open_model(spec).score([asked, POOL[0]]).tolist() == [[0.0], [0.0]]
    words = {
        one.post: "\n".join(message["content"] for message in one.body["messages"]) for one in server.asked
    }
    question = words[asked]
    assert POOL[0] in question
    assert question.index(POOL[0]) < question.index(asked)
    assert '"yes"' in question[question.index(POOL[0]) :]
    assert words[POOL[0]].count(POOL[0]) == 1  # the post itself, and not as an example
    assert sum(post in words[POOL[0]] for post in POOL[1:]) == 2


def test_a_pool_that_holds_the_test_posts_is_refused_before_a_request(pool: str) -> None:
    corpus = Corpus.of("test", [*POOL[:2], "another one"], labels={"depression": [1, 1, 0]})
    with serving(_no) as server:
        spec = f"llm:m?base_url={server.base_url}&prompt=depression-few-shot&pool={pool}&encoder=tfidf"
        with refused("pool.holds-judged-posts") as caught:
            audit(spec, corpus, audits=["performance"])
    assert "holds 2 of the 3 posts of 'test'" in caught.value.what
    assert server.asked == []


def test_silver_labels_of_the_open_prompt_with_their_reasons(tmp_path: Path) -> None:
    async def named(exchange: Exchange, asked: Asked, before: int) -> None:
        ill = "awake" in asked.post
        answer = {
            "mental_health_disorder": "yes" if ill else "no",
            "name": "depression" if ill else "none",
            "rationale": "does not sleep" if ill else "everyday life",
        }
        await exchange.send(completion(json.dumps(answer)))

    with serving(named) as server:
        model = opened(f"llm:m?base_url={server.base_url}&prompt=dsm5")
        made, failed = label_corpus([model], Corpus.of("posts", POOL), Labelling())
    assert failed == 0
    depression = made.corpus.targets(["depression"])[:, 0]
    assert depression.tolist() == [1, 0, 0, 0]
    write_silver(made, tmp_path / "silver.jsonl")
    reasons = [json.loads(line) for line in (tmp_path / "silver.rationale.jsonl").read_text().splitlines()]
    assert [one["rationale"] for one in reasons] == ["does not sleep", *["everyday life"] * 3]
    assert made.card["models"][model.name]["prompt"] == model.capabilities.parts["prompt"]
    # A silver corpus is a pool: this is how ANGST uses its own.
    again = quote(str(tmp_path / "silver.jsonl"))
    spec = f"llm:m?base_url={server.base_url}&prompt=depression-few-shot&pool={again}&encoder=tfidf"
    pool = opened(spec).pool
    assert pool is not None
    assert pool.marks[:, 0].tolist() == [1, 0, 0, 0]
    assert open_corpus(str(tmp_path / "silver.jsonl")).labels == made.corpus.labels


def test_one_point_of_an_item_is_a_symptom_and_counts_as_invented() -> None:
    async def rated(exchange: Exchange, asked: Asked, before: int) -> None:
        points = dict.fromkeys(map(str, range(1, 10)), 0) | {"3": 1 if "awake" in asked.post else 0}
        await exchange.send(completion(json.dumps(points)))

    labels = {"phq9_3": [0, 0, 0, 1], "depression": [0, 0, 0, 0]}
    with serving(rated) as server:
        model = opened(f"llm:m?base_url={server.base_url}&prompt=phq9-points")
        run = audit(model, Corpus.of("posts", POOL, labels=labels), audits=["performance"])
    found = {f.measure: f for f in run.findings if f.where.get("label") == "phq9_3"}
    # One of the three texts annotated 0 is rated 1 of 3 points; the one annotated 1 is rated 0.
    assert (found["item_invented"].counts["wrong"], found["item_invented"].n) == (1, 3)
    assert (found["item_missed"].counts["wrong"], found["item_missed"].n) == (1, 1)
    assert model.capabilities.thresholds[1:] == pytest.approx([1 / 6] * 9)


@pytest.mark.slow
def test_samples_of_a_real_llm_vote_on_silver_labels() -> None:
    with serving_smollm2() as base_url:
        spec = f"llm:smollm2?base_url={base_url}&prompt=depression&samples=3&temperature=1&max_tokens=24"
        how = Labelling(as_labels="votes")
        made, failed = label_corpus([open_model(spec)], Corpus.of("posts", POOL), how)
    counts = made.card["counts"]
    assert (failed, made.card["raters"]) == (0, 3)
    assert counts["texts"] == counts["texts written"] + counts["texts without a label left"] == 4
    shares = made.corpus.targets(["depression"])[:, 0]
    assert set((6 * shares).round(9)) <= {0, 2, 3, 4, 6}  # of three answers, or of two if one is unreadable
