"""What all tests share: a store of their own, and a browser."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, sync_playwright

# How long an example takes says more about the machine than about the code.
settings.register_profile("psycheck", deadline=None)
settings.load_profile("psycheck")

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))  # tools/, the generator of the demo corpora


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test touches the scores that the user remembers."""
    path = tmp_path / "store" / "scores.sqlite"
    monkeypatch.setenv("PSYCHECK_STORE", str(path))
    return path


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The system's Chromium; `make test` sees to it that there is one."""
    place = shutil.which("chromium")
    assert place, "these tests need Chromium: install the package chromium"
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=place, args=["--no-sandbox"])
        yield browser
        browser.close()
