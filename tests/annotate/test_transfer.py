"""Items in: from any corpus, with limits, nothing twice, nothing half, no path from a name."""

import json
from pathlib import Path
from secrets import token_hex

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import given as each
from hypothesis import strategies as st
from sqlalchemy import func, select

from annotators import SYMPTOMS, Team, answer, given, marks, team
from psycheck.annotate import imported_files, transfer
from psycheck.annotate.annotator_agreement import in_queues
from psycheck.annotate.annotator_answers import Answers
from psycheck.annotate.database import Database, database_url, open_database
from psycheck.annotate.export import judgements
from psycheck.annotate.imported_files import import_upload, reasons_in
from psycheck.annotate.order import (
    disagreement,
    model_agreement,
    order_items,
    suggestions,
    unsureness,
)
from psycheck.annotate.project import parse_project, read_project
from psycheck.annotate.refusals import NotAllowed, NotFound
from psycheck.annotate.screening import screening_result
from psycheck.annotate.submission import submit
from psycheck.annotate.tables import item
from psycheck.annotate.transfer import Imported, import_corpus
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput, PsycheckError
from psycheck.statistics.intervals import wilson
from psycheck.symptoms.graph import read_graph
from refusals import refused


@pytest.fixture
def ours(tmp_path: Path) -> Team:
    return team(open_database(database_url(tmp_path / "db"), new=True))


def count(db: Database) -> int:
    with db.read() as connection:
        return connection.scalar(select(func.count()).select_from(item)) or 0


def test_queues_come_from_the_corpus_or_the_caller(tmp_path: Path) -> None:
    ours = team(open_database(database_url(tmp_path / "db"), new=True), SYMPTOMS)
    corpus = Corpus.of("c", ["a", "b", "c"], groups={"disease": ["depression", "ocd", "ptsd"]})
    done = import_corpus(ours.db, ours.owner, ours.project, corpus)
    assert done == Imported(added=2, known=0, elsewhere=1)
    again = import_corpus(ours.db, ours.owner, ours.project, corpus, queue="ocd")
    assert again == Imported(added=2, known=1, elsewhere=0)
    who = ours.add("ada")
    assert given(ours.db, who, ours.project, "depression").text == "a"
    bare = Corpus.of("c", ["d"])
    with refused("import.no-queue"):
        import_corpus(ours.db, ours.owner, ours.project, bare)
    with refused("import.unknown-queue", key="queue", allowed="did you mean 'depression'"):
        import_corpus(ours.db, ours.owner, ours.project, bare, queue="depresion")
    with pytest.raises(NotFound):
        given(ours.db, who, ours.project, "ptsd")


def test_limits_and_what_cannot_be_stored(ours: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "MOST_ITEMS", 2)
    monkeypatch.setattr(transfer, "LONGEST_TEXT", 20)
    monkeypatch.setattr(imported_files, "LARGEST_UPLOAD", 100)
    for corpus, code in (
        (Corpus.of("c", ["a", "b", "c"]), "import.too-many-texts"),
        (Corpus.of("c", ["x" * 21]), "import.text-too-long"),
        (Corpus.of("c", ["a\x00b"]), "import.nul-character"),
        (Corpus.of("c", ["a"], ids=["\x00"]), "import.nul-character"),
    ):
        with refused(code):
            import_corpus(ours.db, ours.owner, ours.project, corpus)
    with refused("upload.too-large"):
        import_upload(ours.db, ours.owner, ours.project, "x.csv", b"x" * 101)
    assert count(ours.db) == 0


def test_only_the_owner_imports(ours: Team) -> None:
    corpus = Corpus.of("c", ["a"])
    with pytest.raises(NotAllowed):
        import_corpus(ours.db, ours.add("ada"), ours.project, corpus)
    with pytest.raises(NotFound):
        import_upload(ours.db, ours.owner, ours.project + 1, "x.csv", b"text\na\n")


@pytest.mark.parametrize("name", ["../../etc/passwd.csv", "/tmp/x.csv", "C:\\x.csv", "\x00.csv", ".csv"])
def test_of_an_uploads_name_only_the_extension_counts(ours: Team, name: str) -> None:
    done = import_upload(ours.db, ours.owner, ours.project, name, b"id,text\n1,a post of ours\n")
    assert done.added == 1


