"""What the words of a sentence tell of the symptoms in it: status, subject and plain statements."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from psycheck.core.arrays import FloatArray
from psycheck.symptoms.statements import OTHER, PRESENT, STATUSES
from psycheck.symptoms.suicidal_rule import SUICIDAL, is_about_others, is_about_writer, states_suicidal_ideas
from psycheck.text.status import Status, plain, status_of
from psycheck.text.subject import own

_STATED: Final = 0.99  # the probability of a symptom that a rule reads in plain words
_CLAUSE: Final = re.compile(r"[,;]|\b(?:because|cause|since|so that|and|but|or)\b", re.I)
_NOT_PRESENT: Final = 0.5  # a part of another status speaks for a sentence if it is twice as relevant


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """What the rules read in n parts of sentences.

    `status` (n,) is a place in `STATUSES`; `stated` (n, k) is the least probability of each symptom.
    """

    status: NDArray[np.int8]
    stated: FloatArray


def read_rules(parts: Sequence[str], labels: Sequence[str]) -> Rules:
    """Read the status, the subject and the plain statements of parts of sentences."""
    statuses = np.full(len(parts), OTHER, np.int8)
    stated = np.zeros((len(parts), len(labels)))
    columns = [column for column, label in enumerate(labels) if label == SUICIDAL]
    for row, part in enumerate(parts):
        is_own = own(part)
        text = plain(part)
        if columns and states_suicidal_ideas(text):
            stated[row, columns[0]] = _STATED
            # Such words tell whose wish it is better than the number of people who are mentioned.
            is_own = is_about_writer(text) or (is_own and not is_about_others(text))
        if is_own:
            status = _status_of_statement(part) if stated[row].any() else status_of(part)
            statuses[row] = STATUSES.index(status.value)
    return Rules(statuses, stated)


def _status_of_statement(part: str) -> Status:
    """The status of a plain statement: what else its sentence denies or doubts is not the statement."""
    status = status_of(part)
    # A time ("when I was 15, …") holds for the whole sentence.
    if status not in (Status.DENIED, Status.UNCERTAIN):
        return status
    stating_clauses = [clause for clause in _CLAUSE.split(part) if states_suicidal_ideas(plain(clause))]
    return status_of(stating_clauses[0]) if stating_clauses else status


def chosen_parts(
    relevance: FloatArray,
    status: NDArray[np.int8],
    counts: Sequence[int],
) -> NDArray[np.int64]:
    """The part that speaks for each sentence and symptom, (sentences, k), of relevance (parts, k).

    `counts` are the numbers of parts of the sentences. It is the most relevant part; one whose symptoms are
    present goes before others: "I'm not sad, I'm desperate" is about a mood that is present.
    """
    part_weights = np.where(status == PRESENT, 1.0, _NOT_PRESENT)
    weighted_relevance = relevance * part_weights[:, None]
    # argmax takes a NaN for the largest; below every relevance it is chosen only where nothing is known.
    comparable = np.nan_to_num(weighted_relevance, nan=-1.0)

    sizes = np.asarray(counts, np.int64)
    ends = np.cumsum(sizes, dtype=np.int64)
    starts = ends - sizes
    chosen = np.repeat(starts[:, None], relevance.shape[1], axis=1)
    # Most sentences are one part, which is chosen already.
    for row in np.flatnonzero(sizes > 1):
        part_rows = slice(starts[row], ends[row])
        chosen[row] += comparable[part_rows].argmax(axis=0)
    return chosen
