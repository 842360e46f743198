"""Sections of the page, and the findings that none has shown yet, so that none is dropped."""

from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple, TypeVar

from markupsafe import Markup

from psycheck.finding import Finding
from psycheck.report.page import templates
from psycheck.run import Run

Key = tuple[str, ...]
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class Section(NamedTuple):
    """One section of the page: its anchor, its name in the navigation, and its HTML."""

    anchor: str
    name: str
    html: Markup


class Shelf(list[Finding]):
    """The findings of a run until a section takes them; what is left at the end is "Other findings"."""

    def __init__(self, run: Run) -> None:
        super().__init__(run.findings)
        self.run = run

    def take(self, wanted: Callable[[Finding], bool], key: Callable[[Finding], Key]) -> dict[Key, Finding]:
        """Take the wanted findings by their key; of two with the same key, the second stays."""
        taken: dict[Key, Finding] = {}
        left = []
        for finding in self:
            if wanted(finding) and key(finding) not in taken:
                taken[key(finding)] = finding
            else:
                left.append(finding)
        self[:] = left
        return taken


def drawn(anchor: str, *parts: object) -> list[Section]:
    """The section that the macro of this name in sections.html.j2 draws; none if its first part is empty."""
    macros: Any = templates().get_template("sections.html.j2").module
    return [Section(anchor, anchor.capitalize(), getattr(macros, anchor)(*parts))] if parts[0] else []


def by(*keys: str) -> Callable[[Finding], Key]:
    """The key made of the measure and of entries of `where`, empty where a finding lacks one."""
    return lambda f: tuple(f.measure if key == "measure" else f.where.get(key, "") for key in keys)


def unique(items: Iterable[K]) -> list[K]:
    """Each item once, in order."""
    return list(dict.fromkeys(items))


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """The items by their key, in order."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
