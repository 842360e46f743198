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
PAGES = [
    ROOT / "README.md",
    *sorted(DOCS.glob("*.md")),
    *sorted((DOCS / "how-to").glob("*.md")),
    *sorted((DOCS / "reference").glob("*.md")),
    *sorted((DOCS / "papers").glob("*.md")),
]
# The address of a server as the pages write it; a server of the tests answers in its place.
ADDRESS = "http://127.0.0.1:8000/v1"
LEAST_REASON = 2


def has_blocks(page: Path) -> bool:
    return any(block.language in RUNNABLE for block in blocks(page))


def has_slow_blocks(page: Path) -> bool:
    return any(block.mark == "slow" for block in blocks(page))


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


WITH_BLOCKS = [page for page in PAGES if has_blocks(page)]
SLOW_PAGES = [page for page in PAGES if has_slow_blocks(page)]


async def answer_by_words(exchange: Exchange, asked: Asked, before: int) -> None:
    """Say yes to depression where a post names tiredness, and no to anxiety."""
    answer = "yes" if "tired" in asked.post else "no"
    reply = f'{{"depression": "{answer}", "anxiety": "no"}}'
    await exchange.send(completion(reply))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that every page begins with: corpora, two baselines and an audit."""
    folder = tmp_path_factory.mktemp("docs")
    write_workspace(folder)

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("PSYCHECK_STORE", str(folder / "scores.sqlite"))
        start = ["--label", "depression", "--start", "tfidf+lr"]
        run_psycheck(["train", "posts.csv", *start, "--out", "models/plain"])
        run_psycheck(["train", "notes.csv", *start, "--out", "models/notes"])
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

    yield folder

    # Pages write modules of their own, and another page may use the same name.
    for path in folder.glob("*.py"):
        sys.modules.pop(path.stem, None)


def run_page(page: Path, *, slow: bool) -> None:
    """Run the blocks of a page in order in the current folder: all of them, or without the slow ones."""
    write_shown_files(page)
    names: dict[str, object] = {}
    with serving(answer_by_words) as server:
        for block in blocks(page):
            if is_left_out(block, slow=slow):
                continue
            try:
                run_block(block, names, server.base_url)
            except Exception as error:
                error.add_note(f"{name_of(page)}, line {block.line}")
                raise


def write_shown_files(page: Path) -> None:
    """Write the files that a page shows, wherever on the page they stand."""
    for block in blocks(page):
        if block.file_name:
            Path(block.file_name).write_text(block.text, "utf-8")


def is_left_out(block: Block, *, slow: bool) -> bool:
    if block.mark == "slow":
        return not slow
    return block.mark != ""


def run_block(block: Block, names: dict[str, object], address: str) -> None:
    """Run one block; the Python blocks of a page share their names."""
    if block.language == "python":
        code = compile(block.text, f"line {block.line}", "exec")
        exec(code, names)

    if block.language == "sh":
        for program, *words in block.commands:
            if program == "python":
                runpy.run_path(words[0], run_name="__main__")
                continue
            assert program == "psycheck", program
            run_psycheck([word.replace(ADDRESS, address) for word in words])


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=name_of)
def test_what_a_page_shows_runs(page: Path, workspace: Path) -> None:
    run_page(page, slow=False)


@pytest.mark.slow
@pytest.mark.parametrize("page", SLOW_PAGES, ids=name_of)
def test_what_a_page_shows_runs_with_what_takes_minutes(page: Path, workspace: Path) -> None:
    run_page(page, slow=True)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_command_hides_from_these_tests(page: Path) -> None:
    # The page of the command line shows usage, not commands.
    if page.name == "command-line.md":
        return
    for block in blocks(page):
        if block.language != "sh":
            assert not re.search(r"^(\$ )?psycheck ", block.text, re.MULTILINE), block


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=name_of)
def test_who_runs_a_block_exists_and_what_is_not_run_has_a_reason(page: Path) -> None:
    for block in blocks(page):
        kind, _, rest = block.mark.partition(" ")
        if kind == "run":
            test_file = rest.removeprefix("by ")
            assert (ROOT / test_file).is_file(), block
        if kind == "not":
            reason = rest.removeprefix("run: ")
            assert len(reason.split()) >= LEAST_REASON, block
