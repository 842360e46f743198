"""From posts to an audited model, with the commands of the how-to page as they are written there."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

from annotators import SYMPTOMS, answer, given
from process import psycheck
from psycheck.annotate.annotator_answers import Answers, Status
from psycheck.annotate.database import database_url, open_database
from psycheck.annotate.item_search import Search, close_item, free_item, search_items
from psycheck.annotate.membership import Person, project_named, stored_task
from psycheck.annotate.queue import Nothing, next_item
from psycheck.annotate.submission import skip
from psycheck.annotate.tables import member, person
from psycheck.corpora.opening import open_corpus

HOW_TO = Path(__file__).parents[1] / "docs" / "how-to" / "annotate.md"
PROJECT = SYMPTOMS.replace("annotators_per_item = 2", "annotators_per_item = 1")
SENTENCES = 120
PER_AUTHOR = 4


@pytest.fixture(scope="module")
def steps() -> list[str]:
    """The commands of the section on the whole way, one per line, without comments."""
    section = HOW_TO.read_text("utf-8").split("## From posts to a model")[1]
    block = section.split("```sh")[1].split("```")[0]
    return [line.split("#")[0].strip() for line in block.strip().splitlines()]


def _write_posts(folder: Path) -> dict[str, set[str]]:
    """Write sentences of the demo as posts of several authors; returns the symptoms of each sentence."""
    sentences = open_corpus("demo:sentences")
    diseases = sentences.group("disease")
    sentences = sentences.only([disease in ("depression", "control") for disease in diseases])
    labels = [label for label in sentences.labels if label != "uncertain"]
    targets = sentences.targets(labels)
    symptoms = {
        text: {label for label, value in zip(labels, row, strict=True) if value == 1}
        for text, row in zip(sentences.texts, targets, strict=True)
    }
    chosen = list(symptoms)[:SENTENCES]
    posts = {
        "id": [f"post-{number}" for number in range(SENTENCES)],
        "author": [f"writer-{number // PER_AUTHOR}" for number in range(SENTENCES)],
        "text": chosen,
    }
    pl.DataFrame(posts).write_csv(folder / "posts.csv")
    return symptoms


def _answer_all(folder: Path, symptoms: Mapping[str, set[str]]) -> list[str]:
    """Answer every candidate but the first, which its annotator skips; returns their texts in order."""
    db = open_database(database_url(folder / "annotations"))
    project = project_named(db)
    with db.write() as connection:
        task = stored_task(connection, project)
        people = {}
        for name, role in (("olga", "owner"), ("ada", "annotator")):
            row = {"name": name, "password": "", "owner": role == "owner", "made": 0.0}
            number = connection.execute(person.insert().values(row)).inserted_primary_key
            assert number is not None
            joined = {"project": project, "person": number[0], "role": role, "paused": False}
            connection.execute(member.insert().values(joined))
            people[name] = Person(number[0], name, owner=role == "owner")
    owner, annotator = people["olga"], people["ada"]

    first = given(db, annotator, project)
    skip(db, annotator, first.id)
    shown = [first.text]
    while not isinstance(found := next_item(db, annotator, project, "depression"), Nothing):
        shown.append(found.text)
        present = symptoms.get(found.text, set())
        marks = {label: int(label in present) for label in task.labels("depression")}
        doubt: Status = "uncertain" if len(shown) % 3 == 0 else "present"
        status = {label: doubt for label, value in marks.items() if value}
        answer(db, annotator, project, Answers(marks, status), queue="depression")

    # Nobody is left for the skipped text: it is named, freed, skipped again, and closed.
    (stuck,) = search_items(db, owner, project, Search(state="stuck"))
    free_item(db, owner, project, stuck.number)
    again = given(db, annotator, project)
    assert again.text == first.text
    skip(db, annotator, again.id)
    close_item(db, owner, project, stuck.number, closed=True)
    assert search_items(db, owner, project, Search(state="stuck")) == []
    db.close()
    return shown


def test_the_whole_way_as_the_how_to_writes_it(steps: list[str], tmp_path: Path) -> None:
    symptoms = _write_posts(tmp_path)
    (tmp_path / "project.toml").write_text(PROJECT)
    shown: list[str] = []
    verbs = []
    for step in steps:
        program, *words = step.split()
        assert program == "psycheck"
        verbs.append(words[0])
        if words[:2] == ["annotate", "serve"]:
            shown = _answer_all(tmp_path, symptoms)
            continue
        done = psycheck(tmp_path, *words)
        assert done.returncode == 0, (step, done.stderr)
    assert {"retrieve", "annotate", "symptoms", "train", "audit"} <= set(verbs)

    # The rounds of `retrieve` are balanced over symptoms, and annotators get them in this order.
    candidates = pl.read_csv(tmp_path / "candidates.csv")
    assert shown == candidates["text"].to_list()
    first_round = candidates["symptom"].head(candidates["symptom"].n_unique())
    assert first_round.n_unique() > len(first_round) / 2

    gold = open_corpus(tmp_path / "gold.csv")
    assert len(gold) == len(shown) - 1
    splits: dict[str | None, set[str | None]] = {}
    for author, split in zip(gold.strings("author"), gold.strings("split"), strict=True):
        splits.setdefault(author, set()).add(split)
    assert {len(of_author) for of_author in splits.values()} == {1}
    assert set(gold.strings("split")) == {"train", "dev", "test"}
    assert (tmp_path / "run" / "report.html").exists()
