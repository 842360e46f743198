"""Options that verbs share: columns, settings read by name, errors that name the option."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from psycheck.commands import options as opt
from psycheck.commands.console import print_run
from psycheck.commands.rewriting import Source
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.core.finding import Findings
from psycheck.core.run import Run
from psycheck.corpora.columns import Columns

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
    if "error" in SEEN:
        raise SEEN.pop("error")


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
    SEEN["error"] = error
    assert CliRunner().invoke(app, ["a.csv"]).exception is error
    assert error.where == where


@pytest.mark.parametrize(
    ("setting", "typed"),
    [
        ("`seed`", "--seed"),
        ("`swap=nouns,titles`", "--swap nouns,titles"),
        ("`labels='mark=*'` or `id=none`", "--label 'mark=*' or --id none"),
        ("`columns.split` or `split_column`", "--split-column or --split-column"),
        ("`split`, `corpus` and `min_words=3`", "`split`, `corpus` and `min_words=3`"),  # no options of it
    ],
)
def test_settings_in_all_parts_of_an_error_are_named_as_they_are_typed(setting: str, typed: str) -> None:
    parts = [f"{part} {{}}" for part in ("what", "where", "allowed", "do")]
    what, where, allowed, do = (part.format(setting) for part in parts)
    SEEN["error"] = error = BadInput(what, where=where, allowed=allowed, do=do)
    CliRunner().invoke(app, ["a.csv"])
    assert [error.what, error.where, error.allowed, error.do] == [part.format(typed) for part in parts]


def test_notes_in_json_name_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    CliRunner().invoke(app, ["a.csv"])
    run = Run(plan={}, environment={}, findings=Findings([]), notes=("drawn with `seed=3`",))
    print_run(run, tmp_path, (), as_json=True)
    assert json.loads(capsys.readouterr().out)["notes"] == ["drawn with --seed 3"]
    assert Source(Corpus.of("posts", ["a"]), ()).as_json(["`swap`"])["notes"] == ["--swap"]
