"""What can be named: audits, model kinds, measures, file formats, engines, suites, prompts and pages.

Each is an entry point of an installed package; ours stand in pyproject.toml, as those of any other package
stand in its own. Nothing is imported before it is asked for by name, so listing names stays cheap.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from psycheck.core.errors import BadInput, PsycheckError, nearest

if TYPE_CHECKING:
    from psycheck.core.run import Page

T = TypeVar("T")
_OURS = "psycheck."  # how the module of everything that comes with psycheck begins


@dataclass(frozen=True, slots=True)
class Registry(Generic[T]):
    """The things of one group, by name: `AUDITS.get("performance")`.

    `what` is the word for one of them in messages. `added` holds what this process added by hand, such as a
    model kind in a notebook; it takes precedence over installed packages.
    """

    group: str
    what: str
    added: dict[str, T] = field(default_factory=dict, repr=False)

    def names(self) -> tuple[str, ...]:
        """All names: ours, then those of other packages, then those that were added by hand."""
        in_order = [*_installed(self.group), *self.added]
        return tuple(dict.fromkeys(in_order))

    def __contains__(self, name: object) -> bool:
        return name in self.added or name in _installed(self.group)

    def get(self, name: str) -> T:
        """The thing of this name, imported now; an unknown name is refused with the nearest known one."""
        if name in self.added:
            return self.added[name]

        candidates = _installed(self.group).get(name, ())
        if not candidates:
            raise BadInput(
                f"unknown {self.what} '{name}'",
                code="registry.unknown-name",
                allowed=nearest(name, self.names()),
            )

        if len(candidates) > 1:
            packages = " and ".join(_package(entry) for entry in candidates)
            raise BadInput(
                f"the {self.what} '{name}' is defined by {packages}",
                code="registry.defined-twice",
                allowed="each name in one package",
                do="uninstall one of them, or ask its author for another name",
            )
        return _loaded(candidates[0], self.what)  # type: ignore[no-any-return]  # the group fixes the type

    def is_ours(self, name: str) -> bool:
        """Whether the thing of this name comes with psycheck."""
        if name in self.added:
            return False
        candidates = _installed(self.group).get(name, ())
        # A name that another package claims too is nobody's until one of them is uninstalled.
        return len(candidates) == 1 and _is_ours(candidates[0])

    def package(self, name: str) -> str:
        """The package, or packages, that define the thing of this name; nothing is imported."""
        if name in self.added:
            return "this process"
        candidates = _installed(self.group).get(name, ())
        return " and ".join(_package(entry) for entry in candidates)

    @contextmanager
    def adding(self, name: str, thing: T) -> Iterator[None]:
        """Know a thing by this name for a while: in a test, or in a notebook cell."""
        before = dict(self.added)
        self.added[name] = thing
        try:
            yield
        finally:
            self.added.clear()
            self.added.update(before)


# The types are those that the rooms expect; core knows none of the rooms.
AUDITS: Registry[Any] = Registry("psycheck.audits", "audit")
MODEL_KINDS: Registry[Any] = Registry("psycheck.models", "kind of model")
MEASURES: Registry[Any] = Registry("psycheck.measures", "measure")
FORMATS: Registry[Any] = Registry("psycheck.formats", "file format")
ENGINES: Registry[Any] = Registry("psycheck.engines", "engine")
SUITES: Registry[Any] = Registry("psycheck.suites", "suite")
PROMPTS: Registry[Any] = Registry("psycheck.prompts", "prompt")
PAGES: "Registry[Page]" = Registry("psycheck.pages", "page")


@cache
def _installed(group: str) -> dict[str, tuple[EntryPoint, ...]]:
    """The entry points of a group by name, ours first; two packages may claim one name."""
    ours_first = sorted(entry_points(group=group), key=lambda entry: not _is_ours(entry))
    by_name: dict[str, tuple[EntryPoint, ...]] = {}
    for entry in ours_first:
        same_name = by_name.get(entry.name, ())
        if entry not in same_name:  # an editable install may be listed twice
            by_name[entry.name] = (*same_name, entry)
    return by_name


def _is_ours(entry: EntryPoint) -> bool:
    # By its module: to ask for the name of a package would parse the package's metadata.
    return entry.value.startswith(_OURS)


def _package(entry: EntryPoint) -> str:
    """The package that an entry point belongs to, for messages."""
    if entry.dist is not None:
        return entry.dist.name
    return "an unknown package"


def _loaded(entry: EntryPoint, what: str) -> Any:
    """Import what an entry point names; code of another package may raise anything."""
    try:
        return entry.load()
    except (PsycheckError, KeyboardInterrupt, MemoryError):
        raise
    except Exception as error:
        raise BadInput(
            f"the {what} '{entry.name}' cannot be imported ({type(error).__name__})",
            code="registry.cannot-import",
            where=f"{_package(entry)}, {entry.value}",
            do=f"repair or uninstall {_package(entry)}",
        ) from error
