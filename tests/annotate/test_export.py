"""Labels out of a project: exactly those that were given, merged as named, read by the other verbs."""

import json
from pathlib import Path
from secrets import token_hex

import pytest
from cryptography.fernet import Fernet

from annotators import CONDITIONS, SYMPTOMS, Team, answer, given, marks, team
from psycheck.annotate.adjudication import conflict, conflicts, resolve
from psycheck.annotate.annotator_answers import Answers, Span, Status
from psycheck.annotate.database import Database, database_url, open_database
from psycheck.annotate.export import judgements, merged, trail
from psycheck.annotate.export_files import EXPORTS, Exporting, exported, write_export
from psycheck.annotate.exported_evidence import evidence, flagged_items, gold_evidence
from psycheck.annotate.flagged import set_flag
from psycheck.annotate.membership import Person
from psycheck.annotate.refusals import NotAllowed, NotFound
from psycheck.annotate.submission import skip, submit, undo
from psycheck.annotate.transfer import import_corpus
from psycheck.core.corpus import Corpus
from psycheck.corpora.reading import read_corpus
from psycheck.corpora.writing import write_corpus


def test_the_judgement_table_holds_the_live_answers_and_nothing_else(db: Database) -> None:
    ours = team(db)
    ours.fill(2)
    first, second = ours.add("first"), ours.add("second")
    one = answer(db, first, ours.project, marks(1, 0))
    answer(db, first, ours.project, marks(0, 1))
    undo(db, first, ours.project, "")
    skip(db, second, given(db, second, ours.project).id)
    table = judgements(db, ours.owner, ours.project)
    answer_columns = ["item", "annotator", "label", "value", "status", "time", "seconds", "queue"]
    assert table.columns == [*answer_columns, "version", "confidence"]
    rows = table.select("annotator", "label", "value", "seconds").rows()
    assert rows == [("first", "anxiety", 0, 1.5), ("first", "depression", 1, 1.5)]
    assert one.text == f"post number {table['item'][0].removeprefix('p')} of ours"


def test_merges_by_hand(db: Database) -> None:
    ours = team(db)
    ours.fill(1)
    for name, one in (("a", marks(1, 1)), ("b", marks(0, 1))):
        answer(db, ours.add(name), ours.project, one)
    adjudicator = ours.add("judge", "adjudicator")
    values = {
        how: merged(db, ours.owner, ours.project, how).targets(["depression", "anxiety"])[0].tolist()
        for how in ("any", "majority", "share")
    }
    assert values == {"any": [1.0, 1.0], "majority": [0.5, 1.0], "share": [0.5, 1.0]}
    undecided = merged(db, ours.owner, ours.project, "adjudicated")
    assert undecided.table["label:depression"].to_list() == [None]
    (item,) = conflicts(db, adjudicator, ours.project)
    resolve(db, adjudicator, item, marks(0, 1))
    resolved = merged(db, ours.owner, ours.project, "adjudicated")
    assert resolved.targets(["depression", "anxiety"])[0].tolist() == [0.0, 1.0]
    assert conflicts(db, adjudicator, ours.project) == []


def test_status_is_the_share_of_annotators_who_are_uncertain(db: Database) -> None:
    ours = team(db, SYMPTOMS.replace("annotators_per_item = 2", "annotators_per_item = 3"))
    corpus = Corpus.of("s", ["a sentence of ours"], ids=["s1"], groups={"disease": ["ocd"]})
    import_corpus(db, ours.owner, ours.project, corpus)
    from psycheck.symptoms.graph import read_graph

    labels = [one.name for one in read_graph().of("ocd")]
    every: dict[str, dict[str, Status]] = {
        "a": {"compulsions": "present"},
        "b": {"compulsions": "uncertain"},
        "c": {},
    }
    for name, status in every.items():
        who = ours.add(name)
        found = given(db, who, ours.project, "ocd")
        said = {label: int(label in status) for label in labels}
        submit(db, who, found.id, Answers(said, status), seconds=1, token=token_hex(8))
    table = merged(db, ours.owner, ours.project, "share").table
    assert table["label:compulsions"].to_list() == pytest.approx([2 / 3])
    assert table["label:uncertain"].to_list() == [0.5]
    assert "label:suicidal_ideas" not in table.columns  # ocd does not ask


def test_spans_and_flags_and_the_trail(db: Database) -> None:
    ours = team(db)
    ours.fill(1)
    who = ours.add("a")
    found = given(db, who, ours.project)
    answers = Answers({"depression": 1, "anxiety": 0}, {}, (Span("depression", 0, 4),), identifying=True)
    submit(db, who, found.id, answers, seconds=3, token=token_hex(8))
    assert list(evidence(db, ours.owner, ours.project)) == []  # a flagged post
    (record,) = evidence(db, ours.owner, ours.project, flagged=True)
    assert record["spans"] == [{"label": "depression", "start": 0, "stop": 4}]
    assert record["identifying"] is True
    events = list(trail(db, ours.owner, ours.project))
    assert [one["what"] for one in events] == ["joined", "created", "imported", "answered"]
    assert events[-1]["marks"] == {"depression": 1, "anxiety": 0}
    assert found.text not in json.dumps(events)


