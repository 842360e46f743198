"""Corpora with a planted fault: each verb says so first, and the command that it prints mends the corpus."""

import csv
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

from made_words import sentence
from psycheck.commands.main import app
from psycheck.core.headline import read_headlines
from psycheck.corpora.cautions import cheap_cautions
from psycheck.corpora.reading import read_corpus

Row = dict[str, object]
SPLITS = ("train", "train", "train", "dev", "test")
DIFFERING = "python:judge.py:score"
MODEL = "def score(texts):\n    return [(len(text) * 37 % 101) / 101 for text in texts]\n"


def sound(n: int = 600) -> list[Row]:
    """Texts whose label depends on nothing, each author in one split."""
    random = Random(5)
    return [
        {
            "id": f"p{i}",
            "text": sentence(random, random.randint(10, 20)),
            "patient": f"a{i // 3}",
            "split": SPLITS[i // 3 % 5],
            "depression": i % 2,
        }
        for i in range(n)
    ]


def with_leaked_word() -> list[Row]:
    """99.5 % of the texts annotated 1 hold one word, and 1 % of the others."""
    rows = sound()
    positive = [row for row in rows if row["depression"]]
    for row in positive[:-2]:  # of 300, all but two
        row["text"] = f"{row['text']} therapist"
    for row in [row for row in rows if not row["depression"]][:3]:
        row["text"] = f"therapist {row['text']}"
    return rows


def with_shared_authors() -> list[Row]:
    """Every author has texts in several splits."""
    rows = sound()
    for i, row in enumerate(rows):
        row["split"] = SPLITS[i % 5]
    return rows


def with_copies() -> list[Row]:
    """A third of the texts of dev and test repeat one of train, the half of these with a word more."""
    rows = sound()
    train = [row for row in rows if row["split"] == "train"]
    others = [row for row in rows if row["split"] != "train"]
    for i, row in enumerate(others[::3]):
        row["text"] = train[i]["text"]
        row["depression"] = train[i]["depression"]
        if i % 2:
            row["text"] = f"{row['text']} indeed"
    return rows


def with_label_by_source() -> list[Row]:
    """Nine of ten texts of a class come from a source of its own."""
    rows = sound()
    for i, row in enumerate(rows):
        usual = "support" if row["depression"] else "news"
        rare = "news" if row["depression"] else "support"
        row["source"] = rare if i % 10 < 1 else usual
    return rows


FAULTS: dict[str, tuple[Callable[[], list[Row]], set[str]]] = {
    "leaked word": (with_leaked_word, {"single_word"}),
    "shared authors": (with_shared_authors, {"authors_across_splits"}),
    "copies": (with_copies, {"duplicates_across_splits", "near_duplicates_across_splits"}),
    "label by source": (with_label_by_source, {"label_of_source"}),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("judge.py").write_text(MODEL)
    return tmp_path


def write(rows: list[Row], path: str = "posts.csv") -> None:
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def run(command: str) -> str:
    result = CliRunner().invoke(app, shlex.split(command))
    assert result.exit_code == 0, result.output or repr(result.exception)
    return result.stdout


def cautions_of_run(folder: str) -> list[str]:
    """The rules of the cautions, which stand before all that does not make the model useless."""
    claims = [
        claim for claim in read_headlines(Path(folder) / "headlines.jsonl") if claim.severity != "critical"
    ]
    rules = [claim.rule.split(".") for claim in claims]
    leading = next((at for at, (kind, _) in enumerate(rules) if kind != "caution"), len(rules))
    assert all(kind != "caution" for kind, _ in rules[leading:])
    return [name for _, name in rules[:leading]]


@pytest.mark.parametrize("fault", FAULTS)
def test_audit_and_compare_say_it_first(place: Path, fault: str) -> None:
    make, expected = FAULTS[fault]
    write(make())
    printed = run(f"audit {DIFFERING} posts.csv --audit performance --out a")
    assert set(cautions_of_run("a")) == expected
    # The first line counts the texts; a model that nothing is known to be right about comes before them.
    verdict = [line for line in printed.splitlines()[1:] if not line.startswith(("critical: ", "  do: "))]
    assert verdict[0].startswith("caution: ")

    printed = run("compare posts.csv --out c")
    assert set(cautions_of_run("c")) == expected
    assert printed.startswith("caution: ")


@pytest.mark.parametrize("fault", FAULTS)
def test_train_says_it_before_its_figures(place: Path, fault: str) -> None:
    make, expected = FAULTS[fault]
    write(make())
    printed = run("train posts.csv --start tfidf+lr --out m").splitlines()
    cautions = [at for at, line in enumerate(printed) if line.startswith("caution: ")]
    figures = next(at for at, line in enumerate(printed) if line.startswith("dev: "))
    assert len(cautions) == len(expected)
    assert max(cautions) < figures


def test_a_sound_corpus_has_no_caution_anywhere(place: Path) -> None:
    write(sound())
    printed = run(f"audit {DIFFERING} posts.csv --audit performance --out a")
    printed += run("train posts.csv --start tfidf+lr --out m")
    printed += run("compare posts.csv --out c")
    assert "caution: " not in printed
    assert cautions_of_run("a") == []


@pytest.mark.parametrize("fault", ["leaked word", "shared authors", "copies"])
@pytest.mark.parametrize("verb", ["audit", "compare"])
def test_the_command_that_is_printed_mends_all_splits(place: Path, fault: str, verb: str) -> None:
    make, _ = FAULTS[fault]
    write(make())
    target = f"audit {DIFFERING}" if verb == "audit" else "compare"
    options = "--audit performance" if verb == "audit" else ""
    # Named splits must not narrow what is mended.
    printed = run(f"{target} posts.csv --split test {options} --out r")
    helps = [line.removeprefix("  do: ") for line in printed.splitlines() if line.startswith("  do: ")]
    (remedy,) = [command for command in helps if command.startswith("psycheck clean")]
    assert "--split " not in remedy
    run(remedy.removeprefix("psycheck "))

    mended = read_corpus("mended.csv")
    assert set(mended.strings("split")) == {"train", "dev", "test"}
    assert cheap_cautions(mended) == ()
    for split in ("train", "dev", "test"):
        assert cheap_cautions(mended.part(split)) == ()
    run(f"audit {DIFFERING} mended.csv --audit performance --out again")
    assert cautions_of_run("again") == []


def test_a_source_that_tells_the_label_has_no_command_but_a_remedy(place: Path) -> None:
    write(with_label_by_source())
    run(f"audit {DIFFERING} posts.csv --audit performance --out a")
    claim = read_headlines(Path("a/headlines.jsonl"))[0]
    assert claim.rule == "caution.label_of_source"
    assert claim.remedy
    assert "psycheck" not in claim.remedy


def test_a_corpus_that_is_split_anew_gets_no_copies_across_its_new_splits(place: Path) -> None:
    rows = with_shared_authors()
    for row in rows:
        row["split"] = "test" if row["split"] == "test" else "train"
    # The same text by two authors, each time within one split: no caution about copies as it is.
    train = [row for row in rows if row["split"] == "train"]
    for i in range(40):
        train[i + 300]["text"] = train[i]["text"]
        train[i + 300]["depression"] = train[i]["depression"]
    write(rows)

    opened = read_corpus("posts.csv")
    assert [caution.name for caution in cheap_cautions(opened)] == ["authors_across_splits"]
    (caution,) = cheap_cautions(opened, called="posts.csv")
    run(caution.command.removeprefix("psycheck "))
    assert cheap_cautions(read_corpus("mended.csv")) == ()


def test_a_patient_column_is_taken_as_the_author_with_a_note(place: Path) -> None:
    write(sound())
    opened = read_corpus("posts.csv")
    assert opened.unit == "author"
    assert any("'patient'" in note for note in opened.notes)
    findings = json.loads(run("compare posts.csv --json --out c"))
    assert findings["findings"] == []
