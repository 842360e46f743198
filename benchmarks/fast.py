"""`--fast`: a MiniLM classifier in 8 bits against 32, on synthetic tweets and on a corpus of real posts.

Both score the same held-out texts in batches sorted by length, in turns, in one run; what counts is CPU
seconds of one thread, the better of two. Texts of the test are none of the calibration's. The corpus is
named by its path, in the columns that psycheck finds; texts of more than 40 words are left out.
"""

import argparse
import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import process_time

import numpy as np
import polars as pl

from demo_texts import generate
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.core.errors import ModelFailure
from psycheck.core.model import Model
from psycheck.corpora.opening import open_corpus
from psycheck.models.opening import fast_spec, open_model
from psycheck.training.fit import train
from psycheck.training.recipe import preset
from timing import machine, table

TRAINED, TESTED, WORDS, ROUNDS = 240, 200, 40, 2


def main() -> None:
    """Print the table."""
    import torch

    torch.set_num_threads(1)
    parser = argparse.ArgumentParser()
    parser.add_argument("corpora", nargs="*", help="corpora of real posts")
    rows = [_row("synthetic tweets", generate("tweets", TRAINED, 5), generate("tweets", TESTED, 6))]
    for path in parser.parse_args().corpora:
        posts = _short(open_corpus(path)).shuffled(1)
        tested = replace(posts, table=posts.table.tail(TESTED))
        rows.append(_row(Path(path).stem, posts.head(TRAINED), tested))
    print(f"\n## 8 bits ({machine()})\n")
    head = ["corpus", "texts", "8 / 32 bits, texts a CPU s", "labels that differ", "scores: mean", "largest"]
    print(table(head, rows))


def _short(corpus: Corpus) -> Corpus:
    """The posts of at most so many words, without their splits."""
    is_short = pl.Series([len(text.split()) <= WORDS for text in corpus.texts])
    return replace(corpus, table=corpus.table.filter(is_short).drop("split", strict=False))


def _row(name: str, train_corpus: Corpus, test_corpus: Corpus) -> list[object]:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder  # calibrated anew
        recipe = preset("fast", epochs=2, labels=("depression",))
        spec = train(train_corpus, recipe, Path(folder) / "model").spec
        exact = open_model(spec)
        try:
            quick = open_model(fast_spec(spec))
        except ModelFailure as refusal:
            return [name, len(test_corpus), f"refused: {refusal.what}", "", "", ""]
        return _compared(name, exact, quick, test_corpus.texts)


def _compared(name: str, exact: Model, quick: Model, texts: Sequence[str]) -> list[object]:
    ordered = sorted(texts, key=len, reverse=True)
    seconds: dict[str, list[float]] = {"exact": [], "quick": []}
    scores: dict[str, FloatArray] = {}
    for _ in range(ROUNDS):
        for which, model in (("exact", exact), ("quick", quick)):
            started = process_time()
            scores[which] = model.score(ordered)
            seconds[which].append(process_time() - started)
    shifts = np.abs(scores["exact"] - scores["quick"])
    different = int(np.sum((scores["exact"] >= 0.5) != (scores["quick"] >= 0.5)))
    ratio = min(seconds["exact"]) / min(seconds["quick"])
    return [name, len(texts), f"{ratio:.2f}", different, f"{shifts.mean():.4f}", f"{shifts.max():.4f}"]


if __name__ == "__main__":
    main()
