import json
import os
from pathlib import Path

import pytest

from process import psycheck
from psycheck.audits.plan import read_plan
from psycheck.core.errors import BadInput
from psycheck.corpora.columns import Columns
from psycheck.corpora.known.opening import (
    known_corpora,
    known_name,
    open_known,
    relative_to,
)
from psycheck.corpora.opening import CorpusPlan, open_corpus
from refusals import refused


def test_every_entry_says_all_that_a_user_needs() -> None:
    for known in known_corpora().values():
        assert all((known.title, known.text, known.licence, known.citation, known.apply, known.against))
        assert known.labels
        assert known.files
        assert 2010 < known.year < 2030
        assert known.verified or known.assumed


def test_an_entry_takes_over_what_it_does_not_say() -> None:
    one, two = known_corpora()["daic-woz"], known_corpora()["daic-woz-interviews"]
    assert (one.licence, one.files) == (two.licence, two.files)
    assert one.text != two.text


@pytest.mark.parametrize("name", sorted(known_corpora()))
def test_an_empty_folder_says_which_corpus_and_where_to_get_it(tmp_path: Path, name: str) -> None:
    known = known_corpora()[name]
    with refused("release.missing-file", what=known.title, do=known.apply):
        open_known(name, tmp_path)


def test_a_path_that_is_not_there_is_an_error_of_the_corpus(tmp_path: Path) -> None:
    with refused("release.no-such-path", what="Dreaddit", where="none"):
        open_known("dreaddit", tmp_path / "none")


def test_the_name_stands_before_the_first_colon() -> None:
    assert known_name("dreaddit:/data/d") == ("dreaddit", "/data/d")
    assert known_name("dreaddit:C:\\data") == ("dreaddit", "C:\\data")
    assert known_name("C:\\data\\posts.csv") is None
    assert known_name("posts.csv") is None


def test_a_file_whose_name_has_a_colon_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dreaddit:posts.csv").write_text("text,depression\nAll fine,0\nAll bad,1\n")
    assert known_name("dreaddit:posts.csv") is None
    assert open_corpus("dreaddit:posts.csv").labels == ("depression",)


def test_a_misspelt_name_is_not_taken_for_a_path() -> None:
    with refused("corpus.unknown-name", allowed="did you mean 'dreaddit'"):
        known_name("dreadit:/data/d")
    with refused("corpus.no-path", what="'smhd:'"):
        known_name("smhd:")


@pytest.mark.parametrize("said", ["foo:bar", "demp:tweets", "daic.woz x:/data/d"])
def test_what_looks_like_a_name_and_a_path_is_answered_with_the_names_that_are_known(said: str) -> None:
    with refused("corpus.unknown-name", where=said) as caught:
        known_name(said)
    assert all(name in caught.value.allowed for name in (*known_corpora(), "demo"))
    assert ("did you mean 'demo'?" in caught.value.allowed) == said.startswith("demp")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (Columns(labels=("stress",), text="body"), "takes no `columns.text`:"),
        (Columns(author="who"), "takes no `columns.author`:"),
        (Columns(id="none"), "takes no `columns.id`:"),
        (Columns(positive=("yes",), groups=("sex",)), "takes no `columns.groups`, `columns.positive`:"),
    ],
)
def test_options_of_columns_are_refused_for_a_known_corpus(
    columns: Columns, said: str, tmp_path: Path
) -> None:
    (tmp_path / "dreaddit-train.csv").write_text("text,label,subreddit\nAll fine,0,s\n")
    path = f"dreaddit:{tmp_path / 'dreaddit-train.csv'}"
    assert len(open_corpus(CorpusPlan(path))) == 1
    with pytest.raises(BadInput, match=said) as caught:
        open_corpus(CorpusPlan(path, columns=columns))
    assert caught.value.where == path
    assert caught.value.allowed == "one of its splits; `labels=NAME` to take one of its labels"


def test_a_label_of_a_known_corpus_is_taken_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "dreaddit-train.csv").write_text("text,label,subreddit\nAll fine,0,s\n")
    path = f"dreaddit:{tmp_path / 'dreaddit-train.csv'}"
    assert open_corpus(CorpusPlan(path, columns=Columns(labels=("stress=tense",)))).labels == ("tense",)
    with pytest.raises(BadInput, match="has no label 'nosuch'"):
        open_corpus(CorpusPlan(path, columns=Columns(labels=("nosuch",))))
    with pytest.raises(BadInput, match=r"a demo corpus takes no `columns\.text`:"):
        open_corpus(CorpusPlan("demo:tweets", columns=Columns(text="body")))


def test_a_plan_names_known_corpora_relative_to_itself(tmp_path: Path) -> None:
    plan = tmp_path / "psycheck.toml"
    plan.write_text(
        'models = ["python:m:m"]\n[[corpus]]\npath = "sdcnl:data"\n[[corpus]]\npath = "posts.csv"\n'
    )
    assert [one.path for one in read_plan(plan).corpora] == [
        f"sdcnl:{tmp_path / 'data'}",
        f"{tmp_path / 'posts.csv'}",
    ]
    assert relative_to(tmp_path, "sdcnl:/data") == f"sdcnl:{os.sep}data"


def test_the_listing_has_licence_citation_and_where_to_apply(tmp_path: Path) -> None:
    said = " ".join(psycheck(tmp_path, "ls", "corpora").stdout.split())  # long entries are folded
    told = json.loads(psycheck(tmp_path, "ls", "corpora", "--json").stdout)
    for name, known in known_corpora().items():
        entry = said[said.index(f" {name}:PATH ") :]
        about = f"Licence: {known.licence}. Get it: {known.apply}. Cite: {known.citation}"
        assert about in entry[: len(known.title) + len(known.text) + len(about) + 60]
        assert told["corpora"][f"{name}:PATH"]["licence"] == known.licence
        assert tuple(told["corpora"][f"{name}:PATH"]["files"]) == known.files


def test_the_reference_page_says_what_the_catalogue_says() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "known-corpora.md").read_text("utf-8")
    for name, known in known_corpora().items():
        assert f"`{name}`" in page
        assert all(part in page for part in (known.text, known.licence, known.apply, known.citation))
        assert all(file in page for file in known.files)
