import json
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from psycheck.commands.rewriting import clean_cli, redact_cli
from psycheck.core.corpus import Corpus
from psycheck.core.errors import PsycheckError
from psycheck.corpora.cleaning import (
    REDACTION_IS_AN_AID,
    StepCount,
    cleaned,
    into_sentences,
    personal_accounts,
    personal_in,
    redacted,
    steps_of,
)
from psycheck.corpora.reading import read_corpus
from psycheck.corpora.writing import write_corpus
from psycheck.demo.opening import DEMO, open_demo
from psycheck.text.clean import PRESETS
from psycheck.text.redact.lists import Found
from refusals import refused

POSTS = Corpus.of(
    "posts",
    [
        "I feel &amp; fear too much",
        "[removed]",
        "see https://example.org",
        "https://example.org",
        "nothing to clean",
    ],
    labels={"depression": [1, 0, None, 1, 0]},
    ids=["a", "b", "c", "d", "e"],
    author=["u1", "u2", "u3", "u3", None],
    split=["train", "train", "dev", "test", "test"],
)
app = typer.Typer()
app.command("clean")(clean_cli)
app.command("redact")(redact_cli)


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, words)
    if isinstance(result.exception, PsycheckError):
        return result.exception.exit_code, str(result.exception)
    return result.exit_code, result.stdout


def saved(corpus: Corpus, folder: Path) -> str:
    write_corpus(corpus, folder / "posts.csv")
    return str(folder / "posts.csv")


def test_each_step_is_counted_and_rows_keep_what_is_known_of_them() -> None:
    done, counts = cleaned(POSTS, ["html", "removed", "links", "spaces"])
    assert counts == (
        StepCount("html", 5, 5, 1, 0),
        StepCount("removed", 5, 4, 0, 1),
        StepCount("links", 4, 3, 1, 1),
        StepCount("spaces", 3, 3, 1, 0),
    )
    assert done.table.to_dict(as_series=False) == {
        "id": ["a", "c", "e"],
        "text": ["I feel & fear too much", "see", "nothing to clean"],
        "author": ["u1", "u3", None],
        "split": ["train", "dev", "test"],
        "label:depression": [1.0, None, 0.0],
    }
    assert dict(done.left_out) == {"dropped by 'removed'": 1, "dropped by 'links'": 1}


@pytest.mark.parametrize("preset", PRESETS)
def test_cleaning_a_clean_corpus_changes_nothing(preset: str) -> None:
    corpus = open_demo("tweets", "test")
    once, _ = cleaned(corpus, steps_of(preset=preset))
    twice, counts = cleaned(once, steps_of(preset=preset))
    assert len(once) == len(corpus)
    assert twice.fingerprint() == once.fingerprint()
    assert [(count.changed, count.dropped) for count in counts] == [(0, 0)] * len(PRESETS[preset])


def test_steps_and_presets_that_do_not_exist_are_named() -> None:
    with refused("clean.unknown-step", what="'link'") as caught:
        steps_of(["link"])
    assert "did you mean 'links'" in str(caught.value)
    with refused("clean.unknown-preset", what="'deck'"):
        steps_of(preset="deck")
    with refused("clean.no-step"):
        steps_of()
    assert steps_of(["users", "html"], "plain") == (*PRESETS["plain"], "users")


def test_a_sentence_becomes_a_row_with_the_id_and_labels_of_its_text() -> None:
    corpus = Corpus.of(
        "two",
        ["I slept. I ate well.", "Fine."],
        ids=["17", "17.1"],
        labels={"x": [1, 0]},
        split=["train", "test"],
    )
    done = into_sentences(corpus)
    assert done.table.to_dict(as_series=False) == {
        "id": ["17.1", "17.2", "17.1.1"],
        "text": ["I slept.", "I ate well.", "Fine."],
        "split": ["train", "train", "test"],
        "label:x": [1.0, 1.0, 0.0],
    }
    assert done.notes == ("Each text is one sentence with the labels of the text it comes from.",)


def test_accounts_of_shops_news_and_bots_are_left_out() -> None:
    spoken = ["I slept badly", "my day was long", "why do I bother", "I am tired", "me again"]
    shop = [f"Shop now: {n} % off https://example.org/{n}" for n in range(5)]
    feed = [f"Storm number {n} reaches the coast https://example.org/{n}" for n in range(5)]
    few = ["Follow us and order now!", "I follow us and I order now, says my mother"]
    corpus = Corpus.of(
        "accounts",
        [*spoken, *shop, *feed, *few, "all quiet", "I am a bot, beep boop", "hello abbot"],
        author=[
            *["ann"] * 5,
            *["kiosk"] * 5,
            *["wires"] * 5,
            *["few"] * 2,
            "CityNews_24",
            "clever",
            "talbot",
        ],
    )
    keep = personal_accounts(corpus)
    assert keep == [*[True] * 5, *[False] * 5, *[False] * 5, False, True, False, False, True]


