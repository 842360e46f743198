"""Signs: figures of a corpus that look wrong, as `leaks`, `shortcuts` and `label_quality` find them.

`cautions` puts those that reach their limit into words.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.core.corpus import Corpus
from psycheck.statistics import clustered
from psycheck.statistics.classification import BoolArray, classes
from psycheck.statistics.clustered import Clusters
from psycheck.statistics.sides import Figure

TABLE: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("cautions.toml").read_text("utf-8"))
LIMITS: Mapping[str, Any] = TABLE["limits"]
MOST_IDS = 50  # of the texts behind a sign; a report lists no more


@dataclass(frozen=True, slots=True)
class Sign:
    """A figure about a corpus, or about one of its labels, and the ids of texts behind it.

    `name` is a table of `cautions.toml`, with a case of its own after a point; `word` is "" if hidden.
    """

    name: str
    figure: Figure
    label: str = ""
    what: str = ""
    word: str | None = None
    ids: tuple[str, ...] = ()


def share_sign(
    name: str,
    corpus: Corpus,
    places: Sequence[int],
    among: BoolArray | None = None,
    label: str = "",
) -> Sign:
    """The sign of texts that may be a large share of all texts, or of those `among` them, (n,)."""
    part = np.isin(np.arange(len(corpus)), places)
    if among is None:
        among = np.ones(len(part), np.bool_)

    figure = share(corpus, part, among)
    return Sign(
        name=name,
        figure=figure,
        label=label,
        ids=ids_at(corpus, places),
    )


def share(corpus: Corpus, part: BoolArray, among: BoolArray) -> Figure:
    """The share of the texts `among` that are in `part`, both (n,), with an interval clustered by author."""
    n = int(among.sum())
    hits = part & among

    value = int(hits.sum()) / max(n, 1)
    # By author: one who copies a text copies many, so texts are not independent.
    units = Clusters.of(corpus.units(), corpus.copies())
    interval = clustered.ratio_interval(hits, among, units)
    return Figure(
        value=value,
        interval=interval,
        n=n,
    )


def ids_at(corpus: Corpus, places: Sequence[int]) -> tuple[str, ...]:
    """The ids of the first texts at these places."""
    ids = corpus.table["id"]
    return tuple(ids[place] for place in places[:MOST_IDS])


def both_classes(corpus: Corpus, label: str) -> tuple[BoolArray, BoolArray]:
    """Which texts are annotated 1 and which 0, (n,) each."""
    return classes(corpus.targets([label])[:, 0])


def enough(yes: BoolArray, no: BoolArray) -> bool:
    """Whether both classes are so large that no word separates them by chance."""
    smaller_class = min(yes.sum(), no.sum())
    return bool(smaller_class >= LIMITS["each_class"])
