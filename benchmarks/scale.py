"""From a laptop to a cluster: rates, bytes per post, peak memory, and what Ray adds to the local engine.

Short synthetic posts in Parquet files are scored file by file with a cheap model, then a chunk with the
MiniLM classifier, by the local engine and by Ray with one actor. Sizes are options: the defaults take about
five CPU minutes. Each job runs in a process of its own, so that its peak memory is its own.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from time import process_time

import numpy as np
import polars as pl

from demo_texts import generate
from psycheck.commands.score_shards import score_shards
from psycheck.corpora.columns import Columns
from psycheck.corpora.opening import CorpusPlan
from psycheck.models.opening import open_model
from psycheck.scoring.engine import open_engine, score_once
from psycheck.scoring.remembered import RememberedScores
from psycheck.scoring.store import Store
from psycheck.training.fit import train
from psycheck.training.recipe import preset
from timing import machine, peak_megabytes, table, verdict

CHEAP = f"python:scale_model:model?folder={Path(__file__).parent}"
SHARD = 50_000
WORDS = 20  # of a short post, at most


def main() -> None:
    """Print the tables."""
    options = _options()
    if options.job:
        print(json.dumps(_job(options.job, Path(options.folder), options.model, options.engine)))
        return

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"\n## Scale ({machine()})\n\nFile by file with a model that costs nothing:\n")
        rows = []
        for size in options.sizes:
            _write_shards(folder / str(size), size)
            for engine in ("local", "ray?actors=1"):
                rows.append(_shard_row(folder / str(size), engine, size))
        head = [
            "posts",
            "engine",
            "posts a second",
            "CPU s of the driver",
            "peak MB of the driver",
            "bytes a post",
        ]
        print(table(head, rows))
        for size in options.sizes:
            print("\n" + _same_files(folder / str(size)))
        if options.texts:
            _compare_engines(folder, options.texts)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--texts", type=int, default=1_000, help="scored with MiniLM")
    for name in ("job", "folder", "model", "engine"):
        parser.add_argument(f"--{name}", default="")
    return parser.parse_args()


def _write_shards(folder: Path, size: int) -> None:
    """Files of short posts, all different."""
    folder.mkdir()
    base = [text for text in generate("tweets", 3_000, 5).texts if len(text.split()) <= WORDS]
    for start in range(0, size, SHARD):
        rows = range(start, min(start + SHARD, size))
        texts = [f"{base[row % len(base)]} {row}" for row in rows]
        posts = pl.DataFrame({"id": [str(row) for row in rows], "text": texts})
        posts.write_parquet(folder / f"{start:010}.parquet")


def _shard_row(folder: Path, engine: str, size: int) -> list[object]:
    measured = _in_a_process("shards", folder, CHEAP, engine)
    written = sum(file.stat().st_size for file in (folder / _name(engine)).iterdir())
    return [
        f"{size:,}",
        engine,
        f"{size / measured['seconds']:,.0f}",
        f"{measured['cpu']:.1f}",
        f"{measured['peak']:.0f}",
        f"{written / size:.0f}",
    ]


def _same_files(folder: Path) -> str:
    local, ray = (sorted((folder / name).iterdir()) for name in ("local", "ray"))
    same = [left.read_bytes() == right.read_bytes() for left, right in zip(local, ray, strict=True)]
    return f"{sum(same)} of {len(same)} files of scores have the same bytes"


def _compare_engines(folder: Path, size: int) -> None:
    """The MiniLM classifier on a chunk of texts, by both engines in turns, one core each."""
    recipe = preset("fast", epochs=1, labels=("depression",))
    spec = train(generate("tweets", 60, 3), recipe, folder / "model").spec
    texts = [text for text in generate("tweets", 2 * size, 4).texts if len(text.split()) <= WORDS][:size]
    pl.DataFrame({"text": texts}).write_parquet(folder / "texts.parquet")

    seconds: dict[str, float] = {}
    for engine in ("local", "ray?actors=1"):
        measured = _in_a_process("chunk", folder, spec, engine)
        seconds[engine] = measured["seconds"]
    scores = [np.load(folder / f"{name}.npy") for name in ("local", "ray")]
    print(f"\n{len(texts):,} texts with MiniLM: {len(texts) / seconds['local']:.0f} a second on one core\n")
    print(verdict("Ray / local, time", seconds["ray?actors=1"] / seconds["local"], 1.25, at_least=False))
    print(
        verdict(
            "largest difference of scores", float(np.abs(scores[0] - scores[1]).max()), 1e-5, at_least=False
        )
    )


def _in_a_process(job: str, folder: Path, model: str, engine: str) -> dict[str, float]:
    arguments = ["--job", job, "--folder", str(folder), "--model", model, "--engine", engine]
    done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True, check=True)
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return measured


def _job(job: str, folder: Path, spec: str, engine: str) -> dict[str, float]:
    """One job in this process: its seconds, CPU seconds and peak memory, without those of its start."""
    model = open_model(spec)
    if engine != "local":
        from psycheck.scoring.ray_engine import joined_cluster

        joined_cluster("")  # a cluster that runs already is the usual case
    started, before = time.monotonic(), process_time()
    if job == "shards":
        plan = CorpusPlan(path=f"{folder}/*.parquet", columns=Columns())
        score_shards(model, plan, str(folder / _name(engine)), engine=engine)
    else:
        texts = pl.read_parquet(folder / "texts.parquet")["text"].to_list()
        view = RememberedScores(Store(folder / f"{_name(engine)}.sqlite"), model, model.labels)
        score_once([(model, view)], [(1.0, texts)], engine=open_engine(engine))
        np.save(folder / _name(engine), view.of(texts))
    return {
        "seconds": time.monotonic() - started,
        "cpu": process_time() - before,
        "peak": peak_megabytes(),
    }


def _name(engine: str) -> str:
    return engine.partition("?")[0]


if __name__ == "__main__":
    main()
