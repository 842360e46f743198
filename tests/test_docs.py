"""Links lead somewhere, every page is found, every verb and room is named, and the notebook runs."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from psycheck.commands.verbs import VERBS
from tools.import_graph import redrawn
from tools.reference_pages import PAGES as PAGES_FROM_CODE

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
PAGE_NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
HOW_TO_WORDS = 15_000
ARCHITECTURE_WORDS = 1_200
README_LINES = 120
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """The files and headings of this repository that a page leads to."""
    # In code, brackets before parentheses are no link.
    prose = _CODE.sub("", page.read_text("utf-8"))
    for target, heading in _LINK.findall(prose):
        place = (page.parent / target).resolve() if target else page
        yield place, heading


def headings(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    plain_titles = (re.sub(r"[^\w\- ]", "", title.lower()) for title in titles)
    return {title.replace(" ", "-") for title in plain_titles}


@pytest.mark.parametrize("page", PAGES, ids=PAGE_NAMES)
def test_links_lead_somewhere(page: Path) -> None:
    for target, heading in links(page):
        assert target.exists(), target
        assert not heading or heading in headings(target), f"{target}#{heading}"


def test_every_page_is_found_from_the_first() -> None:
    reached: set[Path] = set()
    waiting = [DOCS / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        for target, _ in links(page):
            if target.suffix == ".md" and DOCS in target.parents:
                waiting.append(target)

    pages = set(DOCS.rglob("*.md"))
    assert sorted(pages - reached) == []


def test_pages_stay_short() -> None:
    """One how-to per job; what is looked up rather than read belongs into docs/reference."""
    how_tos = (DOCS / "how-to").glob("*.md")
    assert sum(words_of(page) for page in how_tos) <= HOW_TO_WORDS
    assert words_of(DOCS / "architecture.md") <= ARCHITECTURE_WORDS

    readme = (ROOT / "README.md").read_text("utf-8")
    assert len(readme.splitlines()) < README_LINES


def words_of(page: Path) -> int:
    text = page.read_text("utf-8")
    return len(text.split())


@pytest.mark.parametrize("name", PAGES_FROM_CODE)
def test_the_reference_is_made_from_the_code(name: str) -> None:
    page = DOCS / "reference" / name
    assert page.read_text("utf-8") == PAGES_FROM_CODE[name](), "run `make docs`"


def test_the_readme_names_every_verb() -> None:
    verbs: set[str] = set()
    for line in (ROOT / "README.md").read_text("utf-8").splitlines():
        if line.startswith("| [`"):
            first_column = line.split("|")[1]
            verbs |= set(re.findall(r"`([\w-]+)`", first_column))
    assert verbs == set(VERBS)


def test_the_map_names_every_room() -> None:
    source = ROOT / "src" / "psycheck"
    # Modules at the top are rooms of one file; those with underscores are not.
    rooms = {path.name for path in source.glob("*.py") if not path.name.startswith("__")}
    rooms |= {f"{path.parent.name}/" for path in source.glob("*/__init__.py")}

    architecture = (DOCS / "architecture.md").read_text("utf-8")
    table = architecture.partition("| room |")[2].partition("\n\n")[0]
    named: set[str] = set()
    for row in table.splitlines()[1:]:
        first_column = row.split("|")[1]
        named |= set(re.findall(r"`([\w.]+/?)`", first_column))
    assert named == rooms


def test_the_import_graph_is_up_to_date() -> None:
    page = (DOCS / "architecture.md").read_text("utf-8")
    # Without the marks nothing would be redrawn, and the next line would always hold.
    assert "<!-- import graph: make docs -->" in page
    assert redrawn(page) == page, "run `make docs`"


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PSYCHECK_STORE", str(tmp_path / "scores.sqlite"))
    notebook = json.loads((DOCS / "notebooks" / "audit.ipynb").read_text("utf-8"))

    names: dict[str, object] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec("".join(cell["source"]), names)
    assert (tmp_path / "runs/notebook/report.html").is_file()
