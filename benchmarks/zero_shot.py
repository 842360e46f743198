"""No training labels at all: how well the similarity to descriptions alone ranks texts, symptom by symptom.

    python benchmarks/zero_shot.py    AUC per symptom, and retrieval against keywords (PsySym App. D)

The demo corpora are synthetic. `psytar_sentences.csv` is read from the folder PSYCHECK_DATA if it is
there; only counts and figures are printed.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from psycheck.commands.similar_sentences import nearest_of
from psycheck.core.corpus import Corpus
from psycheck.corpora.columns import Columns
from psycheck.corpora.reading import read_corpus
from psycheck.demo.opening import open_demo
from psycheck.models.opening import open_encoder
from psycheck.scoring.vectors import encode_once
from psycheck.statistics.classification import auc
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.label_intervals import classification_intervals
from psycheck.studies.psysym_retrieval import retrieval_figures
from psycheck.symptoms.graph import Graph, read_graph
from psycheck.text.clean import split_sentences
from timing import machine, table

DATA = Path(os.environ.get("PSYCHECK_DATA", Path(__file__).parents[2] / "shared" / "data"))
ENOUGH = 0.8  # an AUC whose interval lies above is enough, one whose interval lies below is not
# The names of the PHQ-9 items in the mentions of the four demo corpora.
ITEMS = ("interest", "mood", "sleep", "energy", "appetite", "worth", "focus", "motor", "ideation")


def similarities(texts: Sequence[str], graph: Graph) -> np.ndarray:
    """The largest similarity over a text's sentences to each symptom, (n, k); -1 without a sentence."""
    split = [split_sentences(text) for text in texts]
    flat = [sentence for sentences in split for sentence in sentences]
    encoder = open_encoder("minilm")
    near = nearest_of(encoder, graph.symptom)(encode_once(encoder, flat))
    out, start = np.full((len(texts), len(graph.symptom)), -1.0), 0
    for i, sentences in enumerate(split):
        if sentences:
            out[i] = near[start : start + len(sentences)].max(axis=0)
            start += len(sentences)
    return out


def auc_row(name: str, gold: np.ndarray, scores: np.ndarray, units: np.ndarray) -> list[str]:
    """A row of the table: texts, positive ones, AUC with its interval, and whether that is enough."""
    known = ~np.isnan(gold)
    n, positive = int(known.sum()), int((gold[known] > 0.5).sum())
    found = auc(gold, scores)
    if np.isnan(found.value):
        return [name, f"{n:,}", str(positive), "not tested", ""]
    low, high = classification_intervals(gold, scores, Clusters.of(units))["auc"]
    enough = "yes" if low >= ENOUGH else "no" if high < ENOUGH else "not clear"
    return [name, f"{n:,}", str(positive), f"{found.value:.3f} [{low:.3f}, {high:.3f}]", enough]


def mentioned(corpus: Corpus, name: str) -> np.ndarray:
    """Whether each text mentions a symptom, whatever its status, (n,)."""
    found = (said or "" for said in corpus.group("mentions"))
    return np.array([float(name in {one.split(":")[0] for one in said.split()}) for said in found])


def by_label(corpus: Corpus, graph: Graph) -> Iterator[list[str]]:
    """The rows of a corpus whose labels are the symptoms."""
    scores, units = similarities(corpus.texts, graph), corpus.units()
    for k, one in enumerate(graph.symptom):
        yield auc_row(one.name, corpus.targets([one.name])[:, 0], scores[:, k], units)


def by_item(corpus: Corpus, graph: Graph, *, of_graph: bool) -> Iterator[list[str]]:
    """The rows of a corpus by PHQ-9 item: mentions are named as the graph's symptoms, or as the items."""
    scores, names = similarities(corpus.texts, graph), [one.name for one in graph.symptom]
    for number, symptoms in graph.asking("phq9").items():
        columns = [names.index(name) for name in symptoms]
        called = symptoms if of_graph else (ITEMS[number - 1],)
        gold = np.max([mentioned(corpus, name) for name in called], axis=0)
        yield auc_row(f"{number} {', '.join(symptoms)}", gold, scores[:, columns].max(axis=1), corpus.units())


def retrieval_rows(corpus: Corpus, graph: Graph) -> Iterator[list[str]]:
    """The rows of Table 10."""
    for one in retrieval_figures(corpus, graph=graph):
        cells = []
        for value, (low, high) in (
            (one.precision, one.precision_interval),
            (one.recall, one.recall_interval),
        ):
            cells.append("none retrieved" if np.isnan(value) else f"{value:.3f} [{low:.3f}, {high:.3f}]")
        yield [one.method, *cells, f"{one.without} of {one.symptoms}"]


def main() -> None:
    """Print all tables."""
    graph, head = read_graph(), ["", "texts", "positive", "AUC", "enough"]
    methods = ["method", "precision", "recall", "symptoms without a hit"]
    print(f"Measured: {machine()}", flush=True)
    psytar = DATA / "psytar_sentences.csv"
    own = read_graph(Path(__file__).with_name("psytar.toml"))
    sentences = open_demo("sentences")
    print(
        "\n## demo:sentences, retrieval\n\n" + table(methods, list(retrieval_rows(sentences, graph))),
        flush=True,
    )
    print("\n## demo:sentences\n\n" + table(head, list(by_label(sentences, graph))), flush=True)
    if psytar.is_file():
        labels = tuple(one.name for one in own.symptom)
        columns = Columns(text="text", id="none", labels=labels, author="post_id")
        corpus = read_corpus(psytar, columns)
        print("\n## PsyTAR, retrieval\n\n" + table(methods, list(retrieval_rows(corpus, own))), flush=True)
        print("\n## PsyTAR\n\n" + table(head, list(by_label(corpus, own))), flush=True)
    else:
        print(f"skipped: {psytar.name} is not there")
    for name, of_graph in (("people", True), ("tweets", False), ("interviews", False)):
        rows = list(by_item(open_demo(name), graph, of_graph=of_graph))
        print(f"\n## demo:{name}, PHQ-9 items\n\n" + table(head, rows), flush=True)


if __name__ == "__main__":
    main()