def test_only_the_owner_exports(db: Database) -> None:
    ours = team(db)
    other = team(db, text_of("other"))
    for role in ("annotator", "reviewer", "adjudicator"):
        member = ours.add(role, role)
        for what in EXPORTS:
            with pytest.raises(NotAllowed):
                exported(Exporting(db, member, ours.project, what))
    with pytest.raises(NotFound):
        exported(Exporting(db, other.owner, ours.project, "any"))


def text_of(name: str) -> str:
    from annotators import CONDITIONS

    return CONDITIONS.replace('name = "conditions"', f'name = "{name}"')


def test_a_written_export_reads_back_equal(db: Database, tmp_path: Path) -> None:
    ours = team(db)
    texts = ["one post", "another post"]
    corpus = Corpus.of(
        "c", texts, ids=["x", "y"], author=["m", "n"], split=["train", "dev"], groups={"source": ["f", "g"]}
    )
    import_corpus(db, ours.owner, ours.project, corpus)
    who = ours.add("a")
    for _ in texts:
        answer(db, who, ours.project, marks(1, 0))
    found = merged(db, ours.owner, ours.project, "any")
    write_corpus(found, tmp_path / "gold.jsonl")
    again = read_corpus(tmp_path / "gold.jsonl")
    assert again.fingerprint() == found.fingerprint()
    assert set(found.strings("author")) == {"m", "n"}


@pytest.mark.parametrize(
    ("split", "imported", "expected"),
    [
        (None, None, {"train", "dev", "test"}),
        ("1:0:1", None, {"train", "test"}),
        ("none", ["dev"] * 30, {None}),
        (None, ["dev"] * 30, {"dev"}),
        ("6:2:2", ["dev"] * 30, {"train", "dev", "test"}),
    ],
)
def test_an_export_has_splits_and_no_author_is_in_two_of_them(
    tmp_path: Path, split: str | None, imported: list[str] | None, expected: set[str | None]
) -> None:
    ours = team(open_database(database_url(tmp_path / "db"), new=True))
    texts = [f"post {number}" for number in range(30)]
    authors = [f"writer {number // 3}" for number in range(30)]
    corpus = Corpus.of("c", texts, ids=texts, author=authors, split=imported)
    import_corpus(ours.db, ours.owner, ours.project, corpus)
    who = ours.add("a")
    for number in range(30):
        answer(ours.db, who, ours.project, marks(number % 2, 0))

    export = Exporting(ours.db, None, ours.project, "any", split=split)
    written = write_export(export, tmp_path / "gold.jsonl")
    gold = read_corpus(tmp_path / "gold.jsonl")
    assert set(gold.strings("split")) == expected
    pairs = set(zip(gold.strings("author"), gold.strings("split"), strict=True))
    assert len(pairs) == 10
    if expected == {"train", "dev", "test"}:
        assert written.splits == "train 18, dev 6, test 6 (6:2:2 by author, seed 0)"
    # A download from the page has the same splits.
    downloaded = [json.loads(line) for line in exported(export)[1].splitlines()]
    assert [row.get("split") for row in downloaded] == gold.strings("split")


def _submitted(ours: Team, who: Person, answers: Answers) -> None:
    shown = given(ours.db, who, ours.project)
    submit(ours.db, who, shown.id, answers, seconds=1, token=token_hex(8))


def test_a_flagged_post_leaves_every_export_that_quotes_or_names_it_until_it_is_cleared(
    db: Database, tmp_path: Path
) -> None:
    ours = team(db)
    ours.fill(1)
    _submitted(ours, ours.add("a"), Answers({"depression": 1, "anxiety": 0}, identifying=True))
    (flagged,) = flagged_items(db, ours.owner, ours.project)
    assert (flagged["item"], flagged["flagged_by"], flagged["decided"]) == ("p0", ["a"], False)

    for what in ("any", "judgements", "evidence", "label-studio", "argilla"):
        _, content = exported(Exporting(db, ours.owner, ours.project, what))
        assert b"p0" not in content, what
        _, content = exported(Exporting(db, ours.owner, ours.project, what, flagged=True))
        assert b"p0" in content, what
    rows = write_export(Exporting(db, None, ours.project, "any"), tmp_path / "gold.csv").rows
    assert rows == 0

    set_flag(db, ours.owner, ours.project, flagged["number"], identifying=False)
    assert list(flagged_items(db, ours.owner, ours.project)) == []
    assert b"p0" in exported(Exporting(db, ours.owner, ours.project, "any"))[1]


