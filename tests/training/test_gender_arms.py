"""A planted association between gender and annotation: found, and removed by swapped counterparts."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import typer
from typer.testing import CliRunner

from found import of
from psycheck.commands.improve import improve, improve_cli
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.core.finding import Finding
from psycheck.core.run import Run
from psycheck.report.studies.improve_tables import fair_rows
from psycheck.runs.folder import open_run
from psycheck.training.card import read_record
from psycheck.training.fit import opened, train
from psycheck.training.parts import parts_of
from psycheck.training.recipe import Recipe
from refusals import refused

LOW = ("empty", "tired", "hopeless", "numb", "worthless")
FINE = ("sunny", "garden", "football", "dinner", "music")
RECIPE = Recipe(start="tfidf+lr", labels=("low",))


def as_json(findings: Sequence[Finding]) -> list[str]:
    """Findings as they are saved: a value that was not tested equals another."""
    return [finding.as_json() for finding in findings]


def notes(name: str, n: int, skew: float, dev: bool = True) -> Corpus:
    """Texts annotated 1 are of her with probability `skew`, the others of him; half say nothing else."""
    random = np.random.default_rng(len(name))
    texts, marks = [], []
    for i in range(n):
        mark = i % 2
        she = random.random() < (skew if mark else 1 - skew)
        word = random.choice(LOW if mark else FINE) if random.random() < 0.5 else "quiet"
        who, whose = ("She", "her") if she else ("He", "his")
        texts.append(f"{who} felt {word} and {whose} day was number {i}.")
        marks.append(float(mark))
    parts = ("train", "train", "dev" if dev else "train", "test")
    return Corpus.of(name, texts, labels={"low": marks}, split=[parts[i // 2 % 4] for i in range(n)])


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    folder = tmp_path_factory.mktemp("fairer")
    own, other = notes("own", 240, 0.95), notes("other", 120, 0.5)
    train(own, RECIPE, folder / "plain")
    run = improve(folder / "plain", own, [other], out=folder / "out", augment="gender")
    return run, folder


def test_the_planted_association_is_found_and_removed(done: tuple[Run, Path]) -> None:
    run, _ = done
    for corpus in ("own", "other"):
        (before,) = of(run.findings, "flip_rate", arm="plain", corpus=corpus, decision="0.5")
        (after,) = of(run.findings, "flip_rate", arm="augmented", corpus=corpus, decision="0.5")
        assert before.value > 0.5
        assert after.value == 0.0
        assert before.n == after.n == {"own": 60, "other": 30}[corpus]
        (missed,) = of(run.findings, "fnr_ratio", arm="plain", corpus=corpus, decision="0.5", unit="pairs")
        assert missed.value < 0.2
        assert "favours_female" in missed.flags
        (even,) = of(run.findings, "fnr_ratio", arm="augmented", corpus=corpus, decision="0.5", unit="pairs")
        assert even.value == 1.0


def test_where_gender_says_nothing_the_augmented_model_is_better_and_at_home_it_pays(
    done: tuple[Run, Path],
) -> None:
    run, _ = done
    (gain,) = of(run.findings, "macro_f1_change", arm="augmented", corpus="other", decision="0.5")
    assert gain.value > 0.2
    assert "out_of_distribution" in gain.flags
    (price,) = of(run.findings, "macro_f1_change", arm="augmented", corpus="own", decision="0.5")
    assert price.value < 0


def test_more_texts_alone_remove_nothing(done: tuple[Run, Path]) -> None:
    run, _ = done
    (change,) = of(run.findings, "flip_rate_change", arm="control", corpus="own")
    assert change.value > -0.1
    (change,) = of(run.findings, "flip_rate_change", arm="augmented", corpus="own")
    assert change.value == -change.counts["flipped_before"] / 60
    assert change.interval is not None
    assert change.interval[1] < -0.5


def test_the_same_recipe_is_trained_on_twice_the_texts_and_the_run_says_so(done: tuple[Run, Path]) -> None:
    run, folder = done
    for arm in ("augmented", "control"):
        counts = run.plan["augmented"][f"{arm}-0"]
        assert (counts["texts"], counts["added"], counts["texts_after"]) == (180, 180, 360)
        (place,) = (folder / "out" / "models").glob(f"own-{arm}-0-*")
        assert opened(place).recipe == opened(folder / "plain").recipe
    assert any("180 texts added to the 180 of train and dev" in note for note in run.notes)
    (cut,) = {f.value for f in of(run.findings, "threshold", arm="augmented", seed="0")}
    assert any(f"augmented-0 {cut:.3f}" in note for note in run.notes)
    assert run.plan["augment"] == "gender"


def test_the_table_sets_before_and_after_beneath_each_other(done: tuple[Run, Path]) -> None:
    run, folder = done
    rows = fair_rows(run.findings)
    assert [row[:3] for row in rows[:3]] == [
        ("own", "plain", "0.5"),
        ("own", "augmented", "0.5"),
        ("own", "control", "0.5"),
    ]
    assert len(rows) == 2 * 2 * 3  # corpora, decisions, arms
    assert rows[0][3].endswith("F")
    assert rows[1][6] == "0 of 60"
    assert "## The same texts with he and she swapped" in (folder / "out" / "improve.md").read_text("utf-8")


def test_the_run_opens_again_and_its_page_has_the_pairs(done: tuple[Run, Path]) -> None:
    run, folder = done
    assert as_json(open_run(folder / "out").findings) == as_json(run.findings)
    page = (folder / "out" / "report.html").read_text("utf-8")
    assert 'id="fairness"' in page
    assert "augmented-0" in page


def test_a_pair_is_never_cut_in_two_where_dev_is_cut_from_train(tmp_path: Path) -> None:
    recipe = replace(RECIPE, dev_share=0.2)
    own = notes("own", 160, 0.9, dev=False)
    run = improve(recipe, own, out=tmp_path, augment="gender", control=False)
    plain = parts_of(own, recipe)
    assert run.plan["augmented"]["augmented-0"]["texts_after"] == 2 * (len(plain.train) + len(plain.dev))
    (place,) = (tmp_path / "models").glob("own-augmented-0-*")
    learned = read_record(place)["trained_on"]
    assert learned["train"]["n"] == 2 * len(plain.train)
    assert learned["dev"]["n"] == 2 * len(plain.dev)


def test_nouns_are_swapped_in_training_and_in_the_pairs(tmp_path: Path) -> None:
    own = notes("own", 80, 0.9)
    table = own.table.with_columns(
        pl.col("text")
        .str.replace("She", "A woman")
        .str.replace("He", "A man")
        .str.replace("her |his ", "the ")
    )
    own = replace(own, table=table)
    with refused("augment.nothing-to-swap"):
        improve(RECIPE, own, out=tmp_path / "p", augment="gender")
    run = improve(RECIPE, own, out=tmp_path / "n", augment="gender", swap=["nouns"])
    assert (run.plan["swap"], run.plan["augmented"]["augmented-0"]["added"]) == (["pronouns", "nouns"], 60)
    pairs = of(run.findings, "flip_rate", arm="augmented", corpus="own")
    assert {(f.n, f.where["swap"]) for f in pairs} == {(20, "pronouns+nouns")}
    with refused("improve.setting-without-effect"):
        improve(RECIPE, own, out=tmp_path / "d", swap=["nouns"])


def test_undecided_texts_of_train_and_dev_are_all_named_by_id(tmp_path: Path) -> None:
    own = notes("own", 240, 0.9)
    # Every third text gets an object that may be direct or indirect, which no rule can tell.
    vague = pl.when(pl.int_range(pl.len()) % 3 == 0).then(pl.lit("She was here. They gave her flowers."))
    own = replace(own, table=own.table.with_columns(vague.otherwise(pl.col("text")).alias("text")))
    run = improve(RECIPE, own, out=tmp_path, augment="gender", seeds=2, control=False)
    (left,) = of(run.findings, "undecided_rate", audit="improve")
    rows = own.table.with_row_index().filter(pl.col("split") != "test", pl.col("index") % 3 == 0)
    # The corpora of an improvement are in a fixed order, whatever that of the file was.
    assert sorted(left.examples) == sorted(rows["id"].to_list())
    assert (len(left.examples), left.n) == (60, 180)
    assert left.value == pytest.approx(1 / 3)
    assert any("60 undecided texts were not swapped (by id: undecided_rate" in note for note in run.notes)
    assert as_json(open_run(tmp_path).findings) == as_json(run.findings)


def test_the_verb_prints_flips_before_and_after(tmp_path: Path) -> None:
    own = notes("own", 80, 0.9)
    own.table.rename({"label:low": "low"}).write_csv(tmp_path / "own.csv")
    app = typer.Typer()
    app.command()(improve_cli)
    said = CliRunner().invoke(
        app,
        f"tfidf {tmp_path}/own.csv --label low --augment gender --no-control --out {tmp_path}/out".split(),
    )
    assert said.exit_code == 0, said.output
    assert "The same texts with he and she swapped" in said.output


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("--augment gender --suite deck", "improve --augment gender takes no --suite"),
        ("--augment gender --share 0.5", "improve --augment gender takes no --share"),
        ("--augment gender --no-balance", "improve --augment gender takes no --no-balance"),
        ("--augment gender --all-texts", "improve --augment gender takes no --all-texts"),
        ("--augment gender --texts 40", "improve --augment gender takes no --texts"),
        ("--swap pronouns", "improve --augment deck takes no --swap"),
        ("--augment deck --swap-person all", "improve --augment deck takes no --swap-person"),
    ],
)
def test_options_of_the_other_augmenting_are_refused_even_with_their_default(given: str, said: str) -> None:
    app = typer.Typer()
    app.command()(improve_cli)
    done = CliRunner().invoke(app, f"tfidf none.csv {given}".split())
    assert isinstance(done.exception, BadInput)
    assert done.exception.what == said
    assert "with --augment" in done.exception.allowed


def test_flips_are_told_seed_by_seed_since_the_pairs_are_the_same() -> None:
    where = {"arm": "plain", "corpus": "c", "label": "low", "decision": "0.5", "unit": "pairs"}
    found = [Finding("fnr_ratio", 1.0, 9, where={**where, "seed": seed}) for seed in "01"]
    flips = [
        Finding("flip_rate", failed / 40, 40, where={**where, "seed": seed}, counts={"failed": failed})
        for seed, failed in (("0", 3), ("1", 5))
    ]
    assert "3, 5 of 40" in fair_rows([*found, *flips])[0]
    fewer = replace(flips[1], n=39, counts={"failed": 2})
    assert "3 of 40, 2 of 39" in fair_rows([*found, flips[0], fewer])[0]
