"""`psycheck annotate`, from a project file to a corpus that the other verbs read."""

import re
from pathlib import Path

import pytest

from annotators import CONDITIONS, SYMPTOMS, answer, given, marks
from psycheck.annotate import accounts
from psycheck.annotate.database import database_url, open_database
from psycheck.annotate.encryption_key import read_key
from psycheck.annotate.membership import project_named
from psycheck.commands.main import app
from psycheck.corpora.opening import open_corpus


def psycheck(*words: str) -> tuple[int, str]:
    from typer.testing import CliRunner

    result = CliRunner().invoke(app, list(words))
    return result.exit_code, result.output + str(result.exception or "")


def run(*words: str) -> tuple[int, str]:
    return psycheck("annotate", *words)


def test_a_project_from_its_file_to_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("project.toml").write_text(CONDITIONS.replace("annotators_per_item = 2", "annotators_per_item = 1"))
    code, output = run("new", "db", "--project", "project.toml", "--key-file", "key")
    assert code == 0, output
    assert re.search(r"/invitation/[\w-]{40,}", output)
    texts = [f"{'so sad and tired' if k % 2 else 'a fine day out'} {k}" for k in range(60)]
    splits = ["train"] * 40 + ["dev"] * 10 + ["test"] * 10
    lines = [f"{k},{text},{split}" for k, (text, split) in enumerate(zip(texts, splits, strict=True))]
    Path("posts.csv").write_text("\n".join(["id,text,split", *lines]))
    assert "60 items added" in run("import", "db", "posts.csv", "--key-file", "key")[1]
    assert "is encrypted" in run("invite", "db", "annotator")[1]
    token = run("invite", "db", "annotator", "--key-file", "key")[1].split("/invitation/")[1].strip()
    db = open_database(database_url("db"), read_key(Path("key")))
    who, project = accounts.accept(db, token, "ada", "correct horse battery"), project_named(db)
    for _ in texts:
        answer(db, who, project, marks(int("sad" in given(db, who, project).text), 0))
    db.close()
    code, output = run("export", "db", "any", "--out", "gold.csv", "--key-file", "key")
    assert "60 rows" in output
    gold = open_corpus("gold.csv")
    assert set(gold.labels) == {"depression", "anxiety"}
    assert gold.targets(["depression"]).sum() == 30
    assert run("export", "db", "judgements", "--out", "long.parquet", "--key-file", "key")[0] == 0
    assert run("backup", "db", "all.jsonl.zst", "--key-file", "key")[0] == 0
    assert run("restore", "db2", "all.jsonl.zst", "--key-file", "key")[0] == 0
    assert run("export", "db2", "any", "-o", "again.csv", "--key-file", "key")[0] == 0
    assert Path("again.csv").read_bytes() == Path("gold.csv").read_bytes()
    code, output = psycheck(
        "train", "gold.csv", "--label", "depression", "--start", "tfidf+lr", "-o", "model"
    )
    assert code == 0, output
    code, output = psycheck(
        "audit", "sklearn:model", "gold.csv", "--label", "depression", "--split", "test",
        "--audit", "performance", "--out", "run",
    )  # fmt: skip
    assert code == 0, output


def test_without_a_project_file_an_example_is_printed(tmp_path: Path) -> None:
    code, output = run("new", str(tmp_path / "db"))
    assert code == 0
    assert 'task = "symptoms"' in output
    assert not (tmp_path / "db").exists()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("import", "nowhere", "demo:forum"), "no annotation database"),
        (("invite", "nowhere", "annotator"), "no annotation database"),
        (("export", "nowhere", "any", "--out", "x.csv"), "no annotation database"),
        (("backup", "nowhere", "x.jsonl.zst"), "no annotation database"),
        (("restore", "new", "missing.jsonl.zst"), "cannot be read"),
    ],
)
def test_mistakes_end_in_plain_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, output = run(*words)
    assert code != 0
    assert problem in output


def test_unknown_exports_and_roles(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(CONDITIONS)
    db = str(tmp_path / "db")
    assert run("new", db, "--project", str(tmp_path / "p.toml"))[0] == 0
    assert "already" in run("new", db, "--project", str(tmp_path / "p.toml"))[1]
    assert "majority" in run("export", db, "majorty", "--out", str(tmp_path / "x.csv"))[1]
    assert "unknown role" in run("invite", db, "king")[1]
    assert "no project 'other'" in run("invite", db, "annotator", "--project", "other")[1]


@pytest.fixture
def symptoms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("project.toml").write_text(SYMPTOMS)
    assert run("new", "db", "--project", "project.toml")[0] == 0


@pytest.mark.usefixtures("symptoms")
def test_a_test_file_may_have_symptoms_that_no_sentence_is_about() -> None:
    from psycheck.symptoms.graph import read_graph

    names = [one.name for one in read_graph().of("depression")]
    rows = []
    for number in range(20):
        sleepless = number % 2
        sentence = f"I lie awake for {number} hours." if sleepless else f"We saw {number} boats."
        answers = [str(sleepless) if name == "sleep_disturbance" else "0" for name in names]
        rows.append(",".join([str(number), sentence, *answers]))
    Path("test.csv").write_text("\n".join([f"id,text,{','.join(names)}", *rows]))
    code, output = run("import", "db", "test.csv", "--kind", "screening", "--queue", "depression")
    assert code == 0, output
    assert "20 items added" in output


@pytest.mark.usefixtures("symptoms")
def test_what_retrieve_writes_goes_to_the_queues_that_it_names() -> None:
    head, rest = "id,text,disease,symptom,similarity,author,time", "x,0.5,ada,"
    rows = [f"p#{k}/{one},Sentence {k}.,{one},{rest}" for k, one in enumerate(("depression", "ocd", "ptsd"))]
    Path("candidates.csv").write_text("\n".join([head, *rows]))
    code, output = run("import", "db", "candidates.csv")
    assert code == 0, output
    assert "2 items added, 0 known already, 1 of other queues" in output


def test_next_puts_first_what_a_model_of_the_answers_is_least_sure_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    one_each = CONDITIONS.replace("annotators_per_item = 2", "annotators_per_item = 1")
    Path("project.toml").write_text(one_each + '[order]\nhow = "file"\n')
    assert run("new", "db", "--project", "project.toml")[0] == 0
    words = ("sad tired empty", "fine sunny glad")
    answered = [f"{number},{words[number % 2]} {number}" for number in range(20)]
    # Of the last texts one holds words of both kinds.
    waiting = ["20,sad tired empty", "21,fine sunny glad", "22,sad fine", "23,sad tired empty again"]
    Path("posts.csv").write_text("\n".join(["id,text", *answered, *waiting]))
    assert run("import", "db", "posts.csv")[0] == 0
    code, output = run("next", "db")
    assert code == 1
    assert "nobody has answered" in output

    token = run("invite", "db", "annotator")[1].split("/invitation/")[1].strip()
    db = open_database(database_url("db"))
    who, project = accounts.accept(db, token, "ada", "correct horse battery"), project_named(db)
    for _ in answered:
        answer(db, who, project, marks(int("sad" in given(db, who, project).text), 0))
    code, output = run("next", "db")
    assert code == 0, output
    assert "learned depression from 20 texts" in output
    assert given(db, who, project).text == "sad fine"
    db.close()
