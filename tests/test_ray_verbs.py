"""Every verb gives the same bytes with `--engine ray` as with the local engine; one cluster for all tests."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import psycheck
from dumps_of_ours import village, write_dump
from psycheck.commands.curate import curate_dumps
from psycheck.commands.retrieve import Retrieving, retrieve
from psycheck.commands.tag import tag_corpus
from psycheck.corpora.curate.settings import Curating
from psycheck.corpora.opening import CorpusPlan, open_corpus
from psycheck.models.opening import open_model
from psycheck.symptoms.reader import SymptomModel
from refusals import refused

pytestmark = pytest.mark.slow

RAY = "ray?actors=2"
MODEL = f"python:planted_cluster_model:model?folder={Path(__file__).parent / 'scoring'}"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a corpus in it, and a cluster whose actors see it; both for all tests."""
    place = tmp_path_factory.mktemp("verbs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLANTED_FOLDER", str(place))  # the model notes there what it scores
        patch.setenv("PSYCHECK_STORE", str(place / "store.sqlite"))
        # The planted model refuses texts with "bad".
        posts = open_corpus("demo:tweets").table.filter(~pl.col("text").str.contains("bad"))
        posts.sample(40, seed=1).write_csv(place / "posts.csv")
        yield place
    import ray

    ray.shutdown()


def engines(place: Path, verb: str) -> dict[str, Path]:
    """A folder for what the verb writes, by engine."""
    folders = {engine: place / f"{verb}-{name}" for engine, name in (("local", "local"), (RAY, "ray"))}
    for folder in folders.values():
        shutil.rmtree(folder, ignore_errors=True)
    return folders


def test_audit(place: Path) -> None:
    for engine, folder in engines(place, "audit").items():
        psycheck.audit(
            MODEL,
            place / "posts.csv",
            split="all",
            suites=["deck"],
            engine=engine,
            store=folder.with_suffix(".sqlite"),
            out=folder,
        )
    local, ray = (folder / "findings.jsonl" for folder in engines_made(place, "audit"))
    assert local.read_bytes().count(b"\n") > 50
    assert ray.read_bytes() == local.read_bytes()


def test_score(place: Path) -> None:
    tables = [
        psycheck.score(MODEL, place / "posts.csv", engine=engine, store=place / f"score-{number}.sqlite")
        for number, engine in enumerate(("local", RAY))
    ]
    assert len(tables[0]) == 40
    assert tables[1].equals(tables[0])


def test_tag(place: Path) -> None:
    model = open_model("symptoms:descriptions")
    assert isinstance(model, SymptomModel)
    corpus = open_corpus(str(place / "posts.csv"))
    for engine, folder in engines(place, "tag").items():
        tag_corpus(model, corpus.slices(20), folder / "tags.parquet", engine=engine)
    local, ray = (pl.read_parquet(folder / "tags.parquet") for folder in engines_made(place, "tag"))
    assert len(local) > 40
    assert ray.equals(local)


def test_retrieve(place: Path) -> None:
    plan = CorpusPlan(str(place / "posts.csv"))
    for engine, folder in engines(place, "retrieve").items():
        folder.mkdir()
        retrieve([plan], out=folder / "found.csv", how=Retrieving(queue=5), engine=engine)
    local, ray = (folder / "found.csv" for folder in engines_made(place, "retrieve"))
    assert local.read_bytes().count(b"\n") > 50
    assert ray.read_bytes() == local.read_bytes()


def test_curate(place: Path) -> None:
    lines = village()
    dumps = [
        write_dump(place / f"RC_2019-0{number}.zst", [*lines[number::3], b"{broken\n"])
        for number in (0, 1, 2)
    ]
    how = Curating(min_words=5, min_posts=2, controls=True)
    for engine, folder in engines(place, "curate").items():
        curate_dumps(dumps, out=folder, salt=place / "salt", how=how, engine=engine)
        assert not list(folder.glob(".curating-*"))
    local, ray = engines_made(place, "curate")
    for name in ("findings.jsonl", "corpus.jsonl.zst"):
        assert (ray / name).read_bytes() == (local / name).read_bytes(), name
    steps = [json.loads(line) for line in (local / "findings.jsonl").read_text().splitlines()]
    assert steps[0]["where"]["step"] == "posts"
    assert steps[0]["value"] == 19


def test_an_encoder_of_this_process_cannot_be_sent_to_others(place: Path) -> None:
    class Here:
        name = "here"
        fingerprint = "here"

    with refused("engine.encoder-without-spec"):
        retrieve([CorpusPlan(str(place / "posts.csv"))], encoder=Here(), engine="ray")  # type: ignore[arg-type]


def engines_made(place: Path, verb: str) -> tuple[Path, Path]:
    """The folders of a verb: of the local engine, and of Ray."""
    return place / f"{verb}-local", place / f"{verb}-ray"
