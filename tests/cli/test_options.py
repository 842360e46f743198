"""Options that verbs share: columns, settings read by name, errors that name the option."""

from dataclasses import dataclass
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from psycheck.cli import options as opt
from psycheck.corpora.columns import Columns
from psycheck.errors import BadInput

SEEN: dict[str, Any] = {}


@dataclass(frozen=True)
class Sizes:
    seed: int = 0
    names: tuple[str, ...] = ()
    other: int = 1


@opt.verb("regender", ("text", "id_", "labels", "split_column"))
def verb(
    ctx: typer.Context,
    columns: Columns,
    corpus: str,
    seed: int | None = None,
    swap: list[str] | None = None,
) -> None:
    SEEN.update(columns=columns, corpus=corpus, values=opt.values_for(ctx, Sizes))


app = typer.Typer()
app.command()(verb)


def test_columns_are_options_and_reach_the_verb_as_one_value() -> None:
    words = [
        "a.csv",
        "--text",
        "body",
        "--id",
        "none",
        "--label",
        "x",
        "--label",
        "y=z",
        "--split-column",
        "fold",
    ]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert SEEN["columns"] == Columns(text="body", id="none", labels=("x", "y=z"), split="fold")
    assert SEEN["corpus"] == "a.csv"
    assert CliRunner().invoke(app, ["a.csv", "--author", "who"]).exit_code == 2  # not among those named


@pytest.mark.parametrize(("words", "values"), [([], {}), (["--seed", "0"], {"seed": 0})])
def test_only_options_that_were_set_override_settings(words: list[str], values: dict[str, Any]) -> None:
    assert CliRunner().invoke(app, ["a.csv", *words]).exit_code == 0
    assert SEEN["values"] == values


@pytest.mark.parametrize(
    ("error", "where"),
    [
        (BadInput("wrong", key="seed"), "--seed"),
        (BadInput("wrong", key="split"), "--split-column"),  # a column role
        (BadInput("wrong", key="labels"), "--label"),
        (BadInput("wrong", key="seed", where="plan.toml"), "plan.toml"),
        (BadInput("wrong", key="unknown"), ""),
        (BadInput("wrong"), ""),
    ],
)
def test_an_error_about_a_setting_names_its_option(error: BadInput, where: str) -> None:
    opt.name_option(error, typer.main.get_command(app))
    assert error.where == where
