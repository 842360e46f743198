"""A plan: what an audit does, from a TOML file or from options, checked before anything runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

from psycheck.audits.fairness import SWAPPED
from psycheck.audits.gates import Gate, parse_gate
from psycheck.audits.registered import unknown_audits
from psycheck.audits.thresholds import DEV, Threshold, threshold_of
from psycheck.core.errors import BadInput, nearest
from psycheck.core.registry import AUDITS, ENGINES
from psycheck.corpora.columns import Columns
from psycheck.corpora.known.opening import relative_to
from psycheck.corpora.opening import CorpusPlan, corpus_path
from psycheck.io.settings import (
    AT_LEAST_0,
    AT_LEAST_1,
    Limit,
    check_keys,
    read_settings,
    read_toml,
    wrong,
)
from psycheck.models.opening import paths_of_spec, relative_spec
from psycheck.scoring.engine import LOCAL, engine_name
from psycheck.scoring.limits import Limits
from psycheck.text.gender.edits import scope_of

Variants = Literal["suite", "each", "one"]
Width = Annotated[float, Limit("above 0, below 0.5", lambda value: 0 < value < 0.5)]
DEFAULT_AUDITS = ("performance", "behaviour", "fairness", "length", "histories")


@dataclass(frozen=True, slots=True)
class Settings(Limits):
    """The settings of an audit, apart from its models and corpora, with its limits.

    `threshold` is a number, at which every model decides, or "dev": chosen on the dev split of the corpora,
    which is then not judged. Without one a model decides at its own, or else at 0.5.
    `swap` names the kinds of gendered words that the fairness audit swaps, `swap_person` whose. `trained_on`
    maps a model's name to the corpora it was trained on ("" stands for every model). `budget` is how many
    distinct texts each model is asked at most, `until` the half-width of a pass rate's interval that is
    narrow enough. `evidence` is the symptom model that weighs the posts of histories. `engine` names what
    scores the texts (`psycheck ls engines`).
    """

    suites: tuple[str, ...] = ("deck",)
    audits: tuple[str, ...] = DEFAULT_AUDITS
    threshold: Threshold | None = None
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
    evidence: str = "symptoms:default"
    engine: str = LOCAL

    @property
    def fixed_threshold(self) -> float:
        """The decision threshold before any is chosen on dev, of models that have none of their own."""
        if isinstance(self.threshold, float):
            return self.threshold
        return 0.5


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
_COLUMNS = {
    "split_column" if column.name == "split" else column.name: column.name for column in fields(Columns)
}
_CORPUS_KEYS = tuple(key.name for key in fields(CorpusPlan) if key.name != "columns")
_FILE_KEYS = tuple(key.name for key in fields(_File))
_SETTING_KEYS = tuple(key.name for key in fields(Settings) if key.name != "gates")


def read_plan(path: str | Path) -> Plan:
    """Read psycheck.toml; paths in it are relative to its folder, unknown keys are errors."""
    path = Path(path)
    home = path.parent
    raw = read_toml(path, "plan")
    # Before anything is read: each reader below takes its own keys and overlooks the others.
    check_keys(raw, (*_FILE_KEYS, *_SETTING_KEYS, *_COLUMNS), str(path))
    file = read_settings(_File, _only(raw, _FILE_KEYS), str(path))
    settings = settings_of(_only(raw, _SETTING_KEYS), str(path))

    # Columns named outside the corpora are those of each corpus that does not name its own.
    shared_columns = _only(raw, _COLUMNS)
    corpora: list[CorpusPlan] = []
    for number, corpus in enumerate(file.corpus, 1):
        corpora.append(_corpus(corpus, shared_columns, home, f"{path}, corpus {number}"))

    gates = [parse_gate(text) for text in file.gates]
    for number, gate in enumerate(file.gate, 1):
        gates.append(_checked_gate(gate, home, f"{path}, gate {number}"))

    return Plan(
        models=tuple(relative_spec(spec, home) for spec in file.models),
        corpora=tuple(corpora),
        settings=replace(
            settings,
            suites=tuple(_suite_path(name, home) for name in settings.suites),
            gates=tuple(gates),
        ),
        out=None if file.out is None else home / file.out,
        store=None if file.store is None else home / file.store,
    )


def _suite_path(name: str, home: Path) -> str:
    """A suite file beside the plan, or the name of a registered suite."""
    # A file comes first: whoever puts one beside the plan means it.
    path = home / name
    return str(path) if path.is_file() else name


def settings_of(raw: Mapping[str, Any], place: str = "") -> Settings:
    """Check settings that come from a file, from options or from a caller."""
    values = dict(raw)
    if "trained_on" in raw and not isinstance(raw["trained_on"], Mapping):
        # A plain list is about every model, which is what "" stands for.
        values["trained_on"] = {"": raw["trained_on"]}
    if "threshold" in raw:
        values["threshold"] = threshold_of(raw["threshold"])
    settings = read_settings(Settings, values, place)
    scope_of(settings.swap, settings.swap_person, place)  # unknown words or persons are errors
    _refuse_wrong_budget(settings, place)

    for name in unknown_audits(settings.audits):
        raise wrong(
            f"unknown audit '{name}'",
            place,
            "audits",
            allowed=nearest(name, AUDITS.names()),
            code="plan.unknown-audit",
        )
    if engine_name(settings.engine) not in ENGINES:
        raise wrong(
            f"unknown engine '{settings.engine}'",
            place,
            "engine",
            allowed=", ".join(ENGINES.names()),
            code="plan.unknown-engine",
        )
    return settings


def _refuse_wrong_budget(settings: Settings, place: str) -> None:
    """Refuse settings that do not go with a budget, or without one."""
    if settings.threshold == DEV and settings.budget is not None:
        raise wrong(
            "a budget is spent on the texts that are judged, and a threshold from dev needs all of dev",
            place,
            "budget",
            do="set `threshold` to a number, or leave out the budget",
            code="budget.with-dev-threshold",
        )
    if settings.until is not None and settings.budget is None:
        raise wrong(
            "intervals are narrow `until` a budget is spent, and there is none",
            place,
            "until",
            do="set `budget`",
            code="budget.until-without-budget",
        )


def inputs_of(plan: Plan) -> list[Path]:
    """The files and folders that a plan reads."""
    # A run must not be written over any of these.
    paths: list[Path] = []
    for corpus in plan.corpora:
        path = corpus_path(corpus)
        if path is not None:
            paths.append(path)
    for spec in plan.models:
        paths += paths_of_spec(spec)
    paths += [Path(name) for name in plan.settings.suites]
    paths += [Path(gate.no_worse_than) for gate in plan.settings.gates if gate.no_worse_than]
    if plan.store:
        paths.append(plan.store)
    return paths


def _corpus(
    raw: Mapping[str, Any],
    shared: Mapping[str, Any],
    home: Path,
    place: str,
) -> CorpusPlan:
    """One [[corpus]]; columns that it does not name itself are those at the top of the plan."""
    check_keys(raw, (*_CORPUS_KEYS, *_COLUMNS), place)
    corpus = read_settings(CorpusPlan, _only(raw, _CORPUS_KEYS), place)
    named = _only({**shared, **raw}, _COLUMNS)
    column_settings = {_COLUMNS[key]: value for key, value in named.items()}
    columns = read_settings(Columns, column_settings, place)

    path = corpus.path
    if not path.startswith("demo:"):
        path = relative_to(home, path)
    return replace(corpus, path=path, columns=columns)


def _checked_gate(gate: Gate, home: Path, place: str) -> Gate:
    """One [[gate]]; its baseline run is relative to the plan."""
    bounds = (gate.min, gate.max, gate.no_worse_than)
    if all(bound is None for bound in bounds):
        raise BadInput(
            "the gate has no bound",
            code="gate.no-bound",
            where=place,
            allowed="min, max or no_worse_than",
        )
    if gate.tolerance is not None and not gate.no_worse_than:
        raise BadInput(
            "the gate has a tolerance but no baseline",
            code="gate.tolerance-without-baseline",
            where=place,
            allowed="no_worse_than = RUN",
        )
    if not gate.no_worse_than:
        return gate
    return replace(gate, no_worse_than=str(home / gate.no_worse_than))


def _only(raw: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: raw[key] for key in keys if key in raw}
