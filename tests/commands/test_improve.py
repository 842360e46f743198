"""From a trained model to a better one and the proof: TF–IDF, which trains in a moment."""

import csv
import io
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from found import of, uncatalogued
from psycheck.commands.improve import improve, improve_cli
from psycheck.commands.main import app
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.core.run import Run
from psycheck.models.opening import open_model
from psycheck.runs.folder import open_run
from psycheck.training.fit import opened, train
from psycheck.training.recipe import Recipe
from refusals import refused
from suites_of_ours import seen_and_unseen

LOW = ("empty", "tired", "hopeless", "numb", "worthless")
FINE = ("sunny", "garden", "football", "dinner", "music")
REST = ("i", "feel", "today", "the", "was", "and", "very", "we", "had", "a", "day", "again")
RECIPE = Recipe(start="tfidf+lr", labels=("low",))


def corpus_of(name: str, n: int = 80, noise: int = 19) -> Corpus:
    """Every second text is of low mood; each `noise`-th is annotated the other way."""
    random = np.random.default_rng(len(name))
    texts, marks = [], []
    for i in range(n):
        words = LOW if i % 2 else FINE
        texts.append(" ".join([*random.choice(REST, 3), *random.choice(words, 2)]))
        marks.append(float(i % 2) if i % noise else 1.0 - i % 2)
    parts = ("train", "train", "dev", "test")
    return Corpus.of(name, texts, labels={"low": marks}, split=[parts[i // 2 % 4] for i in range(n)])


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    folder = tmp_path_factory.mktemp("improve")
    train(corpus_of("own"), RECIPE, folder / "plain")
    run = improve(
        folder / "plain",
        corpus_of("own"),
        [corpus_of("other", 60), corpus_of("far", 40, 3)],
        out=folder / "out",
        seeds=2,
        texts=12,
        which="below_mean",
        **seen_and_unseen(folder),
    )
    return run, folder


def test_every_row_stands_at_a_half_at_the_dev_threshold_and_as_auc(done: tuple[Run, Path]) -> None:
    run, _ = done
    for arm in ("plain", "balanced", "augmented", "control"):
        for corpus in ("own", "other", "far"):
            for decision in ("0.5", "dev"):
                for measure in ("f1", "macro_f1"):
                    rows = of(run.findings, measure, arm=arm, corpus=corpus, decision=decision)
                    assert [row.where["seed"] for row in rows] == ["0", "1"]
                    assert all(
                        row.interval and row.interval[0] <= row.value <= row.interval[1] for row in rows
                    )
            assert len(of(run.findings, "auc", arm=arm, corpus=corpus, decision="ranking")) == 2


def test_its_findings_are_in_the_catalogue(done: tuple[Run, Path]) -> None:
    assert uncatalogued(done[0].findings) == set()


def test_the_learned_checks_are_those_below_the_mean(done: tuple[Run, Path]) -> None:
    run, _ = done
    for seed in ("0", "1"):
        rates = of(run.findings, "sentence_check_pass_rate", arm="plain", seed=seed, suite="seen")
        mean = np.mean([rate.value for rate in rates])
        below = [rate.where["check"] for rate in rates if rate.value < mean]
        assert run.plan["chosen"][seed] == below
        assert below


def test_a_check_that_was_learned_from_is_marked_and_an_unseen_one_never(done: tuple[Run, Path]) -> None:
    run, _ = done
    learned = set(run.plan["chosen"]["0"]) | set(run.plan["chosen"]["1"])
    changes = of(run.findings, "pass_rate_change", by="check", arm="augmented", suite="seen")
    assert {f.where["check"] for f in changes if "trained_on" in f.flags} == learned
    others = of(run.findings, "pass_rate_change", suite="unseen")
    others += of(run.findings, "pass_rate_change", arm="control")
    assert others
    assert not any("trained_on" in f.flags for f in others)


def test_a_symptom_is_judged_by_sentences_that_training_did_not_see(done: tuple[Run, Path]) -> None:
    run, _ = done
    (mood,) = of(
        run.findings, "pass_rate_change", by="symptom", suite="unseen", arm="augmented", polarity="presence"
    )
    assert mood.counts["n_before"] == mood.counts["n_after"] == 24  # 12 texts, two seeds
    assert mood.value == (mood.counts["passed_after"] - mood.counts["passed_before"]) / 24


def test_sentences_for_one_class_alone_are_warned_of(done: tuple[Run, Path]) -> None:
    run, _ = done
    assert run.plan["chosen"]["0"] == ["S2"]  # which speaks of absence
    counts = run.plan["augmented"]["augmented-0"]
    assert (counts["presence"], counts["absence"]) == (0, counts["augmented"])
    assert any("only texts annotated 0 get a sentence" in note for note in run.notes)


def test_significance_is_adjusted_over_the_rows(done: tuple[Run, Path]) -> None:
    run, _ = done
    for decision in ("0.5", "dev"):
        plain = of(run.findings, "mcnemar_p", decision=decision)
        holm = of(run.findings, "mcnemar_p_holm", decision=decision)
        assert len(plain) == len(holm) == 3 * 3 * 2  # arms, corpora, seeds
        assert all(b.value >= a.value for a, b in zip(plain, holm, strict=True))
    assert {f.where["against"] for f in of(run.findings, "chance_p")} == {"coin", "larger class"}


def test_the_price_on_the_own_corpus_is_reported(done: tuple[Run, Path]) -> None:
    run, folder = done
    (price,) = of(run.findings, "macro_f1_change", arm="augmented", corpus="own", decision="dev")
    assert "in_distribution" in price.flags
    rows = [of(run.findings, "macro_f1", arm=a, corpus="own", decision="dev") for a in ("augmented", "plain")]
    means = [np.mean([row.value for row in side]) for side in rows]
    assert price.value == pytest.approx(means[0] - means[1])
    assert "on its own corpus" in (folder / "out" / "improve.md").read_text("utf-8")


def test_all_arms_have_as_many_texts_and_the_same_recipe_but_for_the_weights(done: tuple[Run, Path]) -> None:
    _, folder = done
    plain = opened(folder / "plain")
    for arm in ("balanced", "augmented", "control"):
        (own,) = (folder / "out" / "models").glob(f"own-{arm}-0-*")
        assert opened(own).recipe == plain.recipe.with_(class_weights=True)
    for arm in ("augmented", "control"):
        counts = done[0].plan["augmented"][f"{arm}-0"]
        assert 0 < counts["augmented"] <= counts["texts"] == 60


def test_the_folder_holds_a_run_that_opens_again_and_a_table(done: tuple[Run, Path]) -> None:
    run, folder = done
    assert open_run(folder / "out").findings == run.findings
    table = list(csv.reader(io.StringIO((folder / "out" / "improve.csv").read_text("utf-8"))))
    assert len(table) == 1 + 4 * 3 * 3  # arms, corpora, decisions
    assert "macro_f1_change" in (folder / "out" / "findings.jsonl").read_text("utf-8")


def test_nothing_is_trained_twice(done: tuple[Run, Path]) -> None:
    run, folder = done
    lines: list[str] = []
    again = improve(
        folder / "plain",
        corpus_of("own"),
        [corpus_of("other", 60), corpus_of("far", 40, 3)],
        out=folder / "out",
        seeds=2,
        texts=12,
        which="below_mean",
        say=lines.append,
        **seen_and_unseen(folder),
    )
    assert sum("already trained" in line for line in lines) == 8
    assert again.findings == run.findings


def test_the_work_ahead_is_announced_and_every_training_reported(tmp_path: Path) -> None:
    lines: list[str] = []
    own, other = corpus_of("own"), corpus_of("other", 60)
    improve(
        RECIPE,
        own,
        [other],
        out=tmp_path / "out",
        seeds=2,
        texts=4,
        say=lines.append,
        **seen_and_unseen(tmp_path),
    )
    # Half of the 80 texts are train, a quarter each dev and test; of the other corpus only test is scored.
    tests = [int((c.table["split"] == "test").sum()) for c in (own, other)]
    assert lines[0] == (
        "8 trainings ahead: plain, balanced, augmented, control; 2 seeds; 40 texts of train and 20 of dev; "
        f"test texts per model: own (20), other ({tests[1]})"
    )
    assert tests[0] == 20
    names = [
        f"own, tfidf+lr, seed {s}, {arm}"
        for s in (0, 1)
        for arm in ("plain", "balanced", "augmented", "control")
    ]
    assert [line for line in lines if line.endswith("training …")] == [
        f"{name}: training …" for name in names
    ]
    assert [line.split(": trained in")[0] for line in lines if ": trained in" in line] == names


def test_a_model_that_is_trained_already_is_not_counted_as_ahead(done: tuple[Run, Path]) -> None:
    _, folder = done
    lines: list[str] = []
    improve(
        folder / "plain",
        corpus_of("own"),
        out=folder / "few",
        texts=4,
        balance=False,
        control=False,
        say=lines.append,
        **seen_and_unseen(folder),
    )
    assert lines[0].startswith("1 training ahead: plain, augmented; 1 seed;")


def test_steps_of_a_training_reach_the_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[tuple[str, int, int]] = []

    def stepping(corpus: Corpus, recipe: Recipe, folder: Path, *, progress: Any) -> Any:
        progress(1, 3)
        return train(corpus, recipe, folder)

    monkeypatch.setattr("psycheck.training.arms.train", stepping)
    improve(
        RECIPE,
        corpus_of("own"),
        out=tmp_path / "out",
        texts=4,
        balance=False,
        control=False,
        progress=lambda name, done, total, _: heard.append((name, done, total)),
        **seen_and_unseen(tmp_path),
    )
    steps = [(f"own, tfidf+lr, seed 0, {arm}: training", 1, 3) for arm in ("plain", "augmented")]
    assert [one for one in heard if one[0].endswith("training")] == steps


def test_without_balance_the_recipe_stays_as_it_is(tmp_path: Path) -> None:
    run = improve(
        RECIPE,
        corpus_of("own"),
        out=tmp_path / "out",
        texts=12,
        balance=False,
        control=False,
        **seen_and_unseen(tmp_path),
    )
    assert {f.where["arm"] for f in run.findings if f.measure == "macro_f1"} == {"plain", "augmented"}
    for arm in ("plain", "augmented"):
        (own,) = (tmp_path / "out" / "models").glob(f"own-{arm}-0-*")
        assert opened(own).recipe == RECIPE


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"augment": "genders"}, "cannot augment with 'genders'"),
        (
            {"augment": "gender"},
            "appends no sentences; settings without effect: suite, unseen",
        ),
        ({"swap": ["pronouns"]}, "swaps nothing"),
        ({"share": 0.0}, "share"),
        ({"which": "some"}, "which"),
        ({"seeds": 0}, "seeds"),
        ({"shares": 1}, "no setting 'shares'"),
    ],
)
def test_a_wrong_setting_is_one_clear_line(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        improve(RECIPE, corpus_of("own"), out=tmp_path / "out", **{**seen_and_unseen(tmp_path), **changes})


def test_texts_without_a_gender_cannot_be_augmented_by_it(tmp_path: Path) -> None:
    with refused("augment.nothing-to-swap", what="'own'"):
        improve(RECIPE, corpus_of("own"), out=tmp_path / "out", augment="gender")
    with refused("improve.setting-without-effect", what="texts"):
        improve(RECIPE, corpus_of("own"), out=tmp_path / "out", augment="gender", texts=40)


def test_a_folder_that_train_did_not_write_is_refused(tmp_path: Path) -> None:
    with refused("improve.not-a-training"):
        improve(tmp_path, corpus_of("own"), out=tmp_path / "out", **seen_and_unseen(tmp_path))


def test_a_model_of_another_corpus_is_refused(tmp_path: Path) -> None:
    train(corpus_of("else"), RECIPE, tmp_path / "plain")
    with refused("improve.trained-on-other-texts", what="'own'"):
        improve(tmp_path / "plain", corpus_of("own"), out=tmp_path / "out", **seen_and_unseen(tmp_path))


def test_a_corpus_without_test_proves_nothing(tmp_path: Path) -> None:
    corpus = corpus_of("own")
    corpus = corpus.only((corpus.table["split"] != "test").to_numpy())
    with refused("corpus.no-test-split"):
        improve(RECIPE, corpus, out=tmp_path / "out", **seen_and_unseen(tmp_path))


def test_the_command_prints_the_table(tmp_path: Path) -> None:
    app = typer.Typer()
    app.command()(improve_cli)
    for name in ("own", "other"):
        corpus_of(name).table.rename({"label:low": "low"}).write_csv(tmp_path / f"{name}.csv")
    suites = seen_and_unseen(tmp_path)
    said = [f"--{key}={path}" for key, path in suites.items()]
    files = [str(tmp_path / f"{name}.csv") for name in ("own", "other")]
    done = CliRunner().invoke(
        app, ["tfidf", *files, "--label=low", f"--out={tmp_path / 'out'}", "--texts=8", "--no-control", *said]
    )
    assert done.exit_code == 0, done.output
    assert "| own | other | augmented | dev |" in done.output
    assert (tmp_path / "out" / "report.html").is_file()


def test_the_command_for_the_threshold_sets_that_of_dev_in_the_card_of_the_plain_model(
    done: tuple[Run, Path],
) -> None:
    run, folder = done
    command = shlex.split(run.plan["threshold_command"])
    assert command[:3] == ["psycheck", "threshold", str(folder / "plain")]
    result = CliRunner().invoke(app, command[1:])
    assert result.exit_code == 0, result.output
    model: Any = open_model(f"{opened(folder / 'plain').spec}")
    (threshold,) = of(run.findings, "threshold", arm="plain", corpus="own", seed="0")
    assert model.capabilities.thresholds == (pytest.approx(threshold.value, rel=1e-3),)


def test_the_intervals_of_changes_hold_together_for_all_arms_and_tests(done: tuple[Run, Path]) -> None:
    run, _ = done
    changes = of(run.findings, "macro_f1_change", decision="dev")
    # Three trained arms and the threshold of the plain one, on three tests.
    assert len(changes) == 12
    assert all(change.counts["comparisons"] == 12 for change in changes)
    plain = [change for change in changes if change.where["arm"] == "plain"]
    assert {change.where["versus"] for change in plain} == {"plain at 0.5"}
