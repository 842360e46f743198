"""Check what a model returned before anything is measured with it."""

from typing import Any

import numpy as np

from psycheck.errors import ModelFailure, counted
from psycheck.model import FloatArray

TOLERANCE = 1e-6


def checked_scores(raw: Any, count: int, labels: tuple[str, ...], *, model: str) -> FloatArray:
    """Turn (n,), (n, 1) or (n, k) into (n, k) float64 in [0, 1]; None and NaN stay NaN.

    Values up to 1e-6 outside [0, 1] are clipped as rounding errors; others are an error that names the model.
    """
    array = _numbers(raw, model)
    if array.ndim == 1 and len(labels) == 1:
        array = array[:, None]
    if array.shape != (count, len(labels)):
        allowed = f"({count}, {len(labels)}), a column for each of: {', '.join(labels)}"
        do = "return one row per text, in the order of the texts"
        if len(labels) == 1:
            allowed = f"({count},) or ({count}, 1), for the label '{labels[0]}'"
            if array.ndim == 2 and len(array) == count:
                do = "name the columns: label=A,B,…"
                if array.shape[1] == 2:
                    do = "return only the column of the positive class ([:, 1]), or name both: label=A,B"
        what = f"model '{model}' returned an array of shape {np.shape(raw)} for {count} texts"
        raise ModelFailure(what, allowed=allowed, do=do)
    outside = (array < -TOLERANCE) | (array > 1 + TOLERANCE)
    if outside.any():
        raise ModelFailure(
            f"model '{model}' returned {counted(int(outside.sum()), 'score')} outside [0, 1], "
            f"from {float(np.nanmin(array)):.6g} to {float(np.nanmax(array)):.6g}",
            allowed="probabilities from 0 to 1; NaN where the model gives no usable answer",
            do="return probabilities, not logits, distances or percentages",
        )
    return np.clip(array, 0.0, 1.0)


def _numbers(raw: Any, model: str) -> FloatArray:
    try:
        if raw is None:
            raise TypeError("None was returned")
        array = np.asarray(raw)
        if array.dtype.kind == "O":  # a None among the numbers
            array = array.astype(np.float64)
    except (TypeError, ValueError, RuntimeError) as error:
        what = f"model '{model}' returned a {type(raw).__name__} that is not an array of numbers"
        allowed = "an array or nested list of numbers, one row per text"
        raise ModelFailure(what, allowed=allowed) from error
    if array.dtype.kind not in "fiub":
        allowed = "numbers from 0 to 1; NaN where the model gives no usable answer"
        raise ModelFailure(f"model '{model}' returned values of type {array.dtype}", allowed=allowed)
    return array.astype(np.float64)
