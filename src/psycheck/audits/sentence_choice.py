"""Which candidate sentences are good enough to test with (DECK, section 3).

A sentence is kept if most of several models already read it as its author meant it, with a median
confidence in the expected class above 0.5.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import tomli_w
from numpy.typing import NDArray

from psycheck.audits.suite import Suite, read_suite
from psycheck.core.errors import BadInput, nearest
from psycheck.io.writing import writing, written

_NEEDED: Final = ("sentence", "expected")
_POLARITY: Final = {1: "presence", 0: "absence"}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence, the class it was written for (1 or 0), and what else is known about it."""

    sentence: str
    expected: int
    tags: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)


@dataclass(frozen=True, slots=True)
class Selected:
    """How many models agree with a candidate, of how many, and their median P(expected class)."""

    candidate: Candidate
    kept: bool
    votes: int
    models: int
    median: float


def select_sentences(candidates: Sequence[Candidate], scores: NDArray[np.float64]) -> list[Selected]:
    """Judge candidates by the scores of several models, (m, n) of P(positive).

    NaN means that a model gave no answer: it does not agree, and the median is over those that answered.
    """
    scores = np.asarray(scores, dtype=np.float64)
    is_table = scores.ndim == 2 and len(scores) > 0
    if not is_table or scores.shape[1] != len(candidates):
        raise BadInput(
            f"scores have the shape {scores.shape}",
            code="candidates.wrong-shape",
            allowed=f"one row per model, one column for each of the {len(candidates)} sentences",
        )
    scored_candidates = zip(candidates, scores.T, strict=True)
    return [_select(candidate, column) for candidate, column in scored_candidates]


def _select(candidate: Candidate, scores: NDArray[np.float64]) -> Selected:
    """Judge one candidate by the scores of all models, (m,)."""
    is_positive = candidate.expected == 1
    # NaN is on neither side, so a model without an answer does not agree.
    agrees = scores >= 0.5 if is_positive else scores < 0.5
    votes = int(np.sum(agrees))
    answered = scores[~np.isnan(scores)]
    confidence = answered if is_positive else 1.0 - answered
    median = float(np.median(confidence)) if answered.size else float("nan")
    # Both: a majority may be lukewarm, and a high median may rest on the few that answered.
    return Selected(
        candidate=candidate,
        kept=2 * votes > len(scores) and median > 0.5,
        votes=votes,
        models=len(scores),
        median=median,
    )


def read_candidates(path: str | Path) -> list[Candidate]:
    """Read candidates from a CSV file: columns `sentence`, `expected` (0 or 1) and any others as tags.

    The column `check` names the check that a sentence belongs to, `title` the title of that check.
    """
    path = Path(path)
    try:
        # Spreadsheets begin a file with a byte order mark.
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file, strict=True)
            _refuse_missing_columns(list(rows.fieldnames or ()), path)
            candidates = [_candidate(row, f"{path}, row {rows.line_num}") for row in rows]
    except OSError as error:
        raise BadInput(
            f"the candidates cannot be read ({error.strerror})",
            code="candidates.cannot-read",
            where=str(path),
        ) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadInput(
            "the candidates are not a UTF-8 CSV file",
            code="candidates.not-csv",
            where=str(path),
        ) from error
    if not candidates:
        raise BadInput(
            "the file has no candidates",
            code="candidates.none",
            where=str(path),
            allowed="at least one row",
        )
    return candidates


def _refuse_missing_columns(columns: list[str], path: Path) -> None:
    for name in _NEEDED:
        if name not in columns:
            raise BadInput(
                f"no column '{name}'",
                code="candidates.no-column",
                where=str(path),
                allowed=nearest(name, columns),
            )


def write_suite(
    selected: Sequence[Selected],
    path: str | Path,
    *,
    name: str = "",
    title: str = "",
    source: str = "",
    label: str = "depression",
    by: float = 0.1,
) -> Suite:
    """Write the sentences that were kept as DIR checks, and read the suite back.

    Sentences with the same tag `check` become the variants of one check; without that tag there is one check
    for the sentences that are expected positive ("presence") and one for the others ("absence"). The suite
    is named after its file unless `name` is set.
    """
    path = Path(path)
    name = name or path.stem
    groups = _by_check([selection.candidate for selection in selected if selection.kept])
    if not groups:
        raise BadInput(
            "no sentence was kept",
            code="candidates.none-kept",
            do="write other candidates, or check the votes of the models",
        )
    document = {
        "name": name,
        "title": title or name,
        "source": source or "selected by psycheck",
        "label": label,
        "check": [_check(check_id, group, by) for check_id, group in groups.items()],
    }
    # Read back before anybody uses it: what the reader refuses is an error here.
    with writing(path), written(path) as part:
        part.write_text(tomli_w.dumps(document, multiline_strings=False), encoding="utf-8")
    return read_suite(path)


def _by_check(candidates: Sequence[Candidate]) -> dict[str, list[Candidate]]:
    """The candidates of each check, by its id."""
    groups: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        check_id = candidate.tags.get("check") or _POLARITY[candidate.expected]
        groups.setdefault(check_id, []).append(candidate)
    return groups


def _check(check_id: str, group: Sequence[Candidate], by: float) -> dict[str, Any]:
    """One [[check]] of a suite file: it appends the sentences of a group."""
    expected = {candidate.expected for candidate in group}
    if len(expected) > 1:
        raise BadInput(
            f"sentences of check '{check_id}' are expected both positive and negative",
            code="candidates.mixed-check",
            where="columns 'check' and 'expected'",
            do="put presence and absence into separate checks",
        )
    polarity = _POLARITY[expected.pop()]
    # A tag describes the check if all its sentences have it.
    shared = set(group[0].tags.items())
    for candidate in group[1:]:
        shared &= candidate.tags.items()
    # In the order of the first sentence: a set has none.
    tags = {key: value for key, value in group[0].tags.items() if (key, value) in shared}
    title = tags.pop("title", "")
    tags.pop("check", None)
    return {
        "id": check_id,
        "kind": "DIR",
        "title": title or f"adds: {polarity}, {check_id}",
        # A suite refuses a sentence that it has twice.
        "edit": {"append": list(dict.fromkeys(candidate.sentence for candidate in group))},
        # A sentence that speaks of symptoms should not lower the score, one that denies them not raise it.
        "expect": {"not_down" if polarity == "presence" else "not_up": by},
        "tags": {**tags, "polarity": polarity},
    }


def _candidate(row: dict[str, Any], where: str) -> Candidate:
    """One row of a CSV file."""
    # What is too much stands under None, and None is the value of what is missing.
    if None in row or None in row.values():
        raise BadInput(
            "the row has too many or too few fields",
            code="candidates.ragged-row",
            where=where,
        )
    sentence = row["sentence"].strip()
    expected = row["expected"].strip()
    if not sentence:
        raise BadInput(
            "the sentence is empty",
            code="candidates.empty-sentence",
            where=f"{where}, column 'sentence'",
        )
    if expected not in ("0", "1"):
        raise BadInput(
            "the expected class is neither 0 nor 1",
            code="candidates.unknown-class",
            where=f"{where}, column 'expected'",
            allowed="0 or 1",
        )
    tags: dict[str, str] = {}
    for key, value in row.items():
        if key not in _NEEDED and value.strip():
            tags[key] = value.strip()
    return Candidate(sentence, int(expected), MappingProxyType(tags))
