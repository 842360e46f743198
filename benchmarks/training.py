"""Fine-tuning rate on short texts: batches of like lengths against padding to 128 tokens, in one run.

python benchmarks/training.py [--texts 320] [--threads 1]

Both sides train MiniLM on the same texts by the same recipe; steps are timed, not loading, dev and saving.
"""

import argparse
import statistics
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from psycheck.core.corpus import Corpus
from psycheck.training.fit import train
from psycheck.training.recipe import preset

WANTED = 2.5
LINE = (
    "i feel so tired of this week and nobody asks why but maybe tomorrow will be kinder than today was "
    "we walked home in the rain and talked about music until the street lights came on again"
)


def short_texts(n: int) -> Corpus:
    """Texts of 6 to 34 words, as long as posts on a short-message service; every second is marked."""
    words = LINE.split()
    texts = [" ".join(words[(7 * i + j) % len(words)] for j in range(6 + (11 * i) % 29)) for i in range(n)]
    split = ["dev" if i % 16 < 2 else "train" for i in range(n)]
    return Corpus.of("short", texts, labels={"marked": [float(i % 2) for i in range(n)]}, split=split)


def rate(corpus: Corpus, padding: str) -> list[float]:
    """Texts a second in each step after the first two."""
    recipe = preset("fast", padding=padding, epochs=1)
    marks: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        train(corpus, recipe, Path(folder) / "model", progress=lambda *_: marks.append(time.perf_counter()))
    steps = [after - before for before, after in pairwise(marks[1:])]
    return [recipe.batch / step for step in steps]


def main() -> int:
    """Print the table; 1 when grouping does not pay as it should."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--texts", type=int, default=320)
    options.add_argument("--threads", type=int, default=1)
    given = options.parse_args()
    import torch

    torch.set_num_threads(given.threads)
    corpus = short_texts(given.texts)
    found = {padding: statistics.harmonic_mean(rate(corpus, padding)) for padding in ("fixed", "grouped")}
    ratio = found["grouped"] / found["fixed"]
    print(f"{'batches':<28}{'texts/s':>10}")
    print(f"{'padded to 128':<28}{found['fixed']:>10.1f}")
    print(f"{'like lengths, as needed':<28}{found['grouped']:>10.1f}")
    print(f"{'ratio':<28}{ratio:>10.2f}  (wanted: {WANTED} or more)")
    return 0 if ratio >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
