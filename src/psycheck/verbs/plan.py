"""A plan: what an audit does, from a TOML file or from options, checked before anything runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, quote_plus, urlencode

from psycheck.audits.fairness import SWAPPED
from psycheck.audits.shipped import SHIPPED
from psycheck.corpora.columns import Columns
from psycheck.corpora.known.open import relative_to
from psycheck.corpora.open import CorpusPlan, corpus_path
from psycheck.errors import BadInput, nearest
from psycheck.models.open import parse_spec
from psycheck.models.options import LLM_FILES
from psycheck.runs.gates import Gate, parse_gate
from psycheck.scoring.limits import Limits
from psycheck.settings.reader import (
    AT_LEAST_0,
    AT_LEAST_1,
    Limit,
    check_keys,
    read_settings,
    read_toml,
    wrong,
)
from psycheck.text.gender.edits import scope_of
from psycheck.verbs.threshold import DEV, Threshold, threshold_of

Variants = Literal["suite", "each", "one"]
Width = Annotated[float, Limit("above 0, below 0.5", lambda value: 0 < value < 0.5)]
AUDITS = tuple(SHIPPED)


@dataclass(frozen=True, slots=True)
class Settings(Limits):
    """The settings of an audit, apart from its models and corpora, with its limits.

    `threshold` is a number, or "dev": chosen on the dev split of the corpora, which is then not judged.
    `swap` names the kinds of gendered words that the fairness audit swaps, `swap_person` whose. `trained_on`
    maps a model's name to the corpora it was trained on ("" stands for every model). `budget` is how many
    distinct texts each model is asked at most, `until` the half-width of a pass rate's interval that is
    narrow enough. `evidence` is the symptom model that weighs the posts of histories.
    """

    suites: tuple[str, ...] = ("deck",)
    audits: tuple[str, ...] = AUDITS
    threshold: Threshold = 0.5
    variants: Variants = "suite"
    seed: Annotated[int, AT_LEAST_0] = 0
    fit: bool = False
    show_texts: bool = False
    gates: tuple[Gate, ...] = ()
    swap: tuple[str, ...] = SWAPPED.words
    swap_person: str = "all"
    trained_on: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    budget: Annotated[int, AT_LEAST_1] | None = None
    until: Width | None = None
    evidence: str = "symptoms:descriptions"


@dataclass(frozen=True, slots=True)
class Plan:
    """Models, corpora, settings, and where results go."""

    models: tuple[str, ...]
    corpora: tuple[CorpusPlan, ...]
    settings: Settings = field(default_factory=Settings)
    out: Path | None = None
    store: Path | None = None


@dataclass(frozen=True, slots=True)
class _File:
    """What a plan file holds beside settings and columns."""

    models: tuple[str, ...] = ()
    corpus: tuple[Mapping[str, Any], ...] = ()
    gate: tuple[Gate, ...] = ()
    gates: tuple[str, ...] = ()
    out: str | None = None
    store: str | None = None


# `split` selects a split; the column that holds the splits is `split_column`, as on the command line.
_COLUMNS = {"split_column" if f.name == "split" else f.name: f.name for f in fields(Columns)}
_CORPUS_KEYS = tuple(f.name for f in fields(CorpusPlan) if f.name != "columns")
_FILE_KEYS = tuple(f.name for f in fields(_File))
_SETTING_KEYS = tuple(f.name for f in fields(Settings) if f.name != "gates")


def read_plan(path: str | Path) -> Plan:
    """Read psycheck.toml; paths in it are relative to its folder, unknown keys are errors."""
    path = Path(path)
    raw = read_toml(path, "plan")
    check_keys(raw, (*_FILE_KEYS, *_SETTING_KEYS, *_COLUMNS), str(path))
    file = read_settings(_File, _only(raw, _FILE_KEYS), str(path))
    settings = settings_of(_only(raw, _SETTING_KEYS), str(path))
    home, shared = path.parent, _only(raw, _COLUMNS)
    gates = [_beside(gate, home, f"{path}, gate {number}") for number, gate in enumerate(file.gate, 1)]
    return Plan(
        models=tuple(_relative_model(spec, home) for spec in file.models),
        corpora=tuple(
            _corpus(part, shared, home, f"{path}, corpus {number}")
            for number, part in enumerate(file.corpus, 1)
        ),
        settings=replace(
            settings,
            suites=tuple(str(home / name) if (home / name).is_file() else name for name in settings.suites),
            gates=(*(parse_gate(text) for text in file.gates), *gates),
        ),
        out=None if file.out is None else home / file.out,
        store=None if file.store is None else home / file.store,
    )


def settings_of(raw: Mapping[str, Any], place: str = "") -> Settings:
    """Check settings that come from a file, from options or from a caller."""
    values = dict(raw)
    if "trained_on" in raw and not isinstance(raw["trained_on"], Mapping):
        values["trained_on"] = {"": raw["trained_on"]}
    if "threshold" in raw:
        values["threshold"] = threshold_of(raw["threshold"])
    settings = read_settings(Settings, values, place)
    scope_of(settings.swap, settings.swap_person, place)
    if settings.threshold == DEV and settings.budget is not None:
        what = "a budget is spent on the texts that are judged, and a threshold from dev needs all of dev"
        raise wrong(what, place, "budget", do="set `threshold` to a number, or leave out the budget")
    if settings.until is not None and settings.budget is None:
        raise wrong(
            "intervals are narrow `until` a budget is spent, and there is none",
            place,
            "until",
            do="set `budget`",
        )
    for name in settings.audits:
        if name not in AUDITS:
            raise wrong(f"unknown audit '{name}'", place, "audits", nearest(name, AUDITS))
    return settings


def inputs_of(plan: Plan) -> list[Path]:
    """The files and folders that a plan reads."""
    paths = [path for corpus in plan.corpora if (path := corpus_path(corpus)) is not None]
    paths += [path for spec in plan.models for path in model_paths(spec)]
    paths += [Path(name) for name in plan.settings.suites]
    paths += [Path(gate.no_worse_than) for gate in plan.settings.gates if gate.no_worse_than]
    return [*paths, plan.store] if plan.store else paths


def model_paths(spec: str) -> list[Path]:
    """The file or folder of a model, the files of an LLM's spec, or those that may hold a Python module."""
    kind, target, options = parse_spec(spec)
    if kind == "llm":
        return [Path(options[name]).expanduser() for name in LLM_FILES if name in options]
    if kind != "python":
        return [Path(target).expanduser()]
    module = target.rpartition(":")[0]
    if module.endswith(".py"):
        return [Path(module).expanduser()]
    folders = [Path(options["folder"]), Path()] if "folder" in options else [Path()]
    return [folder / f"{module.replace('.', '/')}.py" for folder in folders]