def test_an_upload_with_reasons_shows_them_after_the_test(ours: Team) -> None:
    why = "the writer says so, at such length that no group column could hold it: " + "very " * 20
    rows = [
        {"id": str(k), "text": f"a post {k}", "depression": k % 2, "anxiety": 1 - k % 2, "why": why}
        for k in range(10)
    ]
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    import_upload(ours.db, ours.owner, ours.project, "test.jsonl", content, kind="screening")
    who = ours.add("ada")
    for k in range(10):
        answer(ours.db, who, ours.project, marks(k % 2, 1 - k % 2))
    assert screening_result(ours.db, who, ours.project, "").items[0].why == why


@each(st.binary(max_size=200), st.sampled_from([".csv", ".jsonl", ".parquet", ".tsv", ".exe"]))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_upload_ends_in_anything_but_items_or_one_clear_error(
    ours: Team, content: bytes, extension: str
) -> None:
    before, added, problem = count(ours.db), 0, ""
    try:
        added = import_upload(ours.db, ours.owner, ours.project, f"x{extension}", content).added
    except PsycheckError as error:
        problem = str(error)
    assert "psycheck-" not in problem  # the folder on the server
    assert count(ours.db) == before + added


def test_reasons_without_a_column_are_none(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("id,text\n1,a\n")
    assert reasons_in(tmp_path / "x.csv") == {}


def test_models_put_what_they_are_unsure_of_first_and_say_nothing_before_the_answer(tmp_path: Path) -> None:
    import numpy as np

    ours = team(open_database(database_url(tmp_path / "db"), new=True), more='[order]\nhow = "unsure"\n')
    ours.fill(4)
    ids, scores = ["p0", "p1", "p2", "p3"], np.array([[0.9], [0.45], [0.1], [0.7]])
    order_items(ours.db, ours.owner, ours.project, ids, {"model": (["depression"], scores)})
    who = ours.add("ada")
    first = given(ours.db, who, ours.project)
    with pytest.raises(NotFound):
        suggestions(ours.db, who, first.id)
    seen = [answer(ours.db, who, ours.project, marks()) for _ in ids]
    assert [one.text.split()[2] for one in seen] == ["1", "3", "0", "2"] or [
        one.text.split()[2] for one in seen
    ] == ["1", "3", "2", "0"]  # 0.9 and 0.1 are equally sure
    assert suggestions(ours.db, who, seen[0].id) == {"model": {"depression": 0.45}}


def test_what_models_said_is_compared_with_the_majority_of_the_annotators(tmp_path: Path) -> None:
    import numpy as np

    ours = team(open_database(database_url(tmp_path / "db"), new=True), more='[order]\nhow = "unsure"\n')
    ours.fill(4)
    ids, scores = ["p0", "p1", "p2", "p3"], np.array([[0.9], [0.45], [0.1], [0.7]])
    order_items(ours.db, ours.owner, ours.project, ids, {"model": (["depression"], scores)})
    said = {"ada": {"p0": 1, "p1": 1, "p2": 0, "p3": 0}, "bob": {"p0": 1, "p1": 0, "p2": 0, "p3": 0}}
    for name, answers_of_posts in said.items():
        who = ours.add(name)
        for _ in ids:
            shown = given(ours.db, who, ours.project)
            post = f"p{shown.text.split()[2]}"
            submit(ours.db, who, shown.id, marks(answers_of_posts[post]), seconds=1, token=token_hex(8))

    table = in_queues(judgements(ours.db, ours.owner, ours.project))
    (agreed,) = model_agreement(ours.db, ours.owner, ours.project, table)
    # p1 is a tie; of the others the model contradicts the annotators on p3.
    assert (agreed.model, agreed.label, agreed.share, agreed.n) == ("model", "depression", 2 / 3, 3)
    assert agreed.interval == wilson(2, 3)
    with pytest.raises(NotAllowed):
        list(model_agreement(ours.db, who, ours.project, table))


def test_an_item_of_two_queues_keeps_what_models_said_in_both(tmp_path: Path) -> None:
    import numpy as np

    more = '[order]\nhow = "unsure"\n'
    ours = team(open_database(database_url(tmp_path / "db"), new=True), SYMPTOMS, more=more)
    for queue in ("depression", "ocd"):
        import_corpus(ours.db, ours.owner, ours.project, Corpus.of("c", ["a post"], ids=["p"]), queue=queue)
    label = read_graph().of("ocd")[0].name
    order_items(ours.db, ours.owner, ours.project, ["p"], {"model": ([label], np.array([[0.4]]))})
    who = ours.add("ada")
    for queue in ("depression", "ocd"):
        none = Answers({symptom.name: 0 for symptom in read_graph().of(queue)})
        shown = answer(ours.db, who, ours.project, none, queue)
        assert suggestions(ours.db, who, shown.id) == {"model": {label: 0.4}}


def test_unsureness_and_disagreement_by_hand() -> None:
    import numpy as np

    one, other = np.array([[0.5, 0.9], [0.2, np.nan]]), np.array([[0.7, 0.9], [0.9, np.nan]])
    assert unsureness([one, other]) == pytest.approx([0.8, 0.9])
    assert disagreement([one, other]) == pytest.approx([0.2, 0.7])


def test_an_order_that_makes_no_sense_is_refused(ours: Team) -> None:
    import numpy as np

    scores = np.zeros((0, 1))
    with refused("order.random"):
        order_items(ours.db, ours.owner, ours.project, [], {"m": (["depression"], scores)})


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("labels =", "lables ="), "unknown key 'lables'"),
        (('labels = ["depression", "anxiety"]', "labels = []"), "need labels"),
        (('"conditions"\nlabels', '"condition"\nlabels'), "unknown task"),
        (("annotators_per_item = 2", "annotators_per_item = 0"), "out of range"),
        (('"anxiety"]', '"depression"]'), "twice"),
        (("break_after = 0", "break_after = -1"), "out of range"),
    ],
)
def test_a_wrong_project_file_is_one_clear_error(change: tuple[str, str], problem: str) -> None:
    from annotators import CONDITIONS

    with pytest.raises(BadInput, match=problem):
        parse_project(CONDITIONS.replace(*change))


