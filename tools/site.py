"""Build the documentation site, which works offline: `python -m tools.site [FOLDER]`.

The pages are written for reading in the repository. Here they are copied, links to files that are no pages
become plain text, and zensical makes the site, with an error for every warning.
"""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomli_w

from tools.python_reference import reference

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
# Pages at the top of the repository that belong to the site.
TOP_PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
SECTIONS = {
    "Jobs": "how-to",
    "Reference": "reference",
    "Benchmarks": "benchmarks",
    "Papers": "papers",
    "Decisions": "decisions",
}
FIRST = ("README.md", "quickstart.md", "concepts.md", "recipes.md")
LAST = ("how-we-speak.md", "architecture.md", *TOP_PAGES)
_LINK = re.compile(r"(!?)\[((?:[^\]`]|`[^`]*`)*)\]\((?!https?:|#)([^)#\s]*)(#[^)\s]*)?\)")
_FENCE = re.compile(r"^( *```.*?^ *```$)", re.DOTALL | re.MULTILINE)
_MERMAID = re.compile(r"```mermaid\ngraph LR\n(.*?)```", re.DOTALL)
_MARK = re.compile(r"^<!-- (?:not run|run by|slow).*-->\n", re.MULTILINE)
_FOREIGN_SCRIPT = "https://unpkg.com/iframe-worker/shim"
# A list or a table directly after a paragraph is a list on GitHub, and needs a blank line here.
_CLOSE_LIST = re.compile(r"^(?P<before>(?![-*|#<>\s]|\d+\. ).+)\n(?=(?:- |\d+\. |\| ))", re.MULTILINE)


def stage(folder: Path) -> None:
    """Copy the pages and pictures into a folder as the site needs them, and its configuration."""
    pages = folder / "pages"
    for source in sorted(path for path in DOCS.rglob("*") if path.suffix in (".md", ".png", ".svg")):
        _copy(source, pages / source.relative_to(DOCS))
    for name in TOP_PAGES:
        _copy(ROOT / name, pages / name)

    (pages / "reference" / "python.md").write_text(reference(), "utf-8")

    settings = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))
    project: dict[str, Any] = settings["project"]
    project |= {"docs_dir": "pages", "site_dir": "site", "nav": navigation(pages)}
    (folder / "zensical.toml").write_text(tomli_w.dumps(settings), "utf-8")


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix != ".md":
        shutil.copyfile(source, target)
        return
    target.write_text(site_page(source), "utf-8")


def site_page(source: Path) -> str:
    """The text of a page with links that lead somewhere on the site."""
    text = _MERMAID.sub(_import_table, _MARK.sub("", source.read_text("utf-8")))
    parts = _FENCE.split(text)
    # Odd parts are code, in which nothing is a link.
    parts[::2] = [_with_site_links(_CLOSE_LIST.sub(r"\g<before>\n\n", part), source) for part in parts[::2]]
    return "".join(parts)


def _import_table(match: re.Match[str]) -> str:
    """The import graph as a list: drawing it would load a script from elsewhere."""
    edges: dict[str, list[str]] = {}
    for room, target in re.findall(r"(\w+) --> (\w+)", match[1]):
        edges.setdefault(room, []).append(target)
    return "\n".join(f"- `{room}` imports {', '.join(targets)}" for room, targets in edges.items())


def _with_site_links(text: str, source: Path) -> str:
    def rewritten(match: re.Match[str]) -> str:
        picture, label, target, heading = match[1], match[2], match[3], match[4] or ""
        place = (source.parent / target).resolve()
        if not _is_on_site(place):
            return label
        return f"{picture}[{label}]({_from_page(source, place)}{heading})"

    return _LINK.sub(rewritten, text)


def _is_on_site(place: Path) -> bool:
    if place.suffix not in (".md", ".png", ".svg"):
        return False
    return DOCS in place.parents or (place.parent == ROOT and place.name in (*TOP_PAGES, "README.md"))


def _from_page(source: Path, place: Path) -> str:
    """The relative link between two pages of the site."""
    here, there = _on_site(source), _on_site(place)
    return "../" * (len(here.parts) - 1) + there.as_posix()


def _on_site(place: Path) -> Path:
    """Where a file of the repository stands on the site."""
    if DOCS in place.parents:
        return place.relative_to(DOCS)
    return Path("README.md") if place.name == "README.md" else Path(place.name)


def navigation(pages: Path) -> list[dict[str, Any]]:
    """First pages, one section per folder, last pages; with the titles of the pages."""
    entries: list[dict[str, Any]] = [_entry(pages, name) for name in FIRST if (pages / name).exists()]
    for title, folder in SECTIONS.items():
        if section := list(_section(pages, folder)):
            entries.append({title: section})
    entries += [{"About": [_entry(pages, name) for name in LAST]}]
    return entries


def _section(pages: Path, folder: str) -> Iterator[dict[str, str]]:
    overview = pages / f"{folder}.md"
    if overview.exists():
        yield _entry(pages, overview.name)
    names = sorted((pages / folder).glob("*.md"), key=lambda path: (path.name != "README.md", path.name))
    for path in names:
        yield _entry(pages, f"{folder}/{path.name}")


def _entry(pages: Path, name: str) -> dict[str, str]:
    heading = re.search(r"^# (.+)$", (pages / name).read_text("utf-8"), re.MULTILINE)
    return {heading[1] if heading else name: name}


def load_nothing_from_elsewhere(site: Path) -> None:
    """Replace the one script that zensical's offline pages load from a package host by ours."""
    shutil.copyfile(Path(__file__).with_name("site_search.js"), site / "site_search.js")
    for page in site.rglob("*.html"):
        ours = "../" * (len(page.relative_to(site).parts) - 1) + "site_search.js"
        page.write_text(page.read_text("utf-8").replace(_FOREIGN_SCRIPT, ours), "utf-8")


def run_zensical(folder: Path) -> None:
    """Build what is staged in a folder; a warning is an error."""
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    subprocess.run(command, cwd=folder, check=True)


def build(folder: Path) -> Path:
    """Build the site into FOLDER/site; raises where zensical warns."""
    shutil.rmtree(folder, ignore_errors=True)
    stage(folder)
    run_zensical(folder)
    load_nothing_from_elsewhere(folder / "site")
    return folder / "site"


if __name__ == "__main__":
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site"
    print(build(place) / "index.html")
