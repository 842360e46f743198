"""`psycheck symptoms`: the symptom graph, and models that find its symptoms in sentences."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from psycheck.commands import options as opt
from psycheck.commands.console import ProgressLine, print_json, print_notes
from psycheck.core.errors import BadInput, counted

if TYPE_CHECKING:
    from psycheck.corpora.columns import Columns
    from psycheck.corpora.opening import CorpusPlan
    from psycheck.symptoms.graph import Graph
    from psycheck.symptoms.reader import SymptomModel
    from psycheck.training.fit import Trained
    from psycheck.training.recipe import Recipe

_ANNOTATED_ONLY: Final = (
    *("corpus", "missing", "each", "judgements", "controls", "graph", "preset", "layers", "balanced"),
    *("dev_share", "learning_rate", "max_length", "patience", "probe", "criterion"),
)
_MOST_UNLABELLED: Final = 5_000  # sentences of a corpus that the second training reads

app = typer.Typer(help="The symptom graph, and symptom models.", no_args_is_help=True, rich_markup_mode=None)


@app.command("graph")
@opt.verb("symptoms graph")
def graph_cli(file: Path | None = None, out: Path | None = None) -> None:
    """Check a symptom graph of your own, or write a graph as JSON, GraphML or a picture (SVG)."""
    from psycheck.io.writing import refuse_overwriting
    from psycheck.symptoms.graph import read_graph

    graph = read_graph(file)
    if out is not None:
        refuse_overwriting([out], [file] if file else [])
        _write_graph(graph, out)

    counts = [
        counted(len(graph.disease), "disease"),
        counted(len(graph.symptom), "symptom"),
        counted(len(graph.links), "link"),
    ]
    typer.echo(f"{', '.join(counts)}; valid")
    if out is not None:
        typer.echo(f"graph: {out}")


def _write_graph(graph: "Graph", out: Path) -> None:
    from psycheck.io.writing import writing, written
    from psycheck.symptoms.graph import as_graphml, as_json, as_svg

    formats = {".json": as_json, ".graphml": as_graphml, ".svg": as_svg}
    _refuse_ending(out, formats, "a graph")
    with writing(out), written(out) as part:
        part.write_text(formats[out.suffix](graph), "utf-8")


def _refuse_ending(out: Path, endings: Iterable[str], content: str) -> None:
    if out.suffix not in endings:
        raise BadInput(
            f"cannot write {content} to '{out.name}'",
            code="symptoms.unknown-ending",
            where="--out",
            allowed=", ".join(endings),
        )


@app.command("train")
@opt.verb("symptoms train", opt.TRAINING)
def train_cli(
    ctx: typer.Context,
    columns: "Columns",
    out: Path,
    corpus: str | None = None,
    from_bank: bool = False,
    labelled: Path | None = None,
    unlabelled: str | None = None,
    missing: str = "enhanced",
    each: bool = False,
    judgements: Path | None = None,
    controls: str | None = None,
    graph: Path | None = None,
    preset: str = "symptoms",
    format_: str | None = None,
) -> None:
    """Train a symptom model on annotated sentences (run again to resume), or on the sentence bank."""
    from psycheck.corpora.columns import Columns
    from psycheck.corpora.judgements import read_judgements, with_judgements
    from psycheck.corpora.opening import corpus_path, corpus_plan, open_corpus
    from psycheck.io.settings import read_settings
    from psycheck.io.writing import refuse_overwriting
    from psycheck.symptoms.graph import read_graph
    from psycheck.training.control_sentences import with_controls
    from psycheck.training.symptom_models import Labels, learnable, refuse_misfits, train_each, train_symptoms

    if from_bank:
        bank_plan = corpus_plan(unlabelled, columns, None, format_) if unlabelled else None
        opt.refuse(ctx, _ANNOTATED_ONLY, "symptoms train --from-bank", "is for annotated sentences")
        _train_from_bank(ctx, out, labelled, bank_plan)
        return
    opt.refuse(ctx, ("labelled", "unlabelled"), "symptoms train CORPUS", "is for --from-bank")
    if corpus is None:
        raise BadInput(
            "there is nothing to learn from",
            code="symptoms.no-corpus",
            allowed="a corpus of annotated sentences, or --from-bank",
        )

    missing_labels = read_settings(Labels, {"missing": missing}).missing
    recipe = _recipe(ctx, preset)
    plan = corpus_plan(corpus, columns, None, format_)
    # Folders that a training replaces or removes as a whole.
    replaced_folders = [out, Path(f"{out}.training"), Path(f"{out}.teacher")]
    control_plan = corpus_plan(controls, Columns()) if controls is not None else None
    candidates = [corpus_path(plan), judgements, graph, Path(recipe.start)]
    if control_plan is not None:
        candidates.append(corpus_path(control_plan))
    inputs = [path for path in candidates if path is not None]
    refuse_overwriting(replaced_folders, inputs)

    opened = open_corpus(plan)
    if judgements is not None:
        opened = with_judgements(opened, read_judgements(judgements))
    refuse_misfits(opened.labels, read_graph(graph))
    print_notes(opened.notes, opened.name)
    if control_plan is not None:
        opened, note = with_controls(opened, open_corpus(control_plan), seed=recipe.seed)
        print_notes([note], opened.name)
    # A symptom that was named and cannot be learned is an error; of all symptoms of an export, some are rare.
    if not columns.labels and not each:
        labels = learnable(opened, recipe)
        left_out = ", ".join(label for label in opened.labels if label not in labels)
        # If nothing is left, training says of each symptom what is missing.
        if left_out and labels:
            recipe = recipe.with_(labels=labels)
            print_notes([f"not learned, for lack of sentences with both answers: {left_out}"], opened.name)

    with ProgressLine() as line:
        if each:
            by_disease = train_each(opened, recipe, out, missing=missing_labels, progress=line.training)
            trained = list(by_disease.values())
        else:
            trained = [train_symptoms(opened, recipe, out, missing=missing_labels, progress=line.training)]
    for model in trained:
        _print_trained(model)


def _train_from_bank(
    ctx: typer.Context,
    out: Path,
    labelled_file: Path | None,
    plan: "CorpusPlan | None",
) -> None:
    """Train a reader on the sentence bank, labelled sentences and the unlabelled posts of a plan's corpus."""
    from psycheck.corpora.opening import corpus_path, open_corpus
    from psycheck.io.settings import read_settings
    from psycheck.io.writing import refuse_overwriting
    from psycheck.symptoms.bank_sentences import read_sentences
    from psycheck.symptoms.graph import read_graph
    from psycheck.training.bank_reader import BankRecipe, sentences_to_learn, train_bank_reader

    recipe = read_settings(BankRecipe, opt.values_for(ctx, BankRecipe))
    corpus_file = corpus_path(plan) if plan else None
    refuse_overwriting([out], [file for file in (labelled_file, corpus_file) if file])
    symptoms = [symptom.name for symptom in read_graph().symptom]
    labelled = read_sentences(labelled_file, symptoms) if labelled_file else None
    posts = open_corpus(plan).texts if plan else ()
    sentences = sentences_to_learn(posts, _MOST_UNLABELLED, recipe.seed)
    with ProgressLine() as line:
        figures = train_bank_reader(
            recipe,
            out,
            labelled=labelled,
            unlabelled=sentences,
            progress=line,
        )

    of_bank = ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
    typer.echo(f"average precision on the test part of the bank: {of_bank}")
    typer.echo(f"model: symptoms:{out}")


