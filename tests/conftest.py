"""What all tests share: a store of their own, and small corpora of our own words."""

import sys
from pathlib import Path

import pytest
from hypothesis import settings

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
