"""What a model of histories rests on: posts are removed, moved and added, and the score is compared.

The evidence of a condition are the posts in which a symptom of it weighs 0.5 or more (PsySym, section 4.3).
Judged are authors with evidence whom the model decides for: their score has something to lose.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar
from zlib import crc32

import numpy as np
import polars as pl

from psycheck.audits.measured import measured, measured_rate, thresholds_of
from psycheck.corpus import Corpus, History
from psycheck.finding import Finding
from psycheck.measure import Measure
from psycheck.measures.clustered import Clusters, mean_interval, ratio_interval
from psycheck.measures.fairness import Rate
from psycheck.model import FloatArray, Item, Judgement, Scores
from psycheck.report.histories import histories_section

EVIDENCE, OTHER_POST = "evidence:", "other_post"  # columns that a run adds to a corpus of histories
CUT = 0.5  # the weight from which a post counts as evidence
TOLERANCE = 0.1  # a change of more than this is a change, as in DECK's DIR checks
EXAMPLES = 50
NO_EVIDENCE, NO_OTHERS = "evidence_removed", "others_removed"
INV = (NO_OTHERS, "post_inserted", "post_appended")
PARTS = ("shuffled", "first_half", "last_half", "first_post", "last_post")
EDITS = {NO_EVIDENCE: "DIR", **dict.fromkeys(INV, "INV"), **dict.fromkeys(PARTS, "")}
OUTCOMES = ("passed", "failed", "changed", "unchanged", "unanswered")
_ROUNDING = 1e-9


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
    measures: ClassVar[tuple[str | Measure, ...]] = (
        *("history_pass_rate", "history_change_rate", "history_shift", "evidence_effect"),
    )
    section = staticmethod(histories_section)
    threshold: float = 0.5
    seed: int = 0
    weighed_by: str = ""
    places: int = 1
    most: int = 256

    def skips(self, corpus: Corpus, /) -> str | None:
        """Evidence is known for the conditions of the symptom graph alone."""
        return None if _labels(corpus) else "no label is a condition of the symptom graph"

    def ask(self, corpus: Corpus, /) -> Iterator[Item]:
        """The histories, and every edit of those with evidence."""
        yield from corpus.items
        for label in _labels(corpus):
            for _, edits in self._edited(corpus, label):
                yield from edits.values()

    def judge(self, corpus: Corpus, scores: Scores, /) -> Judgement:
        """Pass rates and shares of changed scores by label and edit, and a table of all cases."""
        labels = [label for label in _labels(corpus) if label in scores.labels]
        findings: list[Finding] = []
        tables: list[pl.DataFrame] = []
        for label in labels:
            place = {"model": scores.model, "corpus": corpus.name, "label": label}
            where = {"audit": self.name, **place, "evidence": self.weighed_by}
            cases, counts = self._cases(corpus, label, scores)
            clusters = Clusters.of(corpus.units())
            for edit in EDITS:
                mine = cases.filter(pl.col("edit") == edit)
                units = clusters.at(mine["row"].to_numpy())
                findings += _of_edit(mine, edit, units, where, counts, self.places * len(labels))
            findings.append(_effect(cases, clusters, where))
            fixed = [pl.lit(value).cast(pl.Categorical).alias(key) for key, value in place.items()]
            tables.append(cases.select(*fixed, pl.exclude("row")))
        return Judgement(tuple(findings), {"histories": pl.concat(tables)} if tables else {})

    def _edited(self, corpus: Corpus, label: str) -> Iterator[tuple[int, dict[str, History]]]:
        """The rows with evidence of a condition, and the edited histories by name."""
        weights, others = corpus.table[EVIDENCE + label].to_list(), corpus.table[OTHER_POST].to_list()
        for row, (id_, item) in enumerate(zip(corpus.ids, corpus.items, strict=True)):
            found = np.array(weights[row], np.float64) >= CUT
            if isinstance(item, History) and found.any():
                random = np.random.default_rng(crc32(f"{self.seed}/{id_}".encode("utf-8", "surrogatepass")))
                yield row, edits_of(item, found, others[row], random, self.most)

    def _cases(self, corpus: Corpus, label: str, scores: Scores) -> tuple[pl.DataFrame, dict[str, int]]:
        """One row per author and edit: outcome, score before and after; and how many authors are left out."""
        column = scores.labels.index(label)
        cut = float(thresholds_of(scores, self.threshold)[column])
        counts = {"authors": len(corpus), "without_evidence": len(corpus), "decided_0": 0}
        rows: list[tuple[int, str, str, str, float, float]] = []
        start = 0
        for piece in corpus.slices():
            before, ids = scores.of(piece.items)[:, column], piece.ids
            for row, edits in self._edited(piece, label):
                counts["without_evidence"] -= 1
                if before[row] < cut:
                    counts["decided_0"] += 1
                    continue
                after = dict(zip(edits, scores.of(list(edits.values()))[:, column], strict=True))
                for edit, outcome in _outcomes(before[row], after):
                    rows.append((start + row, ids[row], edit, outcome, before[row], after[edit]))
            start += len(piece)
        kinds = {"row": pl.Int64, **dict.fromkeys(("id", "edit", "outcome"), pl.String)}
        schema = {**kinds, "before": pl.Float64, "after": pl.Float64}
        return pl.DataFrame(rows, schema=schema, orient="row"), counts


def edits_of(
    history: History, found: np.ndarray, other: str | None, random: np.random.Generator, most: int
) -> dict[str, History]:
    """The edits of a history with evidence, `found` (posts,), by name; those that can be made."""
    n, evidence, rest = len(found), np.flatnonzero(found), np.flatnonzero(~found)
    gone = random.permutation(rest)[: len(evidence)]
    half, place, order = (n + 1) // 2, int(random.integers(0, n)), random.permutation(n)
    edits = {NO_EVIDENCE: history.at(rest.tolist())}
    if len(gone):
        edits[NO_OTHERS] = history.at(np.setdiff1d(np.arange(n), gone).tolist())
    if other is not None and n < most:
        edits["post_inserted"] = with_post(history, other, place)
        edits["post_appended"] = with_post(history, other, n)
    if n > 1:
        edits["shuffled"] = history.at(order.tolist())
        edits["first_half"], edits["last_half"] = history.at(range(half)), history.at(range(n - half, n))
        edits["first_post"], edits["last_post"] = history.at([0]), history.at([n - 1])
    return edits


def with_post(history: History, post: str, place: int) -> History:
    """A history with a post added at a place, at the time of the post that was there or the last one."""
    posts, times, ids = (
        (*all_of[:place], *new, *all_of[place:])
        for all_of, new in (
            (history.posts, (post,)),
            (history.times, history.times[place : place + 1] or history.times[-1:]),
            (history.ids, ("",) if history.ids else ()),
        )
    )
    return History(posts, times, ids)


def _labels(corpus: Corpus) -> list[str]:
    """The labels that evidence is known for."""
    return [c.removeprefix(EVIDENCE) for c in corpus.table.columns if c.startswith(EVIDENCE)]


def _outcomes(before: float, after: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """The outcome of each edit of a history, from its score and those of the edits."""
    for edit, score in after.items():
        kind = EDITS[edit]
        level = np.minimum(before, after.get(NO_OTHERS, before)) if kind == "DIR" else before
        if np.isnan([level, score]).any():
            yield edit, "unanswered"
        elif kind == "DIR":
            yield edit, "passed" if level - score >= TOLERANCE - _ROUNDING else "failed"
        else:
            same, other = ("passed", "failed") if kind else ("unchanged", "changed")
            yield edit, other if abs(score - before) > TOLERANCE + _ROUNDING else same


def _of_edit(
    cases: pl.DataFrame,
    edit: str,
    clusters: Clusters,
    where: Mapping[str, str],
    left_out: Mapping[str, int],
    among: int,
) -> Iterator[Finding]:
    """The share of passed or changed cases, and the mean change of the score."""
    kind = EDITS[edit]
    wanted, other = ("passed", "failed") if kind else ("changed", "unchanged")
    outcome = cases["outcome"].to_numpy()
    judged, hits = outcome != "unanswered", outcome == wanted
    counts = {**left_out, **{name: int((outcome == name).sum()) for name in (wanted, other, "unanswered")}}
    # A page picks the worst of all labels, models and corpora: the interval allows for that.
    interval = ratio_interval(hits[judged], np.ones(int(judged.sum())), clusters.at(judged), among=among)
    here = {**where, "edit": edit, **({"kind": kind} if kind else {})}
    shown = cases.filter(pl.col("outcome") == (other if kind else wanted))
    moved = pl.col("after") - pl.col("before")  # a DIR case fails the more, the less the score falls
    furthest = moved if kind == "DIR" else moved.abs()
    examples = shown.sort(furthest, descending=True, maintain_order=True)["id"].head(EXAMPLES).to_list()
    measure = "history_pass_rate" if kind else "history_change_rate"
    rate = Rate(int(hits.sum()), int(judged.sum()))
    yield measured_rate(measure, rate, here, counts, examples, interval)
    shift: FloatArray = (cases["after"] - cases["before"]).to_numpy()[judged]
    mean = float(shift.mean()) if len(shift) else np.nan
    yield measured("history_shift", mean, len(shift), mean_interval(shift, clusters.at(judged)), here)


def _effect(cases: pl.DataFrame, clusters: Clusters, where: Mapping[str, str]) -> Finding:
    """How much lower the score is without the evidence than without as many other posts."""
    wide = [cases.filter(pl.col("edit") == edit).select("row", "after") for edit in (NO_OTHERS, NO_EVIDENCE)]
    both = wide[0].join(wide[1], on="row", how="inner", maintain_order="left").drop_nans()
    values: FloatArray = (both["after"] - both["after_right"]).to_numpy()
    mean = float(values.mean()) if len(values) else np.nan
    interval = mean_interval(values, clusters.at(both["row"].to_numpy()))
    return measured("evidence_effect", mean, len(values), interval, where)
