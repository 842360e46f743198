"""Tagging: one pass of the shared encoder against three of sentence-transformers; a million sentences.

python benchmarks/tagging.py [--sentences 2000] [--million 125000 250000 500000 1000000]

Both sides give relevance, status and subject of the same generated sentences, with MiniLM, in one run. The
other side is what three separate models cost: `SentenceTransformer.encode` three times, a linear head each.
`--million` tags so many sentences (posts of four) from a file with a tiny encoder.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from demo_texts import generate_sentences
from psycheck.commands.tag import tag_corpus
from psycheck.corpora.opening import CorpusPlan
from psycheck.corpora.stream import stream_corpus
from psycheck.models.hf import minilm_folder
from psycheck.models.opening import open_model
from psycheck.scoring.tags import tags_of
from psycheck.symptoms.reader import SymptomModel
from psycheck.training.output_layer import open_classifier
from timing import machine, peak_megabytes, table

SYMPTOMS = [f"symptom {k}" for k in range(38)]
LINE = "i feel so tired of this week and nobody asks why but maybe tomorrow will be kinder than today was"
WANTED, MOST_MEGABYTES = 2.5, 2048


def saved_model(folder: Path, *, small: bool) -> SymptomModel:
    """A model with 38 symptoms and a status: MiniLM, or one layer of width 32 with the same tokenizer."""
    network = open_classifier(minilm_folder(), [*SYMPTOMS, "uncertain"])
    if small:
        sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
        for name, size in sizes.items():
            setattr(network.config, name, size)
        kind: Any = type(network)
        network = kind(network.config)
    network.save_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(minilm_folder())
    tokenizer.model_max_length = 64
    tokenizer.save_pretrained(folder)
    model = open_model(f"symptoms:{folder}")
    assert isinstance(model, SymptomModel)
    return model


def race(n: int) -> float:
    """Sentences per second of both sides, in turns; the ratio of the best of each."""
    from sentence_transformers import SentenceTransformer

    sentences = generate_sentences(n, 0)[1].texts
    rates: dict[str, list[float]] = {"psycheck, one pass": [], "sentence-transformers, three passes": []}
    other = SentenceTransformer(str(minilm_folder()), device="cpu")
    other.max_seq_length = 64
    heads = [np.random.default_rng(k).normal(size=(384, width)) for k, width in enumerate((38, 1, 1))]
    with tempfile.TemporaryDirectory() as folder:
        model = saved_model(Path(folder), small=False)
        for _ in range(3):
            start = time.process_time()
            tags_of(model, sentences)
            rates["psycheck, one pass"].append(len(sentences) / (time.process_time() - start))
            start = time.process_time()
            for head in heads:  # relevance, status, subject
                np.asarray(other.encode(sentences, batch_size=32)) @ head
            rates["sentence-transformers, three passes"].append(
                len(sentences) / (time.process_time() - start)
            )
    rows = [
        [side, f"{max(found):.0f}", ", ".join(f"{one:.0f}" for one in found)] for side, found in rates.items()
    ]
    print(table(["side", "sentences per second of CPU time, best", "all rounds"], rows))
    ratio = max(rates["psycheck, one pass"]) / max(rates["sentence-transformers, three passes"])
    print(f"ratio: {ratio:.2f} (wanted: {WANTED} or more)", flush=True)
    return ratio


def million(sizes: Sequence[int]) -> None:
    """Tag files of so many sentences, each in a process of its own."""
    words = LINE.split()
    rows = []
    with tempfile.TemporaryDirectory() as place:
        saved_model(Path(place) / "model", small=True)
        for size in sizes:
            path = Path(place) / f"{size}.csv"
            rng = np.random.default_rng(size)
            with path.open("w") as file:
                file.write("id,text,author\n")
                for post in range(size // 4):
                    drawn = rng.integers(len(words), size=(4, 8))
                    said = ". ".join(
                        " ".join(words[k] for k in one).capitalize() + f" {post}" for one in drawn
                    )
                    file.write(f"{post},{said}.,{post % 5000}\n")
            arguments = [__file__, "--one", str(path), str(Path(place) / "model")]
            done = subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True)
            found = json.loads(done.stdout.splitlines()[-1])
            numbers = (found["sentences"], found["seconds"], found["cpu"], found["mb"])
            rows.append([f"{number:,.0f}" for number in numbers])
            print(rows[-1], flush=True)
            path.unlink()
    print(table(["sentences", "seconds", "CPU seconds", "peak memory, MB"], rows))
    print(f"(wanted: below {MOST_MEGABYTES} MB, linear)")


def one(path: str, folder: str) -> None:
    """Tag one file and print what it took."""
    start, begun = time.monotonic(), time.process_time()
    model = open_model(f"symptoms:{folder}", batch=256)
    assert isinstance(model, SymptomModel)
    with tempfile.TemporaryDirectory() as place:
        tagged = tag_corpus(model, stream_corpus(CorpusPlan(path)), Path(place) / "tags.parquet")
    took = {"seconds": time.monotonic() - start, "cpu": time.process_time() - begun, "mb": peak_megabytes()}
    print(json.dumps({"sentences": tagged.sentences, **took}))


def main() -> int:
    """Print the tables; 1 if one pass does not pay as it should."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--sentences", type=int, default=2_000)
    options.add_argument("--million", type=int, nargs="+", metavar="N")
    options.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    wanted = options.parse_args()
    torch.set_num_threads(1)
    if wanted.one:
        one(*wanted.one)
        return 0
    print(machine(), flush=True)
    if wanted.million:
        million(wanted.million)
        return 0
    return 0 if race(wanted.sentences) >= WANTED else 1


if __name__ == "__main__":
    raise SystemExit(main())
