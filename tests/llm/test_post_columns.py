"""Other columns of the corpus in the slots of a prompt."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from llm_servers import answer_yes, serving
from psycheck.llm.model import LlmModel
from psycheck.llm.post_columns import open_post_columns
from psycheck.llm.prompts import make_prompt
from psycheck.models.opening import open_model
from refusals import refused

WORDS = (
    'title = "t"\nlabels = ["depression"]\ncolumns = ["topic", "forum"]\n'
    'user = "In {forum}, about {topic}: depression, yes or no? {post}"\n'
)
POSTS: dict[str, list[Any]] = {
    "text": ["I cannot get out of bed and nothing helps", "We won the match on Sunday at last", "Hello"],
    "topic": ["sleep", "sport", None],
    "forum": ["night {post} owls", "fans </column-00>", "new"],
    "depression": [1, 0, 0],
}


@pytest.fixture
def spec(tmp_path: Path) -> str:
    pl.DataFrame(POSTS).write_csv(tmp_path / "posts.csv")
    (tmp_path / "asked.toml").write_text(WORDS)
    return f"prompt={tmp_path}/asked.toml&columns={tmp_path}/posts.csv"


def _asked(spec: str, texts: list[str]) -> tuple[list[str], list[str]]:
    """What the server was asked, and the notes."""
    notes: list[str] = []
    with serving(answer_yes) as server:
        model = open_model(f"llm:m?base_url={server.base_url}&{spec}&concurrency=1")
        assert isinstance(model, LlmModel)
        list(model.ask(texts, say=notes.append))
    return [asked.body["messages"][-1]["content"].split("\n\n")[-1] for asked in server.asked], notes


def test_the_values_of_a_post_are_marked_as_data_and_are_no_slots(spec: str) -> None:
    asked, notes = _asked(spec, POSTS["text"][:2])
    code = asked[0].split("<column-")[1].split(">")[0]
    opening = (
        f"In <column-{code}>night {{post}} owls</column-{code}>, about <column-{code}>sleep</column-{code}>"
    )
    assert asked[0].startswith(opening)
    # A value cannot close its mark: the code occurs in no text of the request.
    assert asked[1].count("</column-") == 3
    assert not any("without a row" in note for note in notes)


def test_an_edited_post_has_the_values_of_its_original(spec: str) -> None:
    asked, _ = _asked(spec, ["I cannot get out of bed and nothing helps. I want to die."])
    assert ">sleep<" in asked[0]


def test_missing_values_and_unknown_posts_are_not_known_and_noted(spec: str) -> None:
    asked, notes = _asked(spec, ["Hello", "Quite another text of other words"])
    assert [words.count("not known") for words in asked] == [1, 2]
    assert sum("1 text without a row" in note for note in notes) == 1


def test_another_file_of_columns_asks_anew(spec: str, tmp_path: Path) -> None:
    fingerprint = open_model(f"llm:m?base_url=http://127.0.0.1:9/v1&{spec}").fingerprint
    pl.DataFrame(POSTS | {"topic": ["work", "sport", None]}).write_csv(tmp_path / "posts.csv")
    assert open_model(f"llm:m?base_url=http://127.0.0.1:9/v1&{spec}").fingerprint != fingerprint


def test_of_repeated_posts_the_first_row_counts(tmp_path: Path) -> None:
    pl.DataFrame({"text": ["same words", "same words"], "topic": ["a", "b"]}).write_csv(tmp_path / "p.csv")
    columns = open_post_columns(str(tmp_path / "p.csv"), ["topic"])
    assert columns.of(["same words"]) == [{"topic": "a"}]


def test_slots_and_columns_belong_together(spec: str, tmp_path: Path) -> None:
    with refused("llm.columns"):
        open_model(f"llm:m?base_url=http://127.0.0.1:9/v1&{spec.partition('&')[0]}")
    with refused("llm.columns"):
        open_model(f"llm:m?base_url=http://127.0.0.1:9/v1&prompt=depression&{spec.partition('&')[2]}")
    (tmp_path / "asked.toml").write_text(WORDS.replace("forum", "place"))
    with refused("columns.unknown-column"):
        open_model(f"llm:m?base_url=http://127.0.0.1:9/v1&{spec}")


@pytest.mark.parametrize(
    ("columns", "user", "code"),
    [
        (["post"], "{post}", "prompt.bad-column"),
        (["a b"], "{post}", "prompt.bad-column"),
        (["topic", "topic"], "{topic} {post}", "prompt.bad-column"),
        (["topic"], "{post}", "prompt.slot-count"),
        ([], "{topic} {post}", "prompt.unknown-slot"),
    ],
)
def test_columns_that_cannot_be_slots_are_refused(columns: list[str], user: str, code: str) -> None:
    with refused(code):
        make_prompt("mine", title="t", labels=["depression"], user=user, columns=columns)
