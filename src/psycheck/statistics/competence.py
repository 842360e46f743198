"""Labels from several raters of different competence (Dawid and Skene 1979)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
_ROUNDS, _CLOSE = 500, 1e-7
_SURE = 1e-9  # a rater without an error so far may still make one


@dataclass(frozen=True, slots=True)
class Competence:
    """The chance that each text is 1, (n,), and how often each rater finds a 1 and a 0, (raters,) each.

    A text without a rating has the chance of any text; a rater without a rating has NaN.
    """

    chance: FloatArray
    sensitivity: FloatArray
    specificity: FloatArray


def dawid_skene(votes: ArrayLike) -> Competence:
    """Estimate labels and raters together by expectation maximisation, from the share of votes.

    Votes are (n, raters) of 0 or 1, NaN where a rater gave none. Raters must err independently of each other,
    given the label; two raters, or raters who mostly guess, leave the answer open.
    """
    array = np.asarray(votes, np.float64)
    given = ~np.isnan(array)
    said = np.stack([given & (array == 0), given & (array == 1)]).astype(np.float64)  # (2, n, raters)
    if not given.any():
        none = np.full(array.shape[1], np.nan)
        return Competence(np.full(len(array), np.nan), none, none)
    rated = given.any(axis=1)
    chance = np.where(rated, said[1].sum(axis=1) / np.maximum(given.sum(axis=1), 1), 0.0)
    for _ in range(_ROUNDS):
        before = chance
        # right[c, r]: how often rater r calls a text of class c by its name.
        truth = np.stack([1 - chance, chance]) * rated
        with np.errstate(invalid="ignore"):
            right = np.stack([truth[c] @ said[c] / (truth[c] @ given) for c in (0, 1)])
        share = truth.sum(axis=1) / rated.sum()
        likely = np.log(np.maximum(share, _SURE))[:, None] + np.stack(
            [said[c] @ _log(right[c]) + said[1 - c] @ _log(1 - right[c]) for c in (0, 1)]
        )
        chance = np.where(rated, 1 / (1 + np.exp(np.clip(likely[0] - likely[1], -700, 700))), share[1])
        if np.abs(chance - before).max() < _CLOSE:
            break
    return Competence(chance, right[1], right[0])


def _log(share: FloatArray) -> FloatArray:
    return np.log(np.clip(np.nan_to_num(share, nan=0.5), _SURE, 1 - _SURE))
