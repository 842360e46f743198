"""The documentation site: built without a warning, complete, and nothing of it comes from elsewhere."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from tools import site

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
# What a browser loads by itself; links that people follow may lead elsewhere.
LOADED = re.compile(
    r"<(?:script|img|iframe|source)[^>]*\ssrc=\"?(https?:[^\"> ]+)|<link[^>]*stylesheet[^>]*(https?:[^\"> ]+)"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return site.build(tmp_path_factory.mktemp("site") / "work")


def test_every_page_is_on_the_site_and_in_its_navigation(built: Path) -> None:
    front = (built / "index.html").read_text("utf-8")
    for page in DOCS.rglob("*.md"):
        place = page.relative_to(DOCS).with_suffix(".html")
        if place.stem == "README":
            place = place.with_name("index.html")
        assert (built / place).is_file(), place
        # The front page does not lead to itself.
        assert str(place) == "index.html" or f'href="./{place}"' in front, place


def test_no_page_loads_anything_from_elsewhere(built: Path) -> None:
    pages = list(built.rglob("*.html"))
    assert len(pages) > 60
    assert [(page.name, found) for page in pages for found in LOADED.findall(page.read_text("utf-8"))] == []
    for style in built.rglob("*.css"):
        assert not re.search(r"(?:@import|url\()\s*[\"']?https?:", style.read_text("utf-8")), style.name


def test_links_to_the_source_become_text_and_marks_of_tests_go(built: Path) -> None:
    page = site.site_page(DOCS / "how-to" / "ci.md")
    assert "The Dockerfile installs psycheck" in page
    assert "<!-- not run" not in page
    assert "(../reference/plan.md)" in page
    assert "(../CHANGELOG.md)" not in site.site_page(DOCS / "README.md")


def test_a_link_to_nowhere_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "index.md").write_text("# A page\n\nA [link](nowhere.md).\n", "utf-8")
    (tmp_path / "zensical.toml").write_text('[project]\nsite_name = "x"\ndocs_dir = "pages"\n', "utf-8")
    with pytest.raises(subprocess.CalledProcessError):
        site.run_zensical(tmp_path)


@pytest.mark.slow
def test_the_search_works_from_the_file_system(built: Path) -> None:
    chromium = shutil.which("chromium")
    assert chromium, "apt-get install chromium"
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.goto((built / "index.html").as_uri())
        page.keyboard.press("Control+k")
        page.wait_for_timeout(3000)  # the index is read when the search opens
        page.keyboard.type("threshold", delay=50)
        page.get_by_text(re.compile(r"^\d+ results$")).wait_for(timeout=20_000)
        assert not [url for url in requests if url.startswith("http")]
        browser.close()
