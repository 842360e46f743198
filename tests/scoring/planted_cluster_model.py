"""A model that actors open by its spec; it notes what it scores, and dies or dawdles if a file says so."""

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from psycheck.core.arrays import FloatArray


def _file(name: str) -> Path:
    # Asked for at each call: several tests share the module.
    return Path(os.environ.get("PLANTED_FOLDER", ".")) / name


class Planted:
    """Scores a text by its length; refuses a text with "bad" in it."""

    name = "planted"
    labels = ("depression",)

    def __init__(self) -> None:
        with _file("opened").open("a") as file:
            file.write(f"{os.getpid()}\n")

    def score(self, texts: Sequence[str]) -> FloatArray:
        if any("bad" in text for text in texts):
            raise ValueError("bad text")
        deadly = _file("deadly")
        if deadly.exists() and "deadly text" in texts:
            deadly.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        if _file("slow").exists():
            time.sleep(0.2)

        with _file("scored").open("a") as file:
            file.write("".join(f"{text}\n" for text in texts))
        return np.array([[len(text) % 10 / 10] for text in texts])


model = Planted()