def _corpus(part: Mapping[str, Any], shared: Mapping[str, Any], home: Path, place: str) -> CorpusPlan:
    check_keys(part, (*_CORPUS_KEYS, *_COLUMNS), place)
    corpus = read_settings(CorpusPlan, _only(part, _CORPUS_KEYS), place)
    named = _only({**shared, **part}, _COLUMNS)
    columns = read_settings(Columns, {_COLUMNS[key]: value for key, value in named.items()}, place)
    path = corpus.path if corpus.path.startswith("demo:") else relative_to(home, corpus.path)
    return replace(corpus, path=path, columns=columns)


def _beside(gate: Gate, home: Path, place: str) -> Gate:
    """Find the baseline run of a gate relative to the plan."""
    if (gate.min, gate.max, gate.no_worse_than) == (None, None, None):
        raise BadInput("the gate has no bound", where=place, allowed="min, max or no_worse_than")
    if gate.tolerance and not gate.no_worse_than:
        raise BadInput("the gate has a tolerance but no baseline", where=place, allowed="no_worse_than = RUN")
    return replace(gate, no_worse_than=str(home / gate.no_worse_than)) if gate.no_worse_than else gate


def _only(raw: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: raw[key] for key in keys if key in raw}


def _relative_model(spec: str, home: Path) -> str:
    """Find files and modules next to the plan; leave every other spec as it is."""
    kind, colon, rest = spec.partition(":")
    target, mark, options = rest.partition("?")
    if colon and kind in ("hf", "sklearn", "scores", "history") and (home / target).exists():
        return f"{kind}:{home / target}{mark}{options}"
    if colon and kind == "llm":
        pairs = [
            (key, str(home / value) if key in LLM_FILES and (home / value).is_file() else value)
            for key, value in parse_qsl(options, keep_blank_values=True)
        ]
        return f"{kind}:{target}{mark}{urlencode(pairs, safe=':/,')}"
    if colon and kind == "python":
        module, _, path = target.rpartition(":")
        if module.endswith(".py") and (home / module).is_file():
            return f"{kind}:{home / module}:{path}{mark}{options}"
        package = home / module.partition(".")[0]
        if home.resolve() != Path.cwd() and (package.is_dir() or package.with_suffix(".py").is_file()):
            return f"{spec}{'&' if mark else '?'}folder={quote_plus(str(home.resolve()))}"
    return spec
