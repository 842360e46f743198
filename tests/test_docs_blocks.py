"""Every command and every Python block of the documentation runs, on small corpora and a model of our own.

A comment before a block says where it is not run here: `<!-- slow -->` (only in `make test-all`),
`<!-- not run: REASON -->`, `<!-- run by TEST FILE -->`.
"""

import re
import runpy
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs_blocks import RUNNABLE, Block, blocks
from docs_workspace import run_psycheck, write_workspace
from llm_servers import Asked, Exchange, completion, serving

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md")), *sorted((DOCS / "how-to").glob("*.md"))]
PAGES += sorted((DOCS / "reference").glob("*.md"))
WITH_BLOCKS = [page for page in PAGES if any(block.language in RUNNABLE for block in blocks(page))]
SLOW_PAGES = [page for page in WITH_BLOCKS if any(block.mark == "slow" for block in blocks(page))]
SERVER = "http://127.0.0.1:8000/v1"  # as the pages name it


async def answer_by_words(exchange: Exchange, asked: Asked, before: int) -> None:
    """Say yes to depression where a post names tiredness, and no to anxiety."""
    answer = "yes" if "tired" in asked.post else "no"
    await exchange.send(completion(f'{{"depression": "{answer}", "anxiety": "no"}}'))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that every page begins with: corpora, a baseline and its audit."""
    folder = tmp_path_factory.mktemp("docs")
    write_workspace(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("PSYCHECK_STORE", str(folder / "scores.sqlite"))
        for name in ("posts", "notes"):
            out = "models/plain" if name == "posts" else "models/notes"
            run_psycheck(
                ["train", f"{name}.csv", "--label", "depression", "--start", "tfidf+lr", "--out", out]
            )
        run_psycheck(["audit", "models/plain", "posts.csv", "--label", "depression", "--out", "runs/plain"])
    return folder


@pytest.fixture
def workspace(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the prepared folder, as the current one."""
    folder = tmp_path / "work"
    shutil.copytree(prepared, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PSYCHECK_STORE", str(folder / "scores.sqlite"))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.syspath_prepend(str(folder))
    modules = set(sys.modules)
    yield folder
    for name in set(sys.modules) - modules:
        if (folder / f"{name}.py").exists():
            del sys.modules[name]


def run_page(page: Path, *, slow: bool) -> None:
    """Run the blocks of a page in order in the current folder: all of them, or without the slow ones."""
    names: dict[str, object] = {}
    for block in blocks(page):
        if block.file_name:
            Path(block.file_name).write_text(block.text, "utf-8")

    with serving(answer_by_words) as server:
        for block in blocks(page):
            if block.mark.startswith(("not run", "run by")) or (block.mark == "slow" and not slow):
                continue
            try:
                run_block(block, names, server.base_url)
            except Exception as error:
                error.add_note(f"{page.relative_to(ROOT)}, line {block.line}")
                raise


def run_block(block: Block, names: dict[str, object], address: str) -> None:
    """Run one block; Python blocks of a page share their names, and files of Python run by themselves."""
    if block.language == "python":
        exec(compile(block.text, f"line {block.line}", "exec"), names)
    if block.language == "sh":
        for program, *words in block.commands:
            assert program in ("psycheck", "python"), program
            if program == "python":
                runpy.run_path(words[0], run_name="__main__")
            else:
                run_psycheck([word.replace(SERVER, address) for word in words])


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_shows_runs(page: Path, workspace: Path) -> None:
    run_page(page, slow=False)


@pytest.mark.slow
@pytest.mark.parametrize("page", SLOW_PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_shows_runs_with_what_takes_minutes(page: Path, workspace: Path) -> None:
    run_page(page, slow=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_command_hides_from_these_tests(page: Path) -> None:
    for block in blocks(page):
        if block.language in ("sh", "console") or page.name == "command-line.md":
            continue
        assert not re.search(r"^(\$ )?psycheck ", block.text, re.MULTILINE), (block.line, block.text)


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda page: str(page.relative_to(ROOT)))
def test_who_runs_a_block_exists_and_what_is_not_run_has_a_reason(page: Path) -> None:
    for block in blocks(page):
        if block.mark.startswith("run by"):
            assert (ROOT / block.mark.removeprefix("run by ")).is_file()
        if block.mark.startswith("not run"):
            assert len(block.mark.removeprefix("not run: ").split()) >= 2, block
