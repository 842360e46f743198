"""`psycheck explain`: what the posts of authors show of the symptom graph, and which labels do not fit.

What tags and explains is imported in the functions that use it: `psycheck explain --help` needs none of it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import typer

from psycheck.commands import options as opt
from psycheck.commands.console import ProgressLine, print_run
from psycheck.core.corpus import showable_id
from psycheck.core.errors import BadInput, counted
from psycheck.core.finding import Findings
from psycheck.core.progress import Progress, silent
from psycheck.core.run import Run
from psycheck.corpora.opening import CorpusLike, corpus_plan, open_corpus
from psycheck.runs.folder import writes_run

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns
    from psycheck.models.opening import ModelLike
    from psycheck.symptoms.explanation import Explaining

DEFAULT: Final = "symptoms:default"
TAGGING: Final = "tagging"  # the folder of tags while a run is not finished
TagTable = str | Path | pl.DataFrame | pl.LazyFrame


@opt.verb("explain")
def explain_cli(
    ctx: typer.Context,
    columns: "Columns",
    inputs: list[str],
    authors: list[str] | None = None,
    symptoms: str = DEFAULT,
    tags: Path | None = None,
    graph: Path | None = None,
    show_texts: bool = False,
    out: Path = Path("runs/explain"),
    split: str | None = None,
    format_: str | None = None,
    json_: bool = False,
) -> None:
    """Explain the posts of each author: symptoms, conditions they belong to, times; and suspect labels."""
    from psycheck.io.settings import read_settings
    from psycheck.symptoms.explanation import Explaining

    model, corpus = _model_and_corpus(inputs)
    if tags is not None:
        opt.refuse(ctx, ("symptoms",), "explain with --tags", "without --tags: the tags replace the model")
    how = read_settings(Explaining, opt.values_for(ctx, Explaining))
    with ProgressLine() as line:
        run = explain_people(
            corpus_plan(corpus, columns, split, format_),
            model=model,
            authors=authors or (),
            symptoms=symptoms,
            tags=tags,
            graph=graph,
            show_texts=show_texts,
            out=out,
            how=how,
            progress=line,
        )

    lines = [
        run.verdict,
        f"explanations: {out / 'explanations.jsonl'}",
        f"suspects: {out / 'suspects.csv'}",
    ]
    if model is not None:
        lines.append(f"predictions: {out / 'predictions.html'}")
    print_run(run, out, lines, as_json=json_, verdict=run.verdict)


def _model_and_corpus(inputs: Sequence[str]) -> tuple[str | None, str]:
    """`explain CORPUS` or `explain MODEL CORPUS`."""
    if len(inputs) > 2:
        raise BadInput(
            f"{len(inputs)} arguments",
            code="explain.too-many-inputs",
            allowed="CORPUS, or MODEL CORPUS",
        )
    model, corpus = inputs if len(inputs) == 2 else (None, inputs[0])
    return model, corpus


@writes_run("corpus", "tags", "symptoms", "graph")
def explain_people(
    corpus: CorpusLike,
    *,
    model: "ModelLike | None" = None,
    authors: Sequence[str] = (),
    symptoms: str = DEFAULT,
    tags: TagTable | None = None,
    graph: str | Path | None = None,
    show_texts: bool = False,
    out: str | Path | None = None,
    how: "Explaining | None" = None,
    progress: Progress = silent,
) -> Run:
    """Explain the authors of a corpus, or some of them, from a tag table or by a symptom model.

    `tags` is a file that `psycheck symptoms tag` wrote from this corpus, or such a table; without it,
    `symptoms` is the model that tags the posts; after a kill, the same call goes on from the posts that were
    tagged. With `show_texts`, pages show the sentences behind each symptom. A `model` of histories or of
    texts is explained, too: for each author the score, the posts that carry it, and whether evidence agrees.
    """
    from psycheck.commands import person_tables
    from psycheck.commands.explain_prediction import explain_predictions
    from psycheck.commands.tag import make_tags, read_tags, remove_parts
    from psycheck.runs.environment import described, environment_of
    from psycheck.runs.pages import save
    from psycheck.symptoms.explanation import (
        COLUMNS,
        Explaining,
        explain_posts,
        other_statements,
        statements_by_author,
        symptoms_of,
    )
    from psycheck.symptoms.graph import read_graph
    from psycheck.symptoms.label_disagreement import disagreements
    from psycheck.symptoms.suspects import (
        evidence_of,
        rank_suspects,
        scored_with_evidence,
        scored_with_words,
    )
    from psycheck.symptoms.tagged_posts import (
        annotations_of,
        posts_of,
        weighted_posts,
        with_tagged_symptoms,
    )

    how = how or Explaining()
    symptom_graph = read_graph(graph)
    # A graph of one's own must also be what the posts are tagged with.
    if graph is not None and symptoms == DEFAULT:
        symptoms = f"symptoms:descriptions?graph={graph}"
    opened = posts_of(open_corpus(corpus), authors)
    labels, label_notes = annotations_of(opened, symptom_graph)

    # The files of tags are read until the sentences to show are known.
    with _tagging_folder(out) as work:
        models: list[Any] = []
        if tags is None:
            tag_table, reader = make_tags(opened, symptoms, work, progress)
            where = symptoms
            models.append(reader)
        else:
            tag_table, where = read_tags(tags)

        columns = tag_table.collect_schema().names()
        tagged_symptoms = symptoms_of(columns, symptom_graph, where)
        if show_texts:
            _refuse_unnumbered_sentences(columns, where)
        posts, post_notes = weighted_posts(opened, tag_table, tagged_symptoms, where)
        others = other_statements(tag_table, tagged_symptoms, how.threshold)
        explained = explain_posts(posts, symptom_graph, how)
        people = person_tables.with_pages(explained.people)
        labels, unchecked_notes = with_tagged_symptoms(labels, symptom_graph, tagged_symptoms)
        sentences = []
        if show_texts:
            sentences = list(person_tables.shown_sentences(opened, tag_table, explained, people))

    by_evidence = rank_suspects(posts.authors, evidence_of(posts, symptom_graph, labels), labels)
    with_evidence = scored_with_evidence(by_evidence, explained.coverage)
    doubts = disagreements(person_tables.texts_by_author(opened, posts.authors), labels)
    ranked = scored_with_words(with_evidence, doubts, posts.authors)
    suspects = person_tables.suspects_with_posts(ranked, explained, symptom_graph)
    posts_to_read = person_tables.posts_to_read(opened, suspects) if show_texts else ()

    predictions = explain_predictions(model, opened, posts, symptom_graph, how, progress=progress)
    findings = [
        *predictions.findings,
        *person_tables.symptom_shares(opened.name, explained, labels, posts.authors),
        *person_tables.suspect_counts(opened.name, ranked),
    ]
    left_out = (f"{counted(rows, 'row')} left out ({why})" for why, rows in opened.left_out.items())
    run = Run(
        plan={
            "verb": "explain",
            "corpora": described([opened])["corpora"],
            "authors": [showable_id(author) for author in authors],
            "model": predictions.model,
            **_described_tags(tags, symptoms, graph),
            "show_texts": show_texts,
            "columns": COLUMNS,
            "naming": _described_naming(models),
            **asdict(how),
        },
        environment=environment_of([*models, *predictions.models], [opened]),
        findings=Findings(findings),
        tables={
            "people": people,
            "mentions": explained.mentions,
            "coverage": person_tables.with_annotations(explained.coverage, posts.authors, labels),
            "marks": explained.marks,
            "others": statements_by_author(others, posts.table),
            "suspects": suspects,
            "links": person_tables.tagged_links(symptom_graph, tagged_symptoms),
            **predictions.tables,
        },
        shown=(*sentences, *posts_to_read),
        notes=(
            *opened.notes,
            *left_out,
            *post_notes,
            *label_notes,
            *unchecked_notes,
            *person_tables.people_notes(people, symptom_graph, tagged_symptoms),
        ),
        folder=Path(out) if out is not None else None,
    )
    saved = save(run, run.folder)
    # Only now: a call that is killed before the run is saved can resume from the tags.
    if run.folder is not None:
        remove_parts(run.folder / TAGGING)
    return saved


def _described_tags(tags: TagTable | None, symptoms: str, graph: str | Path | None) -> dict[str, str | None]:
    """Where the tags come from: a model, or a file by its name; and the name of a graph of one's own."""
    # Names without folders: a report may be shared, and paths often hold the name of a person.
    return {
        "symptoms": symptoms if tags is None else None,
        "tags": Path(tags).name if isinstance(tags, str | Path) else None,
        "graph": Path(graph).name if graph is not None else None,
    }


def _described_naming(models: Sequence[Any]) -> dict[str, Any] | None:
    """What was measured of the names that the reader gives; None for a reader that was not measured."""
    for model in models:
        if model.naming is not None:
            return asdict(model.naming)
    return None


@contextmanager
def _tagging_folder(out: str | Path | None) -> Iterator[Path]:
    """Where tags are kept until the run is saved: in its folder, so that a later call can resume."""
    if out is not None:
        yield Path(out) / TAGGING
        return
    with TemporaryDirectory() as folder:
        yield Path(folder)


def _refuse_unnumbered_sentences(columns: Sequence[str], where: str) -> None:
    if "sentence" not in columns:
        raise BadInput(
            "the tag table does not number its sentences, so that none can be shown",
            code="tags.no-sentence-numbers",
            where=where,
            allowed="a column `sentence`",
        )
