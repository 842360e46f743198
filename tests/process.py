"""The command line in a process of its own, as a person starts it."""

import os
import subprocess
import sys
from pathlib import Path


def psycheck(place: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "psycheck", *words],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )
