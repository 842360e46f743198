"""Pairs whose two wordings look the same to a classifier: which, why, and the notes about them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.experiments.gender_rows import OWN, Decided
from psycheck.measures.classification import BoolArray
from psycheck.model import Encoder, IntArray, Model, Windowed
from psycheck.models.hf import HfEncoder
from psycheck.models.hf_folder import characters_read
from psycheck.models.sklearn_file import SklearnModel
from psycheck.report.studies.gender import EXPERIMENTS
from psycheck.scoring.answers import encode_once

Pair = tuple[str, str]
SAME = 1e-6
WINDOW = "the window ends before the gendered word"
NOT_KNOWN = "the vectors have no word for what was swapped"
NOT_LEARNED = "TF–IDF of that training has no word for what was swapped"
NOT_PARTED = "the vectors do not tell the swapped words apart"


def same_vectors(first: Any, second: Any) -> BoolArray:
    """Which rows of two matrices, dense or sparse, are the same, (n,)."""
    # Vectors of one text differ in the last bits when it is padded to another length.
    apart = abs(first - second).max(axis=1)
    out: BoolArray = np.asarray(apart.todense() if hasattr(apart, "todense") else apart).ravel() <= SAME
    return out


def not_read(read: Callable[[Sequence[str]], IntArray], pairs: Sequence[Pair]) -> BoolArray:
    """Whether reading ends before the first character that differs, in both wordings, (n,)."""
    if not pairs:
        return np.zeros(0, bool)
    parts = [
        next((k for k, (x, y) in enumerate(zip(*pair, strict=False)) if x != y), min(map(len, pair)))
        for pair in pairs
    ]
    first, second = (read([pair[k] for pair in pairs]) for k in (0, 1))
    out: BoolArray = np.maximum(first, second) <= np.array(parts)
    return out


def why_same(encoder: Encoder, pairs: Sequence[Pair], store: Path | None = None) -> list[str]:
    """Why an encoder has the same vector for both wordings of each of these pairs."""
    beyond = np.zeros(len(pairs), bool)
    if isinstance(encoder, HfEncoder):
        tokenizer, window = encoder.tokenizer, encoder.max_length
        beyond = not_read(lambda texts: characters_read(tokenizer, texts, window), pairs)
    parted = [set(a.split()) ^ set(b.split()) for (a, b), cut in zip(pairs, beyond, strict=True) if not cut]
    words = sorted(set[str]().union(*parted))
    vectors = np.nan_to_num(encode_once(encoder, words, store=store)) if words else np.zeros((0, 1))
    known = {word for word, vector in zip(words, vectors, strict=True) if vector.any()}
    reasons = iter([NOT_PARTED if some & known else NOT_KNOWN for some in parted])
    return [WINDOW if cut else next(reasons) for cut in beyond]


def why_same_to(model: Model, pairs: Sequence[Pair]) -> list[str]:
    """Why a trained model reads the same in both wordings of a pair; "" where it does not.

    Equal scores are no sign of it: a model may have learned that neither word matters.
    """
    same, why = np.zeros(len(pairs), bool), ""
    if isinstance(model, SklearnModel):
        sides = [model.pipeline[:-1].transform([pair[k] for pair in pairs]) for k in (0, 1)]
        same, why = same_vectors(*sides), NOT_LEARNED
    elif isinstance(model, Windowed):
        same, why = not_read(model.read, pairs), WINDOW
    return [why if one else "" for one in same]


def unseen_notes(rows: Sequence[Decided]) -> list[str]:
    """Pairs that could not flip, by kind of vectors, reason, and training where that makes a difference."""
    seeds = len({row.seed for row in rows})
    found: dict[tuple[str, str], dict[str, dict[int, tuple[int, int]]]] = {}
    for row in rows:
        whose = row.learner if row.encoder == OWN else f"vectors of {row.encoder}"
        for why, n in row.unseen.items():
            draws = found.setdefault((whose, why), {}).setdefault(row.experiment, {})
            draws[row.seed] = (min(n, draws.get(row.seed, (n, 0))[0]), len(row.marks))
    out = []
    for (whose, why), experiments in found.items():
        groups: dict[tuple[tuple[int, tuple[int, int]], ...], list[str]] = {}
        for experiment, draws in experiments.items():
            groups.setdefault(tuple(draws.items()), []).append(experiment)
        for counts, names in groups.items():
            trained = "" if len(names) == len(EXPERIMENTS) else f", trained on {' or '.join(names)} texts"
            out.append(
                f"{whose}{trained}: {_pairs(dict(counts), seeds)} have one vector in both wordings ({why}), "
                "so they cannot flip"
            )
    return out


def _pairs(draws: dict[int, tuple[int, int]], seeds: int) -> str:
    """How many pairs of how many, once where all draws have the same numbers."""
    if len(draws) == seeds and len(set(draws.values())) == 1:
        n, total = next(iter(draws.values()))
        return f"{n} of {total} pairs{' of each draw' if seeds > 1 else ''}"
    return ", ".join(f"seed {seed}: {n} of {total}" for seed, (n, total) in draws.items()) + " pairs"
