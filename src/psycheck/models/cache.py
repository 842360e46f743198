"""The folder in which psycheck keeps scores and converted vectors."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """The folder of $PSYCHECK_STORE, or "psycheck" in the user's cache folder."""
    store = os.environ.get("PSYCHECK_STORE")
    if store:
        return Path(store).parent
    # The user's cache folder, as the XDG Base Directory Specification names it.
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "psycheck"