def _recipe(ctx: typer.Context, preset: str) -> "Recipe":
    """The recipe of a preset with the options that were set; options that it ignores are refused."""
    from psycheck.training.recipe import Recipe, recipe_of, unused, used
    from psycheck.training.recipe import preset as named_preset

    values = opt.values_for(ctx, Recipe)
    values.pop("labels", None)  # they name columns: the corpus has only these, under their new names
    recipe = named_preset(preset, **values)
    ignored = sorted(unused(recipe) & ctx.params.keys())
    opt.refuse(ctx, ignored, f"symptoms train --start {recipe.start}", "is for a start that is fine-tuned")
    return recipe_of(used(recipe))


def _print_trained(model: "Trained") -> None:
    outcome = "already trained; nothing to do" if model.reused else f"trained in {model.seconds:.0f} s"
    typer.echo(outcome)

    # A corpus without a test split has no figures for it.
    for part, figures in (("dev", model.dev), ("test", model.test)):
        if figures:
            typer.echo(f"{part}: AUC {figures['auc']:.3f}, F1 {figures['f1']:.3f} (means over labels)")
    typer.echo(f"model: symptoms:{model.folder}")


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
    from psycheck.commands.measure_symptoms import evaluate_symptoms, lines_of
    from psycheck.core.finding import write_csv, write_jsonl
    from psycheck.corpora.opening import corpus_path, corpus_plan, open_corpus
    from psycheck.io.writing import refuse_overwriting, writing, written

    formats = {".jsonl": write_jsonl, ".csv": write_csv}
    plan = corpus_plan(corpus, columns, split, format_)
    if out is not None:
        _refuse_ending(out, formats, "findings")
        corpus_file = corpus_path(plan)
        refuse_overwriting([out], [corpus_file] if corpus_file is not None else [])

    # Sentences of train would flatter a model that learned from them.
    opened = open_corpus(plan)
    if split is None and "test" in opened.strings("split"):
        opened = opened.part("test")
    print_notes(opened.notes, opened.name)
    findings = evaluate_symptoms(_open_symptom_model(model), opened)

    if out is not None:
        with writing(out), written(out) as part:
            formats[out.suffix](findings, part)
    if json_:
        print_json(findings=[json.loads(finding.as_json()) for finding in findings])
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
    engine: str = "local",
) -> None:
    """Tag each sentence of a corpus of any size; run the same command again to resume."""
    from psycheck.commands.tag import check_tag_file, tag_corpus
    from psycheck.corpora.opening import corpus_path, corpus_plan
    from psycheck.corpora.stream import stream_corpus

    plan = corpus_plan(corpus, columns, split, format_)
    corpus_file = corpus_path(plan)
    check_tag_file(out, [corpus_file] if corpus_file is not None else [])
    opened_model = _open_symptom_model(model)
    notes: list[str] = []
    with ProgressLine() as line:
        tagged = tag_corpus(
            opened_model,
            stream_corpus(plan, notes.append),
            out,
            status=status,
            subject=subject,
            progress=line,
            engine=engine,
        )

    if tagged.resumed:
        notes.append(f"{counted(tagged.resumed, 'sentence')} had been tagged before")
    print_notes(notes)
    counts = f"{counted(tagged.sentences, 'sentence')} of {counted(tagged.posts, 'text')}"
    typer.echo(f"{counts} tagged for {counted(len(opened_model.labels), 'symptom')}: {out}")


def _open_symptom_model(model: str) -> "SymptomModel":
    """A symptom model by its folder, by "descriptions", or by a whole spec."""
    from psycheck.models.opening import open_model
    from psycheck.symptoms.reader import SymptomModel

    spec = model if model.startswith("symptoms:") else f"symptoms:{model}"
    opened = open_model(spec)
    assert isinstance(opened, SymptomModel)  # the kind of the spec says so
    return opened
