"""How well candidate retrieval finds what was annotated, against keywords (PsySym App. D, Table 10)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from psycheck import (
    Corpus,
    Encoder,
    Graph,
    Symptom,
    emotion_rankings,
    encode_texts,
    open_encoder,
    read_dictionary,
    read_graph,
    symptom_similarity,
)
from psycheck.core.errors import BadInput, MissingExtra
from psycheck.core.finding import Interval
from psycheck.core.progress import Progress, silent
from psycheck.statistics.classification import FloatArray
from psycheck.statistics.clustered import BoolArray, Clusters, figure_interval
from psycheck.text.words import words_of

CUT = 0.5
"""The cosine similarity from which a sentence counts as retrieved (App. D)."""

NAMES = "names"
KEYWORDS = "keywords"
EMOTION = "negative emotion, ours"
EMPATHS = "negative emotion, Empath"
CLINICIAN = "descriptions, clinician"
BOTH = "descriptions, clinician and poster"


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
    dictionaries: Sequence[str | Path] = (),
    store: Path | None = None,
    progress: Progress = silent,
) -> list[MethodFigures]:
    """Precision and recall of each method on the annotated sentences of a corpus.

    The labels of the corpus are names of symptoms of the graph; a missing label is left out. Words that are
    the same for all symptoms (of emotion, or of `dictionaries` such as LIWC's negemo and terms of MeSH)
    retrieve a sentence for each of them.
    """
    opened_dictionaries = [read_dictionary(dictionary) for dictionary in dictionaries]
    graph = graph or read_graph()
    symptoms = [symptom for symptom in graph.symptom if symptom.name in corpus.labels]
    if not symptoms:
        raise BadInput(
            f"no label of corpus '{corpus.name}' is a symptom of the graph",
            code="corpus.no-symptom-label",
            allowed="labels named as the symptoms of the graph",
        )

    targets = corpus.targets([symptom.name for symptom in symptoms])
    annotated = ~np.isnan(targets)
    positive = (targets > 0.5) & annotated
    clusters = Clusters.of(corpus.units(), corpus.copies())
    opened = open_encoder(encoder)

    figures = []
    for dictionary in opened_dictionaries:
        in_dictionary = np.array([dictionary.holds(text) for text in corpus.texts])
        hits = np.repeat(in_dictionary[:, None], len(symptoms), axis=1)
        figures.append(_figures(dictionary.name, positive, hits & annotated, clusters))
    for method, hits in _retrieved(corpus.texts, symptoms, opened, cut, store, progress):
        figures.append(_figures(method, positive, hits & annotated, clusters))
    return figures


def _retrieved(
    texts: Sequence[str],
    symptoms: Sequence[Symptom],
    encoder: Encoder,
    cut: float,
    store: Path | None,
    progress: Progress,
) -> Iterator[tuple[str, BoolArray]]:
    """Each method with what it retrieves, (n, k)."""
    names = [f"{symptom.title} {symptom.name.replace('_', ' ')}" for symptom in symptoms]
    yield NAMES, _sharing_a_word(texts, names)
    keywords = [" ".join(symptom.clinician) for symptom in symptoms]
    yield KEYWORDS, _sharing_a_word(texts, keywords)

    for method, lexicon in ((EMOTION, "words"), (EMPATHS, "empath")):
        try:
            (share,) = emotion_rankings([lexicon])
        except MissingExtra:
            # Empath is an extra of its own: without it, Table 10 has one row less.
            continue
        hits = np.array([share(text) > 0 for text in texts])
        yield method, np.repeat(hits[:, None], len(symptoms), axis=1)

    vectors = encode_texts(encoder, texts, store=store, progress=progress)
    similarity_to_clinician = symptom_similarity(encoder, symptoms, "clinician")
    yield CLINICIAN, similarity_to_clinician(vectors) >= cut
    similarity_to_both = symptom_similarity(encoder, symptoms, "both")
    yield BOTH, similarity_to_both(vectors) >= cut


def _sharing_a_word(texts: Sequence[str], descriptions: Sequence[str]) -> BoolArray:
    """Which texts have a word of each description, stop words left out, (n, k)."""
    keyword_sets = [set(words_of(text.lower())) - ENGLISH_STOP_WORDS for text in descriptions]
    rows = []
    for text in texts:
        words = set(words_of(text.lower()))
        rows.append([not words.isdisjoint(keywords) for keywords in keyword_sets])
    return np.array(rows)


def _figures(method: str, positive: BoolArray, retrieved: BoolArray, clusters: Clusters) -> MethodFigures:
    """The figures of a method; `positive` and `retrieved` are (n, k)."""
    has_positive = positive.any(axis=0)
    relevant = positive[:, has_positive].astype(np.float64)
    called = retrieved[:, has_positive].astype(np.float64)
    precision, precision_interval = _mean_share(relevant * called, called, clusters)
    recall, recall_interval = _mean_share(relevant * called, relevant, clusters)
    return MethodFigures(
        method=method,
        precision=precision,
        precision_interval=precision_interval,
        recall=recall,
        recall_interval=recall_interval,
        symptoms=int(has_positive.sum()),
        without=int((called.sum(axis=0) == 0).sum()),
    )


def _mean_share(hits: FloatArray, out_of: FloatArray, clusters: Clusters) -> tuple[float, Interval]:
    """The mean over symptoms of hits / out_of, both (n, k), where there are any, and its interval."""
    totals = out_of.sum(axis=0)
    defined = totals > 0
    if not defined.any():
        return np.nan, (np.nan, np.nan)

    hits = hits[:, defined]
    out_of = out_of[:, defined]
    totals = totals[defined]
    shares = hits.sum(axis=0) / totals
    mean = float(shares.mean())
    # What each text adds to the mean, (n,).
    influence = ((hits - shares * out_of) / totals).mean(axis=1)
    return mean, figure_interval(mean, influence, clusters, clusters)
