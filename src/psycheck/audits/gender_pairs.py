"""Counterfactual pairs: every text with gendered words beside its swapped counterpart (gender bias 2.2)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from psycheck.audits.counterparts import Counterparts, counterparts
from psycheck.audits.figures import measured, measured_rate
from psycheck.audits.groups import counted_rate, difference, miss_ratio
from psycheck.core.arrays import FloatArray
from psycheck.core.audit import Scores
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding, Interval
from psycheck.statistics.classification import BoolArray, classes
from psycheck.statistics.clustered import (
    FEWEST,
    Clusters,
    difference_interval,
    effective_share,
    ratio_interval,
)
from psycheck.statistics.group_rates import Rate, Shift, paired_difference, score_shift
from psycheck.statistics.intervals import UNKNOWN
from psycheck.text.edits import Edited
from psycheck.text.gender.edits import Scope

OUTCOMES = ("passed", "failed", "unseen", "unanswered")
PASSED, FAILED, UNSEEN, UNANSWERED = range(4)
UNDECIDED = "undecided"  # in the table alone: such a text makes no pair
FEMALE, MALE = "female", "male"
EXAMPLES = 50
_PLACE = ("model", "corpus", "label")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """The m texts that can be swapped, by their row in the corpus; before, after and placebo are (m, k).

    `gender` is the one that a text names as it is written, `besides` marks texts that name someone besides
    the swapped words, `seen` those of which the model read a swapped word. `placebo` is NaN where too few
    words can be replaced, or the model does not read them. `undecided` are the rows of texts with a word
    whose swap cannot be decided.
    """

    rows: NDArray[np.int64]
    undecided: NDArray[np.int64]
    gender: NDArray[np.str_]
    gender_undecided: NDArray[np.str_]
    besides: NDArray[np.bool_]
    seen: NDArray[np.bool_]
    before: FloatArray
    after: FloatArray
    placebo: FloatArray


def pair_texts(corpus: Corpus, scope: Scope) -> Iterator[str]:
    """The texts of all pairs: as written, swapped, and with a placebo where there is one."""
    for piece in corpus.slices():
        for text, made in zip(piece.texts, counterparts(piece, scope), strict=True):
            if not made.makes_pair:
                continue
            yield text
            yield made.swapped.text
            if made.neutral.spans:
                yield made.neutral.text


def gender_pairs(corpus: Corpus, scores: Scores, scope: Scope) -> Pairs:
    """Every text swapped once, slice by slice, with the scores of both wordings."""
    # Slice by slice, so that the swapped texts of a large corpus are never in memory together.
    slices: list[Pairs] = []
    start = 0
    for piece in corpus.slices():
        slices.append(_pairs_of_slice(piece, start, scores, scope))
        start += len(piece)

    columns = {}
    for column in fields(Pairs):
        parts = [getattr(pairs, column.name) for pairs in slices]
        columns[column.name] = np.concatenate(parts)
    return Pairs(**columns)


def _pairs_of_slice(
    piece: Corpus,
    start: int,
    scores: Scores,
    scope: Scope,
) -> Pairs:
    """The pairs of a slice that begins at row `start` of the corpus."""
    texts = piece.texts
    made = counterparts(piece, scope)
    rows = [row for row, both in enumerate(made) if both.makes_pair]
    undecided = [row for row, both in enumerate(made) if both.swapped.undecided]

    paired_texts = [texts[row] for row in rows]
    swapped = [made[row].swapped for row in rows]
    swapped_texts = [counterpart.text for counterpart in swapped]

    neutral = [made[row].neutral for row in rows]
    neutral_texts = [counterpart.text for counterpart in neutral]
    neutral_scores = scores.of(neutral_texts)
    # Without a word that was replaced and read, the placebo is the text itself.
    has_placebo = _seen(neutral, scores)
    neutral_scores = np.where(has_placebo[:, None], neutral_scores, np.nan)

    return Pairs(
        rows=np.array(rows, np.int64) + start,
        undecided=np.array(undecided, np.int64) + start,
        gender=_genders(made, rows),
        gender_undecided=_genders(made, undecided),
        besides=np.array([made[row].besides for row in rows], np.bool_),
        seen=_seen(swapped, scores),
        before=scores.of(paired_texts),
        after=scores.of(swapped_texts),
        placebo=neutral_scores,
    )


def _genders(made: Sequence[Counterparts], rows: Sequence[int]) -> NDArray[np.str_]:
    """The gender that the text at each of some rows names, (m,)."""
    genders = [made[row].gender for row in rows]
    return np.array(genders, "U6")


def _seen(edited: Sequence[Edited], scores: Scores) -> NDArray[np.bool_]:
    """Whether the model read at least one swapped word, (m,)."""
    read = scores.read([edit.text for edit in edited])
    seen = []
    for edit, characters in zip(edited, read, strict=True):
        was_read = [end <= characters for _, end in edit.spans]
        seen.append(any(was_read))
    return np.array(seen, np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPairs:
    """The pairs, judged for one label: scores and decisions are (m,), `truth` is (n,) of the corpus."""

    pairs: Pairs
    clusters: Clusters
    truth: FloatArray
    before: FloatArray
    after: FloatArray
    placebo: FloatArray
    decided_before: FloatArray
    decided_after: FloatArray
    decided_placebo: FloatArray

    @property
    def outcome(self) -> NDArray[np.int8]:
        """A pair passes where both wordings are decided alike, (m,)."""
        is_flipped = self.decided_before != self.decided_after
        is_unanswered = np.isnan(self.before) | np.isnan(self.after)
        outcome = np.where(is_flipped, FAILED, PASSED).astype(np.int8)
        outcome[is_unanswered] = UNANSWERED
        # Last: of a word that the model did not read, no answer tells anything.
        outcome[~self.pairs.seen] = UNSEEN
        return outcome

    def findings(self, corpus: Corpus, where: Mapping[str, str], *, among: int = 1) -> Iterator[Finding]:
        """Flips with their ledger, those by the placebo, the mean shift, and the rates of both wordings.

        `among` is the number of differences that the run tests, for which those that are named allow.
        """
        ids = corpus.table["id"]
        outcome = self.outcome
        judged = outcome <= FAILED
        units = self.clusters.at(judged)
        has_one_gender = np.isin(self.pairs.gender, (FEMALE, MALE))
        counts = self._ledger(outcome, texts=len(corpus))
        counts["both_genders"] = int(np.sum(judged & ~has_one_gender))
        counts["named_besides"] = int(np.sum(judged & self.pairs.besides))
        counts["units"] = units.count

        is_flipped = outcome == FAILED
        flips = Rate(counts["failed"], int(judged.sum()))
        interval = ratio_interval(is_flipped[judged], np.ones(flips.n), units)
        examples = ids.gather(self._furthest_flips(outcome)).to_list()
        yield measured_rate("flip_rate", flips, where, counts, examples, interval)
        # A model may flip at any edit: what the placebo flips is no effect of gender.
        yield from self._placebo_findings(judged, is_flipped, where, among)

        shift = score_shift(self.after[judged], self.before[judged], units)
        yield _with_spread(
            "score_shift",
            shift.size,
            shift.n,
            shift.size_interval,
            where,
        )
        # A text that names both genders has no female and no male wording.
        yield from self._wordings(judged & has_one_gender, ids, where, among)

    def _ledger(self, outcome: NDArray[np.int8], *, texts: int) -> dict[str, int]:
        """How many texts have each outcome, and how many make no pair."""
        undecided = len(self.pairs.undecided)
        outcomes = np.bincount(outcome, minlength=len(OUTCOMES))
        # generated = passed + failed + unchanged + unseen + unanswered: nothing is dropped silently.
        counts = {"generated": texts - undecided}
        counts |= dict(zip(OUTCOMES, outcomes.tolist(), strict=True))
        counts["unchanged"] = counts["generated"] - len(outcome)
        counts["undecided"] = undecided
        return counts

    def _furthest_flips(self, outcome: NDArray[np.int8]) -> NDArray[np.int64]:
        """The rows of the flipped texts whose scores moved furthest, these first."""
        # The furthest first, as a reader looks at a few: a decision may also flip by a hair.
        distance = np.abs(self.after - self.before)
        order = np.argsort(-distance, kind="stable")
        flipped = order[outcome[order] == FAILED]
        examples = flipped[:EXAMPLES]
        rows: NDArray[np.int64] = self.pairs.rows[examples]
        return rows

    def _placebo_findings(
        self,
        judged: BoolArray,
        flipped: BoolArray,
        where: Mapping[str, str],
        among: int,
    ) -> Iterator[Finding]:
        """Flips by the placebo, and how many more the swap of the same texts makes."""
        # A text without a placebo, or without an answer to it, can flip by the swap alone: it is left out.
        compared = judged & ~np.isnan(self.placebo)
        is_flipped_by_placebo = self.decided_before != self.decided_placebo
        placebo_flipped = is_flipped_by_placebo[compared]
        n = len(placebo_flipped)
        units = self.clusters.at(compared)
        counts = {"without_placebo": int(np.sum(judged & ~compared)), "units": units.count}

        yield measured_rate(
            "placebo_flip_rate",
            Rate(int(placebo_flipped.sum()), n),
            where,
            counts,
            [],
            ratio_interval(placebo_flipped, np.ones(n), units),
        )
        excess = paired_difference(flipped[compared], placebo_flipped, units)
        gap = paired_gap(flipped[compared], placebo_flipped, units, among=among)
        yield from difference("flip_excess", excess, where, counts, gap=gap)

    def _wordings(
        self, pairs: BoolArray, ids: pl.Series, where: Mapping[str, str], among: int
    ) -> Iterator[Finding]:
        """The female and the male wording of the same texts, whichever of them the corpus has."""
        rows = self.pairs.rows[pairs]
        clusters = self.clusters.at(pairs)
        # The wording of the corpus is "before", its counterpart "after".
        is_female_first = self.pairs.gender[pairs] == FEMALE
        decided_before = self.decided_before[pairs]
        decided_after = self.decided_after[pairs]
        female_decided_1 = np.where(is_female_first, decided_before, decided_after) == 1
        male_decided_1 = np.where(is_female_first, decided_after, decided_before) == 1
        annotated_1, annotated_0 = classes(self.truth[rows])

        decided_1 = {FEMALE: female_decided_1, MALE: male_decided_1}
        for wording, positive in decided_1.items():
            missed_rows = rows[annotated_1 & ~positive]
            yield from _wording_rates(
                positive,
                annotated_1,
                annotated_0,
                clusters,
                where={**where, "group": wording},
                missed_ids=ids.gather(missed_rows[:EXAMPLES]).to_list(),
            )

        versus = {**where, "group": FEMALE, "versus": MALE}
        yield from _compared_decisions(
            female_decided_1,
            male_decided_1,
            annotated_1,
            clusters,
            versus,
            among=among,
        )
        yield from self._score_differences(pairs, is_female_first, clusters, versus)

    def _score_differences(
        self,
        pairs: BoolArray,
        is_female_first: BoolArray,
        clusters: Clusters,
        where: Mapping[str, str],
    ) -> Iterator[Finding]:
        """How much higher the female wording scores; p is the larger of two.

        The wordings must differ, and the swap must do something else than the placebo of the same texts: a
        model that follows the length alone scores both alike, and is no model that follows gender.
        """
        before = self.before[pairs]
        after = self.after[pairs]
        neutral = self.placebo[pairs]
        female_scores = np.where(is_female_first, before, after)
        male_scores = np.where(is_female_first, after, before)
        shift = score_shift(female_scores, male_scores, clusters)
        yield _with_spread(
            "score_difference",
            shift.difference,
            shift.n,
            shift.interval,
            where,
        )

        # Both from the original on: from female to male, or back.
        towards_female = np.where(is_female_first, neutral - after, after - neutral)
        no_shift = np.zeros(len(towards_female))
        beyond = score_shift(towards_female, no_shift, clusters)
        p = _larger_p(shift, beyond)
        yield measured(
            "score_difference_p", p, beyond.n, interval=None, where=where, counts={"with_placebo": beyond.n}
        )

    def table(self, corpus: Corpus, where: Mapping[str, str]) -> pl.DataFrame:
        """One row per pair: id, gender of the text as written, outcome, scores; then the undecided texts."""
        pairs = self.pairs
        undecided = len(pairs.undecided)
        rows = np.concatenate([pairs.rows, pairs.undecided])
        genders = np.concatenate([pairs.gender, pairs.gender_undecided])

        # An undecided text has the outcome behind the last one, and no scores.
        outcome_names = pl.Series([*OUTCOMES, UNDECIDED])
        outcomes_undecided = np.full(undecided, len(OUTCOMES))
        outcomes = np.concatenate([self.outcome.astype(np.int64), outcomes_undecided])
        before = pl.Series(self.before, dtype=pl.Float64)
        after = pl.Series(self.after, dtype=pl.Float64)

        table = pl.DataFrame(
            {
                "id": corpus.table["id"].gather(rows),
                "gender": pl.Series(genders.tolist(), dtype=pl.String),
                "outcome": outcome_names.gather(outcomes),
                "before": before.extend_constant(None, undecided),
                "after": after.extend_constant(None, undecided),
            }
        )
        place_columns = [pl.lit(where[key]).alias(key) for key in _PLACE]
        in_order = table.select(*place_columns, pl.all())
        return in_order.with_columns(pl.col(*_PLACE, "gender", "outcome").cast(pl.Categorical))


def _wording_rates(
    positive: BoolArray,
    annotated_1: BoolArray,
    annotated_0: BoolArray,
    clusters: Clusters,
    *,
    where: Mapping[str, str],
    missed_ids: list[str],
) -> Iterator[Finding]:
    """Misses, false alarms and positive decisions of one wording of the texts, all (m,)."""
    all_texts = np.ones(len(positive), bool)
    rates: tuple[tuple[str, BoolArray, BoolArray, list[str]], ...] = (
        ("fnr", annotated_1 & ~positive, annotated_1, missed_ids),
        ("fpr", annotated_0 & positive, annotated_0, []),
        ("positive_rate", positive, all_texts, []),
    )
    for measure, hits, out_of, examples in rates:
        rate = Rate(int(hits.sum()), int(out_of.sum()))
        interval = ratio_interval(hits, out_of, clusters)
        yield counted_rate(measure, rate, where, examples, interval=interval)


def _compared_decisions(
    female: BoolArray,
    male: BoolArray,
    annotated_1: BoolArray,
    clusters: Clusters,
    where: Mapping[str, str],
    *,
    among: int,
) -> Iterator[Finding]:
    """The ratio of misses and the differences of both wordings' decisions, all (m,)."""
    female_missed = annotated_1 & ~female
    male_missed = annotated_1 & ~male
    missed_by_any = female_missed | male_missed
    positives = int(annotated_1.sum())
    yield miss_ratio(
        Rate(int(female_missed.sum()), positives),
        Rate(int(male_missed.sum()), positives),
        where,
        both=int(np.sum(female_missed & male_missed)),
        share=effective_share(missed_by_any, annotated_1, clusters),
    )

    # Of the texts annotated 1 alone: whom the model misses, not how often it says yes.
    positive_units = clusters.at(annotated_1)
    female_hits = female[annotated_1]
    male_hits = male[annotated_1]
    opportunity = paired_difference(female_hits, male_hits, positive_units)
    gap = paired_gap(female_hits, male_hits, positive_units, among=among)
    yield from difference("equal_opportunity_difference", opportunity, where, gap=gap)

    parity = paired_difference(female, male, clusters)
    # McNemar's test rests on the texts whose wordings are decided differently.
    counts = {
        "only_group": int(np.sum(female & ~male)),
        "only_versus": int(np.sum(male & ~female)),
    }
    gap = paired_gap(female, male, clusters, among=among)
    yield from difference("demographic_parity_difference", parity, where, counts, gap=gap)


def paired_gap(
    first: BoolArray,
    second: BoolArray,
    clusters: Clusters,
    *,
    among: int,
) -> Interval:
    """The interval of a paired difference of rates, both (n,), that holds together with `among` others."""
    if not len(first):
        return UNKNOWN
    ones = np.ones(len(first))
    return difference_interval((first, ones), (second, ones), clusters, among=among)


def _larger_p(shift: Shift, beyond: Shift) -> float:
    """The larger p of the swap alone and of the swap beyond its placebo; 1 where they go different ways."""
    # Few texts with a placebo cannot tell gender from length: no claim.
    if beyond.n < FEWEST or math.isnan(beyond.p):
        return math.nan
    same_way = shift.difference * beyond.difference > 0
    return max(shift.p, beyond.p) if same_way else 1.0


def _with_spread(
    measure: str,
    value: float,
    n: int,
    interval: Interval,
    where: Mapping[str, str],
) -> Finding:
    """A mean; without an interval it is flagged: no score moves, or too few texts or authors do."""
    finding = measured(measure, value, n, interval=interval, where=where)
    if not finding.tested or finding.interval is not None:
        return finding
    reason = "too_few" if value else "no_spread"
    return replace(finding, flags=(reason,))
