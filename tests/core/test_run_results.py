"""What a run answers in Python."""

from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import psycheck
from planted import MODELS, NEGATIVE, POSITIVE
from psycheck.core.corpus import Corpus
from psycheck.core.run import Run
from psycheck.report.tables import Table
from refusals import refused

LABELS = {"depression": [1.0] * len(POSITIVE) + [0.0] * len(NEGATIVE)}
CORPUS = Corpus.of("posts", [*POSITIVE, *NEGATIVE], labels=LABELS)
AUDITS = ["performance", "behaviour"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A model that takes what speaks of suicide for the opposite."""
    out = tmp_path_factory.mktemp("run") / "a"
    return psycheck.audit(MODELS["ignores_suicide"], CORPUS, audits=AUDITS, out=out)


def test_failures_are_the_failed_cases_of_a_check(run: Run) -> None:
    failures = run.failures(check="T22")
    assert failures.height == 5
    assert failures["check"].unique().to_list() == ["T22"]
    assert set(run.failures()["check"]) == {"T22", "T23"}


def test_failures_show_texts_only_when_asked(run: Run) -> None:
    assert "text" not in run.failures().columns
    shown = run.failures(check="T22", texts=True)
    suite = psycheck.read_suite("deck")
    check = next(check for check in suite.checks if check.id == "T22")
    for case in shown.iter_rows(named=True):
        assert case["text"] == CORPUS.texts[CORPUS.ids.index(case["id"])]
        assert case["edited"] == check.edits[case["variant"] - 1](case["text"]).text


def test_an_opened_run_reads_its_texts_again(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": CORPUS.texts, "depression": LABELS["depression"]})
    frame.to_csv(tmp_path / "posts.csv", index=False)
    made = psycheck.audit(
        MODELS["ignores_suicide"], tmp_path / "posts.csv", audits=AUDITS, out=tmp_path / "run"
    )
    again = psycheck.open_run(tmp_path / "run")
    assert again.failures(texts=True).equals(made.failures(texts=True))


def test_unknown_names_are_refused_with_the_nearest(run: Run) -> None:
    with refused("run.unknown-name", allowed="T2"):
        run.failures(check="T222")
    with refused("finding.unknown-measure", allowed="did you mean 'pass_rate'"):
        run.findings.where(measure="passrate")
    with refused("finding.unknown-key", allowed="did you mean 'check'"):
        run.findings.where(chek="T22")


def test_a_known_measure_that_the_run_lacks_is_no_error(run: Run) -> None:
    assert not run.findings.where(measure="flip_rate", group="f")


def test_scores_are_those_of_the_annotated_texts(run: Run) -> None:
    assert run.scores.height == len(CORPUS)
    assert run.scores.columns == ["model", "corpus", "id", "label", "target", "score", "decided"]


def test_a_gate_that_holds_is_true_and_one_that_fails_says_why(run: Run) -> None:
    assert run.passes("accuracy>=0.8")
    failed = run.passes("pass_rate>=0.9 where check=T22")
    assert not failed
    assert "pass_rate>=0.9 where check=T22" in repr(failed)
    assert "50" in repr(failed)


def test_of_several_gates_the_first_that_fails_is_told(run: Run) -> None:
    assert run.passes("accuracy>=0.8", "accuracy>=0.1").gate == "accuracy>=0.8"
    failed = run.passes("accuracy>=0.8", "pass_rate>=0.9 where check=T22", "accuracy>=1.1")
    assert (bool(failed), failed.gate) == (False, "pass_rate>=0.9 where check=T22")


def test_a_failed_gate_is_shown_by_assert(run: Run) -> None:
    with pytest.raises(AssertionError, match=r"pass_rate>=0.9"):
        assert run.passes("pass_rate>=0.9"), run.passes("pass_rate>=0.9")


def test_the_short_form_is_one_line_and_the_long_one_has_a_picture(run: Run) -> None:
    assert "\n" not in repr(run)
    assert len(repr(run)) < 600
    html = run._repr_html_()
    assert html.count("<svg") == 1
    assert html.count("<circle") == len([f for f in run.findings.where(measure="pass_rate") if f.tested])
    assert not any(text[:25] in html for text in CORPUS.texts)


def test_tables_for_latex_have_a_row_per_check(run: Run) -> None:
    latex = run.to_latex()
    assert latex.count(r"\begin{tabular}") == 2
    assert latex.count(r"\\") == 2 + 4 + 23


def test_latex_escapes_what_would_be_a_command() -> None:
    table = Table(caption="50 % of a_b", head=("x & y", "n"), rows=(("{z}", r"\1"),))
    latex = table.to_latex()
    assert r"50 \% of a\_b" in latex
    assert r"\{z\} & \textbackslash{}1 \\" in latex


def test_a_model_without_replies_has_none(run: Run) -> None:
    assert run.replies.is_empty()


def test_a_run_that_was_not_saved_cannot_judge_gates() -> None:
    with refused("run.no-reader"):
        Run(plan={}, environment={}, findings=psycheck.Findings()).passes("f1>=0.8")


def test_scores_by_id_are_judged_on_unedited_texts(tmp_path: Path) -> None:
    scores = pl.DataFrame({"id": CORPUS.ids, "score": [0.9] * 5 + [0.2] * 5}).sample(fraction=1, shuffle=True)
    scores.write_csv(tmp_path / "scores.csv")
    run = psycheck.audit(f"scores:{tmp_path / 'scores.csv'}", CORPUS)
    assert [finding.value for finding in run.findings.where(measure="accuracy")] == [1.0]
    assert run.exit_code == 0
    assert any("scores are by id" in note for note in run.notes)


def test_scores_of_other_ids_are_refused(tmp_path: Path) -> None:
    pl.DataFrame({"id": ["x"], "score": [0.9]}).write_csv(tmp_path / "scores.csv")
    with refused("scores.no-shared-id"):
        psycheck.audit(f"scores:{tmp_path / 'scores.csv'}", CORPUS)