def test_the_adjudicators_evidence_stands_and_else_that_of_half_of_those_who_said_yes(db: Database) -> None:
    ours = team(db)
    ours.fill(1)
    for name, stop in (("a", 4), ("b", 8)):
        spans = (Span("depression", 0, stop),)
        _submitted(ours, ours.add(name), Answers({"depression": 1, "anxiety": int(name == "a")}, spans=spans))
    (majority,) = gold_evidence(db, ours.owner, ours.project)
    # Half of two is one: the longer span.
    assert (majority["spans"], majority["by"]) == ([{"start": 0, "stop": 8}], "majority")

    judge = ours.add("judge", "adjudicator")
    (item,) = conflicts(db, judge, ours.project)
    resolve(db, judge, item, Answers({"depression": 1, "anxiety": 0}, spans=(Span("depression", 5, 11),)))
    (decided,) = gold_evidence(db, ours.owner, ours.project)
    assert (decided["spans"], decided["by"]) == ([{"start": 5, "stop": 11}], "adjudicator")

    for what, start in (
        ("evidence", '"start": 5'),
        ("label-studio", '"start": 5'),
        ("argilla", '"start": 5'),
    ):
        _, content = exported(Exporting(db, ours.owner, ours.project, what))
        assert start in content.decode(), what


def test_the_flag_that_an_adjudicator_sets_or_clears_counts(db: Database) -> None:
    ours = team(db)
    ours.fill(1)
    _submitted(ours, ours.add("a"), Answers({"depression": 1, "anxiety": 0}, identifying=True))
    _submitted(ours, ours.add("b"), marks(0, 0))
    judge = ours.add("judge", "adjudicator")
    (item,) = conflicts(db, judge, ours.project)
    assert conflict(db, judge, item).flagged
    resolve(db, judge, item, marks(1, 0))
    assert list(flagged_items(db, ours.owner, ours.project)) == []
    resolve(db, judge, item, Answers({"depression": 1, "anxiety": 0}, identifying=True))
    assert [flagged["decided"] for flagged in flagged_items(db, ours.owner, ours.project)] == [True]


def test_a_comment_is_in_the_evidence_and_not_in_the_trail_nor_readable_in_the_database(
    tmp_path: Path,
) -> None:
    key = Fernet.generate_key()
    db = open_database(database_url(tmp_path / "db"), key, new=True)
    ours = team(db)
    ours.fill(1)
    commented = Answers({"depression": 0, "anxiety": 0}, confidence=2, comment="about my street")
    _submitted(ours, ours.add("a"), commented)
    (record,) = evidence(db, ours.owner, ours.project)
    assert (record["comment"], record["confidence"]) == ("about my street", 2)
    assert judgements(db, ours.owner, ours.project)["confidence"].to_list() == [2, 2]
    assert "street" not in json.dumps(list(trail(db, ours.owner, ours.project)))
    db.close()
    assert b"street" not in (tmp_path / "db" / "annotate.sqlite").read_bytes()


def test_a_spreadsheet_runs_nothing_of_a_csv_export(db: Database, tmp_path: Path) -> None:
    ours = team(db)
    corpus = Corpus.of("c", ["=1+1 is how I feel"], ids=["+x"], author=["@me"])
    import_corpus(db, ours.owner, ours.project, corpus)
    answer(db, ours.add("a"), ours.project, marks(1, 0))
    for what in ("any", "judgements"):
        write_export(Exporting(db, None, ours.project, what), tmp_path / f"{what}.csv")
        cells = (tmp_path / f"{what}.csv").read_text().replace("\n", ",").replace('"', "").split(",")
        assert [cell for cell in cells if cell[:1] in ("=", "+", "@", "-")] == [], what
    write_export(Exporting(db, None, ours.project, "any"), tmp_path / "gold.jsonl")
    assert read_corpus(tmp_path / "gold.jsonl").texts == ["=1+1 is how I feel"]


OFF_TOPIC_PROJECT = CONDITIONS.replace('"anxiety"', '"off_topic"')


def test_a_post_that_is_off_topic_leaves_merged_corpora_unless_flagged_ones_are_kept(tmp_path: Path) -> None:
    ours = team(open_database(database_url(tmp_path / "db"), new=True), OFF_TOPIC_PROJECT)
    ours.fill(3)
    who = ours.add("a")
    for off_topic in (0, 1, 0):
        answer(ours.db, who, ours.project, Answers({"depression": 1, "off_topic": off_topic}))

    written = write_export(Exporting(ours.db, None, ours.project, "any"), tmp_path / "gold.jsonl")
    gold = read_corpus(tmp_path / "gold.jsonl")
    assert (written.rows, written.off_topic) == (2, 1)
    assert gold.labels == ("depression",)
    kept = Exporting(ours.db, None, ours.project, "any", flagged=True)
    assert write_export(kept, tmp_path / "all.jsonl").rows == 3
    assert read_corpus(tmp_path / "all.jsonl").labels == ("depression", "off_topic")
