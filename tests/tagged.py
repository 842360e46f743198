"""A small symptom graph, and posts whose weights are given."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from psycheck.symptoms.explanation import Posts
from psycheck.symptoms.graph import Graph, Symptom

GRAPH = Graph(
    disease={"gloom": "Gloom", "dread": "Dread"},
    symptom=(
        Symptom("low", "Low", ("gloom",), ("Low.",)),
        Symptom("tired", "Tired", ("gloom", "dread"), ("Tired.",)),
        Symptom("fear", "Fear", ("dread",), ("Fear.",)),
    ),
)
NAMES = ("low", "tired", "fear")
DAY = 86_400
START = 1_600_000_000


def posts_of(rows: Sequence[tuple[str, str, int | None, tuple[float, float, float]]]) -> Posts:
    table = pl.DataFrame(
        {
            "id": [row[0] for row in rows],
            "author": [row[1] for row in rows],
            "when": pl.Series([row[2] for row in rows], dtype=pl.Int64),
            "sentences": [1] * len(rows),
        }
    )
    return Posts(table, np.array([row[3] for row in rows], np.float32), NAMES)
