"""A user's function as a function from texts to the columns of its labels."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from psycheck.core.errors import PsycheckError
from psycheck.models.calling import Caller
from psycheck.models.label_names import label_columns
from psycheck.models.returned import Returned, returned_scores, second_of_pair

PROBE = "I went for a walk today."


@dataclass(slots=True)
class ScoringFunction:
    """Calls a function and returns the columns that are its labels.

    `labels` and `columns` are those that its first answer named, empty where it names none. `notes` reports
    what was assumed.
    """

    caller: Caller
    positive: str | None = None
    labels: tuple[str, ...] = ()
    columns: tuple[int, ...] = ()
    classes: tuple[str, ...] = ()
    exclusive: bool = False
    names_columns: bool = False
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, function: Callable[[Any], Any], *, positive: str | None, names_columns: bool, name: str
    ) -> "ScoringFunction":
        """A function whose answer to a sentence of ours tells how it is called and what it scores.

        With `names_columns` the user names the columns, so nothing needs to be asked.
        """
        scoring = cls(Caller(function), positive=positive, names_columns=names_columns)
        if names_columns:
            return scoring
        try:
            answers = returned_scores(scoring.caller([PROBE]), positive)
        except (PsycheckError, MemoryError):
            raise
        except (Exception, SystemExit):  # noqa: BLE001 - what fails here fails again when it scores, and is reported there
            return scoring
        scoring._read_probe(answers, name)
        return scoring

    def _read_probe(self, answers: Returned, name: str) -> None:
        """Learn the labels from the first answer."""
        if answers.classes:
            chosen = label_columns(
                answers.classes,
                positive=self.positive if self.positive in answers.classes else None,
                label=None,
                exclusive=answers.adds_up,
                ordered=False,
                where=name,
            )
            self.labels = chosen.labels
            self.columns = chosen.columns
            self.classes = answers.classes
            self.exclusive = chosen.exclusive
            self.notes = chosen.notes
        elif second_of_pair(answers.scores) is not None:
            self.notes = ("Guessed that the second of its two columns is the positive class (label=A,B).",)

    def __call__(self, texts: list[Any]) -> Any:
        """The scores of texts, one column per label."""
        answers = returned_scores(self.caller(texts), self.positive)
        if self.names_columns:
            return answers.scores
        if self.columns:
            return self._in_order(answers)
        # Two columns that add up to 1 are "no" and "yes", as predict_proba returns them.
        pair = second_of_pair(answers.scores)
        return answers.scores if pair is None else pair

    def _in_order(self, answers: Returned) -> Any:
        """The columns of the labels; a class that no answer of this batch names is NaN."""
        scores = np.asarray(answers.scores, np.float64)
        # By name: another batch may list its classes in another order, or not all of them.
        names = [self.classes[column] for column in self.columns]
        columns = np.full((len(scores), len(names)), np.nan)
        for place, name in enumerate(names):
            if name in answers.classes:
                columns[:, place] = scores[:, answers.classes.index(name)]
        return columns
