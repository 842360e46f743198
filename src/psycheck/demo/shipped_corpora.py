"""The shipped demo corpora: synthetic texts of four domains, compressed."""

from dataclasses import replace
from importlib.resources import files

from psycheck.corpus import Corpus
from psycheck.demo.generate import corpus_of, unpacked
from psycheck.errors import BadInput, nearest

DEMO = ("tweets", "forum", "interviews", "notes")


def open_demo(name: str, split: str | None = None) -> Corpus:
    """Open a shipped corpus, whole or one split (train, dev, test) of it."""
    if name not in DEMO:
        raise BadInput(f"there is no demo corpus '{name}'", allowed=nearest(name, DEMO))
    shipped = files("psycheck.demo").joinpath("shipped", f"{name}.jsonl.zst")
    corpus = replace(corpus_of(name, unpacked(shipped.read_bytes())), called=f"demo:{name}")
    return corpus if split is None else corpus.part(split)
