"""`psycheck ls`: everything that can be named on the command line."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from psycheck.cli import options as opt
from psycheck.errors import BadInput, counted, nearest

if TYPE_CHECKING:
    from psycheck.train.recipe import Recipe

MODELS = {
    "hf:DIR": "a transformer for sequence classification, by folder or hub name",
    "sklearn:FILE.skops": "a scikit-learn pipeline on raw texts",
    "python:MODULE:OBJECT": "anything with labels and score(texts), or a function from texts to scores",
    "scores:FILE": "scores computed elsewhere (--export-texts writes the texts)",
    "frozen:DIR": "a model trained by `train --start encoder+lr`",
    "history:DIR": "a model of histories, trained by `train --start history:FEATURES`",
    "llm:NAME?base_url=…&prompt=…": "an LLM behind an OpenAI-compatible address",
    "symptoms:DIR": "a symptom model of `symptoms train`; symptoms:descriptions needs no training",
}
KINDS = ("suites", "corpora", "models", "recipes", "prompts", "scales", "symptoms", "scores")


@opt.verb("ls")
def ls_cli(kind: str | None = None, json_: bool = False) -> None:
    """List suites, corpora, models, recipes, prompts, scales, symptoms, and models with cached scores."""
    from psycheck.corpora.known.open import known_corpora

    if kind is not None and kind not in KINDS:
        raise BadInput(f"cannot list '{kind}'", allowed=nearest(kind, KINDS))
    kinds = KINDS if kind is None else (kind,)
    found: dict[str, dict[str, Any]] = {one: dict(listed(one, whole=one == kind)) for one in kinds}
    if json_:
        if "corpora" in found:
            found["corpora"] |= {f"{name}:PATH": asdict(entry) for name, entry in known_corpora().items()}
        typer.echo(json.dumps(found, indent=1, ensure_ascii=False))
        return
    for one, names in found.items():
        typer.echo(one)
        for name, about in names.items() or [("(none)", "")]:
            typer.echo(_row(name, about))


def _row(name: str, about: str) -> str:
    """A name and its description, wrapped to the width of the terminal."""
    from shutil import get_terminal_size
    from textwrap import TextWrapper

    wrapper = TextWrapper(
        max(get_terminal_size((110, 24)).columns, 60),
        initial_indent=f"  {name:<28} " if len(name) <= 28 else " " * 31,
        subsequent_indent=" " * 31,
        break_long_words=False,
        break_on_hyphens=False,
    )
    above = f"  {name}\n" * (len(name) > 28)
    return above + wrapper.fill(about) if about else f"  {name}"


def listed(kind: str, *, whole: bool = True) -> Iterator[tuple[str, str]]:
    """Names of one kind with descriptions; a corpus has licence and source only if `whole`."""
    match kind:
        case "suites":
            from psycheck.audits.suite import read_suite, shipped_suites

            for name in shipped_suites():
                suite = read_suite(name)
                yield name, f"{suite.title} ({counted(len(suite.checks), 'check')})"
        case "corpora":
            from psycheck.corpora.known.open import known_corpora
            from psycheck.demo.generate import DEMO, open_demo

            for name in DEMO:
                yield f"demo:{name}", f"synthetic, {counted(len(open_demo(name)), 'text')}"
            for name, entry in known_corpora().items():
                yield f"{name}:PATH", entry.line if whole else f"{entry.title}: {entry.text}"
            yield "FILE", "CSV, TSV, JSONL (also .gz, .zst), Parquet, a saved Hugging Face dataset folder"
        case "models":
            yield from MODELS.items()
        case "recipes":
            from psycheck.train.recipe import preset, presets

            for name in presets():
                yield name, _recipe(preset(name))
        case "prompts":
            from psycheck.knowledge.prompts import read_prompt, shipped_prompts

            for name in shipped_prompts():
                yield name, read_prompt(name).title
        case "scales":
            from psycheck.knowledge.scales import read_scale, shipped_scales

            for name in shipped_scales():
                scale = read_scale(name)
                items = counted(len(scale.item), "item")
                points = f"of 0 to {scale.points[1]} points"
                verdict = f"{scale.condition} from {scale.cutoff} of {scale.total[1]}"
                yield name, f"{scale.title}: {items} {points}; {verdict}"
        case "symptoms":
            from psycheck.knowledge.graph import read_graph

            graph = read_graph()
            for one in graph.symptom:
                diseases = ", ".join(graph.disease[name] for name in one.diseases)
                yield one.name, f"{one.title} ({diseases})" + f": {one.clinician[0]}" * whole
        case _:
            from psycheck.scoring.store import Store, default_store

            with closing(Store(default_store())) as store:
                for noun, every in (("score", store.models()), ("vector", store.encoders())):
                    for known in every:
                        if known.items:
                            texts = counted(known.items, "text")
                            yield f"{known.name} {known.fingerprint[:8]}", f"{noun}s of {texts} cached"


def _recipe(recipe: "Recipe") -> str:
    """The settings that matter: epochs and batches of a fine-tuning, the features of a linear baseline."""
    from psycheck.train.recipe import evidence_target, has_vectors, kind_of

    window = f"maximum length {recipe.max_length}"
    match kind_of(recipe):
        case "sklearn":
            return "TF–IDF with logistic regression, regularised on dev; no encoder"
        case "frozen":
            symptoms = "evidence for the symptoms of PHQ-9" * (evidence_target(recipe) is not None)
            vectors = f"frozen vectors, {window}" * has_vectors(recipe)
            features = " and ".join(filter(None, (symptoms, vectors)))
            return f"logistic regression on {features}, regularised on dev"
        case "history" if recipe.start.endswith("+lr"):
            return "histories: TF–IDF of all posts with logistic regression, regularised on dev"
        case "history":
            window = "histories: convolutions over the posts"
    stop = f", stops after {recipe.patience} without a better {recipe.criterion}" if recipe.patience else ""
    epochs = counted(int(recipe.epochs), "epoch") if recipe.epochs == int(recipe.epochs) else recipe.epochs
    start = f"the first {recipe.layers} layers of {recipe.start}" if recipe.layers else recipe.start
    return f"{start}, {epochs}{stop}, batch {recipe.batch * recipe.accumulate}, {window}"
