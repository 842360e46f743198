"""Labels from several raters of different competence (Dawid and Skene 1979)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
# Rounds of estimation at most, and the change of the labels below which no further one is needed.
_ROUNDS = 500
_CLOSE = 1e-7
_SURE = 1e-9  # a rater without an error so far may still make one
_LARGEST_EXPONENT = 700  # exp of more than this overflows


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
    has_vote = ~np.isnan(array)
    if not has_vote.any():
        unknown_texts = np.full(len(array), np.nan)
        unknown_raters = np.full(array.shape[1], np.nan)
        return Competence(unknown_texts, unknown_raters, unknown_raters)

    says_0 = has_vote & (array == 0)
    says_1 = has_vote & (array == 1)
    votes_by_class = np.stack([says_0, says_1]).astype(np.float64)  # (2, n, raters)
    is_rated = has_vote.any(axis=1)
    # The start is the majority's view. From a random one the classes could end up with their names swapped.
    vote_counts = np.maximum(has_vote.sum(axis=1), 1)
    chance = np.where(is_rated, votes_by_class[1].sum(axis=1) / vote_counts, 0.0)

    for _ in range(_ROUNDS):
        truth = np.stack([1 - chance, chance]) * is_rated  # (2, n)
        accuracy = _accuracy_by_class(truth, votes_by_class, has_vote)
        prevalence = truth.sum(axis=1) / is_rated.sum()
        new_chance = _chance_of_1(votes_by_class, accuracy, prevalence)
        new_chance = np.where(is_rated, new_chance, prevalence[1])
        change = np.abs(new_chance - chance).max()
        chance = new_chance
        if change < _CLOSE:
            break
    return Competence(chance, sensitivity=accuracy[1], specificity=accuracy[0])


def _accuracy_by_class(
    truth: FloatArray,
    votes_by_class: FloatArray,
    has_vote: BoolArray,
) -> FloatArray:
    """How often each rater calls a text of each class by its name, (2, raters): equation 2.3 of the paper."""
    accuracy = []
    # A rater without a vote on any text of a class is 0 / 0: NaN, which is what we know of them.
    with np.errstate(invalid="ignore"):
        for label in (0, 1):
            right = truth[label] @ votes_by_class[label]
            votes_on_class = truth[label] @ has_vote
            accuracy.append(right / votes_on_class)
    return np.stack(accuracy)


def _chance_of_1(
    votes_by_class: FloatArray,
    accuracy: FloatArray,
    prevalence: FloatArray,
) -> FloatArray:
    """The chance that each text is 1, (n,), from its votes and the raters: equation 2.5 of the paper."""
    by_votes = []
    for label in (0, 1):
        right_votes = votes_by_class[label]
        wrong_votes = votes_by_class[1 - label]
        by_votes.append(right_votes @ _log(accuracy[label]) + wrong_votes @ _log(1 - accuracy[label]))
    by_prevalence = np.log(np.maximum(prevalence, _SURE))[:, None]
    # Sums of logarithms: a product over many raters would underflow to 0 for both classes.
    log_likelihood = by_prevalence + np.stack(by_votes)
    log_odds_of_0 = np.clip(log_likelihood[0] - log_likelihood[1], -_LARGEST_EXPONENT, _LARGEST_EXPONENT)
    chance: FloatArray = 1 / (1 + np.exp(log_odds_of_0))
    return chance


def _log(share: FloatArray) -> FloatArray:
    """The logarithm of a rater's shares, (raters,); one without a vote is as good as a coin."""
    return np.log(np.clip(np.nan_to_num(share, nan=0.5), _SURE, 1 - _SURE))
