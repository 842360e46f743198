"""What a model of histories rests on: posts are removed, moved and added, and the score is compared.

The evidence of a condition are the posts in which a symptom of it weighs 0.5 or more (PsySym, section 4.3).
Judged are authors with evidence whom the model decides for: their score has something to lose.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar
from zlib import crc32

import numpy as np
import polars as pl

from psycheck.audits.figures import measured, measured_rate, thresholds_of
from psycheck.audits.history_evidence import (
    CUT,
    EVIDENCE,
    OTHER_POST,
    PostEvidence,
    open_evidence_of_posts,
    posts_of,
)
from psycheck.core.arrays import FloatArray
from psycheck.core.audit import Judgement, RunContext, Scores
from psycheck.core.corpus import Corpus, History
from psycheck.core.errors import BadInput
from psycheck.core.finding import Finding
from psycheck.core.item import Item
from psycheck.core.measure import Measure
from psycheck.core.model import AnswersOf, Model, capabilities_of
from psycheck.report.history_edits import histories_section
from psycheck.statistics.clustered import Clusters, mean_interval, ratio_interval
from psycheck.statistics.group_rates import Rate

TOLERANCE = 0.1  # a change of more than this is a change, as in DECK's DIR checks
EXAMPLES = 50
NO_EVIDENCE, NO_OTHERS = "evidence_removed", "others_removed"
INV = (NO_OTHERS, "post_inserted", "post_appended")
PARTS = ("shuffled", "first_half", "last_half", "first_post", "last_post")
EDITS = {NO_EVIDENCE: "DIR", **dict.fromkeys(INV, "INV"), **dict.fromkeys(PARTS, "")}
OUTCOMES = ("passed", "failed", "changed", "unchanged", "unanswered")
_ROUNDING = 1e-9
_CASE_SCHEMA = {
    "row": pl.Int64,
    "id": pl.String,
    "edit": pl.String,
    "outcome": pl.String,
    "before": pl.Float64,
    "after": pl.Float64,
}


@dataclass(frozen=True, slots=True)
class Histories:
    """Edits of histories, each compared with the unedited one.

    DIR: without its evidence the score falls by 0.1 or more, also below the score without as many other
    posts. INV: without as many other posts, or with a post of another author added, it changes by 0.1 at
    most. Of the other edits only the share of changed scores is reported: order and length may matter.
    `weighed_by` names the symptom model, `places` is the number of models times corpora of the run, `most`
    the number of posts beyond which nothing can be added.
    """

    name: ClassVar = "histories"
    position: ClassVar = 90
    options: ClassVar = None
    measures: ClassVar[tuple[str | Measure, ...]] = (
        *("history_pass_rate", "history_change_rate", "history_shift", "evidence_effect"),
    )
    section = staticmethod(histories_section)
    threshold: float = 0.5
    seed: int = 0
    weighed_by: str = ""
    places: int = 1
    most: int = 256
    evidence: PostEvidence | None = None

    @classmethod
    def prepare(cls, context: RunContext, options: None, /) -> list["Histories"]:
        """The audit of a run whose models score histories; none for a run of texts."""
        settings = context.settings
        if not context.histories:
            if settings.audits == (cls.name,):
                raise BadInput(
                    "audit 'histories' is for models that score histories",
                    code="audit.only-for-histories",
                    key="audits",
                    allowed="a model with takes = 'histories', such as history:FOLDER",
                )
            return []

        scored_labels: dict[str, None] = {}
        for labels in context.labels.values():
            scored_labels.update(dict.fromkeys(labels))
        evidence = open_evidence_of_posts(
            settings.evidence,
            list(scored_labels),
            settings.seed,
        )
        audit = cls(
            threshold=settings.fixed_threshold,
            seed=settings.seed,
            weighed_by=settings.evidence,
            places=context.places,
            most=max(capabilities_of(model).most_posts for model in context.models),
            evidence=evidence,
        )
        return [audit]

    @property
    def needs(self) -> tuple[Model, ...]:
        """The symptom model that weighs the posts."""
        if self.evidence:
            return (self.evidence.weights,)
        return ()

    def needed(self, corpus: Corpus, /) -> Iterable[Item]:
        """Every post."""
        return posts_of(corpus)

    def ground(self, corpora: Sequence[Corpus], answers: Sequence[AnswersOf], /) -> list[Corpus]:
        """The corpora with the weight of each post for each condition, and a post of another author."""
        if self.evidence is None:
            return list(corpora)
        return [self.evidence.weighed(corpus, answers[0]) for corpus in corpora]

    def skips(self, corpus: Corpus, /) -> str | None:
        """Evidence is known for the conditions of the symptom graph alone."""
        if self.evidence is None and not _conditions(corpus):
            return "no label is a condition of the symptom graph"
        return None

    def ask(self, corpus: Corpus, /) -> Iterator[Item]:
        """The histories, and every edit of those with evidence."""
        yield from corpus.items
        for label in _conditions(corpus):
            for _, edits in self._edited_histories(corpus, label):
                yield from edits.values()

    def judge(self, corpus: Corpus, scores: Scores, /) -> Judgement:
        """Pass rates and shares of changed scores by label and edit, and a table of all cases."""
        labels = [label for label in _conditions(corpus) if label in scores.labels]
        clusters = Clusters.of(corpus.units(), corpus.copies())
        findings: list[Finding] = []
        tables: list[pl.DataFrame] = []
        # A page picks the worst of all labels, models and corpora: intervals allow for that.
        among = self.places * len(labels)
        for label in labels:
            place = {
                "model": scores.model,
                "corpus": corpus.name,
                "label": label,
            }
            where = {"audit": self.name, **place, "evidence": self.weighed_by}
            cases, left_out = self._cases(corpus, label, scores)
            for edit in EDITS:
                edit_cases = cases.filter(pl.col("edit") == edit)
                rows = edit_cases["row"].to_numpy()
                # Not every history has every edit: one post has no order to change.
                units = clusters.at(rows)
                findings.append(_edit_rate(edit_cases, edit, units, where, left_out, among))
                findings.append(_edit_shift(edit_cases, edit, units, where))
            findings.append(_evidence_effect(cases, clusters, where))

            place_columns = []
            for key, value in place.items():
                column = pl.lit(value).cast(pl.Categorical)
                place_columns.append(column.alias(key))
            tables.append(cases.select(*place_columns, pl.exclude("row")))

        if not tables:
            return Judgement(tuple(findings))
        return Judgement(tuple(findings), {"histories": pl.concat(tables)})

    def _edited_histories(self, corpus: Corpus, label: str) -> Iterator[tuple[int, dict[str, History]]]:
        """The rows with evidence of a condition, and the edited histories by name."""
        weights = corpus.table[EVIDENCE + label].to_list()
        other_posts = corpus.table[OTHER_POST].to_list()
        histories_by_author = zip(corpus.ids, corpus.items, strict=True)
        for row, (author, item) in enumerate(histories_by_author):
            is_evidence = np.array(weights[row], np.float64) >= CUT
            if isinstance(item, History) and is_evidence.any():
                # The author's name seeds the draw: it does not depend on the other authors of the corpus.
                seeded_name = f"{self.seed}/{author}".encode("utf-8", "surrogatepass")
                edits = edits_of(
                    item,
                    is_evidence,
                    other_posts[row],
                    random=np.random.default_rng(crc32(seeded_name)),
                    most=self.most,
                )
                yield row, edits

    def _cases(self, corpus: Corpus, label: str, scores: Scores) -> tuple[pl.DataFrame, dict[str, int]]:
        """One row per author and edit: outcome, score before and after; and how many authors are left out."""
        column = scores.labels.index(label)
        thresholds = thresholds_of(scores, self.threshold)
        threshold = float(thresholds[column])
        left_out = {
            "authors": len(corpus),
            "without_evidence": len(corpus),
            "decided_0": 0,
        }
        cases: list[tuple[int, str, str, str, float, float]] = []
        start = 0
        for piece in corpus.slices():
            before = scores.of(piece.items)[:, column]
            ids = piece.ids
            for row, edits in self._edited_histories(piece, label):
                left_out["without_evidence"] -= 1
                # A score that decides against the condition has nothing to lose.
                if before[row] < threshold:
                    left_out["decided_0"] += 1
                    continue

                edited_histories = list(edits.values())
                edit_scores = scores.of(edited_histories)[:, column]
                after = dict(zip(edits, edit_scores, strict=True))
                for edit, outcome in _outcomes(before[row], after):
                    # In the order of _CASE_SCHEMA.
                    case = (
                        start + row,
                        ids[row],
                        edit,
                        outcome,
                        before[row],
                        after[edit],
                    )
                    cases.append(case)
            start += len(piece)

        table = pl.DataFrame(cases, schema=_CASE_SCHEMA, orient="row")
        return table, left_out


def edits_of(
    history: History,
    is_evidence: np.ndarray,
    other_post: str | None,
    random: np.random.Generator,
    most: int,
) -> dict[str, History]:
    """The edits of a history with evidence by name, those that can be made; is_evidence is (posts,)."""
    n = len(is_evidence)
    evidence = np.flatnonzero(is_evidence)
    no_evidence = np.flatnonzero(~is_evidence)
    # All draws come first and in this order: which edits can be made does not change them.
    removed = random.permutation(no_evidence)[: len(evidence)]
    place = int(random.integers(0, n))
    order = random.permutation(n)

    edits = {NO_EVIDENCE: history.at(no_evidence.tolist())}
    if len(removed):
        all_places = np.arange(n)
        remaining = np.setdiff1d(all_places, removed)
        edits[NO_OTHERS] = history.at(remaining.tolist())
    if other_post is not None and n < most:
        edits["post_inserted"] = with_post(history, other_post, place)
        edits["post_appended"] = with_post(history, other_post, n)
    # One post has no order and no half.
    if n > 1:
        half = (n + 1) // 2
        edits["shuffled"] = history.at(order.tolist())
        edits["first_half"] = history.at(range(half))
        edits["last_half"] = history.at(range(n - half, n))
        edits["first_post"] = history.at([0])
        edits["last_post"] = history.at([n - 1])
    return edits


def with_post(history: History, post: str, place: int) -> History:
    """A history with a post added at a place, at the time of the post that was there or the last one."""
    time_there = history.times[place : place + 1]
    last_time = history.times[-1:]
    post_id = ("",) if history.ids else ()
    return History(
        posts=_with_added(history.posts, (post,), place),
        times=_with_added(history.times, time_there or last_time, place),
        ids=_with_added(history.ids, post_id, place),
    )


def _with_added(strings: tuple[str, ...], added: tuple[str, ...], place: int) -> tuple[str, ...]:
    """Strings with others at a place among them."""
    return (*strings[:place], *added, *strings[place:])


def _conditions(corpus: Corpus) -> list[str]:
    """The labels that evidence is known for."""
    columns = corpus.table.columns
    return [column.removeprefix(EVIDENCE) for column in columns if column.startswith(EVIDENCE)]


def _outcomes(before: float, after: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """The outcome of each edit of a history, from its score and those of the edits."""
    for edit, score in after.items():
        if EDITS[edit] == "DIR":
            # Without as many other posts a score falls, too: the evidence must cost more than that.
            level = np.minimum(before, after.get(NO_OTHERS, before))
            has_passed = level - score >= TOLERANCE - _ROUNDING
        else:
            level = before
            has_passed = abs(score - before) <= TOLERANCE + _ROUNDING

        # Of an edit that may change the score, no outcome is a failure.
        passed, failed = ("passed", "failed") if EDITS[edit] else ("unchanged", "changed")
        outcome = passed if has_passed else failed
        if np.isnan([level, score]).any():
            outcome = "unanswered"
        yield edit, outcome


def _edit_rate(
    cases: pl.DataFrame,
    edit: str,
    clusters: Clusters,
    where: Mapping[str, str],
    left_out: Mapping[str, int],
    among: int,
) -> Finding:
    """The share of passed cases of a check, or of changed ones of an edit that may change the score."""
    kind = EDITS[edit]
    counted, contrary = ("passed", "failed") if kind else ("changed", "unchanged")
    outcome = cases["outcome"].to_numpy()
    judged = outcome != "unanswered"
    hits = outcome == counted
    counts = dict(left_out)
    for name in (counted, contrary, "unanswered"):
        counts[name] = int((outcome == name).sum())

    rate = Rate(int(hits.sum()), int(judged.sum()))
    interval = ratio_interval(
        hits[judged],
        np.ones(rate.n),
        clusters.at(judged),
        among=among,
    )
    # Shown are the failed cases of a check, and the changed ones of any other edit.
    return measured_rate(
        "history_pass_rate" if kind else "history_change_rate",
        rate,
        _where_of_edit(where, edit),
        counts,
        _examples(cases, kind, outcome=contrary if kind else counted),
        interval,
    )


def _examples(cases: pl.DataFrame, kind: str, *, outcome: str) -> list[str]:
    """The authors with this outcome, those furthest from what is expected first."""
    moved = pl.col("after") - pl.col("before")
    # A DIR case fails the more, the less the score falls.
    distance = moved if kind == "DIR" else moved.abs()
    of_outcome = cases.filter(pl.col("outcome") == outcome)
    furthest_first = of_outcome.sort(distance, descending=True, maintain_order=True)
    return furthest_first["id"].head(EXAMPLES).to_list()


def _edit_shift(
    cases: pl.DataFrame,
    edit: str,
    clusters: Clusters,
    where: Mapping[str, str],
) -> Finding:
    """The mean change of the score."""
    outcome = cases["outcome"].to_numpy()
    judged = outcome != "unanswered"
    all_shifts = cases["after"] - cases["before"]
    shifts: FloatArray = all_shifts.to_numpy()[judged]
    return measured(
        "history_shift",
        _mean(shifts),
        len(shifts),
        interval=mean_interval(shifts, clusters.at(judged)),
        where=_where_of_edit(where, edit),
    )


def _where_of_edit(where: Mapping[str, str], edit: str) -> dict[str, str]:
    """The keys of an edit; only a check has a kind."""
    keys = {**where, "edit": edit}
    if EDITS[edit]:
        keys["kind"] = EDITS[edit]
    return keys


def _mean(values: FloatArray) -> float:
    """The mean, NaN of no values."""
    if len(values):
        return float(values.mean())
    return np.nan


def _evidence_effect(cases: pl.DataFrame, clusters: Clusters, where: Mapping[str, str]) -> Finding:
    """How much lower the score is without the evidence than without as many other posts."""
    without_others = cases.filter(pl.col("edit") == NO_OTHERS).select("row", "after")
    without_evidence = cases.filter(pl.col("edit") == NO_EVIDENCE).select("row", "after")
    joined = without_others.join(
        without_evidence,
        on="row",
        how="inner",
        maintain_order="left",
    )
    # Both edits must have a score: a mean over one side alone would compare different authors.
    answered = joined.drop_nans()

    differences = answered["after"] - answered["after_right"]
    effects: FloatArray = differences.to_numpy()
    units = clusters.at(answered["row"].to_numpy())
    return measured(
        "evidence_effect",
        _mean(effects),
        len(effects),
        interval=mean_interval(effects, units),
        where=where,
    )
