"""Answers from Label Studio and Argilla: out of one project, into another, and what is refused."""

import json
from pathlib import Path

import polars as pl
import pytest

from annotators import CONDITIONS, SYMPTOMS, answer, marks, team
from psycheck.annotate.adjudication import conflicts
from psycheck.annotate.annotator_answers import Answers
from psycheck.annotate.database import Database
from psycheck.annotate.export import judgements, merged
from psycheck.annotate.export_files import Exporting, exported, write_export
from psycheck.annotate.import_answers import import_answers, read_answered
from psycheck.annotate.queue import Nothing, next_item
from psycheck.annotate.transfer import import_corpus
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.corpora.opening import open_corpus
from psycheck.symptoms.graph import read_graph
from refusals import refused


def saved(db: Database, project: int, program: str, folder: Path) -> Path:
    path = folder / f"{program}.json"
    path.write_bytes(exported(Exporting(db, None, project, program))[1])
    return path


@pytest.mark.parametrize("program", ["label-studio", "argilla"])
def test_answers_come_back_as_they_were(db: Database, program: str, tmp_path: Path) -> None:
    ours = team(db)
    ours.fill(3)
    ann, bob = ours.add("ann"), ours.add("bob")
    for k in range(3):
        answer(db, ann, ours.project, marks(depression=1))
        answer(db, bob, ours.project, marks(depression=k % 2, anxiety=1))
    path = saved(db, ours.project, program, tmp_path)
    theirs = team(db, CONDITIONS.replace('name = "conditions"', 'name = "other"'))
    done = import_answers(db, None, theirs.project, read_answered(path, program))
    assert (done.items, done.answers, done.left_out) == (3, 6, 0)
    again = import_answers(db, None, theirs.project, read_answered(path, program))
    assert (again.items, again.answers, again.left_out) == (0, 0, 6)
    columns = ["item", "label", "value", "annotator"]
    before, after = (
        judgements(db, None, one)
        .select(columns)
        .with_columns(pl.col("annotator").str.replace("imported:", ""))
        for one in (ours.project, theirs.project)
    )
    assert after.sort(columns).equals(before.sort(columns))
    # They disagree on anxiety everywhere; nothing is left to annotate, and nobody can answer for them.
    assert len(conflicts(db, theirs.add("ivo", "adjudicator"), theirs.project)) == 3
    assert isinstance(next_item(db, theirs.add("cat"), theirs.project), Nothing)


def test_symptoms_go_back_to_their_queue_with_their_status(db: Database, tmp_path: Path) -> None:
    ours = team(db, SYMPTOMS)
    import_corpus(
        db, ours.owner, ours.project, Corpus.of("c", ["I check the door."], ids=["p1"]), queue="ocd"
    )
    labels = [one.name for one in read_graph().of("ocd")]
    said = Answers({label: int(label == "compulsions") for label in labels}, {"compulsions": "uncertain"})
    answer(db, ours.add("ann"), ours.project, said, "ocd")
    path = saved(db, ours.project, "label-studio", tmp_path)
    theirs = team(db, SYMPTOMS.replace('name = "symptoms"', 'name = "others"'))
    done = import_answers(db, None, theirs.project, read_answered(path, "label-studio"))
    assert (done.items, done.answers) == (1, 1)
    found = judgements(db, None, theirs.project).filter(pl.col("value") == 1)
    assert found.select("item", "label", "status", "queue").rows() == [
        ("p1", "compulsions", "uncertain", "ocd")
    ]


def test_labels_by_competence_and_the_agreement_are_exported(db: Database, tmp_path: Path) -> None:
    ours = team(db)
    ours.fill(4)
    ann, bob = ours.add("ann"), ours.add("bob")
    for who in (ann, bob):
        for k in range(4):
            answer(db, who, ours.project, marks(depression=int(k < 2)))
    corpus = merged(db, None, ours.project, "competence")
    assert sorted(corpus.table["label:depression"].round(3)) == [0, 0, 1, 1]
    competence = write_export(Exporting(db, None, ours.project, "competence"), tmp_path / "gold.csv")
    assert (competence.rows, competence.files_beside) == (4, ())
    assert len(open_corpus(str(tmp_path / "gold.csv"))) == 4
    rows = [
        json.loads(line) for line in exported(Exporting(db, None, ours.project, "agreement"))[1].splitlines()
    ]
    assert {row["of"] for row in rows} == {"label", "day", "pair", "version", "annotator"}
    low = next(row for row in rows if row.get("label") == "depression")
    assert (low["alpha"]["value"], low["agreement"]["value"], low["alpha"]["n"]) == (1, 1, 4)
    assert low["alpha"]["low"] is None  # too few texts for an interval
    pair = next(row for row in rows if row["of"] == "pair")
    assert (pair["first"], pair["second"], pair["kappa"]["n"]) == ("ann", "bob", 8)


def test_what_does_not_fit_is_refused_with_its_record_and_adds_nothing(db: Database, tmp_path: Path) -> None:
    ours = team(db)
    path = tmp_path / "tasks.json"
    done = {"completed_by": 1, "result": [{"type": "choices", "value": {"choices": ["joy"]}}]}
    path.write_text(json.dumps([{"data": {"text": "t"}, "annotations": [done]}]))
    with refused("answers.unknown-label", where="record 1"):
        import_answers(db, None, ours.project, read_answered(path, "label-studio"))
    assert judgements(db, None, ours.project).is_empty()
    for content in ("", "{", "7", "[7]", "[" * 100_000, '{"data": 3}'):
        path.write_text(content)
        if content:
            with pytest.raises(BadInput):
                read_answered(path, "label-studio")
        else:
            assert read_answered(path, "label-studio") == []
    with refused("exchange.unknown-program", key="answers"):
        read_answered(path, "potato")


def _tasks(path: Path, *texts: str, **more: object) -> Path:
    chosen = [{"value": {"choices": ["depression", "anxiety"]}}]
    done = [{"completed_by": 1, "result": chosen, **more}]
    path.write_text(json.dumps([{"id": 1, "data": {"text": text}, "annotations": done} for text in texts]))
    return path


def test_answers_never_go_to_another_text_that_has_the_same_id(db: Database, tmp_path: Path) -> None:
    ours = team(db)
    both = _tasks(tmp_path / "both.json", "first text", "second text")
    with refused("import.duplicate-ids", where="record 2"):
        import_answers(db, None, ours.project, read_answered(both, "label-studio"))
    for name, text in (("one", "first text"), ("two", "second text")):
        read = read_answered(_tasks(tmp_path / f"{name}.json", text), "label-studio")
        if name == "one":
            import_answers(db, None, ours.project, read)
        else:
            with refused("import.duplicate-ids"):
                import_answers(db, None, ours.project, read)
    assert judgements(db, None, ours.project)["item"].unique().to_list() == ["1"]


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -1.0])
def test_a_time_that_no_clock_shows_is_refused(seconds: float, tmp_path: Path) -> None:
    with refused("exchange.misshapen-record"):
        read_answered(_tasks(tmp_path / "tasks.json", "text", lead_time=seconds), "label-studio")
