"""How well candidate retrieval finds what was annotated, against keywords (PsySym App. D, Table 10)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from psycheck.corpora.curate.lexicons import EMPATH, WORDS, rankings
from psycheck.corpus import Corpus
from psycheck.errors import BadInput, MissingExtra
from psycheck.finding import Interval
from psycheck.knowledge.graph import Graph, Symptom, read_graph
from psycheck.measures.clustered import BoolArray, Clusters, figure_interval
from psycheck.model import Encoder, FloatArray
from psycheck.models.open import open_encoder
from psycheck.scoring.answers import encode_once
from psycheck.scoring.engine import Progress, silent
from psycheck.text.words import words_of
from psycheck.verbs.retrieve import Register, nearest_of

CUT = 0.5
"""The cosine similarity from which a sentence counts as retrieved (App. D)."""

NAMES, KEYWORDS, EMOTION, EMPATHS = "names", "keywords", "negative emotion, ours", "negative emotion, Empath"
CLINICIAN, BOTH = "descriptions, clinician", "descriptions, clinician and poster"


@dataclass(frozen=True, slots=True)
class MethodFigures:
    """Precision and recall of one method, the means over symptoms, with their intervals.

    `symptoms` are those with an annotated sentence; for `without` of them the method retrieves nothing, which
    are left out of the mean precision and count as 0 in the mean recall.
    """

    method: str
    precision: float
    precision_interval: Interval
    recall: float
    recall_interval: Interval
    symptoms: int
    without: int


def retrieval_figures(
    corpus: Corpus,
    *,
    graph: Graph | None = None,
    encoder: str | Path | Encoder = "minilm",
    cut: float = CUT,
    store: Path | None = None,
    progress: Progress = silent,
) -> list[MethodFigures]:
    """Precision and recall of each method on the annotated sentences of a corpus.

    The labels of the corpus are names of symptoms of the graph; a missing label is left out. Words that are
    the same for all symptoms (of emotion) retrieve a sentence for each of them.
    """
    known = graph or read_graph()
    symptoms = [one for one in known.symptom if one.name in corpus.labels]
    if not symptoms:
        what = f"no label of corpus '{corpus.name}' is a symptom of the graph"
        raise BadInput(what, allowed="labels named as the symptoms of the graph")
    targets = corpus.targets([one.name for one in symptoms])
    annotated, yes = ~np.isnan(targets), targets > 0.5
    clusters = Clusters.of(corpus.units())
    found = _retrieved(corpus.texts, symptoms, open_encoder(encoder), cut, store, progress)
    return [_figures(name, yes & annotated, hits & annotated, clusters) for name, hits in found]


def _retrieved(
    texts: Sequence[str],
    symptoms: Sequence[Symptom],
    encoder: Encoder,
    cut: float,
    store: Path | None,
    progress: Progress,
) -> Iterator[tuple[str, BoolArray]]:
    """Each method with what it retrieves, (n, k)."""
    words = [set(words_of(text.lower())) for text in texts]
    spoken: Mapping[str, Callable[[Symptom], Sequence[str]]] = {
        NAMES: lambda one: (one.title, one.name.replace("_", " ")),
        KEYWORDS: lambda one: one.clinician,
    }
    for method, said in spoken.items():
        lists = [set(words_of(" ".join(said(one)).lower())) - ENGLISH_STOP_WORDS for one in symptoms]
        yield method, np.array([[not own.isdisjoint(some) for some in lists] for own in words])
    for method, lexicon in ((EMOTION, WORDS), (EMPATHS, EMPATH)):
        try:
            (share,) = rankings([lexicon])
        except MissingExtra:
            continue
        hits = np.array([share(text) > 0 for text in texts])
        yield method, np.repeat(hits[:, None], len(symptoms), axis=1)
    vectors = encode_once(encoder, texts, store=store, progress=progress)
    registers: Mapping[str, Register] = {CLINICIAN: "clinician", BOTH: "both"}
    for method, register in registers.items():
        yield method, nearest_of(encoder, symptoms, register)(vectors) >= cut


def _figures(method: str, yes: BoolArray, called: BoolArray, clusters: Clusters) -> MethodFigures:
    used = yes.any(axis=0)
    y, c = yes[:, used].astype(np.float64), called[:, used].astype(np.float64)
    silent_for = int((c.sum(axis=0) == 0).sum())
    precision = _mean(y * c, c, clusters)
    recall = _mean(y * c, y, clusters)
    return MethodFigures(method, *precision, *recall, int(used.sum()), silent_for)


def _mean(hits: FloatArray, out_of: FloatArray, clusters: Clusters) -> tuple[float, Interval]:
    """The mean over symptoms of hits / out_of, both (n, k), where there are any, and its interval."""
    total = out_of.sum(axis=0)
    hits, out_of, total = hits[:, total > 0], out_of[:, total > 0], total[total > 0]
    if not len(total):
        return np.nan, (np.nan, np.nan)
    values = hits.sum(axis=0) / total
    value = float(values.mean())
    influence = ((hits - values * out_of) / total).mean(axis=1)
    return value, figure_interval(value, influence, clusters, clusters)
