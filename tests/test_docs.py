"""Links lead somewhere, every page is found, every verb and room is named, and the notebook runs.

`python tests/test_docs.py` writes the import graph into docs/architecture.md.
"""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from psycheck.commands.verbs import VERBS
from tools.reference_pages import PAGES as PAGES_FROM_CODE

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


def test_the_how_tos_stay_short() -> None:
    """One page per job; what is looked up rather than read belongs into docs/reference."""
    words = {page.name: len(page.read_text("utf-8").split()) for page in (DOCS / "how-to").glob("*.md")}
    assert sum(words.values()) <= 15_000, words


@pytest.mark.parametrize("name", PAGES_FROM_CODE)
def test_the_reference_is_made_from_the_code(name: str) -> None:
    assert (DOCS / "reference" / name).read_text("utf-8") == PAGES_FROM_CODE[name](), "run `make docs`"


def test_the_readme_names_every_verb() -> None:
    rows = [line for line in (ROOT / "README.md").read_text("utf-8").splitlines() if line.startswith("| [`")]
    named = {verb for row in rows for verb in re.findall(r"`([\w-]+)`", row.split("|")[1])}
    assert named == set(VERBS)


def test_the_map_names_every_room() -> None:
    source = ROOT / "src" / "psycheck"
    rooms = {path.name for path in source.glob("*.py") if not path.name.startswith("__")}
    rooms |= {f"{path.parent.name}/" for path in source.glob("*/__init__.py")}
    table = (DOCS / "architecture.md").read_text("utf-8").partition("| room |")[2].partition("\n\n")[0]
    assert {
        name
        for row in table.splitlines()
        for name in re.findall(r"`([\w.]+/?)`", row.split("|")[1] if row else "")
    } == rooms


GRAPH = ("<!-- import graph: python tests/test_docs.py -->\n", "<!-- end of the import graph -->")
TOP = "core"  # the modules at the top level


def import_graph() -> str:
    """Which room imports which, as a Mermaid graph without the edges that follow from others."""
    source = ROOT / "src" / "psycheck"
    rooms = {path.parent.name for path in source.glob("*/__init__.py")}
    uses: dict[str, set[str]] = {}
    for path in sorted(source.rglob("*.py")):
        first = path.relative_to(source).parts[0]
        if first.startswith("__"):
            continue
        room = first if first in rooms else TOP
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            module = node.module if isinstance(node, ast.ImportFrom) else None
            if module and module.startswith("psycheck."):
                target = module.split(".")[1]
                uses.setdefault(room, set()).add(target if target in rooms else TOP)
    for room in uses:
        uses[room].discard(room)

    def reached(room: str) -> set[str]:
        return set().union(*({one} | reached(one) for one in uses.get(room, ())))

    lines = [
        f"  {room} --> {target}"
        for room in sorted(uses)
        for target in sorted(uses[room])
        if not any(target in reached(other) for other in uses[room] - {target})
    ]
    return "\n".join(["```mermaid", "graph LR", *lines, "```", ""])


def drawn(page: str) -> str:
    """The page with the graph drawn anew."""
    head, start, rest = page.partition(GRAPH[0])
    _, end, tail = rest.partition(GRAPH[1])
    return head + start + import_graph() + end + tail


def test_the_import_graph_is_up_to_date() -> None:
    page = (DOCS / "architecture.md").read_text("utf-8")
    assert GRAPH[0] in page
    assert drawn(page) == page, "run `python tests/test_docs.py`"


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PSYCHECK_STORE", str(tmp_path / "scores.sqlite"))
    cells = json.loads((DOCS / "notebooks" / "audit.ipynb").read_text("utf-8"))["cells"]
    names: dict[str, object] = {}
    for cell in (cell for cell in cells if cell["cell_type"] == "code"):
        assert cell["outputs"] == []
        exec("".join(cell["source"]), names)
    assert (tmp_path / "runs/notebook/report.html").is_file()


if __name__ == "__main__":
    architecture = DOCS / "architecture.md"
    architecture.write_text(drawn(architecture.read_text("utf-8")), "utf-8")
