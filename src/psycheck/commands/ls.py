"""`psycheck ls`: everything that can be named on the command line."""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from shutil import get_terminal_size
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Any

import typer

from psycheck.commands import options as opt
from psycheck.commands.console import print_json
from psycheck.core.errors import BadInput, counted, nearest
from psycheck.core.registry import (
    AUDITS,
    ENGINES,
    FORMATS,
    MEASURES,
    MODEL_KINDS,
    PAGES,
    PROMPTS,
    SUITES,
    Registry,
)

if TYPE_CHECKING:
    from psycheck.training.recipe import Recipe

Rows = Iterator[tuple[str, str]]  # names and descriptions
_NAME_WIDTH = 28
_INDENT = " " * (_NAME_WIDTH + 3)
_FINGERPRINT_SHOWN = 8  # characters


@opt.verb("ls")
def ls_cli(kind: str | None = None, json_: bool = False) -> None:
    """List what can be named: suites, corpora, models, audits and more, also those of other packages."""
    if kind is not None and kind not in LISTERS:
        raise BadInput(f"cannot list '{kind}'", code="ls.unknown-kind", allowed=nearest(kind, LISTERS))

    # A list of everything must stay short enough to be read.
    in_full = kind is not None
    kinds = list(LISTERS) if kind is None else [kind]
    listed: dict[str, dict[str, Any]] = {}
    for each_kind in kinds:
        list_rows = LISTERS[each_kind]
        listed[each_kind] = dict(list_rows(in_full=in_full))

    if json_:
        _print_json(listed)
        return

    for each_kind, descriptions in listed.items():
        typer.echo(each_kind)
        if not descriptions:
            typer.echo("  (none)")
        for name, description in descriptions.items():
            typer.echo(_row(name, description))


def _print_json(listed: dict[str, dict[str, Any]]) -> None:
    """Print the lists for programs, with all that is known about a known corpus."""
    from psycheck.corpora.known.opening import known_corpora

    if "corpora" in listed:
        listed["corpora"] |= {f"{name}:PATH": asdict(entry) for name, entry in known_corpora().items()}
    print_json(**listed)


