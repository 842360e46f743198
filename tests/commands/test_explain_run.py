"""Explanations as a run: pages, files for other programs, suspect labels, and input that does not fit."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from found import uncatalogued
from psycheck.commands.explain import explain_people
from psycheck.commands.person_tables import PAGES
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.core.model import Capabilities
from psycheck.corpora.opening import open_corpus
from psycheck.runs.folder import open_run
from psycheck.runs.pages import redraw
from psycheck.symptoms.explanation import Explaining
from psycheck.symptoms.graph import read_graph
from psycheck.symptoms.reader import Readings, SymptomModel
from refusals import refused

SYMPTOMS = [one.name for one in read_graph().symptom]
LOW, FEAR = "depressed_mood", "cardiovascular_symptoms"
SECRET = "The heron stood in the reeds."


def corpus_of(authors: int = 8, posts: int = 4) -> Corpus:
    """Even authors are annotated with depression; author 0 writes nothing about it, and author 1 does."""
    rows = [(f"p{a}-{k}", f"author{a}", f"2020-01-{k + 1:02d}") for a in range(authors) for k in range(posts)]
    even = [float(int(author.removeprefix("author")) % 2 == 0) for _, author, _ in rows]
    ids, names, times = (list(column) for column in zip(*rows, strict=True))
    texts = [f"We had soup. {SECRET} {id_}" for id_ in ids]
    return Corpus.of("posts", texts, ids=ids, author=names, time=times, labels={"Depression": even})


def tags_of(corpus: Corpus, path: Path, low: tuple[str, ...] = (), fear: tuple[str, ...] = ()) -> Path:
    """Two sentences per post; the second has the weight 0.8 of a symptom if the author is listed."""
    rows = []
    for id_, author in corpus.table.select("id", "author").iter_rows():
        for sentence in range(2):
            own = {f"weight:{name}": 0.01 for name in SYMPTOMS}
            own[f"weight:{LOW}"] = 0.8 if author in low and sentence else 0.01
            own[f"weight:{FEAR}"] = 0.7 if author in fear and sentence else 0.01
            rows.append({"id": id_, "sentence": sentence, "author": author, **own})
    pl.DataFrame(rows).write_parquet(path)
    return path


@pytest.fixture
def corpus() -> Corpus:
    return corpus_of()


@pytest.fixture
def tags(corpus: Corpus, tmp_path: Path) -> Path:
    return tags_of(corpus, tmp_path / "tags.parquet", low=("author1", "author2", "author4", "author6"))


def test_a_line_per_author_names_symptoms_posts_times_and_conditions(
    corpus: Corpus, tags: Path, tmp_path: Path
) -> None:
    explain_people(corpus, tags=tags, out=tmp_path / "run")
    lines = [json.loads(line) for line in (tmp_path / "run/explanations.jsonl").read_text().splitlines()]
    assert [line["author"] for line in lines] == [f"author{k}" for k in range(8)]
    (symptom,) = lines[2]["symptoms"]
    assert symptom["symptom"] == LOW
    assert (symptom["posts"], symptom["share"]) == (4, 1.0)
    assert (symptom["first"][:10], symptom["last"][:10]) == ("2020-01-01", "2020-01-04")
    assert sorted(symptom["ids"]) == [f"p2-{k}" for k in range(4)]
    depression = next(one for one in lines[2]["conditions"] if one["condition"] == "depression")
    assert (depression["found"], depression["typical"]) == (1, 14)
    assert (depression["annotated"], depression["symptoms"]) == (1.0, [LOW])
    assert lines[0]["symptoms"] == []


def test_the_two_wrong_labels_lead_the_suspects(corpus: Corpus, tags: Path, tmp_path: Path) -> None:
    explain_people(corpus, tags=tags, out=tmp_path / "run")
    with (tmp_path / "run/suspects.csv").open(newline="") as file:
        first, second, *_ = csv.DictReader(file)
    assert {first["author"], second["author"]} == {"author0", "author1"}
    wrong = first if first["author"] == "author1" else second
    assert wrong["id"] == "author1:depression"
    assert (wrong["condition"], wrong["annotated"]) == ("depression", "0")
    assert wrong["kind"] == "symptoms without condition"
    assert wrong["posts"].split() == [f"p1-{k}" for k in range(4)]


def test_suspects_with_texts_are_a_corpus_to_annotate(corpus: Corpus, tags: Path, tmp_path: Path) -> None:
    explain_people(corpus, tags=tags, out=tmp_path / "run", show_texts=True)
    opened = open_corpus(tmp_path / "run/suspects.csv")
    texts = dict(opened.table.select("id", "text").iter_rows())
    assert texts["author1:depression"].count(SECRET) == 4  # the posts about its symptoms
    assert texts["author0:depression"].count(SECRET) == 4  # there are none: the first posts
    assert opened.strings("author")[0] in ("author0", "author1")


def test_shares_of_authors_by_label_are_findings(corpus: Corpus, tags: Path) -> None:
    run = explain_people(corpus, tags=tags)
    (of_all,) = run.findings.where(measure="symptom_share", symptom=LOW, label="all")
    (of_those,) = run.findings.where(measure="symptom_share", symptom=LOW, label="depression", annotated="1")
    assert (of_all.value, of_all.n) == (0.5, 8)
    assert (of_those.value, of_those.n) == (0.75, 4)
    assert of_those.interval is not None
    assert uncatalogued(run.findings) == set()


def test_no_file_holds_a_text_unless_asked(corpus: Corpus, tags: Path, tmp_path: Path) -> None:
    explain_people(corpus, tags=tags, out=tmp_path / "run")
    assert not any(SECRET.encode() in path.read_bytes() for path in (tmp_path / "run").rglob("*.*"))
    explain_people(corpus, tags=tags, out=tmp_path / "run", show_texts=True)
    page = (tmp_path / "run/people/author2.html").read_text()
    assert explain_people(corpus, tags=tags, how=Explaining(threshold=0.9), show_texts=True).findings
    assert SECRET in page  # the heavy sentence, and not its neighbour
    assert "We had soup" not in page
    assert SECRET not in (tmp_path / "run/report.html").read_text()


def test_the_page_of_a_person_says_what_is_covered(corpus: Corpus, tags: Path, tmp_path: Path) -> None:
    explain_people(corpus, tags=tags, out=tmp_path / "run")
    page = (tmp_path / "run/people/author2.html").read_text()
    assert "Writes about 1 of 38 symptoms in 4 posts: 1 of the 4 typical of OCD, 1 of the 12" in page
    assert "<b>✓\N{NO-BREAK SPACE}Depressed mood</b>" in page
    assert "a rough first look" not in page  # the tags are those of a trained model
    assert "From 2020-01-01 to 2020-01-04." in page
    assert 'href="../report.html"' in page
    assert 'href="people/author2.html"' in (tmp_path / "run/report.html").read_text()
    nobody = (tmp_path / "run/people/author0.html").read_text()
    assert "No sentence in 4 posts is found to be about one of 38 symptoms" in nobody


def test_pages_are_drawn_again_from_the_folder_alone(corpus: Corpus, tags: Path, tmp_path: Path) -> None:
    explain_people(corpus, tags=tags, out=tmp_path / "run", show_texts=True)
    page = tmp_path / "run/people/author2.html"
    before = page.read_text()
    page.unlink()
    redraw(tmp_path / "run")
    assert page.read_text() == before
    assert open_run(tmp_path / "run").plan["verb"] == "explain"


def test_pages_of_an_earlier_run_are_removed(corpus: Corpus, tags: Path, tmp_path: Path) -> None:
    explain_people(corpus, tags=tags, out=tmp_path / "run")
    own = tmp_path / "run/people/notes.txt"
    own.write_text("mine")
    explain_people(corpus, tags=tags, out=tmp_path / "run", authors=["author2"])
    assert sorted(path.name for path in (tmp_path / "run/people").iterdir()) == ["author2.html", "notes.txt"]


def test_an_author_who_is_not_there_gets_the_nearest_names(corpus: Corpus, tags: Path) -> None:
    with refused("corpus.unknown-author") as error:
        explain_people(corpus, tags=tags, authors=["autor2"])
    assert "did you mean 'author2'?" in error.value.allowed


def test_without_authors_each_text_is_explained_alone(corpus: Corpus, tags: Path) -> None:
    alone = Corpus(corpus.name, corpus.table.drop("author"))
    run = explain_people(alone, tags=pl.scan_parquet(tags).drop("author"))
    assert run.tables["people"]["author"].to_list() == list(corpus.ids)
    assert run.tables["people"]["posts"].unique().to_list() == [1]
    assert any("each text is explained alone" in note for note in run.notes)


def test_posts_without_an_author_are_left_out_and_counted(corpus: Corpus, tags: Path) -> None:
    authors = [None, *corpus.table["author"].to_list()[1:]]
    run = explain_people(Corpus("posts", corpus.table.with_columns(pl.Series("author", authors))), tags=tags)
    assert run.tables["people"].filter(author="author0")["posts"].to_list() == [3]
    assert "1 row left out (no author)" in run.notes


def test_tags_of_other_posts_are_refused(corpus: Corpus, tmp_path: Path) -> None:
    others = Corpus.of("others", ["soup"] * 32, author=["x"] * 32)
    with refused("tags.other-posts") as error:
        explain_people(corpus, tags=tags_of(others, tmp_path / "tags.parquet"))
    assert "32 of 32 posts" in error.value.what


def test_tags_of_other_authors_under_the_same_ids_are_refused(corpus: Corpus, tmp_path: Path) -> None:
    others = Corpus.of("others", ["soup"] * 32, ids=corpus.ids, author=["x"] * 32)
    with refused("tags.other-posts") as error:
        explain_people(corpus, tags=tags_of(others, tmp_path / "tags.parquet"))
    assert "32 posts of the tag table" in error.value.what


def test_a_file_that_is_not_a_table_is_one_clear_error(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "tags.parquet").write_text("soup")
    with refused("tags.unreadable", where="tags.parquet"):
        explain_people(corpus, tags=tmp_path / "tags.parquet")


@pytest.mark.parametrize(
    ("column", "values", "code"),
    [
        ("id", [["p"]] * 64, "tags.column-type"),
        ("author", [["p"]] * 64, "tags.column-type"),
        ("sentence", ["0"] * 64, "tags.column-type"),
        (f"weight:{LOW}", [1e308] * 64, "tags.weight-out-of-range"),
        (f"weight:{LOW}", [-0.5] * 64, "tags.weight-out-of-range"),
        (f"weight:{LOW}", ["heron"] * 64, "tags.unreadable-weights"),
    ],
)
def test_a_tag_table_of_wrong_values_is_one_clear_error(
    column: str, values: list[object], code: str, corpus: Corpus, tags: Path
) -> None:
    pl.read_parquet(tags).with_columns(pl.Series(column, values)).write_parquet(tags)
    with refused(code) as error:
        explain_people(corpus, tags=tags, show_texts=True)
    assert code != "tags.column-type" or f"'{column}'" in error.value.what
    assert "heron" not in str(error.value)


def test_ids_that_are_numbers_in_the_tag_table_find_their_posts(tmp_path: Path) -> None:
    corpus = Corpus.of("posts", ["We had soup.", "We had tea."], ids=["1", "2"], author=["7", "8"])
    path = tags_of(corpus, tmp_path / "tags.parquet", low=("8",))
    numbers = pl.read_parquet(path).with_columns(pl.col("id", "author").cast(pl.Int64))
    run = explain_people(corpus, tags=numbers)
    assert run.tables["mentions"]["author"].to_list() == ["8"]


def test_a_number_of_no_sentence_shows_none(corpus: Corpus, tags: Path) -> None:
    pl.read_parquet(tags).with_columns(sentence=pl.lit(-2)).write_parquet(tags)
    run = explain_people(corpus, tags=tags, show_texts=True)
    assert {case.text for case in run.shown if case.suite == "explain"} == {""}


def test_a_model_that_knows_no_symptoms_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("text,depression\nsoup,0.5\n")
    with refused("model.not-a-symptom-model", key="symptoms"):
        explain_people(corpus, symptoms=f"scores:{tmp_path / 'scores.csv'}")


def graph_of_ours(graph: Path) -> Path:
    graph.write_text(
        '[disease]\nburnout = "Burnout"\n'
        '[[symptom]]\nname = "cynicism"\ntitle = "Cynicism"\n'
        'diseases = ["burnout"]\nclinician = ["Distance."]\n'
    )
    return graph


def test_a_graph_that_lacks_tagged_symptoms_is_refused(corpus: Corpus, tags: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="the graph lacks 38 of 38 tagged symptoms"):
        explain_people(corpus, tags=tags, graph=graph_of_ours(tmp_path / "graph.toml"))


def test_descriptions_are_those_of_the_graph_named(tmp_path: Path) -> None:
    corpus = Corpus.of("posts", ["I feel a mental distance from my job."], author=["a"])
    run = explain_people(corpus, graph=graph_of_ours(tmp_path / "graph.toml"), how=Explaining(threshold=0.01))
    assert run.tables["mentions"]["symptom"].to_list() == ["cynicism"]
    assert run.tables["coverage"].select("condition", "found", "typical").rows() == [("burnout", 1, 1)]


def test_symptoms_without_tags_are_left_out_of_coverage(corpus: Corpus, tags: Path, tmp_path: Path) -> None:
    part = pl.read_parquet(tags).select("id", "sentence", "author", f"weight:{LOW}", f"weight:{FEAR}")
    part.write_parquet(tmp_path / "part.parquet")
    run = explain_people(corpus, tags=tmp_path / "part.parquet")
    covered = run.tables["coverage"].filter(author="author2", condition="anxiety")
    assert covered.select("found", "typical").row(0) == (1, 2)
    assert any(note.startswith("36 symptoms of the graph without tags") for note in run.notes)


def test_labels_of_conditions_without_tagged_symptoms_are_not_checked(corpus: Corpus, tags: Path) -> None:
    part = pl.read_parquet(tags).select("id", f"weight:{LOW}")
    table = corpus.table.with_columns(pl.lit(1.0).alias("label:adhd"))
    run = explain_people(Corpus("posts", table), tags=part)
    assert set(run.tables["suspects"]["label"]) == {"depression"}
    assert "adhd: none of its symptoms is tagged, so its labels are not checked" in run.notes


def test_tags_without_numbers_are_one_clear_error(corpus: Corpus, tags: Path) -> None:
    part = pl.read_parquet(tags).select("id", pl.lit("much").alias(f"weight:{LOW}"))
    with refused("tags.unreadable-weights"):
        explain_people(corpus, tags=part)
    with refused("tags.no-sentence-numbers"):
        explain_people(corpus, tags=part, show_texts=True)


def test_labels_that_are_not_conditions_are_not_checked(tags: Path, corpus: Corpus) -> None:
    table = corpus.table.rename({"label:Depression": "label:sarcasm"})
    run = explain_people(Corpus("posts", table), tags=tags)
    assert run.tables["suspects"].is_empty()
    assert "no label of the corpus is a condition of the graph: labels are not checked" in run.notes


def test_an_author_annotated_in_some_posts_counts_as_annotated(tags: Path, corpus: Corpus) -> None:
    marks = corpus.table["label:Depression"].to_numpy().copy()
    marks[[5, 6, 7]] = 1.0  # three of the four posts of author 1
    run = explain_people(
        Corpus("posts", corpus.table.with_columns(pl.Series("label:Depression", marks))), tags=tags
    )
    own = run.tables["coverage"].filter(author="author1", condition="depression")
    assert own["annotated"].to_list() == [1.0]
    assert "Depression: 1 author annotated 1 in some posts and 0 in others count as 1" in run.notes


def test_times_that_are_missing_or_unreadable_are_said_on_the_page(
    tags: Path, corpus: Corpus, tmp_path: Path
) -> None:
    for times, said in (
        (None, "No post has a time that can be read"),
        (["last week"] * 32, "No post has a time that can be read"),
        ([None, *corpus.table["time"].to_list()[:-1]], "1 post without a time"),
        (corpus.table["time"].to_list()[::-1], "does not list these posts in the order of their times"),
    ):
        table = corpus.table.drop("time")
        if times is not None:
            table = table.with_columns(pl.Series("time", times, pl.String))
        explain_people(Corpus("posts", table), tags=tags, out=tmp_path / "run")
        assert said in (tmp_path / "run/people/author0.html").read_text()


def test_names_of_authors_never_become_paths_or_html(tmp_path: Path) -> None:
    names = ["../../up", "<b>bold</b>", "Émile", "émile", "a" * 300, "con"]
    corpus = Corpus.of("posts", ["soup"] * 6, author=names)
    run = explain_people(corpus, tags=tags_of(corpus, tmp_path / "tags.parquet"), out=tmp_path / "run")
    pages = run.tables["people"]["page"].to_list()
    assert len(set(pages)) == 6
    assert sorted(path.name for path in (tmp_path / "run/people").iterdir()) == sorted(
        page.removeprefix("people/") for page in pages
    )
    assert "<b>bold</b>" not in (tmp_path / "run/report.html").read_text()


def test_a_large_cohort_has_pages_for_those_with_the_most_symptoms(tmp_path: Path) -> None:
    corpus = corpus_of(authors=PAGES + 5, posts=1)
    tags = tags_of(corpus, tmp_path / "tags.parquet", low=("author304",))
    run = explain_people(corpus, tags=tags)
    paged = run.tables["people"].filter(pl.col("page").is_not_null())["author"].to_list()
    assert len(paged) == PAGES
    assert "author304" in paged
    assert "5 authors without a page: those with the fewest symptoms" in run.notes


def test_fifty_thousand_posts_of_one_author_make_a_small_page(tmp_path: Path) -> None:
    n = 50_000
    ids = [str(k) for k in range(n)]
    corpus = Corpus.of(
        "posts", ["soup"] * n, ids=ids, author=["a"] * n, time=[str(1_500_000_000 + k) for k in range(n)]
    )
    weights = np.random.default_rng(0).uniform(size=(n, len(SYMPTOMS))).astype(np.float32)
    tags = pl.DataFrame(weights, [f"weight:{name}" for name in SYMPTOMS])
    tags.with_columns(pl.Series("id", ids), sentence=pl.lit(0)).write_parquet(tmp_path / "tags.parquet")
    explain_people(corpus, tags=tmp_path / "tags.parquet", out=tmp_path / "run")
    assert (tmp_path / "run/people/a.html").stat().st_size < 600_000


def test_the_threshold_and_the_number_of_posts_are_settings(corpus: Corpus, tags: Path) -> None:
    assert explain_people(corpus, tags=tags, how=Explaining(threshold=0.81)).tables["mentions"].is_empty()
    assert explain_people(corpus, tags=tags, how=Explaining(min_posts=5)).tables["mentions"].is_empty()
    assert len(explain_people(corpus, tags=tags, how=Explaining(min_posts=4)).tables["mentions"]) == 4


def test_the_shipped_reader_finds_symptoms_and_says_how_often_it_is_right(tmp_path: Path) -> None:
    texts = ["I feel so down and empty every day. We had soup.", "We had soup.", "", "soup " * 200_000]
    corpus = Corpus.of("posts", texts, author=["a", "b", "c", "d"])
    run = explain_people(corpus, out=tmp_path / "run", show_texts=True)
    assert LOW in run.tables["mentions"].filter(author="a")["symptom"].to_list()
    assert run.tables["people"]["sentences"].to_list()[:3] == [2, 1, 0]
    assert run.tables["people"].filter(author="b")["symptoms"].to_list() == [0]
    assert "1 post without tags: no sentence in them" in run.notes
    assert (tmp_path / "run/people/d.html").stat().st_size < 100_000
    for page in ("report.html", "people/a.html"):
        assert "labelled by hand" in (tmp_path / "run" / page).read_text()
    assert run.plan["naming"]["sentences"] == 300


def test_descriptions_are_a_reader_of_which_nothing_was_measured(tmp_path: Path) -> None:
    corpus = Corpus.of("posts", ["I feel so down and empty every day."], author=["a"])
    run = explain_people(corpus, symptoms="symptoms:descriptions")
    assert run.plan["naming"] is None
    assert [line.rule for line in run.headlines] == ["explain.cohort", "explain.unmeasured"]


def test_what_is_denied_is_shown_as_denied(tmp_path: Path) -> None:
    texts = ["I do not have panic attacks.", "I don't have panic attacks, never had."]
    corpus = Corpus.of("posts", texts, author=["a", "a"], time=["2026-05-03", "2026-05-04"])
    run = explain_people(corpus, out=tmp_path / "run")
    assert run.tables["mentions"].is_empty()
    assert ("panic_fear", "denied") in run.tables["others"].select("symptom", "status").rows()
    assert "2026-05-03" in (tmp_path / "run/people/a.html").read_text()


class Stopped(Exception):
    pass


def test_stopped_it_goes_on_from_the_posts_that_were_tagged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, out, seen = corpus_of(501, 5), tmp_path / "run", list[str]()

    def outputs(sentences: Sequence[str]) -> Readings:
        seen.extend(sentence.split()[-1] for sentence in sentences)
        return Readings.mentioned(np.zeros((len(sentences), 1)))

    def stop(*_: object) -> None:
        raise Stopped  # the first 2,000 posts are tagged

    model = SymptomModel(
        name="m", labels=(LOW,), fingerprint="1", capabilities=Capabilities(batch=4_096), outputs=outputs
    )
    monkeypatch.setattr("psycheck.commands.tag.open_model", lambda spec: model)
    with pytest.raises(Stopped):
        explain_people(corpus, symptoms="symptoms:m", out=out, progress=stop)
    assert [path.stat().st_mode & 0o077 for path in (out / "tagging").iterdir()] == [0]
    assert "p0-0" in seen
    seen.clear()
    run = explain_people(corpus, symptoms="symptoms:m", out=out)
    assert {one for one in seen if one.startswith("p")} == {
        f"p{a}-{k}" for a in range(400, 501) for k in range(5)
    }
    assert int(run.tables["people"]["posts"].sum()) == 2_505
    assert not (out / "tagging").exists()
