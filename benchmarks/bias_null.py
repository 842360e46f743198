"""How often `psycheck bias` calls a neutral topic gendered: against random words, and against random topics.

    python benchmarks/bias_null.py topics NAME=ENCODER …
    python benchmarks/bias_null.py leaning NAME=ENCODER …       topics that are known to lean: power

The topics are those of topics.toml. Each is measured as a list of its own (sentence "This is {word}."), and
p-values below .05 are counted: against lists of unrelated words from the same pool, as before, and
against neighbourhoods, as `psycheck bias` draws them. The results are in docs/benchmarks/bias.md, by hand.
"""

import sys
import tomllib
from pathlib import Path

import numpy as np

from psycheck.audits.direct_bias.findings import Biasing
from psycheck.commands.bias import encoder_bias
from psycheck.core.arrays import FloatArray, IntArray
from psycheck.models.opening import open_encoder
from psycheck.statistics import word_association as association
from timing import table

TOPICS = Path(__file__).parent / "topics.toml"
TESTS = ("direct_bias_p", "signed_mean_p")


def unrelated(pool: FloatArray, size: int, *, lists: int, seed: int = 0) -> IntArray:
    """Lists of unrelated words, by index, (lists, size): what `psycheck bias` drew before."""
    return np.random.default_rng(seed).integers(0, max(len(pool), 1), (lists, size))


def below(spec: str, files: list[Path]) -> list[int]:
    """How many topics are below .05 in size, in side, and in either after Holm over the two."""
    encoder = open_encoder(spec)
    counted = np.zeros(3, int)
    for file in files:
        run = encoder_bias(encoder, words=[file], how=Biasing(random_lists=2_000))
        p = {f.measure: f.value for f in run.findings}
        counted += [*(p[test] < 0.05 for test in TESTS), min(p[f"{test}_holm"] for test in TESTS) < 0.05]
    return counted.tolist()


def main(kind: str, specs: dict[str, str], folder: Path) -> str:
    """The table of the page."""
    files = []
    for name, words in tomllib.loads(TOPICS.read_text("utf-8"))[kind].items():
        files.append(folder / f"{name}.txt")
        files[-1].write_text("\n".join(words.split()), "utf-8")
    rows = []
    topical = association.neighbourhoods
    for name, spec in specs.items():
        for how, draw in (("unrelated words", unrelated), ("random topics", topical)):
            setattr(association, "neighbourhoods", draw)  # noqa: B010 (mypy refuses the assignment)
            size, side, either = (f"{n} of {len(files)}" for n in below(spec, files))
            rows.append([name, how, size, side, either])
    return table(["vectors", "random lists", "size, p < .05", "side, p < .05", "either, Holm"], rows)


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as made:
        print(main(sys.argv[1], dict(one.split("=", 1) for one in sys.argv[2:]), Path(made)))
