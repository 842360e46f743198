"""`psycheck ls`: what can be named."""

from collections.abc import Iterator
from typing import Annotated

import typer

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
    found = {one: dict(listed(one)) for one in (KINDS if kind is None else (kind,))}
    if json_:
        import json

        typer.echo(json.dumps(found, indent=1, ensure_ascii=False))
        return
    for one, names in found.items():
        typer.echo(one)
        for name, about in names.items() or [("(none)", "")]:
            typer.echo(f"  {name:<28} {about}".rstrip())


def listed(kind: str) -> Iterator[tuple[str, str]]:
    """The names of one kind, each with a few words."""
    match kind:
        case "suites":
            from psycheck.audits.suite import read_suite, shipped_suites

            for name in shipped_suites():
                suite = read_suite(name)
                yield name, f"{suite.title} ({len(suite.checks)} checks)"
        case "corpora":
            from psycheck.corpora.demo import DEMO, open_demo

            for name in DEMO:
                yield f"demo:{name}", f"synthetic, {len(open_demo(name)):,} texts"
            yield "FILE", "CSV, TSV, JSONL (also .gz, .zst), Parquet, a saved Hugging Face dataset folder"
        case "models":
            yield from MODELS.items()
        case "recipes":
            from psycheck.train.recipe import preset, presets

            for name in presets():
                recipe = preset(name)
                yield name, f"{recipe.start}, {recipe.epochs:g} epochs, batch {recipe.batch}"
        case _:
            from contextlib import closing

            from psycheck.scores import Store, default_store

            with closing(Store(default_store())) as store:
                for known in store.models():
                    yield f"{known.name} {known.fingerprint[:8]}", f"{known.texts:,} texts remembered"
