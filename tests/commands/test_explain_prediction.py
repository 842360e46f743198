"""Why a model decides for an author, on planted authors: the planted post, predictions without evidence."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from psycheck.commands.explain import explain_people
from psycheck.core.corpus import Corpus, History
from psycheck.core.model import Capabilities
from psycheck.core.run import Run
from psycheck.models.opening import open_model
from psycheck.symptoms.graph import read_graph
from psycheck.training.fit import train
from psycheck.training.recipe import Recipe
from refusals import refused

SYMPTOMS = [symptom.name for symptom in read_graph().symptom]
LOW = "depressed_mood"
NEUTRAL = ("soup", "garden", "bus", "match", "kettle", "river", "paint", "market")
POSTS = 8


def planted(
    authors: int, *, name: str = "planted", marker: str = "hopeless"
) -> tuple[Corpus, dict[str, str]]:
    """Every second author has one post with the marker, at a place of its own, and is annotated 1."""
    random = np.random.default_rng(7)
    texts, ids, names, labels, splits = [], [], [], [], []
    planted_posts = {}
    for number in range(authors):
        author = f"a{number}"
        place = int(random.integers(POSTS)) if number % 2 else -1
        for post in range(POSTS):
            words = " ".join(random.choice(NEUTRAL, 5))
            texts.append(f"The {words} today." if post != place else f"I feel {marker} about the {words}.")
            ids.append(f"{author}-{post}")
            if post == place:
                planted_posts[author] = ids[-1]
        names += [author] * POSTS
        labels += [float(number % 2)] * POSTS
        splits += [("train", "train", "dev", "test")[number // 2 % 4]] * POSTS
    corpus = Corpus.of("planted", texts, ids=ids, author=names, labels={"depression": labels}, split=splits)
    return corpus, planted_posts


def tags_of(corpus: Corpus, path: Path, about: Sequence[str]) -> Path:
    """One sentence per post, with weight 0.9 of low mood in these posts."""
    rows = []
    for post, author in corpus.table.select("id", "author").iter_rows():
        weights = {f"weight:{name}": 0.01 for name in SYMPTOMS}
        weights[f"weight:{LOW}"] = 0.9 if post in about else 0.01
        rows.append({"id": post, "sentence": 0, "author": author, **weights})
    pl.DataFrame(rows).write_parquet(path)
    return path


@pytest.fixture(scope="module")
def explained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, dict[str, str]]:
    folder = tmp_path_factory.mktemp("explained")
    corpus, planted_posts = planted(48)
    trained = train(corpus, Recipe(start="history:tfidf+lr", criterion="dev_f1"), folder / "model")
    tags = tags_of(corpus, folder / "tags.parquet", list(planted_posts.values()))
    run = explain_people(corpus, model=open_model(trained.spec), tags=tags, out=folder / "run")
    return run, planted_posts


def test_the_planted_post_carries_the_prediction(explained: tuple[Run, dict[str, str]]) -> None:
    run, planted_posts = explained
    posts = run.tables["prediction_posts"]
    ranks = {
        row["author"]: row["rank"]
        for row in posts.iter_rows(named=True)
        if row["post"] == planted_posts.get(row["author"])
    }
    assert len(ranks) == 24
    assert set(ranks.values()) == {1}


def test_a_prediction_whose_posts_name_the_symptom_is_supported(
    explained: tuple[Run, dict[str, str]],
) -> None:
    run, planted_posts = explained
    for row in run.tables["predictions"].iter_rows(named=True):
        assert row["decided"] == (row["author"] in planted_posts)
        if row["decided"]:
            assert row["agreement"] == "supported by the posts that carry it"
            assert row["carried_symptoms"] == [LOW]
            assert row["without_carriers"] < row["score"]
            # One item of PHQ-9 asks about low mood: not DSM-5's five.
            assert (row["criteria"], row["items"], row["criteria_met"]) == (1, 9, False)
        else:
            assert row["agreement"] == "no prediction and no evidence"


def test_the_page_shows_the_posts_and_a_timeline(explained: tuple[Run, dict[str, str]]) -> None:
    run, planted_posts = explained
    assert run.folder is not None
    page = (run.folder / "predictions.html").read_text("utf-8")
    assert page.count("<svg viewBox") == 48
    assert planted_posts["a1"] in page
    assert "I feel hopeless" not in page
    lines = (run.folder / "predictions.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(line)["author"] for line in lines} == {f"a{number}" for number in range(48)}


def test_a_prediction_without_evidence_is_called_so(tmp_path: Path) -> None:
    # The label goes with a club, and no post names a symptom.
    corpus, planted_posts = planted(48, marker="wonderful")
    trained = train(corpus, Recipe(start="history:tfidf+lr", criterion="dev_f1"), tmp_path / "model")
    tags = tags_of(corpus, tmp_path / "tags.parquet", ["a0-0"])
    run = explain_people(corpus, model=open_model(trained.spec), tags=tags)
    rows = {row["author"]: row for row in run.tables["predictions"].iter_rows(named=True)}
    assert {rows[author]["agreement"] for author in planted_posts} == {"a prediction without evidence"}
    assert rows["a0"]["agreement"] == "evidence without a prediction"
    (share,) = run.findings.where(measure="predictions_without_evidence")
    assert (share.value, share.n) == (1.0, 24)


class Longest:
    """A model of histories that scores by the number of posts: no single post tells."""

    name, labels, fingerprint = "longest", ("depression",), "longest"
    capabilities = Capabilities(takes="histories")

    def score(self, items: Sequence[History], /) -> np.ndarray:
        return np.array([[min(len(history.posts) / 10, 1.0)] for history in items])


def test_evidence_in_other_posts_than_those_that_carry_is_told(tmp_path: Path) -> None:
    corpus, _ = planted(4)
    # All posts raise the score alike, so the first five carry it; the evidence is in the last.
    tags = tags_of(corpus, tmp_path / "tags.parquet", ["a0-7"])
    run = explain_people(corpus, model=Longest(), tags=tags)
    rows = {row["author"]: row for row in run.tables["predictions"].iter_rows(named=True)}
    assert rows["a0"]["agreement"] == "evidence only in other posts"
    assert rows["a0"]["score"] == 0.8
    assert rows["a0"]["without_carriers"] == pytest.approx(0.3)


def test_a_model_of_texts_scores_an_author_by_the_mean(tmp_path: Path) -> None:
    def hopeless(texts: list[str]) -> list[float]:
        return [0.9 if "hopeless" in text else 0.1 for text in texts]

    corpus, planted_posts = planted(4)
    tags = tags_of(corpus, tmp_path / "tags.parquet", list(planted_posts.values()))
    run = explain_people(corpus, model=open_model(hopeless, label="depression"), tags=tags)
    rows = {row["author"]: row for row in run.tables["predictions"].iter_rows(named=True)}
    # Seven posts of 0.1 and one of 0.9.
    assert rows["a1"]["score"] == pytest.approx(0.2)
    posts = run.tables["prediction_posts"].filter(pl.col("post") == planted_posts["a1"])
    assert posts["effect"].to_list() == pytest.approx([0.1])
    assert posts["rank"].to_list() == [1]


def test_an_author_with_one_post_has_the_whole_score_in_it(tmp_path: Path) -> None:
    corpus = Corpus.of("one", ["I feel hopeless."], ids=["p"], author=["a"], labels={"depression": [1.0]})
    tags = tags_of(corpus, tmp_path / "tags.parquet", ["p"])
    run = explain_people(
        corpus, model=open_model(lambda texts: [0.8] * len(texts), label="depression"), tags=tags
    )
    (row,) = run.tables["predictions"].to_dicts()
    assert (row["agreement"], row["without_carriers"] is None or np.isnan(row["without_carriers"])) == (
        "supported by the posts that carry it",
        True,
    )


def test_three_arguments_are_refused() -> None:
    from psycheck.commands.explain import _model_and_corpus

    assert _model_and_corpus(["posts.csv"]) == (None, "posts.csv")
    assert _model_and_corpus(["models/h", "posts.csv"]) == ("models/h", "posts.csv")
    with refused("explain.too-many-inputs"):
        _model_and_corpus(["a", "b", "c"])


def test_a_model_with_attention_shows_what_it_attends_to(tmp_path: Path) -> None:
    corpus, planted_posts = planted(48)
    words = (*NEUTRAL, "hopeless", "feel")
    # The first number of a vector is the marker.
    lines = [f"{word} {int(word == 'hopeless')} {place % 3} {place % 2}" for place, word in enumerate(words)]
    vectors = tmp_path / "words.txt"
    vectors.write_text(f"{len(words)} 3\n" + "\n".join(lines) + "\n")

    options = f"encoder=vectors:{vectors}&widths=1&filters=8&pool=attention"
    recipe = Recipe(start=f"history:embeddings?{options}", epochs=60, learning_rate=0.02, batch=8)
    trained = train(corpus, recipe, tmp_path / "model")
    tags = tags_of(corpus, tmp_path / "tags.parquet", list(planted_posts.values()))
    run = explain_people(corpus, model=open_model(trained.spec), tags=tags, out=tmp_path / "run")

    posts = run.tables["prediction_posts"]
    totals = posts.group_by("author").agg(pl.col("attention").sum())
    assert totals["attention"].to_list() == pytest.approx([1.0] * 48)
    of_planted = posts.filter(pl.col("post").is_in(planted_posts.values()))
    assert of_planted["rank"].to_list() == [1] * 24
    # Eight posts: without a preference each would have an eighth.
    assert np.mean(of_planted["attention"].to_list()) > 0.5
    page = (tmp_path / "run" / "predictions.html").read_text("utf-8")
    assert "attention" in page

    (row,) = run.tables["predictions"].filter(pl.col("author") == "a1").to_dicts()
    assert row["found_symptoms"] == [LOW]
    assert LOW not in row["missing_symptoms"]
    assert len(row["missing_symptoms"]) == row["typical"] - 1
