"""How often `psycheck bias` calls a neutral topic gendered, against three kinds of random lists.

    python benchmarks/bias_null.py fresh NAME=ENCODER …
    python benchmarks/bias_null.py leaning NAME=ENCODER …       topics that are known to lean: power

The topics are a table of topics.toml. Each is measured as a list of its own (sentence "This is {word}."), and
p-values below .05 are counted: against lists of unrelated words from the same pool, against neighbourhoods
as they are, and against neighbourhoods that are made as tight as the list, as `psycheck bias` does. The
results are in docs/benchmarks/bias.md, by hand.
"""

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np

from psycheck.audits.direct_bias import findings
from psycheck.audits.direct_bias.findings import Biasing
from psycheck.commands.bias import encoder_bias
from psycheck.core.arrays import FloatArray, IntArray
from psycheck.models.opening import open_encoder
from psycheck.statistics.random_topics import RandomTopics, as_tight, neighbourhoods
from timing import table

TOPICS = Path(__file__).parent / "topics.toml"
TESTS = ("direct_bias_p", "signed_mean_p")
RANDOM_LISTS = 2_000
ALPHA = 0.05

DrawLists = Callable[..., IntArray]
Stretch = Callable[[IntArray, FloatArray, FloatArray], RandomTopics]


def unrelated_words(
    pool: FloatArray,
    size: int,
    *,
    lists: int,
    seed: int = 0,
) -> IntArray:
    """Lists of unrelated words, by index, (lists, size)."""
    random = np.random.default_rng(seed)
    return random.integers(0, max(len(pool), 1), (lists, size))


def as_they_are(
    lists: IntArray,
    pool: FloatArray,
    words: FloatArray,
) -> RandomTopics:
    """Random lists that are not stretched."""
    factors = np.ones(len(lists))
    return RandomTopics(lists, factors, factors)


KINDS: dict[str, tuple[DrawLists, Stretch]] = {
    "unrelated words": (unrelated_words, as_they_are),
    "topics": (neighbourhoods, as_they_are),
    "topics, as tight": (neighbourhoods, as_tight),
}


def alarms(spec: str, files: list[Path]) -> list[int]:
    """How many topics are below .05 in size, in side, and in either after Holm over the two."""
    encoder = open_encoder(spec)
    counted = np.zeros(3, int)
    for file in files:
        run = encoder_bias(encoder, words=[file], how=Biasing(random_lists=RANDOM_LISTS))
        p_values = {finding.measure: finding.value for finding in run.findings}
        is_below = [p_values[test] < ALPHA for test in TESTS]
        adjusted = min(p_values[f"{test}_holm"] for test in TESTS)
        counted += [*is_below, adjusted < ALPHA]
    return counted.tolist()


def write_lists(kind: str, folder: Path) -> list[Path]:
    """A file of words for each topic of a table."""
    files = []
    for name, words in tomllib.loads(TOPICS.read_text("utf-8"))[kind].items():
        file = folder / f"{name}.txt"
        file.write_text("\n".join(words.split()), "utf-8")
        files.append(file)
    return files


def main(kind: str, specs: dict[str, str], folder: Path) -> str:
    """The table of the page."""
    files = write_lists(kind, folder)
    rows = []
    for name, spec in specs.items():
        for random_lists, (draw, stretch) in KINDS.items():
            # The functions that the findings call: the only difference between the rows.
            with patch.multiple(findings, neighbourhoods=draw, as_tight=stretch):
                counts = [f"{count} of {len(files)}" for count in alarms(spec, files)]
            rows.append([name, random_lists, *counts])
    return table(["vectors", "random lists", "size, p < .05", "side, p < .05", "either, Holm"], rows)


if __name__ == "__main__":
    specs = dict(argument.split("=", 1) for argument in sys.argv[2:])
    with TemporaryDirectory() as folder:
        print(main(sys.argv[1], specs, Path(folder)))
