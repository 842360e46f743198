"""A plan: what an audit is asked to do, from a TOML file or from options, checked before anything runs."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args
from urllib.parse import quote_plus

from psycheck.corpora.columns import Columns
from psycheck.corpora.known.catalogue import relative_to
from psycheck.corpora.open import CorpusPlan, corpus_path
from psycheck.errors import BadInput, nearest
from psycheck.models.open import parse_spec
from psycheck.runs.gates import Gate, parse_gate
from psycheck.text.gender.edits import scope_of

Variants = Literal["suite", "each", "one"]
AUDITS = ("performance", "behaviour", "fairness", "length")


@dataclass(frozen=True, slots=True)
class Settings:
    """How corpora and models are judged, whatever they are.

    `swap` names the words that the fairness audit swaps, `swap_person` whose. `trained_on` maps a model's
    name to the corpora it was trained on ("" stands for every model).
    """

    suites: tuple[str, ...] = ("deck",)
    audits: tuple[str, ...] = AUDITS
    threshold: float = 0.5
    variants: Variants = "suite"
    seed: int = 0
    fit: bool = False
    show_texts: bool = False
    resamples: int = 1_000
    gates: tuple[Gate, ...] = ()
    swap: tuple[str, ...] = ("pronouns",)
    swap_person: str = "all"
    trained_on: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Plan:
    """Models, corpora, settings, and where results go."""

    models: tuple[str, ...]
    corpora: tuple[CorpusPlan, ...]
    settings: Settings = field(default_factory=Settings)
    out: Path | None = None
    store: Path | None = None


# `split` says which split to use; the column that holds the splits is `split_column`, as on the command line.
_COLUMN_KEYS = tuple("split_column" if f.name == "split" else f.name for f in fields(Columns))
_CORPUS_KEYS = ("path", "name", "split", "format", *_COLUMN_KEYS)
_GATE_KEYS = ("measure", "min", "max", "where", "no_worse_than")
_SETTING_KEYS = tuple(f.name for f in fields(Settings) if f.name != "gates")
_KEYS = ("models", "corpus", "gate", "gates", "out", "store", *_SETTING_KEYS, *_COLUMN_KEYS)


def read_plan(path: str | Path) -> Plan:
    """Read psycheck.toml; paths in it are relative to its folder, unknown keys are errors."""
    path = Path(path)
    try:
        raw = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BadInput(f"no plan here ({error.strerror})", where=str(path), allowed="a TOML file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"the plan is no TOML: {error}", where=str(path)) from error
    place = str(path)
    _known(raw, _KEYS, place)
    home = path.parent
    shared = {key: raw[key] for key in _COLUMN_KEYS if key in raw}
    corpora = tuple(
        _corpus(part, shared, home, f"{place}, corpus {number}")
        for number, part in enumerate(_tables(raw, "corpus", place), 1)
    )
    gates = [parse_gate(text) for text in _strings(raw, "gates", place)]
    gates += [
        _gate(part, f"{place}, gate {n}", home) for n, part in enumerate(_tables(raw, "gate", place), 1)
    ]
    settings = settings_of({key: raw[key] for key in _SETTING_KEYS if key in raw}, place)
    suites = tuple(str(home / name) if (home / name).is_file() else name for name in settings.suites)
    return Plan(
        models=tuple(_relative_model(spec, home) for spec in _strings(raw, "models", place)),
        corpora=corpora,
        settings=replace(settings, suites=suites, gates=tuple(gates)),
        out=_path(raw.get("out"), home, place, "out"),
        store=_path(raw.get("store"), home, place, "store"),
    )


def settings_of(raw: Mapping[str, Any], place: str) -> Settings:
    """Check settings that came from a file or from options."""
    given: dict[str, Any] = {}
    for key, value in raw.items():
        if key in ("suites", "audits", "swap"):
            given[key] = _strings(raw, key, place)
        elif key == "trained_on":
            given[key] = _trained_on(value, place)
        else:
            given[key] = _typed(key, value, place)
    settings = Settings(**given)
    if not 0 < settings.threshold < 1:
        raise BadInput(f"threshold {settings.threshold:g} is out of range", where=place, allowed="0 < t < 1")
    if settings.seed < 0:
        raise BadInput(f"seed {settings.seed} is below 0", where=place, allowed="0 or more")
    if settings.resamples < 100:
        raise BadInput("resamples is too small for an interval", where=place, allowed="100 or more")
    if settings.variants not in get_args(Variants):
        allowed = ", ".join(get_args(Variants))
        raise BadInput(f"variants '{settings.variants}' is not known", where=place, allowed=allowed)
    scope_of(settings.swap, settings.swap_person, place)
    for name in settings.audits:
        if name not in AUDITS:
            raise BadInput(f"audit '{name}' is not known", where=place, allowed=nearest(name, AUDITS))
    return settings


def inputs_of(plan: Plan) -> list[Path]:
    """The files and folders that a plan reads, as far as their names say."""
    paths = [path for said in plan.corpora if (path := corpus_path(said)) is not None]
    paths += [path for spec in plan.models for path in model_paths(spec)]
    paths += [Path(name) for name in plan.settings.suites]
    return [*paths, plan.store] if plan.store else paths


def model_paths(spec: str) -> list[Path]:
    """Where a model is read from: its file or folder, or the files that may hold its Python module."""
    kind, target, options = parse_spec(spec)
    if kind != "python":
        return [Path(target).expanduser()]
    module = target.rpartition(":")[0]
    if module.endswith(".py"):
        return [Path(module).expanduser()]
    folders = [Path(options["folder"]), Path()] if "folder" in options else [Path()]
    return [(folder / module.replace(".", "/")).with_suffix(".py") for folder in folders]


def refuse_input(target: Path, inputs: Iterable[Path], option: str) -> None:
    """Refuse to write over what is read: the same file by its path or by a link, or a file of a folder."""
    if not target.exists():
        return
    for path in inputs:
        same = path.exists() and path.samefile(target)
        if same or (path.is_dir() and target.resolve().is_relative_to(path.resolve())):
            raise BadInput(
                f"the output is the input: '{target}' is {'read here' if same else f'a file of {path}'}",
                where=option,
                allowed="a new file, or one that nothing here is read from",
                do="name another file",
            )


def _corpus(part: Mapping[str, Any], shared: Mapping[str, Any], home: Path, place: str) -> CorpusPlan:
    _known(part, _CORPUS_KEYS, place)
    path = part.get("path")
    if not isinstance(path, str):
        raise BadInput("a corpus needs a path", where=place, allowed='path = "posts.csv" or "demo:tweets"')
    columns: dict[str, Any] = {}
    for key in _COLUMN_KEYS:
        if key in (merged := {**shared, **part}):
            many = key in ("labels", "groups", "positive")
            field_name = "split" if key == "split_column" else key
            columns[field_name] = _strings(merged, key, place) if many else _text(merged, key, place)
    if not path.startswith("demo:"):
        path = relative_to(home, path)
    named = {key: _text(part, key, place) for key in ("name", "split", "format")}
    return CorpusPlan(path, named["name"], named["split"], named["format"], Columns(**columns))


def _gate(part: Mapping[str, Any], place: str, home: Path) -> Gate:
    _known(part, _GATE_KEYS, place)
    measure = _text(part, "measure", place)
    bounds = {key: part[key] for key in ("min", "max") if key in part}
    if measure is None or not (bounds or "no_worse_than" in part):
        raise BadInput("a gate needs a measure and a bound", where=place, allowed=", ".join(_GATE_KEYS))
    for key, value in bounds.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise BadInput(f"{key} is no number", where=place, allowed=f"{key} = 0.7")
    where = part.get("where", {})
    if not isinstance(where, dict) or not all(isinstance(value, str) for value in where.values()):
        raise BadInput("where is no table of words", where=place, allowed='where = { kind = "DIR" }')
    earlier = _text(part, "no_worse_than", place)
    return Gate(measure, **bounds, where=where, no_worse_than=str(home / earlier) if earlier else None)


def _known(raw: Mapping[str, Any], keys: Sequence[str], place: str) -> None:
    for key in raw:
        if key not in keys:
            raise BadInput(f"unknown key '{key}'", where=place, allowed=nearest(key, keys))


def _tables(raw: Mapping[str, Any], key: str, place: str) -> list[Mapping[str, Any]]:
    value = raw.get(key, [])
    if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
        raise BadInput(f"'{key}' is no list of tables", where=place, allowed=f"[[{key}]]")
    return value


def _strings(raw: Mapping[str, Any], key: str, place: str) -> tuple[str, ...]:
    value = raw.get(key, [])
    value = [value] if isinstance(value, str) else value
    if not isinstance(value, list | tuple) or not all(isinstance(part, str) for part in value):
        raise BadInput(f"'{key}' is no list of words", where=place, allowed=f'{key} = ["…"]')
    return tuple(value)


def _text(raw: Mapping[str, Any], key: str, place: str) -> str | None:
    value = raw.get(key)
    if value is not None and not isinstance(value, str):
        raise BadInput(f"'{key}' is no word", where=place, allowed=f'{key} = "…"')
    return value


def _typed(key: str, value: object, place: str) -> object:
    """A setting of the type that its default has; a whole number may stand for a decimal one."""
    default = next(f.default for f in fields(Settings) if f.name == key)
    kind = type(default)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not kind:
        names = {bool: "true or false", int: "a whole number", float: "a number", str: "a word"}
        raise BadInput(f"'{key}' has the wrong type", where=place, allowed=names[kind])
    return value


def _trained_on(value: object, place: str) -> dict[str, tuple[str, ...]]:
    if isinstance(value, dict):
        return {name: _strings(value, name, place) for name in value}
    return {"": _strings({"trained_on": value}, "trained_on", place)}


def _path(value: object, home: Path, place: str, key: str) -> Path | None:
    if value is not None and not isinstance(value, str):
        raise BadInput(f"'{key}' is no path", where=place, allowed=f'{key} = "…"')
    return None if value is None else home / value


def _relative_model(spec: str, home: Path) -> str:
    """Files and modules that stand beside a plan are found there; all else stays as it is."""
    kind, colon, rest = spec.partition(":")
    target, mark, options = rest.partition("?")
    if colon and kind in ("hf", "sklearn", "scores") and (home / target).exists():
        return f"{kind}:{home / target}{mark}{options}"
    if colon and kind == "python":
        module, _, path = target.rpartition(":")
        if module.endswith(".py") and (home / module).is_file():
            return f"{kind}:{home / module}:{path}{mark}{options}"
        package = home / module.partition(".")[0]
        if home.resolve() != Path.cwd() and (package.is_dir() or package.with_suffix(".py").is_file()):
            return f"{spec}{'&' if mark else '?'}folder={quote_plus(str(home.resolve()))}"
    return spec
