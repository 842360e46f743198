"""The findings that no section has shown yet, so that none is dropped."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from psycheck.finding import Finding

Key = tuple[str, ...]
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class Shelf:
    """Holds findings until a section takes them; what is left at the end is "Other findings"."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.left = list(findings)

    def take(self, wanted: Callable[[Finding], bool], key: Callable[[Finding], Key]) -> dict[Key, Finding]:
        """Take the wanted findings by their key; of two with the same key, the second stays."""
        taken: dict[Key, Finding] = {}
        left = []
        for finding in self.left:
            if wanted(finding) and key(finding) not in taken:
                taken[key(finding)] = finding
            else:
                left.append(finding)
        self.left = left
        return taken


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
