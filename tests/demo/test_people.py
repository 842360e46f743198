from collections import Counter
from importlib.resources import files

import polars as pl
import pytest

from psycheck.core.corpus import LABEL, Corpus
from psycheck.corpora.near_duplicates import near_duplicates
from psycheck.demo.opening import open_demo
from psycheck.symptoms.graph import read_graph
from refusals import refused
from tools.demo_corpora.files import SHIPPED_GRAPH_N, SHIPPED_SEED
from tools.demo_corpora.people import NONE, generate_people, people_rows

GRAPH = read_graph()


@pytest.fixture(scope="module")
def shipped() -> Corpus:
    return open_demo("people")


@pytest.fixture(scope="module")
def authors(shipped: Corpus) -> pl.DataFrame:
    """One row per author: labels, what was planted, and all mentions."""
    return shipped.table.group_by("author").agg(
        pl.col("split").n_unique().alias("splits"),
        pl.col("^label:.*$").max(),
        pl.col("group:planted").first().alias("planted"),
        pl.col("group:mentions").drop_nulls().str.join(" ").alias("mentions"),
        pl.len().alias("posts"),
    )


def _present(mentions: str) -> set[str]:
    return {
        symptom for symptom, status in (one.split(":") for one in mentions.split()) if status == "present"
    }


def _conditions(row: dict[str, object]) -> set[str]:
    return {name for name in GRAPH.disease if row[LABEL + name] == 1}


def test_what_is_shipped_is_what_the_generator_writes(shipped: Corpus) -> None:
    assert shipped.fingerprint() == generate_people(SHIPPED_GRAPH_N["people"], SHIPPED_SEED).fingerprint()
    assert len(files("psycheck.demo").joinpath("shipped", "people.jsonl.zst").read_bytes()) < 250_000


def test_authors_write_about_twelve_posts_in_one_split(authors: pl.DataFrame) -> None:
    posts = authors["posts"].to_numpy()
    assert len(authors) == 240
    assert (posts.min(), posts.max()) == (1, 40)
    assert 10 < posts.mean() < 14
    assert authors["splits"].to_list() == [1] * 240


def test_labels_are_those_of_the_author_on_every_post(shipped: Corpus) -> None:
    each = shipped.table.group_by("author").agg(pl.col("^label:.*$").n_unique())
    assert each.select(pl.max_horizontal(pl.col("^label:.*$"))).to_series().max() == 1


def test_one_condition_is_rare_and_some_authors_have_two(authors: pl.DataFrame) -> None:
    shares = {name: float(authors[LABEL + name].to_numpy().mean()) for name in GRAPH.disease}
    assert min(shares, key=lambda name: shares[name]) == "eating_disorder"
    assert shares["eating_disorder"] == pytest.approx(0.06, abs=0.015)
    counts = Counter(len(_conditions(row)) for row in authors.iter_rows(named=True))
    assert counts[0] > 80
    assert 20 < counts[2] < 60


def test_every_condition_that_is_not_planted_shows_a_symptom(authors: pl.DataFrame) -> None:
    for row in authors.filter(pl.col("planted").is_null()).iter_rows(named=True):
        for condition in _conditions(row):
            assert _present(row["mentions"]) & {one.name for one in GRAPH.of(condition)}


def test_planted_labels_are_wrong_both_ways(authors: pl.DataFrame) -> None:
    planted = authors.filter(pl.col("planted").is_not_null())
    assert len(planted) == 12
    assert min(planted["posts"].to_list()) >= 8
    without = planted.filter(pl.col("planted") == NONE)
    assert len(without) == 6
    for row in planted.iter_rows(named=True):
        if row["planted"] == NONE:
            assert len(_conditions(row)) == 1
        else:
            assert _conditions(row) == set()
            assert _present(row["mentions"]) & {one.name for one in GRAPH.of(row["planted"])}


def test_controls_mention_symptoms_seldom_and_mostly_not_as_their_own(authors: pl.DataFrame) -> None:
    controls = [row for row in authors.iter_rows(named=True) if not _conditions(row) and not row["planted"]]
    mentions = [one.split(":")[1] for row in controls for one in row["mentions"].split()]
    assert 20 < len(mentions) < 0.12 * sum(row["posts"] for row in controls)
    assert mentions.count("present") < 0.2 * len(mentions)


def test_no_post_is_nearly_that_of_another_split_and_times_rise(shipped: Corpus) -> None:
    split = shipped.strings("split")
    assert [(a, b) for a, b in near_duplicates(shipped.texts) if split[a] != split[b]] == []
    times = shipped.table["time"]
    assert times.is_sorted()


def test_any_number_of_authors_can_be_asked_for() -> None:
    assert len({row["author"] for row in people_rows(1, 2)}) == 1
    assert people_rows(5, 2) == people_rows(5, 2)
    with refused("demo.too-few-authors", allowed="1 or more"):
        people_rows(0, 2)
