"""Links lead somewhere, every page is found, and every verb and every room is named."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from psycheck.cli.main import app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """The files and headings of this repository that a page leads to."""
    for target, heading in _LINK.findall(_CODE.sub("", page.read_text("utf-8"))):
        yield (page.parent / target).resolve() if target else page, heading


def headings(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    found = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target, heading in links(page):
        assert target.exists(), target
        assert not heading or heading in headings(target), f"{target}#{heading}"


def test_every_page_is_found_from_the_first() -> None:
    found, ahead = set[Path](), [DOCS / "README.md"]
    while ahead:
        page = ahead.pop()
        if page not in found:
            found.add(page)
            ahead += [
                target for target, _ in links(page) if target.suffix == ".md" and DOCS in target.parents
            ]
    assert sorted(set(DOCS.rglob("*.md")) - found) == []


def test_the_readme_names_every_verb() -> None:
    rows = [line for line in (ROOT / "README.md").read_text("utf-8").splitlines() if line.startswith("| [`")]
    named = {verb for row in rows for verb in re.findall(r"`([\w-]+)`", row.split("|")[1])}
    verbs = {command.name for command in app.registered_commands} | {g.name for g in app.registered_groups}
    assert named == verbs


def test_the_map_names_every_room() -> None:
    source = ROOT / "src" / "psycheck"
    rooms = {path.name for path in source.glob("*.py") if not path.name.startswith("__")}
    rooms |= {f"{path.parent.name}/" for path in source.glob("*/__init__.py")}
    table = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("| room |")[2].partition("\n\n")[0]
    assert {
        name
        for row in table.splitlines()
        for name in re.findall(r"`([\w.]+/?)`", row.split("|")[1] if row else "")
    } == rooms
