"""improve --how ground: from a plain model to one that decides from symptoms, on demo corpora."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer
from typer.testing import CliRunner

from found import of, uncatalogued
from psycheck.commands.improve import improve, improve_cli
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.core.run import Run
from psycheck.corpora.opening import open_corpus
from psycheck.models.opening import open_model
from psycheck.symptoms.frozen_model import FrozenModel
from psycheck.training.recipe import preset
from refusals import refused
from suites_of_ours import small_suite


def some(name: str, n: int) -> Corpus:
    corpus = open_corpus(f"demo:{name}")
    parts = [corpus.part(split).sample(n).table for split in ("train", "dev", "test")]
    return replace(corpus, table=pl.concat(parts))


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    folder = tmp_path_factory.mktemp("ground")
    checks = [("S1", "mood", "presence", ["I feel empty."]), ("S2", "mood", "absence", ["I feel cheerful."])]
    suite = Path(small_suite(folder, "two", checks))
    suite.write_text(suite.read_text("utf-8").replace('label = "low"', 'label = "depression"'), "utf-8")
    run = improve(
        preset("tfidf", labels=("depression",)),
        some("tweets", 40),
        [some("forum", 20)],
        out=folder / "out",
        how="ground",
        texts=4,
        suite=str(suite),
        unseen="",
    )
    return run, folder / "out"


def test_the_grounded_arm_stands_beside_plain_and_balanced(done: tuple[Run, Path]) -> None:
    run, _ = done
    for corpus in ("tweets", "forum"):
        arms = [f.where["arm"] for f in of(run.findings, "auc", corpus=corpus, decision="ranking")]
        assert arms == ["plain", "balanced", "grounded"]
    assert run.plan["how"] == "ground"
    assert run.plan["augmented"] == {}
    assert uncatalogued(run.findings) == set()


def test_no_check_counts_as_learned_from(done: tuple[Run, Path]) -> None:
    run, out = done
    changes = of(run.findings, "pass_rate_change", arm="grounded", by="check")
    assert changes
    assert not any("trained_on" in change.flags for change in changes)
    assert "learned from" not in (out / "improve.md").read_text("utf-8")


def test_the_page_speaks_of_the_ranking(done: tuple[Run, Path]) -> None:
    _, out = done
    page = (out / "report.html").read_text("utf-8")
    assert "The arm “grounded”" in page
    assert "change AUC" in page or "raises AUC" in page or "lowers AUC" in page


def test_the_grounded_model_can_be_opened_and_gives_reasons(done: tuple[Run, Path]) -> None:
    _, out = done
    (folder,) = (out / "models").glob("tweets-grounded-0-*")
    model = open_model(folder)
    assert isinstance(model, FrozenModel)
    assert model.reasons(["I cannot sleep."]).shape == (1, 9)


@pytest.mark.parametrize("changes", [{"share": 0.2}, {"augment": "gender"}, {"control": False}])
def test_settings_of_augmenting_are_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    with refused("improve.setting-without-effect"):
        improve(preset("tfidf"), "demo:tweets", out=tmp_path / "out", how="ground", **changes)
    with refused("improve.unknown-how", what="grund"):
        improve(preset("tfidf"), "demo:tweets", out=tmp_path / "out", how="grund")


def test_the_command_line_names_the_option_that_has_no_effect(tmp_path: Path) -> None:
    app = typer.Typer()
    app.command()(improve_cli)
    options = ["tfidf", "demo:tweets", "--how", "ground", "--share", "0.2", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, options)
    assert isinstance(result.exception, BadInput)
    assert "improve --how ground takes no --share" in result.exception.what
