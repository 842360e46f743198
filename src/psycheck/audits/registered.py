"""Audits by name: those that come with psycheck, those of other packages, and python:module:object.

`NAME?key=value` gives an audit its own options, which are fields of the dataclass that it declares.
"""

import importlib
import inspect
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from psycheck.core.audit import Audit, AuditKind, RunContext
from psycheck.core.errors import BadInput
from psycheck.core.registry import AUDITS
from psycheck.io.settings import read_settings
from psycheck.models.options import query_of, typed_values

PYTHON = "python:"
_PARTS = ("name", "measures", "ask", "judge")  # what every audit must have
_LATE = 50
_NAME = re.compile(r"[\w-]+", re.ASCII)


@runtime_checkable
class TestsSuites(Protocol):
    """A kind of audit that tests the checks of suites."""

    tests_suites: bool


@runtime_checkable
class Positioned(Protocol):
    """A kind of audit that says where its findings stand in a run."""

    position: int


def split_audits(requested: Iterable[Any]) -> tuple[list[str], list[Audit]]:
    """The names among the requested audits, and the audit objects, checked for what an audit must have."""
    # A single name is iterable, too: by its letters.
    if isinstance(requested, str):
        requested = [requested]

    names: list[str] = []
    objects: list[Audit] = []
    for audit in requested:
        if isinstance(audit, str):
            names.append(audit)
        else:
            objects.append(checked_audit(audit))
    return names, objects


def unknown_audits(names: Iterable[str]) -> list[str]:
    """The names that no package registers; nothing is imported."""
    bare_names = [spec.partition("?")[0] for spec in names]
    return [name for name in bare_names if not name.startswith(PYTHON) and name not in AUDITS]


def prepare_audits(context: RunContext, names: Iterable[str], objects: Sequence[Audit]) -> list[Audit]:
    """The audits of a run, in the order in which their findings are written."""
    prepared: list[tuple[int, Audit]] = []
    for spec in dict.fromkeys(names):
        kind, options = _opened(spec)
        audits: Sequence[Any] = [kind]
        if isinstance(kind, AuditKind):
            audits = kind.prepare(context, options)
        # One kind may make several audits, such as one per suite: they stand together.
        position = _position(kind)
        for audit in audits:
            prepared.append((position, checked_audit(audit)))

    prepared += [(_position(audit), audit) for audit in objects]
    prepared.sort(key=lambda entry: entry[0])  # stable: audits of one position stay in their order
    return [audit for _, audit in prepared]


def tests_suites(names: Iterable[str]) -> bool:
    """Whether one of these audits tests the checks of suites."""
    # Only ours: to look at another package's audit would import it before it is needed.
    shipped = [AUDITS.get(name) for name in names if AUDITS.is_ours(name)]
    return any(isinstance(kind, TestsSuites) for kind in shipped)


def checked_audit(audit: Any) -> Audit:
    """An audit of the user, if it has what an audit must have and no name of ours."""
    lacking = [part for part in _PARTS if not hasattr(audit, part)]
    if lacking:
        raise BadInput(
            f"{type(audit).__name__} is not an audit: it has no {', '.join(lacking)}",
            code="audit.lacks-parts",
            where="audits",
            allowed=f"{', '.join(AUDITS.names())}, or an object with name, measures, ask and judge",
        )

    # The name becomes part of file names, and of the keys by which pages find findings.
    shipped = [name for name in AUDITS.names() if AUDITS.is_ours(name)]
    is_usable = audit.name not in shipped and _NAME.fullmatch(str(audit.name))
    if is_own(audit) and not is_usable:
        raise BadInput(
            f"an audit cannot be called '{audit.name}'",
            code="audit.name-taken",
            where="audits",
            allowed=f"letters, digits, _ and -, and not {', '.join(shipped)}",
        )
    checked: Audit = audit
    return checked


def is_own(audit: object) -> bool:
    """Whether an audit was written outside the package."""
    return not type(audit).__module__.startswith("psycheck.")


def _opened(spec: str) -> tuple[Any, Any]:
    """The registered kind or audit of a spec, and its options as the kind declares them."""
    name, _, query = spec.partition("?")
    values = query_of(query, spec)
    in_module = name.startswith(PYTHON)
    thing = _imported(name.removeprefix(PYTHON)) if in_module else AUDITS.get(name)
    if isinstance(thing, AuditKind):
        return thing, _options(thing.options, values, spec)
    if inspect.isclass(thing):
        arguments = _arguments(thing, values, spec)
        return thing(**arguments), None
    if values:
        raise BadInput(
            f"audit '{name}' takes no options",
            code="audit.takes-no-options",
            where=spec,
            allowed=name,
        )
    return thing, None


def _options(kind: type | None, values: dict[str, str], spec: str) -> Any:
    """The options of an audit, read by their annotations."""
    if kind is None:
        if values:
            raise BadInput(
                f"audit '{spec.partition('?')[0]}' takes no options",
                code="audit.takes-no-options",
                where=spec,
            )
        return None
    return read_settings(kind, typed_values(kind, values), spec)


def _arguments(audit: type, values: dict[str, str], spec: str) -> dict[str, Any]:
    """The arguments of a class of audits: the fields of a dataclass, read by their annotations."""
    if not values:
        return {}
    if not is_dataclass(audit):
        raise BadInput(
            f"audit '{audit.__name__}' takes no options",
            code="audit.takes-no-options",
            where=spec,
            do="make it a dataclass whose fields are the options",
        )
    options = read_settings(audit, typed_values(audit, values), spec)
    # Only what was named: the class fills in its own defaults.
    return {name: getattr(options, name) for name in values}


def _position(kind: object) -> int:
    """Where the findings of an audit stand in a run: those that do not say come after most of ours."""
    if isinstance(kind, Positioned):
        return kind.position
    return _LATE


def _imported(target: str) -> Any:
    """The object that "module:object" or "file.py:object" names."""
    module, _, path = target.rpartition(":")
    # The command does not run from the current folder, so Python would not look there.
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    dotted_name = module.removesuffix(".py").replace("/", ".")
    try:
        thing: Any = importlib.import_module(dotted_name)
        for part in path.split("."):
            thing = getattr(thing, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise BadInput(
            f"cannot import the audit '{target}' ({type(error).__name__})",
            code="audit.cannot-import",
            where="audits",
            allowed="python:MODULE:OBJECT, found from the current folder",
        ) from error
    return thing
