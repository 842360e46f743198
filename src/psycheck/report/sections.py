"""Sections of the page, and the findings that none has shown yet, so that none is dropped."""

from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple, TypeVar

from markupsafe import Markup

from psycheck.core.finding import Finding
from psycheck.core.run import Run
from psycheck.report.page import templates

Key = tuple[str, ...]
Item = TypeVar("Item")
Group = TypeVar("Group", bound=Hashable)


class Section(NamedTuple):
    """One section of the page: its anchor, its name in the navigation, and its HTML."""

    anchor: str
    name: str
    html: Markup


class UnshownFindings(list[Finding]):
    """The findings of a run that no section has shown yet; what is left at the end is "Other findings"."""

    def __init__(self, run: Run) -> None:
        super().__init__(run.findings)
        self.run = run

    def take(self, belongs: Callable[[Finding], bool], key: Callable[[Finding], Key]) -> dict[Key, Finding]:
        """Take the findings that belong to a section, by their key; of two with one key the second stays."""
        by_key: dict[Key, Finding] = {}
        left = []
        for finding in self:
            if belongs(finding) and key(finding) not in by_key:
                by_key[key(finding)] = finding
            else:
                left.append(finding)
        # In place: the page shows what is left in this very list.
        self[:] = left
        return by_key


def drawn(anchor: str, *parts: object) -> list[Section]:
    """The section that the macro of this name in sections.html.j2 draws; none if its first part is empty."""
    if not parts[0]:
        return []
    macros: Any = templates().get_template("sections.html.j2").module
    draw_section = getattr(macros, anchor)
    return [
        Section(
            anchor=anchor,
            name=anchor.capitalize(),
            html=draw_section(*parts),
        )
    ]


def by(*keys: str) -> Callable[[Finding], Key]:
    """The key made of the measure and of entries of `where`, empty where a finding lacks one."""

    # In one expression: pages of many models ask for the keys of many thousand findings.
    def key_of(finding: Finding) -> Key:
        return tuple(finding.measure if key == "measure" else finding.where.get(key, "") for key in keys)

    return key_of


def unique(items: Iterable[Group]) -> list[Group]:
    """Each item once, in order."""
    return list(dict.fromkeys(items))


def grouped(items: Iterable[Item], key: Callable[[Item], Group]) -> dict[Group, list[Item]]:
    """The items by their key, in order."""
    groups: dict[Group, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