def test_the_shipped_example_is_a_project() -> None:
    from psycheck.annotate.project import EXAMPLE

    project, text, graph = read_project(EXAMPLE)
    assert (project.task, graph) == ("symptoms", None)
    assert parse_project(text) == project


def test_a_graph_of_ones_own_is_stored_with_the_project_and_cannot_be_uploaded(tmp_path: Path) -> None:
    from psycheck.annotate.membership import create_project, task

    graph = """
    [disease]
    blues = "The blues"
    [[symptom]]
    name = "sighing"
    title = "Sighing"
    diseases = ["blues"]
    clinician = ["Sighs often."]
    """
    (tmp_path / "graph.toml").write_text(graph)
    text = SYMPTOMS.replace('["depression", "ocd"]', '["blues"]\ngraph = "graph.toml"')
    (tmp_path / "project.toml").write_text(text)
    with refused("project.uploaded-graph"):
        parse_project(text)
    settings_, stored, own = read_project(tmp_path / "project.toml")
    (tmp_path / "graph.toml").unlink()
    ours = team(open_database(database_url(tmp_path / "db"), new=True))
    made = create_project(ours.db, ours.owner, settings_, stored, own)
    assert task(ours.db, ours.owner, made).labels("blues") == ("sighing",)


def test_another_text_with_the_id_of_one_is_refused_and_not_called_known(ours: Team) -> None:
    import_corpus(ours.db, None, ours.project, Corpus.of("c", ["a", "b"]))
    other = Corpus.of("c", ["a", "quite another text", "c"])  # rows are numbered in both
    with refused("import.duplicate-ids") as error:
        import_corpus(ours.db, None, ours.project, other)
    assert error.value.where == "text 2"
    assert "quite" not in str(error.value)
    assert count(ours.db) == 2


def test_an_id_names_one_text_in_all_queues_because_exports_join_them_by_it(tmp_path: Path) -> None:
    ours = team(open_database(database_url(tmp_path / "db"), new=True), SYMPTOMS)
    import_corpus(ours.db, None, ours.project, Corpus.of("c", ["a", "b"]), queue="depression")
    assert import_corpus(ours.db, None, ours.project, Corpus.of("c", ["a"]), queue="ocd").added == 1
    with refused("import.duplicate-ids"):
        import_corpus(ours.db, None, ours.project, Corpus.of("c", ["a", "quite another text"]), queue="ocd")
    assert count(ours.db) == 3
