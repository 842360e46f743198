"""How similar sentences are to the descriptions of symptoms: encoded here, or by the actors of a cluster."""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import BadInput
from psycheck.core.model import Encoder
from psycheck.corpora.queues import Candidate
from psycheck.symptoms.graph import Symptom

_DIGITS = 6  # a similarity is rounded to so many: what follows depends on how sentences were batched
_CHUNKS_AT_ONCE = 32  # sent to a cluster
Register = Literal["clinician", "poster", "both"]

SimilaritiesOf = Callable[[Iterable[Sequence[Candidate]]], Iterator[tuple[Sequence[Candidate], FloatArray]]]
"""For each chunk of n sentences, in order, the chunk and its highest similarity to each symptom, (n, k)."""


def similarities_by(
    engine: str, encoder: str | Path | Encoder, symptoms: Sequence[Symptom], register: Register
) -> SimilaritiesOf:
    """What encodes chunks of sentences and compares them with symptoms: this process, or a cluster."""
    from psycheck.scoring.engine import open_engine
    from psycheck.scoring.ray_engine import RayEngine

    opened_engine = open_engine(engine)
    if isinstance(opened_engine, RayEngine):
        return _by_cluster(opened_engine, encoder, symptoms, register)

    from psycheck.models.opening import open_encoder

    worker = SimilarChunks(open_encoder(encoder), symptoms, register)

    def similarities_here(
        chunks: Iterable[Sequence[Candidate]],
    ) -> Iterator[tuple[Sequence[Candidate], FloatArray]]:
        for chunk in chunks:
            yield chunk, worker.similarities([sentence.text for sentence in chunk])

    return similarities_here


def _by_cluster(
    engine: Any, encoder: str | Path | Encoder, symptoms: Sequence[Symptom], register: Register
) -> SimilaritiesOf:
    if not isinstance(encoder, str | Path):
        raise BadInput(
            f"encoder '{encoder.name}' exists in this process only",
            code="engine.encoder-without-spec",
            allowed="an encoder that others can open: minilm, hf:FOLDER, vectors:FILE",
            do="name the encoder, or use the local engine",
        )
    arguments = (str(encoder), tuple(symptoms), register)

    def similarities_of_actors(
        chunks: Iterable[Sequence[Candidate]],
    ) -> Iterator[tuple[Sequence[Candidate], FloatArray]]:
        remaining = iter(chunks)
        while wave := list(islice(remaining, _CHUNKS_AT_ONCE)):
            rows = [
                {"place": place, "texts": pickle.dumps([sentence.text for sentence in chunk])}
                for place, chunk in enumerate(wave)
            ]
            answers = engine.map_rows(rows, SimilarChunks, arguments, blocks=len(rows))
            # In the order of the sentences: of two that are as similar, the queues keep the first.
            for row in sorted(answers, key=lambda answer: int(answer["place"])):
                yield wave[int(row["place"])], pickle.loads(row["similarities"])

    return similarities_of_actors


class SimilarChunks:
    """Compares sentences with symptoms; the encoder is opened and the symptoms are encoded once."""

    def __init__(self, encoder: str | Encoder, symptoms: Sequence[Symptom], register: Register) -> None:
        from psycheck.models.opening import open_encoder

        self._encoder = open_encoder(encoder)
        self._nearest = nearest_of(self._encoder, symptoms, register)

    def similarities(self, texts: Sequence[str]) -> FloatArray:
        """The highest similarity of each text to each symptom, (n, k)."""
        from psycheck.scoring.vectors import vectors_of

        return self._nearest(vectors_of(self._encoder, texts))

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """The similarities of the texts in a row of Ray Data."""
        similarities = self.similarities(pickle.loads(row["texts"]))
        return {"place": row["place"], "similarities": pickle.dumps(similarities)}


def nearest_of(
    encoder: Encoder, symptoms: Sequence[Symptom], register: Register = "both"
) -> Callable[[FloatArray], FloatArray]:
    """A function from n vectors to their highest cosine similarity to each symptom, (n, k)."""
    from psycheck.scoring.vectors import vectors_of
    from psycheck.statistics.word_association import highest_cosine

    descriptions = [descriptions_of(symptom, register) for symptom in symptoms]
    # Where the descriptions of each symptom begin in the list of all.
    starts = np.cumsum([0, *map(len, descriptions)])[:-1]
    all_descriptions = [text for texts in descriptions for text in texts]
    described = vectors_of(encoder, all_descriptions)

    def highest(vectors: FloatArray) -> FloatArray:
        return np.asarray(highest_cosine(vectors, described, starts).round(_DIGITS))

    return highest


def descriptions_of(symptom: Symptom, register: Register) -> tuple[str, ...]:
    """The descriptions of a symptom in a register; an error where it has none."""
    texts = symptom.descriptions if register == "both" else getattr(symptom, register)
    if not texts:
        raise BadInput(
            f"symptom '{symptom.name}' has no description in the {register}'s register",
            code="retrieve.no-description",
            key="register",
            allowed="both, or clinician",
        )
    return tuple(texts)
