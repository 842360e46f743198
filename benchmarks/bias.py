"""Gender bias of real vectors, WEAT beside published values, and how fast a large file opens.

    python benchmarks/bias.py NAME=ENCODER …          a table of Direct Bias, and WEAT for static vectors
    python benchmarks/bias.py --open [--keep]         3 million generated words × 300 (7 GB of disk)

An ENCODER is what `psycheck bias` takes: minilm, hf:FOLDER, vectors:FILE. The results are kept in
docs/benchmarks/bias.md by hand, with the day and the machine.
"""

import math
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from psycheck.commands.bias import encoder_bias
from psycheck.core.arrays import FloatArray
from psycheck.core.finding import Finding
from psycheck.core.model import Encoder
from psycheck.core.run import Run
from psycheck.models.opening import open_encoder
from psycheck.models.vectors.static import WordVectors
from psycheck.report.numbers import p_value, percent, plain
from psycheck.statistics.word_association import weat
from timing import machine, peak_megabytes, table, verdict

WORDS, DIMENSIONS, BLOCK = 3_000_000, 300, 10_000
WEAT = Path(__file__).parent.parent / "tests" / "statistics" / "weat.toml"
PUBLISHED = {"glove": "GloVe 840B", "word2vec": "Google News", "wefe": "Google News, by wefe"}
HEAD = (
    "vectors",
    "list",
    "n",
    "Direct Bias",
    "random lists",
    "p",
    "side",
    "signed mean",
    "random lists",
    "p",
)


def real(encoders: dict[str, str]) -> list[str]:
    """Direct Bias of each encoder, the first component beside that of random pairs, WEAT and RND."""
    rows, shares, others, checks = [], [], [], []
    for name, spec in encoders.items():
        encoder = open_encoder(spec)
        run = encoder_bias(encoder)
        for bias in (f for f in run.findings if f.measure == "direct_bias"):
            here = bias.where["list"]
            rows.append(_row(run, name, bias, here))
            others.append([name, here, *_neighbours(run, here)])
        first, chance = (_component(run, m) for m in ("explained_variance", "explained_variance_chance"))
        ends = "–".join(f"{100 * end:.0f}" for end in first.interval or ())
        shares.append([name, f"{percent(first.value)} ({ends})", percent(chance.value), first.n])
        if isinstance(encoder, WordVectors):
            checks += [[name, *row] for row in published(encoder)]
    return [
        table(HEAD, rows),
        table(["vectors", "first component (95 %)", "of random pairs", "pairs"], shares),
        table(["vectors", "list", "WEAT d against bodily illness", "p", "RND", "random lists", "p"], others),
        table(["vectors", "test", "d (95 %)", "p, one-sided", "words", *PUBLISHED.values()], checks),
    ]


def published(encoder: Encoder) -> list[list[str]]:
    """Five tests of Caliskan et al. on these vectors, beside what was published for GloVe and word2vec."""
    rows = []
    for test in tomllib.loads(WEAT.read_text("utf-8"))["test"]:
        groups = [_known(encoder, test[key]) for key in ("x", "y", "a", "b")]
        found = weat(groups[0], groups[1], groups[2], groups[3])
        asked = sum(len(test[key]) for key in ("x", "y", "a", "b"))
        said = plain(Finding("weat", found.effect, 0, found.interval))
        words = f"{sum(map(len, groups))} of {asked}"
        others = [f"{test['published'][key]:.2f}" if key in test["published"] else "–" for key in PUBLISHED]
        rows.append([test["name"], said, p_value(found.p), words, *others])
    return rows