def test_redaction_counts_kinds_names_ids_and_numbers_authors() -> None:
    corpus = Corpus.of(
        "posts",
        ["Anna told me", "call 555-014-2297 or Tom", "fine"],
        ids=["x", "y", "z"],
        author=["sam", "joe", "sam"],
    )
    done, found = redacted(corpus)
    assert done.texts == ["[NAME] told me", "call [PHONE] or [NAME]", "fine"]
    assert done.table["author"].to_list() == ["author-1", "author-2", "author-1"]
    assert dict(found.counts) == {"NAME": 2, "PHONE": 1}
    assert dict(found.kinds) == {"x": ("NAME",), "y": ("NAME", "PHONE")}
    assert personal_in(corpus) == found
    again, nothing = redacted(done)
    assert again.fingerprint() == done.fingerprint()
    assert not nothing.counts


@pytest.mark.parametrize("name", DEMO)
def test_the_demo_corpora_hold_invented_ages_and_nothing_else(name: str) -> None:
    assert set(personal_in(open_demo(name)).counts) <= {"AGE"}


def test_clean_prints_the_funnel_and_writes_the_corpus(tmp_path: Path) -> None:
    out = tmp_path / "clean.jsonl"
    code, said = run("clean", saved(POSTS, tmp_path), "--preset", "plain", "--out", str(out), "--sentences")
    assert code == 0
    assert said.splitlines()[:3] == [
        "step                    before     after   changed",
        "html                         5         5         1",
        "removed                      5         4         0",
    ]
    assert said.splitlines()[-2:] == ["sentences                    3         3", f"3 texts: {out}"]
    assert read_corpus(out).ids == ["a.1", "c.1", "e.1"]


def test_clean_without_a_file_only_counts_and_prints_for_a_program(tmp_path: Path) -> None:
    path = saved(POSTS, tmp_path)
    code, said = run("clean", path, "--step", "removed", "--json")
    step = {"name": "removed", "texts_before": 5, "texts_after": 4, "changed": 0, "dropped": 1}
    told = json.loads(said)
    assert (code, told["steps"], told["texts"], told["rows"]) == (0, [step], 4, 4)
    assert [file.name for file in tmp_path.iterdir()] == ["posts.csv"]
    assert run("clean", path)[0] == 2
    assert (
        "no texts left"
        in run("clean", saved(Corpus.of("p", ["[removed]"]), tmp_path), "--preset", "plain")[1]
    )


def test_check_fails_on_planted_data_and_says_ids_and_kinds_alone(tmp_path: Path) -> None:
    planted = Corpus.of(
        "p", ["I am tired", "my name is Jessica", "write a.b@example.org", "ring 555-014-2297"]
    )
    path = saved(planted, tmp_path)
    code, said = run("redact", path, "--check")
    assert code == 1
    assert said.splitlines() == [
        "2\tNAME",
        "3\tEMAIL",
        "4\tPHONE",
        "EMAIL            1",
        "NAME             1",
        "PHONE            1",
        "3 of 4 texts contain personal data that the patterns find",
        REDACTION_IS_AN_AID,
    ]
    clean = str(tmp_path / "redacted.csv")
    code, said = run("redact", path, "--out", clean)
    assert (code, said.splitlines()[-2:]) == (0, [f"4 texts: {clean}", REDACTION_IS_AN_AID])
    assert run("redact", clean, "--check") == (
        0,
        f"0 of 4 texts contain personal data that the patterns find\n{REDACTION_IS_AN_AID}\n",
    )
    code, said = run("redact", path, "--check", "--json")
    assert json.loads(said)["ids"] == {"2": ["NAME"], "3": ["EMAIL"], "4": ["PHONE"]}
    assert json.loads(said)["caution"] == REDACTION_IS_AN_AID
    assert run("redact", path)[0] == 2


def test_redact_takes_a_recogniser_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(Corpus.of("p", ["outvoted Loekje", "fine"]), tmp_path)
    monkeypatch.setitem(sys.modules, "spacy", None)
    code, message = run("redact", path, "--check", "--recogniser", "en_fake")
    assert (code, message.splitlines()[0]) == (2, "the package 'spacy' is not installed")
    monkeypatch.setattr(
        "psycheck.text.redact.recogniser.load_recogniser", lambda name: lambda text: [Found(0, 4, "NAME")]
    )
    code, said = run("redact", path, "--check", "--recogniser", "en_fake")
    assert code == 1
    assert "2 of 2 texts contain personal data that the patterns or the recogniser find" in said
