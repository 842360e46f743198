"""What a case of a behavioural check is, and how it is judged (DECK sections 3 and 5.2, Table 2)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from psycheck.audits.figures import thresholds_of
from psycheck.audits.reaction import (
    Moves,
    PlaceboScores,
    Ranks,
    add_moves,
    direction,
    no_moves,
    with_placebos,
)
from psycheck.audits.suite import Check
from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.audit import Scores
from psycheck.core.corpus import Corpus
from psycheck.statistics.classification import decide, firm, gold
from psycheck.text.edits import Span, append_to_all

OUTCOMES: Final = ("passed", "failed", "unchanged", "unseen", "unanswered")
PASSED, FAILED, UNCHANGED, UNSEEN, UNANSWERED = range(5)
NOT_DRAWN: Final = -1  # the state of a variant that was not drawn for a text
# Which variant decides a case: the one with the highest rank. By state; the last is that of NOT_DRAWN.
_RANK_OF_STATE: Final = np.array([1, 4, 0, 2, 3, -1], np.int8)
_ROUNDING: Final = 1e-9  # a change of exactly the tolerance passes

VariantRule = Literal["suite", "each", "one"]


class Cases(NamedTuple):
    """The cases of one check: m texts, v variants.

    rows (m,) in the corpus; outcome (m,); variant (m,) that decided it; before, after (m,) are the scores of
    the unedited text and of that variant; states (m, v); undecided (m,) marks texts with words that an edit
    left alone; decided_before (m,) is the decision on the unedited text; the last four are `Moves`.
    """

    rows: IntArray
    outcome: NDArray[np.int8]
    variant: IntArray
    before: FloatArray
    after: FloatArray
    states: NDArray[np.int8]
    undecided: NDArray[np.bool_]
    decided_before: FloatArray
    room: FloatArray
    right: FloatArray
    wrong: FloatArray
    turned: FloatArray

    @property
    def moves(self) -> Moves:
        """How the texts move beyond a placebo."""
        return Moves(self.room, self.right, self.wrong, self.turned)

    @property
    def passed(self) -> NDArray[np.bool_]:
        """The cases that passed, (m,)."""
        passed: NDArray[np.bool_] = self.outcome == PASSED
        return passed

    @property
    def tested(self) -> NDArray[np.bool_]:
        """The cases that passed or failed, (m,)."""
        return self.outcome <= FAILED


@dataclass(frozen=True, slots=True, kw_only=True)
class Originals:
    """The n unedited texts that a check is tried on: rows (n,) in the corpus, scores (n, k) of all labels."""

    rows: IntArray
    ids: list[str]
    texts: list[str]
    scores: FloatArray


class _EditedTexts(NamedTuple):
    """The texts of one variant; without `spans` the change is the end of each text."""

    texts: list[str]
    spans: Sequence[tuple[Span, ...]]
    undecided: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Decision:
    """How scores (n, k) become decisions (n,) on one label."""

    column: int
    threshold: float
    exclusive: bool

    def of(self, scores: FloatArray) -> FloatArray:
        # The highest of several labels wins: that takes the scores of all of them.
        if self.exclusive:
            return decide(scores, exclusive=True)[:, self.column]
        return decide(scores[:, self.column], self.threshold)


def applies_to(check: Check, corpus: Corpus) -> NDArray[np.bool_]:
    """The texts that a check is about, (n,): all, or those annotated as it requires."""
    texts = len(corpus)
    if check.gold is None:
        return np.ones(texts, np.bool_)
    if check.label not in corpus.labels:
        return np.zeros(texts, np.bool_)

    target = corpus.targets([check.label])[:, 0]
    # A soft label of exactly 0.5 says neither.
    is_firm = ~np.isnan(firm(target))
    is_as_required = gold(target) == bool(check.gold)
    applies: NDArray[np.bool_] = is_firm & is_as_required
    return applies


def texts_by_variant(
    check: Check, ids: Sequence[str], *, variants: VariantRule, seed: int
) -> list[Sequence[int]]:
    """For each variant of a check the positions of the texts that it is tried on.

    Either every text has every variant, or each text has one, by a seeded rotation over the ids.
    """
    count = len(check.edits)
    takes_each = check.each if variants == "suite" else variants == "each"
    if takes_each or count == 1:
        return [range(len(ids))] * count

    # By the id alone, so that a text keeps its variant in a sample and in another order of the corpus.
    positions: list[list[int]] = [[] for _ in range(count)]
    for position, text_id in enumerate(ids):
        key = f"{seed}/{check.id}/{text_id}".encode("utf-8", "surrogatepass")
        variant = crc32(key) % count
        positions[variant].append(position)
    return [*positions]


def changed_cases(
    check: Check, corpus: Corpus, *, variants: VariantRule, seed: int
) -> Iterator[tuple[int, list[str]]]:
    """The cases of a check that an edit changes: the row, and the texts to score, unedited first."""
    ids = corpus.ids
    # Sentences are added to the shortened texts, so that the model reads the end.
    texts = corpus.fitted if check.sentences else corpus.texts
    applicable = np.flatnonzero(applies_to(check, corpus))
    for row in applicable.tolist():
        drawn = texts_by_variant(check, [ids[row]], variants=variants, seed=seed)
        variants_of_text = [variant for variant, positions in enumerate(drawn) if positions]
        edited = [check.edits[variant](texts[row]) for variant in variants_of_text]
        changed = [result.text for result in edited if result.spans]
        if not changed:
            continue

        placebos = []
        if direction(check):
            stripped = texts[row].rstrip()
            for variant in variants_of_text:
                placebos += with_placebos([stripped], check.sentences[variant])
        yield row, [texts[row], *changed, *placebos]


def joined_cases(pieces: Sequence[Cases]) -> Cases:
    """The cases of one check in several slices of a corpus, one after the other."""
    columns = zip(*pieces, strict=True)
    return Cases(*map(np.concatenate, columns))


def judge_texts(
    check: Check,
    originals: Originals,
    scores: Scores,
    *,
    drawn: Sequence[Sequence[int]],
    threshold: float,
    ranks: Ranks | None,
    placebo_scores: PlaceboScores,
) -> Cases:
    """The cases of a check on texts; `drawn` has the positions of the texts of each variant.

    `ranks` is the scale of the unedited texts of the corpus for the label of the check; without it reactions
    are not counted.

    A case fails if a variant does; else it is unanswered or unseen if a variant is; else passed or unchanged.
    """
    column = scores.labels.index(check.label)
    thresholds = thresholds_of(scores, threshold)
    decision = _Decision(
        column=column,
        threshold=float(thresholds[column]),
        exclusive=scores.traits.exclusive,
    )
    n = len(originals.texts)
    before = originals.scores[:, column]
    decided_before = decision.of(originals.scores)

    after = np.full((n, len(check.edits)), np.nan)
    states = np.full(after.shape, NOT_DRAWN, np.int8)
    undecided = np.zeros(n, np.bool_)
    moves = no_moves(n)
    way = direction(check)
    for variant, drawn_positions in enumerate(drawn):
        positions = np.fromiter(drawn_positions, np.int64, len(drawn_positions))
        texts = originals.texts
        if len(drawn_positions) < n:
            texts = [originals.texts[position] for position in drawn_positions]
        edited = _edited(check, variant, texts)
        all_scores = scores.of(edited.texts)
        edited_scores = all_scores[:, column]
        decided_after = decision.of(all_scores)

        after[positions, variant] = edited_scores
        undecided[positions] |= edited.undecided
        states[positions, variant] = _variant_states(
            check,
            edited,
            scores,
            before=before[positions],
            after=edited_scores,
            decided_before=decided_before[positions],
            decided_after=decided_after,
        )
        if way and ranks is not None:
            # What the model did not read it cannot react to: such a text has no rank.
            unseen = states[positions, variant] == UNSEEN
            neutral_scores = placebo_scores.of(texts, check.sentences[variant])
            add_moves(
                moves,
                positions,
                way=way,
                rank=np.where(unseen, np.nan, ranks.at(edited_scores)),
                placebo_rank=ranks.at(neutral_scores[:, column]),
                decided=decided_after,
                placebo_decided=decision.of(neutral_scores),
            )

    deciding = _deciding_variant(states, before, after)
    line = np.arange(n)
    return Cases(
        rows=originals.rows,
        outcome=states[line, deciding],
        variant=deciding,
        before=before,
        after=after[line, deciding],
        states=states,
        undecided=undecided,
        decided_before=decided_before,
        **moves._asdict(),
    )


def _edited(check: Check, variant: int, texts: list[str]) -> _EditedTexts:
    if check.sentences:
        # Without spans, as thousands of texts all change at their end.
        appended = append_to_all(texts, check.sentences[variant])
        none_undecided = np.zeros(len(texts), np.bool_)
        return _EditedTexts(appended, (), none_undecided)

    edit = check.edits[variant]
    edits = [edit(text) for text in texts]
    is_undecided = [edited.undecided > 0 for edited in edits]
    return _EditedTexts(
        texts=[edited.text for edited in edits],
        spans=[edited.spans for edited in edits],
        undecided=np.array(is_undecided, np.bool_),
    )


def _variant_states(
    check: Check,
    edited: _EditedTexts,
    scores: Scores,
    *,
    before: FloatArray,
    after: FloatArray,
    decided_before: FloatArray,
    decided_after: FloatArray,
) -> NDArray[np.int64]:
    """The outcome of one variant for each of its texts, all (m,)."""
    fails = _fails(
        check,
        moved=after - before,
        decided_before=decided_before,
        decided_after=decided_after,
    )
    state = np.where(fails, FAILED, PASSED)

    unanswered = np.isnan(after)
    if check.kind != "MFT":  # an MFT check looks at the edited text alone
        unanswered |= np.isnan(before)
    state[unanswered] = UNANSWERED

    # Later states overrule earlier ones: an edit that is not there, or not read, tests nothing.
    if not scores.traits.reads_all:
        read = scores.read(edited.texts)
        state[_unseen(edited, read)] = UNSEEN
    unchanged = [k for k, spans in enumerate(edited.spans) if not spans]
    state[unchanged] = UNCHANGED
    return state


def _unseen(edited: _EditedTexts, read: IntArray) -> NDArray[np.bool_]:
    """The texts, (m,), of which the model did not read any changed place to its end."""
    lengths = np.fromiter(map(len, edited.texts), np.int64, len(edited.texts))
    unseen: NDArray[np.bool_] = read < lengths
    if not edited.spans:
        return unseen

    # A text that was cut may have a change before the cut.
    for k in np.flatnonzero(unseen).tolist():
        was_read = [end <= read[k] for _, end in edited.spans[k]]
        unseen[k] = not any(was_read)
    return unseen


def _fails(
    check: Check,
    *,
    moved: FloatArray,
    decided_before: FloatArray,
    decided_after: FloatArray,
) -> NDArray[np.bool_]:
    """Table 2's fail criteria by change of score and decisions, (m,); the caller sees to NaN."""
    tolerance = check.expect.by + _ROUNDING
    criteria: dict[str, NDArray[np.bool_]] = {
        "same_label": decided_after != decided_before,
        "label": decided_after != bool(check.expect.label),
        "not_down": -moved > tolerance,
        "not_up": moved > tolerance,
        "steady": np.abs(moved) > tolerance,
    }
    return criteria[check.expect.kind]


def _deciding_variant(states: NDArray[np.int8], before: FloatArray, after: FloatArray) -> IntArray:
    """The variant that decides each case, (m,); states and after are (m, v), before is (m,)."""
    failed = states == FAILED
    # Among failing variants the one that moved the score most is the one to show.
    distances = np.abs(after - before[:, None])
    moved = np.where(failed, distances, -1.0)
    most_moved = np.nan_to_num(moved, nan=0.0).argmax(axis=1)
    highest_rank = _RANK_OF_STATE[states].argmax(axis=1)
    deciding: IntArray = np.where(failed.any(axis=1), most_moved, highest_rank)
    return deciding
