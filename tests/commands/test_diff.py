"""Models of finished audits on the same texts: what is planted is found, what differs is refused."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import psycheck
from found import uncatalogued
from planted import Planted
from psycheck.commands.diff import diff
from psycheck.commands.main import app
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.core.finding import Finding, Findings
from psycheck.core.run import Run
from psycheck.report.diff_sentences import difference_headlines
from psycheck.runs.folder import open_run
from psycheck.runs.pages import redraw
from refusals import refused

SECRET = "heron by the mill"
N = 300


def posts(n: int = N) -> pl.DataFrame:
    """Posts that name their number, so that a model can look up what to answer."""
    random = np.random.default_rng(5)
    gold = (random.random(n) < 0.4).astype(int)
    ends = np.where(random.random(n) < 0.3, "I used to be sad.", "I am here.")
    texts = [f"Post {k}: the {SECRET}. {end}" for k, end in enumerate(ends)]
    return pl.DataFrame({"id": [f"p{k}" for k in range(n)], "text": texts, "depression": gold})


def model(name: str, wrong: float, seed: int, silent: float = 0.0) -> Planted:
    """A model that errs on a share of the posts, and on other ones with another seed."""
    gold = posts()["depression"].to_numpy()
    random = np.random.default_rng(seed)
    off, gone = random.random(len(gold)) < wrong, random.random(len(gold)) < silent
    noise = random.random(len(gold)) * 0.3

    def score(text: str) -> float:
        k = int(text.split(":")[0].removeprefix("Post "))
        right = 0.9 - noise[k] if gold[k] else 0.1 + noise[k]
        return float("nan") if gone[k] else 1 - right if off[k] else right

    return Planted(name, score)


def audited(
    place: Path, name: str, models: Planted | Sequence[Planted], file: str = "posts.csv", **settings: Any
) -> Path:
    """The folder of an audit with a store of its own."""
    settings = {"audits": ["performance"], "out": place / name, "store": place / f"{name}.sqlite", **settings}
    psycheck.audit(models, place / file, **settings)
    return place / name


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    posts().write_csv(tmp_path / "posts.csv")
    return tmp_path


def raised(run: Run) -> list[str]:
    return [one.rule for one in difference_headlines(run.findings) if one.alarm]


def sole(run: Run, measure: str, **where: str) -> Finding:
    (one,) = run.findings.where(measure=measure, **where)
    return one


def test_a_planted_difference_is_found_and_written(place: Path) -> None:
    runs = [audited(place, "a", model("good", 0.1, 1)), audited(place, "b", model("bad", 0.3, 2))]
    run = diff(runs, out=place / "d")
    assert raised(run) == ["diff.better"]
    first = difference_headlines(run.findings)[0].sentence
    assert first.startswith("good is better than bad: higher accuracy by ")
    assert uncatalogued(run.findings) == set()
    again = open_run(place / "d")
    assert again.findings == run.findings
    assert again.tables["outcomes"].equals(run.tables["outcomes"])
    page = (place / "d" / "report.html").read_text("utf-8")
    assert first.split(":")[0] in page
    redraw(place / "d")
    assert (place / "d" / "report.html").read_text("utf-8") == page


def test_equally_noisy_models_raise_no_alarm(place: Path) -> None:
    runs = [audited(place, "a", model("one", 0.2, 3)), audited(place, "b", model("other", 0.2, 4))]
    run = diff(runs)
    assert raised(run) == []
    assert difference_headlines(run.findings)[0].rule == "diff.not_shown"


def test_models_inside_one_run_are_compared(place: Path) -> None:
    run = diff(audited(place, "a", [model("x", 0.1, 1), model("y", 0.1, 2), model("z", 0.4, 3)]))
    assert len(run.findings.where(measure="kappa")) == 3
    assert raised(run) == ["diff.better", "diff.better"]
    assert [one.rule for one in difference_headlines(run.findings)][2] == "diff.counted"


def test_neither_folder_nor_page_holds_a_text_unless_asked(place: Path) -> None:
    runs = [audited(place, "a", model("good", 0.1, 1)), audited(place, "b", model("bad", 0.3, 2))]
    diff(runs, out=place / "d")
    hidden = b"".join(path.read_bytes() for path in (place / "d").iterdir())
    assert SECRET.encode() not in hidden
    diff(runs, out=place / "shown", show_texts=True)
    page = (place / "shown" / "report.html").read_text("utf-8")
    assert SECRET in page
    assert "<mark>used to be</mark>" in page


def test_lengths_and_cues_come_from_the_corpus_that_the_run_read(place: Path) -> None:
    runs = [audited(place, "a", model("good", 0.1, 1)), audited(place, "b", model("bad", 0.3, 2))]
    run = diff(runs)
    outcomes = run.tables["outcomes"]
    assert outcomes["cues"].list.contains("past").sum() == posts()["text"].str.contains("used to").sum()
    gold = posts().filter(pl.col("depression") == 0)["text"].str.len_chars()
    assert sole(run, "outcome_length", outcome="all", gold="0").value == pytest.approx(gold.mean())


def test_a_corpus_that_is_gone_leaves_lengths_and_cues_out_and_says_so(place: Path) -> None:
    runs = [audited(place, "a", model("good", 0.1, 1)), audited(place, "b", model("bad", 0.3, 2))]
    (place / "posts.csv").rename(place / "moved.csv")
    run = diff(runs)
    assert run.findings.where(measure="difference_p")
    assert not run.findings.where(measure="cue_rate")
    assert any("lengths and cues of errors are left out" in note for note in run.notes)
    assert run.tables["outcomes"]["cues"].null_count() == N
    with pytest.raises(BadInput, match="cannot be read again"):
        diff(runs, show_texts=True)
    assert diff(runs, corpora=[place / "moved.csv"]).findings.where(measure="cue_rate")


def test_a_corpus_that_changed_is_not_taken_for_the_one_of_the_run(place: Path) -> None:
    runs = [audited(place, "a", model("good", 0.1, 1)), audited(place, "b", model("bad", 0.3, 2))]
    posts().with_columns(pl.col("text") + " More.").write_csv(place / "posts.csv")
    run = diff(runs)
    assert any("not those of the run" in note for note in run.notes)
    with refused("diff.other-texts", key="corpora"):
        diff(runs, corpora=["posts.csv"])


def test_runs_on_other_parts_of_a_corpus_are_compared_on_the_shared_texts(place: Path) -> None:
    (place / "half").mkdir()
    posts()[:200].write_csv(place / "half" / "posts.csv")
    one, two = model("good", 0.1, 1), model("bad", 0.3, 2)
    runs = [audited(place, "a", one), audited(place, "b", two, "half/posts.csv")]
    run = diff(runs)
    assert sole(run, "accuracy_difference").n == 200
    assert any("compared on 200 shared texts" in note for note in run.notes)
    shutil.rmtree(place / "half")
    with pytest.raises(BadInput, match="what they share cannot be told"):
        diff(runs)


def test_ids_that_mean_other_texts_are_not_paired(place: Path) -> None:
    (place / "other").mkdir()
    posts()[::-1].with_columns(posts()["id"]).write_csv(place / "other" / "posts.csv")
    one, two = model("good", 0.1, 1), model("bad", 0.3, 2)
    runs = [audited(place, "a", one), audited(place, "b", two, "other/posts.csv")]
    with refused("diff.nothing-shared"):
        diff(runs)


def test_other_annotations_of_the_same_texts_are_refused(place: Path) -> None:
    (place / "other").mkdir()
    posts().with_columns(depression=1 - pl.col("depression")).write_csv(place / "other" / "posts.csv")
    one, two = model("good", 0.1, 1), model("bad", 0.3, 2)
    runs = [audited(place, "a", one), audited(place, "b", two, "other/posts.csv")]
    with pytest.raises(BadInput, match="annotate 300 texts of corpus 'posts' differently"):
        diff(runs)


def test_thresholds_of_their_own_are_kept_and_said(place: Path) -> None:
    one, two = model("good", 0.1, 1), model("bad", 0.3, 2)
    runs = [audited(place, "a", one), audited(place, "b", two, threshold=0.05)]
    run = diff(runs)
    assert any("different thresholds" in note for note in run.notes)
    assert sole(run, "recall", model="bad").value > 0.9  # nearly everything is at least 0.05


def test_models_of_one_name_are_called_by_their_run(place: Path) -> None:
    runs = [audited(place, "zero", model("llm", 0.1, 1)), audited(place, "few", model("llm", 0.3, 2))]
    names = {f.where["model"] for f in diff(runs).findings.where(measure="accuracy")}
    assert names == {"llm (zero)", "llm (few)"}


def test_unanswered_texts_are_counted_for_each_model(place: Path) -> None:
    runs = [audited(place, "a", model("good", 0.1, 1, 0.1)), audited(place, "b", model("bad", 0.3, 2))]
    run = diff(runs)
    missing = sole(run, "unanswered", model="good").counts["unanswered"]
    assert 10 < missing < 60
    assert sole(run, "accuracy_difference").n == N - missing
    rows = run.tables["outcomes"].filter(pl.col("unanswered").list.contains("good"))
    assert len(rows) == missing


def test_an_older_folder_without_decisions_can_still_be_compared(place: Path) -> None:
    runs = [audited(place, "a", model("good", 0.1, 1)), audited(place, "b", model("bad", 0.3, 2))]
    new = diff(runs)
    for folder in runs:
        table = pl.read_parquet(folder / "predictions.parquet").drop("decided", "unit")
        table.write_parquet(folder / "predictions.parquet")
    old = diff(runs)
    assert sole(old, "accuracy_difference").value == sole(new, "accuracy_difference").value
    assert any("an older run" in note for note in old.notes)


def test_what_cannot_be_compared_is_refused_with_one_clear_error(place: Path) -> None:
    one = audited(place, "a", model("good", 0.1, 1))
    with refused("diff.one-model") as caught:
        diff(one)
    assert "good" in caught.value.what
    with refused("diff.run-named-twice"):
        diff([one, one])
    with refused("diff.replaces-a-run", key="out"):
        diff([one, audited(place, "b", model("bad", 0.3, 2))], out=one)
    with pytest.raises(BadInput, match="no run has the label 'depresion'"):
        diff([one, place / "b"], labels=["depresion"])
    with pytest.raises(BadInput, match="no finished run"):
        diff([one, place / "none"])
    tested = audited(place, "tested", model("good", 0.1, 1), audits=["behaviour"], suites=["deck"])
    with pytest.raises(BadInput, match="no predictions to compare"):
        diff([one, tested])


class Both:
    """A model of two labels that exclude each other."""

    labels = ("low", "tense")

    def __init__(self, name: str, wrong: float) -> None:
        self.name = self.fingerprint = name
        self.one = model(name, wrong, 1)

    def score(self, texts: Sequence[str]) -> FloatArray:
        scores = self.one.score(texts)
        return np.column_stack([scores, 1 - scores])


def test_only_the_wanted_label_is_compared(place: Path) -> None:
    gold = posts()["depression"].to_numpy()
    corpus = Corpus.of(
        "posts", posts()["text"].to_list(), labels={"low": gold.tolist(), "tense": (1 - gold).tolist()}
    )
    run = psycheck.audit([Both("x", 0.1), Both("y", 0.2)], corpus, audits=["performance"])
    assert {f.where["label"] for f in diff(run, labels=["tense"]).findings} == {"tense"}
    assert {f.where["label"] for f in diff(run).findings} == {"low", "tense"}


def test_texts_of_one_author_are_one_unit_without_the_corpus(place: Path) -> None:
    posts().with_columns(author=pl.Series([f"w{k // 6}" for k in range(N)])).write_csv(place / "posts.csv")
    runs = [audited(place, "a", model("good", 0.1, 1)), audited(place, "b", model("bad", 0.3, 2))]
    (place / "posts.csv").unlink()
    run = diff(runs)
    assert sole(run, "accuracy_difference").counts["units"] == 50
    assert any("clustered by author or text (50 in 300 texts)" in note for note in run.notes)


def test_copies_among_authors_are_known_without_the_corpus(place: Path) -> None:
    # Each text is posted by two of 150 authors, never by the same two twice.
    writers = [f"w{k % 150}" if k < N // 2 else f"w{(7 * k) % 150}" for k in range(N)]
    table = posts()
    texts = [*table["text"][: N // 2], *table["text"][: N // 2]]
    golds = [*table["depression"][: N // 2], *table["depression"][: N // 2]]
    copied = table.with_columns(
        text=pl.Series(texts),
        depression=pl.Series(golds),
        author=pl.Series(writers),
    )
    copied.write_csv(place / "posts.csv")
    runs = [audited(place, "a", model("good", 0.1, 1)), audited(place, "b", model("bad", 0.3, 2))]
    connected = sole(diff(runs), "accuracy_difference").interval

    for folder in runs:
        by_author = pl.read_parquet(folder / "predictions.parquet").with_columns(copy=pl.lit(None))
        by_author.write_parquet(folder / "predictions.parquet")
    alone = sole(diff(runs), "accuracy_difference").interval
    assert connected is not None
    assert alone is not None
    assert connected[1] - connected[0] > 1.1 * (alone[1] - alone[0])


def test_the_command_line_prints_verdict_tables_and_json(place: Path) -> None:
    audited(place, "a", model("good", 0.1, 1))
    audited(place, "b", model("bad", 0.3, 2))
    done = CliRunner().invoke(app, ["diff", "a", "b", "--out", "d"])
    assert done.exit_code == 0
    assert "good is better than bad" in done.stdout
    assert "report: d/report.html" in done.stdout
    done = CliRunner().invoke(
        app, ["diff", "a", "b", "--out", "d", "--label", "depression", "--json", "--force"]
    )
    printed = json.loads(done.stdout)
    assert printed["verdict"].startswith("good is better than bad")
    assert {f["measure"] for f in printed["findings"]} >= {"kappa", "difference_p_holm", "cue_rate"}
    assert Findings(open_run("d").findings).where(measure="kappa")
