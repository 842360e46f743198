"""Check what a model returned before anything is measured with it."""

from typing import Any

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import ModelFailure, counted

TOLERANCE = 1e-6


def checked_scores(
    raw: Any,
    count: int,
    labels: tuple[str, ...],
    *,
    model: str,
) -> FloatArray:
    """Turn (n,), (n, 1) or (n, k) into (n, k) float64 in [0, 1]; None and NaN stay NaN.

    Values up to 1e-6 outside [0, 1] are clipped as rounding errors; others are an error that names the model.
    """
    # Models are code of others: nothing about what they return is taken for granted.
    scores = _numbers(raw, model)
    if scores.ndim == 1 and len(labels) == 1:
        scores = scores[:, None]
    if scores.shape != (count, len(labels)):
        raise _wrong_shape(
            scores,
            count,
            labels,
            model=model,
            returned_shape=np.shape(raw),
        )

    is_outside = (scores < -TOLERANCE) | (scores > 1 + TOLERANCE)
    if is_outside.any():
        outside = counted(int(is_outside.sum()), "score")
        lowest = float(np.nanmin(scores))
        highest = float(np.nanmax(scores))
        raise ModelFailure(
            f"model '{model}' returned {outside} outside [0, 1], from {lowest:.6g} to {highest:.6g}",
            code="model.scores-out-of-range",
            allowed="probabilities from 0 to 1; NaN where the model gives no usable answer",
            do="return probabilities, not logits, distances or percentages",
        )
    return np.clip(scores, 0.0, 1.0)


def _wrong_shape(
    scores: FloatArray,
    count: int,
    labels: tuple[str, ...],
    *,
    model: str,
    returned_shape: tuple[int, ...],
) -> ModelFailure:
    """The error for scores that do not fit the texts and labels, with what is probably meant."""
    allowed = f"({count}, {len(labels)}), a column for each of: {', '.join(labels)}"
    do = "return one row per text, in the order of the texts"
    if len(labels) == 1:
        allowed = f"({count},) or ({count}, 1), for the label '{labels[0]}'"
        has_columns = scores.ndim == 2 and len(scores) == count
        if has_columns and scores.shape[1] == 2:
            do = "return only the column of the positive class ([:, 1]), or name both: label=A,B"
        elif has_columns:
            do = "name the columns: label=A,B,…"
    return ModelFailure(
        f"model '{model}' returned an array of shape {returned_shape} for {count} texts",
        code="model.scores-shape",
        allowed=allowed,
        do=do,
    )


def _numbers(raw: Any, model: str) -> FloatArray:
    """What a model returned, as an array of float64."""
    try:
        if raw is None:
            raise TypeError("None was returned")
        array = np.asarray(raw)
        if array.dtype.kind == "O":  # a None among the numbers
            array = array.astype(np.float64)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ModelFailure(
            f"model '{model}' returned a {type(raw).__name__} that is not an array of numbers",
            code="model.scores-not-numbers",
            allowed="an array or nested list of numbers, one row per text",
        ) from error
    # Numbers and booleans; texts that look like numbers are a mistake of the model.
    if array.dtype.kind not in "fiub":
        raise ModelFailure(
            f"model '{model}' returned values of type {array.dtype}",
            code="model.scores-not-numbers",
            allowed="numbers from 0 to 1; NaN where the model gives no usable answer",
        )
    return array.astype(np.float64)