def _row(name: str, description: str) -> str:
    """A name and its description, wrapped to the width of the terminal; a long name has its own line."""
    if not description:
        return f"  {name}"

    # Names and paths are copied from here: neither is broken at the end of a line.
    is_short = len(name) <= _NAME_WIDTH
    wrapper = TextWrapper(
        max(get_terminal_size((110, 24)).columns, 60),
        initial_indent=f"  {name:<{_NAME_WIDTH}} " if is_short else _INDENT,
        subsequent_indent=_INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
    wrapped = wrapper.fill(description)
    return wrapped if is_short else f"  {name}\n{wrapped}"


@cache
def _descriptions() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(Path(__file__).with_name("listed.toml").read_text("utf-8"))


def _of_other_packages(registry: Registry[Any]) -> Rows:
    """What other packages register, without importing it."""
    for name in registry.names():
        if not registry.is_ours(name):
            yield name, f"from {registry.package(name)}"


def _registered(kind: str, registry: Registry[Any], *, in_full: bool) -> Rows:
    """Names with the descriptions of listed.toml, ours that have none yet, then those of other packages."""
    descriptions = _descriptions()[kind]
    yield from descriptions.items()

    # A model is described as it is written: "hf:DIR" is the kind "hf".
    described_names = {name.partition(":")[0] for name in descriptions}
    for name in registry.names():
        if registry.is_ours(name) and name not in described_names:
            yield name, ""
    yield from _of_other_packages(registry)


def _suites(*, in_full: bool) -> Rows:
    from psycheck.audits.suite import read_suite, shipped_suites

    for name in shipped_suites():
        suite = read_suite(name)
        yield name, f"{suite.title} ({counted(len(suite.checks), 'check')})"
    yield from _of_other_packages(SUITES)


def _corpora(*, in_full: bool) -> Rows:
    """The demo corpora and known corpora; licence and source only `in_full`."""
    from psycheck.corpora.known.opening import known_corpora
    from psycheck.demo.opening import DEMO, open_demo

    for name in DEMO:
        yield f"demo:{name}", f"synthetic, {counted(len(open_demo(name)), 'text')}"
    for name, entry in known_corpora().items():
        yield f"{name}:PATH", entry.line if in_full else f"{entry.title}: {entry.text}"
    yield "FILE", "CSV, TSV, JSONL (also .gz, .zst), Parquet, a saved Hugging Face dataset folder"


def _measures(*, in_full: bool) -> Rows:
    from psycheck.core.measure import catalogue

    for name, measure in catalogue().items():
        yield name, f"{measure.title} ({measure.section})"
    yield from _of_other_packages(MEASURES)


def _recipes(*, in_full: bool) -> Rows:
    from psycheck.training.recipe import preset, presets

    for name in presets():
        yield name, _recipe(preset(name))


def _prompts(*, in_full: bool) -> Rows:
    from psycheck.llm.prompts import read_prompt, shipped_prompts

    for name in shipped_prompts():
        yield name, read_prompt(name).title
    yield from _of_other_packages(PROMPTS)


def _scales(*, in_full: bool) -> Rows:
    from psycheck.symptoms.scales import read_scale, shipped_scales

    for name in shipped_scales():
        scale = read_scale(name)
        items = f"{counted(len(scale.item), 'item')} of 0 to {scale.points[1]} points"
        verdict = f"{scale.condition} from {scale.cutoff} of {scale.total[1]}"
        yield name, f"{scale.title}: {items}; {verdict}"


def _symptoms(*, in_full: bool) -> Rows:
    """The symptoms of the shipped graph; a description of each only `in_full`."""
    from psycheck.symptoms.graph import read_graph

    graph = read_graph()
    for symptom in graph.symptom:
        diseases = ", ".join(graph.disease[name] for name in symptom.diseases)
        line = f"{symptom.title} ({diseases})"
        yield symptom.name, f"{line}: {symptom.clinician[0]}" if in_full else line


def _pages(*, in_full: bool) -> Rows:
    for name in PAGES.names():
        if PAGES.is_ours(name):
            yield name, f"the report of `psycheck {name}`"
    yield from _of_other_packages(PAGES)


def _scores(*, in_full: bool) -> Rows:
    """The models and encoders with cached answers."""
    from psycheck.scoring.store import Store, default_store

    with closing(Store(default_store())) as store:
        cached = [("scores", model) for model in store.models()]
        cached += [("vectors", encoder) for encoder in store.encoders()]
        for answers, model in cached:
            # A model stays known after its answers were forgotten.
            if model.items:
                name = f"{model.name} {model.fingerprint[:_FINGERPRINT_SHOWN]}"
                yield name, f"{answers} of {counted(model.items, 'text')} cached"


def _recipe(recipe: "Recipe") -> str:
    """The settings that matter: epochs and batches of a fine-tuning, the features of a linear baseline."""
    from psycheck.training.recipe import kind_of

    match kind_of(recipe):
        case "sklearn":
            return "TF–IDF with logistic regression, regularised on dev; no encoder"
        case "frozen":
            return f"logistic regression on {_frozen_features(recipe)}, regularised on dev"
        case "history" if recipe.start.endswith("+lr"):
            return "histories: TF–IDF of all posts with logistic regression, regularised on dev"
        case "history":
            return f"{_fine_tuning(recipe)}, histories: convolutions over the posts"
        case _:
            return f"{_fine_tuning(recipe)}, maximum length {recipe.max_length}"


def _frozen_features(recipe: "Recipe") -> str:
    from psycheck.training.recipe import evidence_target, has_vectors

    features = []
    if evidence_target(recipe) is not None:
        features.append("evidence for the symptoms of PHQ-9")
    if has_vectors(recipe):
        features.append(f"frozen vectors, maximum length {recipe.max_length}")
    return " and ".join(features)


def _fine_tuning(recipe: "Recipe") -> str:
    start = recipe.start
    if recipe.layers:
        start = f"the first {recipe.layers} layers of {recipe.start}"

    is_whole = recipe.epochs == int(recipe.epochs)
    epochs = counted(int(recipe.epochs), "epoch") if is_whole else str(recipe.epochs)

    stop = ""
    if recipe.patience:
        stop = f", stops after {recipe.patience} without a better {recipe.criterion}"

    # What learns is the product: a recipe may collect several batches before an update.
    batch = recipe.batch * recipe.accumulate
    return f"{start}, {epochs}{stop}, batch {batch}"


LISTERS: Mapping[str, Callable[..., Rows]] = {
    "suites": _suites,
    "corpora": _corpora,
    "models": partial(_registered, "models", MODEL_KINDS),
    "audits": partial(_registered, "audits", AUDITS),
    "measures": _measures,
    "recipes": _recipes,
    "prompts": _prompts,
    "scales": _scales,
    "symptoms": _symptoms,
    "formats": partial(_registered, "formats", FORMATS),
    "engines": partial(_registered, "engines", ENGINES),
    "pages": _pages,
    "scores": _scores,
}
