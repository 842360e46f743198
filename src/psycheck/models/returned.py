"""What functions return for texts: numbers, tensors, {label: score}, {"label": …, "score": …}, or names."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import ModelFailure
from psycheck.models.label_names import reads_negative

_ANSWER_KEYS = {"label", "score"}  # of the pipelines of transformers
_ADDS_UP = 1e-3
_NUMBERED = re.compile(r"label_\d+")
_YES = ("yes", "true", "1", "positive", "pos")


@dataclass(frozen=True, slots=True)
class Returned:
    """Scores of some classes, (n, c); `classes` is empty where the answers do not name them."""

    scores: Any
    classes: tuple[str, ...] = ()

    @property
    def adds_up(self) -> bool:
        """Whether the scores of each text add up to 1, as those of exclusive classes do."""
        scores = np.asarray(self.scores)
        has_classes = scores.ndim == 2 and scores.shape[1] > 1 and scores.dtype.kind == "f"
        if not has_classes:
            return False
        is_answered = ~np.isnan(scores).any(axis=1)
        sums = scores[is_answered].sum(axis=1)
        distances = np.abs(sums - 1)
        return len(sums) > 0 and bool(np.all(distances < _ADDS_UP))


def returned_scores(answers: Any, positive: str | None = None) -> Returned:
    """The scores in what a function returned; numbers are checked later, with the labels."""
    if _is_tensor(answers):
        return Returned(_array_of_tensor(answers))
    # A table of pandas or polars, whose columns are the labels.
    if hasattr(answers, "columns") and hasattr(answers, "to_numpy"):
        return Returned(answers.to_numpy(), tuple(map(str, answers.columns)))
    if isinstance(answers, Mapping):
        columns = [np.asarray(column, np.float64) for column in answers.values()]
        return Returned(np.stack(columns, axis=1), tuple(map(str, answers)))
    # Names, as the `predict` of scikit-learn returns them.
    if isinstance(answers, np.ndarray) and answers.dtype.kind in "UO":
        answers = answers.tolist()
    if isinstance(answers, list | tuple) and answers:
        return _of_list(answers, positive)
    return Returned(answers)


def _of_list(answers: Sequence[Any], positive: str | None) -> Returned:
    """The scores in a list with one answer per text, by what all of its entries are."""

    def are_all(is_kind: Callable[[Any], bool]) -> bool:
        return all(map(is_kind, answers))

    if are_all(_is_mapping):
        return _of_mappings(answers, positive)
    if are_all(_lists_classes):
        return _of_mappings([_by_class(answer) for answer in answers], positive)
    if are_all(_is_name):
        names = [positive] if positive else []
        return Returned([_score_of_name(str(answer), names) for answer in answers])
    if are_all(_is_tensor):
        rows = [_array_of_tensor(answer) for answer in answers]
        return Returned(np.stack(rows))
    # Numbers, or rows of numbers.
    return Returned(answers)


def _is_mapping(answer: Any) -> bool:
    return isinstance(answer, Mapping)


def _is_name(answer: Any) -> bool:
    return isinstance(answer, str)


def _is_tensor(answer: Any) -> bool:
    """Whether an answer is a tensor of torch, told without importing torch."""
    return hasattr(answer, "detach")


def _array_of_tensor(tensor: Any) -> Any:
    """The numbers of a tensor, which may hold gradients and lie on another device."""
    return tensor.detach().cpu().double().numpy()


def _of_mappings(answers: Sequence[Mapping[str, Any]], positive: str | None) -> Returned:
    """Scores from {"label": NAME, "score": P}, or from {label: score}."""
    if all(answer.keys() == _ANSWER_KEYS for answer in answers):
        return Returned([_score_of_answer(answer, positive) for answer in answers])

    classes: dict[str, None] = {}
    for answer in answers:
        classes.update(dict.fromkeys(map(str, answer)))
    scores = np.full((len(answers), len(classes)), np.nan)
    for row, answer in enumerate(answers):
        for column, name in enumerate(classes):
            score = answer.get(name)
            # What an answer does not name stays NaN: it is not scored, which is not 0.
            if score is not None:
                scores[row, column] = float(score)
    return Returned(scores, tuple(classes))


def _lists_classes(answer: Any) -> bool:
    """Whether an answer lists all classes, as pipelines with top_k=None do."""
    if not isinstance(answer, list) or not answer:
        return False
    return all(isinstance(entry, Mapping) and entry.keys() == _ANSWER_KEYS for entry in answer)


def _by_class(answer: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    entries = sorted(answer, key=lambda entry: str(entry["label"]))
    return {str(entry["label"]): float(entry["score"]) for entry in entries}


def _score_of_answer(answer: Mapping[str, Any], positive: str | None) -> float:
    """The score of the positive one of two classes, from the class that was chosen and its score."""
    name = str(answer["label"])
    score = float(answer["score"])
    names = [positive] if positive else []
    if _score_of_name(name, names, otherwise_positive=True):
        return score
    return 1.0 - score


def _score_of_name(name: str, positive: Sequence[str], *, otherwise_positive: bool = False) -> float:
    """1 for the name of the positive class, 0 for another; NaN is never guessed."""
    word = name.strip().casefold()
    if positive:
        return float(word in [value.casefold() for value in positive])
    if word in _YES:
        return 1.0
    if _NUMBERED.fullmatch(word):  # what transformers calls a class without a name
        return float(word != "label_0")
    if reads_negative(name):
        return 0.0
    if otherwise_positive:
        return 1.0
    raise ModelFailure(
        "the model returned names, and it is not clear which one means 1",
        code="model.positive-name-unclear",
        allowed="numbers from 0 to 1, or yes and no",
        do="name the positive class: open_model(MODEL, positive=NAME), or `positive` of the audit",
    )


def second_of_pair(scores: Any) -> FloatArray | None:
    """The second column of two that add up to 1, (n,); None if the scores are anything else."""
    if not isinstance(scores, np.ndarray | list | tuple):
        return None
    try:
        array = np.asarray(scores, np.float64)
    except (TypeError, ValueError):
        return None
    has_two_columns = array.ndim == 2 and array.shape[1] == 2
    if not has_two_columns or not Returned(array).adds_up:
        return None
    return array[:, 1]
