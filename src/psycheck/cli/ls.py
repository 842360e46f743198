"""`psycheck ls`: what can be named."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from psycheck.errors import counted

if TYPE_CHECKING:
    from psycheck.corpora.known.catalogue import Known
    from psycheck.train.recipe import Recipe

MODELS = {
    "hf:DIR": "a transformer for sequence classification, by folder or hub name",
    "sklearn:FILE.skops": "a scikit-learn pipeline on raw texts",
    "python:MODULE:OBJECT": "anything with labels and score(texts), or a function from texts to scores",
    "scores:FILE": "scores made elsewhere (--export-texts writes what needs them)",
    "frozen:DIR": "what `train --start encoder+lr` wrote",
}
KINDS = ("suites", "corpora", "models", "recipes", "scores")


def ls_cli(
    kind: Annotated[str | None, typer.Argument(help=f"One of {', '.join(KINDS)}; all without it.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print for a program.")] = False,
) -> None:
    """List what can be named: suites, corpora, models, recipes, and whose scores are remembered."""
    from psycheck.errors import BadInput, nearest

    if kind is not None and kind not in KINDS:
        raise BadInput(f"nothing is called '{kind}' here", allowed=nearest(kind, KINDS))
    kinds = KINDS if kind is None else (kind,)
    found: dict[str, dict[str, Any]] = {one: dict(listed(one, whole=one == kind)) for one in kinds}
    if json_:
        import json

        if "corpora" in found:
            found["corpora"] |= {f"{name}:PATH": asdict(entry) for name, entry in _known_corpora().items()}
        typer.echo(json.dumps(found, indent=1, ensure_ascii=False))
        return
    for one, names in found.items():
        typer.echo(one)
        for name, about in names.items() or [("(none)", "")]:
            typer.echo(_row(name, about))


def _row(name: str, about: str) -> str:
    """A name and what is said of it, folded beside it as wide as the terminal."""
    from shutil import get_terminal_size
    from textwrap import fill

    width = max(get_terminal_size((110, 24)).columns, 60)
    first = f"  {name:<28} "
    if not about:
        return first.rstrip()
    return fill(
        about,
        width,
        initial_indent=first,
        subsequent_indent=" " * 31,
        break_long_words=False,
        break_on_hyphens=False,
    )


def listed(kind: str, *, whole: bool = True) -> Iterator[tuple[str, str]]:
    """The names of one kind, each with a few words; licence and source of a corpus only as a `whole`."""
    match kind:
        case "suites":
            from psycheck.audits.suite import read_suite, shipped_suites

            for name in shipped_suites():
                suite = read_suite(name)
                yield name, f"{suite.title} ({counted(len(suite.checks), 'check')})"
        case "corpora":
            from psycheck.demo.shipped_corpora import DEMO, open_demo

            for name in DEMO:
                yield f"demo:{name}", f"synthetic, {counted(len(open_demo(name)), 'text')}"
            for name, entry in _known_corpora().items():
                yield f"{name}:PATH", entry.line if whole else f"{entry.title}: {entry.text}"
            yield "FILE", "CSV, TSV, JSONL (also .gz, .zst), Parquet, a saved Hugging Face dataset folder"
        case "models":
            yield from MODELS.items()
        case "recipes":
            from psycheck.train.recipe import preset, presets

            for name in presets():
                yield name, _recipe(preset(name))
        case _:
            from contextlib import closing

            from psycheck.scoring.store import Store, default_store

            with closing(Store(default_store())) as store:
                for noun, every in (("text", store.models()), ("vector", store.encoders())):
                    for known in every:
                        if known.items:
                            name = f"{known.name} {known.fingerprint[:8]}"
                            yield name, f"{counted(known.items, noun)} remembered"


def _known_corpora() -> "Mapping[str, Known]":
    from psycheck.corpora.known.catalogue import known_corpora

    return known_corpora()


def _recipe(recipe: "Recipe") -> str:
    """What decides a training: epochs and batches where weights are tuned, else only what is fitted."""
    from psycheck.train.recipe import FROZEN, TFIDF

    if recipe.start == TFIDF:
        return "TF–IDF with logistic regression, its strength chosen on dev; no encoder"
    if recipe.start.partition(":")[0] == FROZEN:
        return (
            f"logistic regression on frozen vectors, window {recipe.max_length}, its strength chosen on dev"
        )
    stop = f", stops after {recipe.patience} without a better {recipe.criterion}" if recipe.patience else ""
    epochs = counted(int(recipe.epochs), "epoch") if recipe.epochs == int(recipe.epochs) else recipe.epochs
    size = recipe.batch * recipe.accumulate
    return f"{recipe.start}, {epochs}{stop}, batch {size}, window {recipe.max_length}"
