"""`psycheck symptoms`: the symptom graph, and models that find its symptoms in sentences."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from psycheck.cli import options as opt
from psycheck.cli.output import ProgressLine, print_notes
from psycheck.errors import BadInput, counted

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns
    from psycheck.models.symptoms import SymptomModel

app = typer.Typer(help="The symptom graph, and symptom models.", no_args_is_help=True, rich_markup_mode=None)


@app.command("graph")
@opt.verb("symptoms graph")
def graph_cli(file: Path | None = None, out: Path | None = None) -> None:
    """Check a symptom graph of your own, or write a graph as JSON, GraphML or a picture (SVG)."""
    from psycheck.files.write import refuse_overwriting, writing, written
    from psycheck.knowledge.graph import as_graphml, as_json, as_svg, read_graph

    formats = {".json": as_json, ".graphml": as_graphml, ".svg": as_svg}
    graph = read_graph(file)
    if out is not None:
        if out.suffix not in formats:
            raise BadInput(f"cannot write a graph to '{out.name}'", where="--out", allowed=", ".join(formats))
        refuse_overwriting([out], [file] if file else [])
        with writing(out), written(out) as part:
            part.write_text(formats[out.suffix](graph), "utf-8")
    counts = [counted(len(graph.disease), "disease"), counted(len(graph.symptom), "symptom")]
    typer.echo(f"{', '.join(counts)}, {counted(len(graph.links), 'link')}; valid")
    if out is not None:
        typer.echo(f"graph: {out}")


@app.command("train")
@opt.verb("symptoms train", opt.TRAINING)
def train_cli(
    ctx: typer.Context,
    columns: "Columns",
    corpus: str,
    out: Path,
    missing: str = "enhanced",
    each: bool = False,
    judgements: Path | None = None,
    graph: Path | None = None,
    preset: str = "symptoms",
    format_: str | None = None,
) -> None:
    """Train a symptom model on annotated sentences; run the same command again to resume."""
    from psycheck.corpora.judgements import read_judgements, with_judgements
    from psycheck.corpora.open import corpus_path, corpus_plan, open_corpus
    from psycheck.files.write import refuse_overwriting
    from psycheck.knowledge.graph import read_graph
    from psycheck.settings.reader import read_settings
    from psycheck.train.recipe import Recipe, recipe_of, unused, used
    from psycheck.train.recipe import preset as named
    from psycheck.train.symptoms import Labels, refuse_misfits, train_each, train_symptoms

    how = read_settings(Labels, {"missing": missing}).missing
    values = opt.values_for(ctx, Recipe)
    values.pop("labels", None)  # they name columns: the corpus has only these, under their new names
    recipe = named(preset, **values)
    ignored = sorted(unused(recipe) & ctx.params.keys())
    opt.refuse(ctx, ignored, f"symptoms train --start {recipe.start}", "is for a start that is fine-tuned")
    recipe = recipe_of(used(recipe))
    plan = corpus_plan(corpus, columns, None, format_)
    inputs = [path for path in (corpus_path(plan), judgements, graph, Path(recipe.start)) if path is not None]
    refuse_overwriting([out, Path(f"{out}.training"), Path(f"{out}.teacher")], inputs)
    opened = open_corpus(plan)
    if judgements is not None:
        opened = with_judgements(opened, read_judgements(judgements))
    refuse_misfits(opened.labels, read_graph(graph))
    print_notes(opened.notes, opened.name)
    with ProgressLine() as line:
        if each:
            trained = list(train_each(opened, recipe, out, missing=how, progress=line.training).values())
        else:
            trained = [train_symptoms(opened, recipe, out, missing=how, progress=line.training)]
    for one in trained:
        typer.echo("already trained; nothing to do" if one.reused else f"trained in {one.seconds:.0f} s")
        shown = {part: figures for part, figures in (("dev", one.dev), ("test", one.test)) if figures}
        for part, figures in shown.items():
            typer.echo(f"{part}: AUC {figures['auc']:.3f}, F1 {figures['f1']:.3f} (means over labels)")
        typer.echo(f"model: symptoms:{one.folder}")


@app.command("evaluate")
@opt.verb("symptoms evaluate")
def evaluate_cli(
    columns: "Columns",
    model: str,
    corpus: str,
    split: str | None = None,
    format_: str | None = None,
    out: Path | None = None,
    json_: bool = False,
) -> None:
    """Measure a symptom model on annotated sentences: AUC, F1 and the error of the status, with intervals."""
    from psycheck.corpora.open import corpus_path, corpus_plan, open_corpus
    from psycheck.files.write import refuse_overwriting, writing, written
    from psycheck.finding import write_csv, write_jsonl
    from psycheck.verbs.symptoms import evaluate_symptoms, lines_of

    formats = {".jsonl": write_jsonl, ".csv": write_csv}
    plan = corpus_plan(corpus, columns, split, format_)
    if out is not None:
        if out.suffix not in formats:
            what = f"cannot write findings to '{out.name}'"
            raise BadInput(what, where="--out", allowed=", ".join(formats))
        refuse_overwriting([out], [path for path in [corpus_path(plan)] if path is not None])
    opened = open_corpus(plan)
    if split is None and "test" in opened.strings("split"):
        opened = opened.part("test")
    print_notes(opened.notes, opened.name)
    findings = evaluate_symptoms(_opened(model), opened)
    if out is not None:
        with writing(out), written(out) as part:
            formats[out.suffix](findings, part)
    if json_:
        typer.echo(json.dumps([json.loads(one.as_json()) for one in findings], indent=1, ensure_ascii=False))
        return
    for line in lines_of(findings):
        typer.echo(line)


@app.command("tag")
@opt.verb("symptoms tag", ("text", "id_", "author", "time", "split_column"))
def tag_cli(
    columns: "Columns",
    model: str,
    corpus: str,
    out: Path = Path("tags.parquet"),
    split: str | None = None,
    status: bool = True,
    subject: bool = True,
    format_: str | None = None,
) -> None:
    """Tag each sentence of a corpus of any size; run the same command again to resume."""
    from psycheck.corpora.open import corpus_path, corpus_plan
    from psycheck.corpora.stream import stream_corpus
    from psycheck.verbs.tag import check_tag_file, tag_corpus

    plan = corpus_plan(corpus, columns, split, format_)
    check_tag_file(out, [path for path in [corpus_path(plan)] if path is not None])
    opened = _opened(model)
    more: dict[str, Any] = {"status": status, "subject": subject}
    notes: list[str] = []
    with ProgressLine() as line:
        tagged = tag_corpus(opened, stream_corpus(plan, notes.append), out, progress=line, **more)
    if tagged.resumed:
        notes.append(f"{counted(tagged.resumed, 'sentence')} had been tagged before")
    print_notes(notes)
    counts = f"{counted(tagged.sentences, 'sentence')} of {counted(tagged.posts, 'text')}"
    typer.echo(f"{counts} tagged for {counted(len(opened.labels), 'symptom')}: {out}")


def _opened(model: str) -> "SymptomModel":
    """A symptom model by its folder, by "descriptions", or by a whole spec."""
    from psycheck.models.open import open_model
    from psycheck.models.symptoms import SymptomModel

    opened = open_model(model if model.startswith("symptoms:") else f"symptoms:{model}")
    assert isinstance(opened, SymptomModel)  # the kind of the spec says so
    return opened
