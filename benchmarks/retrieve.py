"""Retrieval: equal to exact search, its rate against sentence-transformers, and its memory on long streams.

    python benchmarks/retrieve.py --exact          20,000 generated sentences, all-MiniLM-L6-v2
    python benchmarks/retrieve.py --stream         100,000, 300,000 and 1,000,000 sentences, a cheap encoder
    python benchmarks/retrieve.py --stream 50000   one length only

All sentences are synthetic. Each length of --stream is a process of its own; its peak memory is what the
system says of it (getrusage). Rates are processor seconds, because the machine may be busy with other work.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import perf_counter, process_time

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer

from demo_texts import sentence_rows
from psycheck.commands.retrieve import Retrieving, retrieve
from psycheck.core.arrays import FloatArray
from psycheck.core.model import Encoder
from psycheck.corpora.near_duplicates import near_duplicates
from psycheck.corpora.opening import CorpusPlan
from psycheck.models.hf import minilm_folder
from psycheck.models.opening import open_encoder
from psycheck.symptoms.graph import read_graph
from psycheck.text.clean import split_sentences
from psycheck.text.words import plain_text
from timing import machine, peak_megabytes, table, verdict

LENGTHS = (100_000, 300_000, 1_000_000)
SENTENCES_A_POST = 5


@dataclass
class Remembering:
    """An encoder that remembers what it gave, so that exact search sees the same vectors."""

    inner: Encoder
    vectors: dict[str, FloatArray] = field(default_factory=dict)
    name: str = "remembering"
    fingerprint: str = "remembering"

    def encode(self, texts: Sequence[str], /) -> FloatArray:
        """The vectors of the inner encoder."""
        found = self.inner.encode(texts)
        self.vectors.update(zip(texts, found, strict=True))
        return found

    def encode_spans(self, texts: Sequence[str], spans: Sequence[tuple[int, int]], /) -> FloatArray:
        """Not used here."""
        return self.inner.encode_spans(texts, spans)


@dataclass
class Hashed:
    """A cheap encoder: words hashed into 128 numbers."""

    name: str = "hashed"
    fingerprint: str = "hashed"
    words: HashingVectorizer = field(default_factory=lambda: HashingVectorizer(n_features=128))

    def encode(self, texts: Sequence[str], /) -> FloatArray:
        """One row of word counts per text."""
        return np.asarray(self.words.transform(texts).toarray())

    def encode_spans(self, texts: Sequence[str], spans: Sequence[tuple[int, int]], /) -> FloatArray:
        """The same of a span."""
        return self.encode([text[a:b] for text, (a, b) in zip(texts, spans, strict=True)])


def exact_search(sentences: Sequence[str], near: FloatArray, size: int) -> dict[str, list[tuple[str, str]]]:
    """For each disease the (sentence, symptom) pairs, from the whole matrix of similarities, sorted."""
    graph = read_graph()
    names = [one.name for one in graph.symptom]
    top: list[list[int]] = []
    for k in range(len(names)):
        seen: set[str] = set()
        rows = sorted(range(len(sentences)), key=lambda i: (-near[i, k], i))
        top.append([])
        for i in rows:
            if len(top[k]) == size:
                break
            if (words := plain_text(sentences[i])) not in seen:
                seen.add(words)
                top[k].append(i)
    found = {}
    for disease in graph.disease:
        columns = [names.index(one.name) for one in graph.of(disease)]
        best = {i: max(columns, key=lambda k: near[i, k]) for k in columns for i in top[k]}
        ranked = sorted(best, key=lambda i: (-near[i, best[i]], i))
        dropped: set[int] = set()
        for a, b in near_duplicates([sentences[i] for i in ranked]):
            if a not in dropped:
                dropped.add(b)
        found[disease] = sorted(
            (sentences[i], names[best[i]]) for at, i in enumerate(ranked) if at not in dropped
        )
    return found


def exact(count: int) -> None:
    """Compare retrieval with exact search, and its rate with sentence-transformers on the same sentences."""
    from sentence_transformers import SentenceTransformer

    made = (row["text"] for row in sentence_rows(count + count // 50, 21))
    sentences = [text for text in made if split_sentences(text) == [text]][:count]
    graph = read_graph()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "posts.jsonl"
        path.write_text(
            "".join(json.dumps({"id": str(i), "text": text}) + "\n" for i, text in enumerate(sentences))
        )
        encoder = Remembering(open_encoder("minilm"))
        wall, spent = perf_counter(), process_time()
        found = retrieve([CorpusPlan(str(path))], encoder=encoder)
        ours = (perf_counter() - wall, process_time() - spent)
    described = [text for one in graph.symptom for text in one.descriptions]
    starts = np.cumsum([0, *(len(one.descriptions) for one in graph.symptom)])[:-1]
    texts = list(encoder.vectors)[len(described) :]
    own = np.array([encoder.vectors[text] for text in sentences])
    to = np.array([encoder.vectors[text] for text in described])
    unit = [vectors / np.linalg.norm(vectors, axis=1, keepdims=True) for vectors in (own, to)]
    near = np.maximum.reduceat(unit[0] @ unit[1].T, starts, axis=1).round(6)
    wanted = exact_search(sentences, near, Retrieving().queue)
    got = {
        name: sorted(found.table.filter(disease=name).select("text", "symptom").iter_rows())
        for name in graph.disease
    }
    print(f"Measured: {machine()}\n")
    print(
        f"{len(sentences):,} sentences ({len(texts):,} encoded), {sum(map(len, got.values())):,} candidates"
    )
    print(f"equal to exact search in all {len(got)} diseases: {got == wanted}")
    theirs_model = SentenceTransformer(str(minilm_folder()), device="cpu")
    theirs_model.max_seq_length = open_encoder("minilm").max_length  # type: ignore[attr-defined]
    wall, spent = perf_counter(), process_time()
    passes = []
    for _ in graph.disease:
        vectors = theirs_model.encode(sentences, batch_size=32, normalize_embeddings=True)
        passes.append((perf_counter() - wall, process_time() - spent))
    apart = float(np.abs(vectors - unit[0]).max())
    taken = {
        "psycheck retrieve, all diseases: read, split, encode, rank": ours,
        "sentence-transformers, once for all diseases: encode alone": passes[0],
        "sentence-transformers, once for each disease: encode alone": passes[-1],
    }
    rows = [
        [name, *(f"{x:.0f}" for x in (wall, spent)), f"{count / spent:.0f}", f"{spent / ours[1]:.2f}"]
        for name, (wall, spent) in taken.items()
    ]
    head = ["", "seconds", "processor seconds", "sentences per processor second", "times ours (processor)"]
    print(table(head, rows))
    print(verdict("once for each disease, over ours", passes[-1][1] / ours[1], 2.5, at_least=True))
    print(f"vectors differ by {apart:.1e}")


def write_stream(path: Path, count: int) -> None:
    """Posts of five sentences each, made of generated sentences with two further words."""
    choose, known = Random(5), [row["text"] for row in sentence_rows(4_000, 22)]
    words = sorted({word for text in known for word in plain_text(text).split()})
    with path.open("w") as file:
        for number in range(count // SENTENCES_A_POST):
            some = (
                f"{choose.choice(known).rstrip('.?!')} {choose.choice(words)} {choose.choice(words)}."
                for _ in range(SENTENCES_A_POST)
            )
            file.write(
                json.dumps({"id": str(number), "text": " ".join(s[0].upper() + s[1:] for s in some)}) + "\n"
            )


def stream_once(path: Path) -> None:
    """One retrieval in this process; prints its figures as JSON."""
    wall, spent = perf_counter(), process_time()
    found = retrieve([CorpusPlan(str(path))], encoder=Hashed())
    figures = {"sentences": found.sentences, "candidates": len(found.table), "peak": peak_megabytes()}
    print(json.dumps(figures | {"seconds": perf_counter() - wall, "processor": process_time() - spent}))


def stream(lengths: Sequence[int]) -> None:
    """Memory and time by length, a row as soon as it is measured."""
    head = ["sentences", "MB", "seconds", "processor seconds", "sentences per processor second", "peak MB"]
    print(f"Measured: {machine()}\n\n{table(head, [])}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for length in lengths:
            path = Path(folder) / f"{length}.jsonl"
            write_stream(path, length)
            size = path.stat().st_size / 1e6
            command = [sys.executable, __file__, "--one", str(path)]
            one = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
            rate = one["sentences"] / one["processor"]
            figures = (size, one["seconds"], one["processor"], rate, one["peak"])
            cells = [f"{one['sentences']:,}", *(f"{value:,.0f}" for value in figures)]
            print(f"| {' | '.join(cells)} |", flush=True)
            path.unlink()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--exact", type=int, nargs="?", const=20_000)
    parser.add_argument("--stream", type=int, nargs="*")
    parser.add_argument("--one", type=Path)
    asked = parser.parse_args()
    if asked.one:
        stream_once(asked.one)
    if asked.exact:
        exact(asked.exact)
    if asked.stream is not None:
        stream(asked.stream or LENGTHS)