def opening(*, keep: bool) -> list[str]:
    """Generate word2vec's binary format, convert it, and open it again as a later run would."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "three-million.bin"
        random = np.random.default_rng(0)
        pool = random.standard_normal((BLOCK, DIMENSIONS)).astype("<f4")
        with path.open("wb") as file:
            file.write(f"{WORDS} {DIMENSIONS}\n".encode())
            for start in range(0, WORDS, BLOCK):
                rolled = np.roll(pool, start // BLOCK, axis=1)
                file.write(b"".join(b"w%d " % (start + k) + rolled[k].tobytes() for k in range(BLOCK)))
        size = path.stat().st_size / 1e9
        times = []
        for _ in range(4):
            started = perf_counter()
            encoder = open_encoder(f"vectors:{path}")
            vector = encoder.encode_spans(["w2345678"], [(0, 8)])
            times.append(perf_counter() - started)
        fresh, cold = _in_fresh_processes(path)
        wanted = np.roll(pool, 2_345_678 // BLOCK, axis=1)[2_345_678 % BLOCK]
        right = bool(np.allclose(vector[0], wanted))
        slowest = max(one for one in (*times[1:], fresh, cold) if not math.isnan(one))
        rows = [
            ["first opening, with conversion", f"{times[0]:.1f}"],
            ["later openings in one process, first word looked up", f"{max(times[1:]):.3f}"],
            ["a fresh process, without its imports", f"{fresh:.3f}"],
            ["a fresh process, nothing in the system's cache", f"{cold:.3f}"],
        ]
        lines = [
            f"{WORDS:,} words × {DIMENSIONS} ({size:.1f} GB), the looked-up vector is "
            f"{'right' if right else 'WRONG'}, peak memory {peak_megabytes():,.0f} MB",
            table(["", "seconds"], rows),
            verdict("opening a converted file, seconds", slowest, 2, at_least=False),
        ]
        if not keep:
            from shutil import rmtree

            from psycheck.models.vectors.index import folder_of

            rmtree(folder_of([path]))
    return lines


def _in_fresh_processes(path: Path) -> tuple[float, float]:
    """Seconds to open and find a word in a process of its own: as it comes, and with the caches dropped."""
    code = (
        "import sys; from time import perf_counter; from psycheck.models.opening import open_encoder; "
        "import psycheck.models.vectors.static; began = perf_counter(); "
        "open_encoder(sys.argv[1]).encode_spans(['w2345678'], [(0, 8)]); print(perf_counter() - began)"
    )
    times: list[float] = []
    for drop in (False, True):
        if drop:
            try:
                os.sync()
                Path("/proc/sys/vm/drop_caches").write_text("3")
            except OSError:
                return times[0], math.nan  # only root may
        done = subprocess.run(
            [sys.executable, "-c", code, f"vectors:{path}"], capture_output=True, text=True, check=True
        )
        times.append(float(done.stdout))
    return times[0], times[1]


def _row(run: Run, name: str, bias: Finding, here: str) -> list[str]:
    one = {f.measure: f for f in run.findings if f.where.get("list") == here and "word" not in f.where}
    return [
        name,
        here,
        f"{bias.n} of {bias.counts['words']}",
        plain(bias),
        plain(one["direct_bias_chance"]),
        p_value(one["direct_bias_p"].value),
        bias.where["direction"] + ("?" if bias.flags else ""),
        plain(one["signed_mean"]),
        plain(one["signed_mean_chance"]),
        p_value(one["signed_mean_p"].value),
    ]


def _neighbours(run: Run, here: str) -> list[str]:
    one = {f.measure: f for f in run.findings if f.where.get("list") == here}
    return [
        plain(one["weat_effect"]),
        p_value(one["weat_p"].value),
        plain(one["rnd"]),
        plain(one["rnd_chance"]),
        p_value(one["rnd_p"].value),
    ]


def _component(run: Run, measure: str) -> Finding:
    return next(f for f in run.findings if f.measure == measure and f.where["component"] == "1")


def _known(encoder: Encoder, words: list[str]) -> FloatArray:
    rows = encoder.encode_spans(words, [(0, len(word)) for word in words])
    found: FloatArray = rows[~np.isnan(rows).any(axis=1)]
    return found


def main() -> None:
    """Print what is asked for."""
    asked = sys.argv[1:]
    encoders = dict(one.split("=", 1) for one in asked if not one.startswith("--"))
    lines = [f"`python benchmarks/bias.py`: {machine()}."]
    if encoders:
        lines += real(encoders)
    if "--open" in asked:
        lines += opening(keep="--keep" in asked)
    if len(lines) == 1:
        lines.append((__doc__ or "").strip())
    print("\n\n".join(lines))


if __name__ == "__main__":
    main()
