"""What `psycheck.audit` takes in Python: its keywords, several models, and suites made in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from psycheck.core.audit import Audit
from psycheck.core.corpus import Corpus
from psycheck.core.model import Model
from psycheck.corpora.column_keywords import KEYWORDS, ColumnKeywords, unknown_keyword

if TYPE_CHECKING:
    from psycheck.audits.plan import Settings
    from psycheck.audits.suite import Check, Suite
    from psycheck.models.opening import ModelLike

    SuiteLike = str | Path | Suite | Check | Mapping[str, Any]
    ModelsLike = ModelLike | Sequence[ModelLike] | Mapping[str, ModelLike]


class SettingKeywords(TypedDict, total=False):
    """The settings of an audit as keywords (`psycheck.audits.plan.Settings` says what each means)."""

    suites: "SuiteLike | Sequence[SuiteLike]"
    audits: str | Audit | Sequence[str | Audit]
    threshold: float | Literal["dev"]
    variants: Literal["suite", "each", "one"]
    seed: int
    fit: bool
    show_texts: bool
    swap: str | Sequence[str]
    swap_person: Literal["all", "main"]
    trained_on: str | Sequence[str] | Mapping[str, Sequence[str]]
    budget: int | None
    until: float | None
    evidence: str
    engine: str
    allow_remote: bool
    max_requests: int | None
    max_cost: float | None
    ask_again: Literal["unreadable"] | None


class AuditKeywords(ColumnKeywords, SettingKeywords, total=False):
    """The columns of the corpora, and the settings."""


_SETTINGS = tuple(SettingKeywords.__annotations__)


def split_keywords(keywords: AuditKeywords) -> tuple[ColumnKeywords, dict[str, Any]]:
    """The keywords that name columns, and the settings; an unknown one is refused."""
    columns: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for name, value in keywords.items():
        if name in KEYWORDS:
            columns[name] = value
        elif name in _SETTINGS:
            settings[name] = value
        else:
            raise unknown_keyword(name, (*KEYWORDS, *_SETTINGS, "split", "out", "gates"), "audit")

    # One name may stand for a list of one.
    for name in ("swap", "trained_on"):
        if isinstance(settings.get(name), str):
            settings[name] = (settings[name],)
    return ColumnKeywords(**columns), settings  # type: ignore[typeddict-item]  # sorted by name above


def open_models(models: "ModelsLike", *, positive: Any = None) -> list[Model]:
    """Open one model, each of a list, or each of {name: model}.

    `positive` names the positive value of the corpora; an object in memory may have a class of that name.
    """
    if isinstance(models, Mapping):
        return [_open(model, positive, name=str(name)) for name, model in models.items()]
    # A tuple may be a network with its tokenizer.
    is_pair = isinstance(models, tuple) and len(models) == 2 and hasattr(models[1], "get_vocab")
    if isinstance(models, list | tuple) and not is_pair:
        return [_open(model, positive) for model in models]
    return [_open(models, positive)]


def _open(model: Any, positive: Any, name: str | None = None) -> Model:
    from psycheck.models.opening import open_model

    options: dict[str, Any] = {}
    if name is not None:
        options["name"] = name
    is_in_memory = not isinstance(model, str | Path | Model)
    if is_in_memory and isinstance(positive, str | int | bool):
        options["positive"] = str(positive)
    return open_model(model, **options)


def split_suites(suites: Any) -> tuple[tuple[str, ...], "list[Suite]"]:
    """The names of suites, and the suites that were made in Python; without any, those of the settings."""
    from psycheck.audits.plan import Settings
    from psycheck.audits.suite import Check, Suite, read_suite, suite_of_checks

    if suites is None:
        return Settings().suites, []
    listed = list(suites) if isinstance(suites, list | tuple) else [suites]

    names: list[str] = []
    objects: list[Suite] = []
    checks: list[Check | Mapping[str, Any]] = []
    for suite in listed:
        is_check = isinstance(suite, Check) or (isinstance(suite, Mapping) and "check" not in suite)
        if is_check:
            checks.append(suite)
        elif isinstance(suite, Suite | Mapping):
            objects.append(read_suite(suite))
        else:
            names.append(str(suite))
    if checks:
        objects.append(suite_of_checks(checks))
    return tuple(names), objects


def with_scores_by_id(
    models: Sequence[Model], corpora: Sequence[Corpus], settings: "Settings"
) -> tuple[list[Model], "Settings"]:
    """The models with scores by id matched to texts, and the settings.

    Where all scores are by id, edited texts have none: the default audits shrink to performance.
    """
    from psycheck.audits.plan import DEFAULT_AUDITS
    from psycheck.models.score_file import ScoreFile, with_texts_of

    by_id = [isinstance(model, ScoreFile) and model.by_id for model in models]
    matched = [
        with_texts_of(model, corpora) if isinstance(model, ScoreFile) and model.by_id else model
        for model in models
    ]
    if by_id and all(by_id) and settings.audits == DEFAULT_AUDITS:
        settings = replace(settings, audits=("performance",))
    return matched, settings
