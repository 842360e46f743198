"""The folder in which psycheck keeps scores and converted vectors."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """The folder of $PSYCHECK_STORE, or "psycheck" in the user's cache folder."""
    if named := os.environ.get("PSYCHECK_STORE"):
        return Path(named).parent
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "psycheck"
