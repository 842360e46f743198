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
SEARCH_SCRIPT = Path(__file__).with_name("site_search.js")
# Pages at the top of the repository that belong to the site.
TOP_PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
COPIED = (".md", ".png", ".svg")
SECTIONS = {
    "Jobs": "how-to",
    "Reference": "reference",
    "Benchmarks": "benchmarks",
    "Papers": "papers",
    "Decisions": "decisions",
}
FIRST = (
    "README.md",
    "quickstart.md",
    "concepts.md",
    "recipes.md",
)
LAST = (
    "how-we-speak.md",
    "scale.md",
    "architecture.md",
    *TOP_PAGES,
)
_LINK = re.compile(r"(!?)\[((?:[^\]`]|`[^`]*`)*)\]\((?!https?:|#)([^)#\s]*)(#[^)\s]*)?\)")
_FENCE = re.compile(r"^( *```.*?^ *```$)", re.DOTALL | re.MULTILINE)
_MERMAID = re.compile(r"```mermaid\ngraph LR\n(.*?)```", re.DOTALL)
# Notes to the tests, which no reader needs.
_MARK = re.compile(r"^<!-- (?:not run|run by|slow).*-->\n", re.MULTILINE)
_FOREIGN_SCRIPT = "https://unpkg.com/iframe-worker/shim"
# A list or a table directly after a paragraph is a list on GitHub, and needs a blank line here.
_CLOSE_LIST = re.compile(
    r"^(?P<before>(?![-*|#<>\s]|\d+\. ).+)\n(?=(?:- |\d+\. |\| ))",
    re.MULTILINE,
)


def stage(folder: Path) -> None:
    """Copy the pages and pictures into a folder as the site needs them, and its configuration."""
    pages = folder / "pages"
    for source in sorted(DOCS.rglob("*")):
        if source.suffix in COPIED:
            target = pages / source.relative_to(DOCS)
            _copy(source, target)
    for name in TOP_PAGES:
        _copy(ROOT / name, pages / name)

    # Not kept in the repository: every change of a signature would change it.
    python_page = pages / "reference" / "python.md"
    python_page.write_text(reference(), "utf-8")

    settings = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))
    project: dict[str, Any] = settings["project"]
    project["docs_dir"] = pages.name
    project["site_dir"] = "site"
    project["nav"] = navigation(pages)
    (folder / "zensical.toml").write_text(tomli_w.dumps(settings), "utf-8")


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix == ".md":
        target.write_text(site_page(source), "utf-8")
    else:
        shutil.copyfile(source, target)


def site_page(source: Path) -> str:
    """The text of a page with links that lead somewhere on the site."""
    text = source.read_text("utf-8")
    text = _MARK.sub("", text)
    text = _MERMAID.sub(_import_list, text)

    # Odd parts are code, in which nothing is a link.
    parts = _FENCE.split(text)
    for number in range(0, len(parts), 2):
        prose = _CLOSE_LIST.sub(r"\g<before>\n\n", parts[number])
        parts[number] = _with_site_links(prose, source)
    return "".join(parts)


def _import_list(graph: re.Match[str]) -> str:
    """The import graph as a list: drawing it would load a script from elsewhere."""
    targets_of: dict[str, list[str]] = {}
    for room, target in re.findall(r"(\w+) --> (\w+)", graph[1]):
        targets_of.setdefault(room, []).append(target)

    lines = []
    for room, targets in targets_of.items():
        listed = ", ".join(targets)
        lines.append(f"- `{room}` imports {listed}")
    return "\n".join(lines)


def _with_site_links(text: str, source: Path) -> str:
    def rewritten(link: re.Match[str]) -> str:
        picture, label, target, heading = link.groups(default="")
        place = (source.parent / target).resolve()
        if not _is_on_site(place):
            return label
        address = _address(source, place)
        return f"{picture}[{label}]({address}{heading})"

    return _LINK.sub(rewritten, text)


def _is_on_site(place: Path) -> bool:
    if place.suffix not in COPIED:
        return False
    if place.parent == ROOT:
        return place.name in (*TOP_PAGES, "README.md")
    return DOCS in place.parents


def _address(source: Path, place: Path) -> str:
    """The relative link between two pages of the site."""
    depth = len(_on_site(source).parts) - 1
    return "../" * depth + _on_site(place).as_posix()


def _on_site(place: Path) -> Path:
    """Where a file of the repository stands on the site."""
    if DOCS in place.parents:
        return place.relative_to(DOCS)
    return Path(place.name)


def navigation(pages: Path) -> list[dict[str, Any]]:
    """First pages, one section per folder, last pages; with the titles of the pages."""
    entries: list[dict[str, Any]] = [_entry(pages, name) for name in FIRST]
    for title, folder in SECTIONS.items():
        section = list(_section(pages, folder))
        if section:
            entries.append({title: section})

    about = [_entry(pages, name) for name in LAST]
    entries.append({"About": about})
    return entries


def _section(pages: Path, folder: str) -> Iterator[dict[str, str]]:
    overview = pages / f"{folder}.md"
    if overview.exists():
        yield _entry(pages, overview.name)

    # A README is the first page of its folder.
    names = sorted(path.name for path in (pages / folder).glob("*.md"))
    names.sort(key=lambda name: name != "README.md")
    for name in names:
        yield _entry(pages, f"{folder}/{name}")


def _entry(pages: Path, name: str) -> dict[str, str]:
    text = (pages / name).read_text("utf-8")
    heading = re.search(r"^# (.+)$", text, re.MULTILINE)
    title = heading[1] if heading else name
    return {title: name}


def load_nothing_from_elsewhere(site: Path) -> None:
    """Replace the script that zensical's offline pages load from a package host by ours."""
    shutil.copyfile(SEARCH_SCRIPT, site / SEARCH_SCRIPT.name)
    for page in site.rglob("*.html"):
        depth = len(page.relative_to(site).parts) - 1
        our_script = "../" * depth + SEARCH_SCRIPT.name
        text = page.read_text("utf-8")
        page.write_text(text.replace(_FOREIGN_SCRIPT, our_script), "utf-8")


def run_zensical(folder: Path) -> None:
    """Build what is staged in a folder; a warning is an error."""
    command = [
        sys.executable,
        "-m",
        "zensical",
        "build",
        "--clean",
        "--strict",
    ]
    subprocess.run(command, cwd=folder, check=True)


def build(folder: Path) -> Path:
    """Build the site into FOLDER/site; raises where zensical warns."""
    shutil.rmtree(folder, ignore_errors=True)
    stage(folder)
    run_zensical(folder)

    site = folder / "site"
    load_nothing_from_elsewhere(site)
    return site


if __name__ == "__main__":
    arguments = sys.argv[1:]
    place = Path(arguments[0]) if arguments else ROOT / "build" / "site"
    print(build(place) / "index.html")
