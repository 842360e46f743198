"""Whether the decision depends on gender: counterfactual pairs, and groups of a corpus (gender bias 2.2)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from psycheck.audits.groups import counted_rate, difference, group_findings, miss_ratio
from psycheck.audits.measured import measured, measured_rate, thresholds_of
from psycheck.audits.summary import holm_family
from psycheck.corpus import Corpus
from psycheck.finding import Finding
from psycheck.measure import Measure
from psycheck.measures.classification import classes, decide, firm
from psycheck.measures.clustered import Clusters, effective_share, ratio_interval
from psycheck.measures.fairness import Rate, paired_difference, score_shift
from psycheck.model import FloatArray, Item, Judgement, Scores
from psycheck.report.fairness import fairness_section
from psycheck.text.edits import Edited
from psycheck.text.gender.edits import Scope, gender_of, names_besides, swap
from psycheck.text.gender.placebo import placebo

OUTCOMES = ("passed", "failed", "unseen", "unanswered")
PASSED, FAILED, UNSEEN, UNANSWERED = range(4)
UNDECIDED = "undecided"  # in the table alone: such a text makes no pair
FEMALE, MALE = "female", "male"
EXAMPLES = 50
ALPHA = 0.05
SWAPPED = Scope(nouns=True, titles=True)
_TESTED = ("flip_excess", "score_difference", "equal_opportunity_difference", "demographic_parity_difference")


@dataclass(frozen=True, slots=True)
class Fairness:
    """Every text with gendered words beside its swapped counterpart, and every group column.

    A score of at least `threshold` is a positive decision, of exclusive classes the largest score is. `scope`
    says which words are swapped. A pair passes where both wordings are decided alike. Texts with a word whose
    swap cannot be decided are left out; the table of pairs lists them all, without scores. Each text is also
    asked for with a placebo, an edit of as many words that leaves gender alone: a model that changes its mind
    on any edit has no excess of flips. `places` is the number of models times corpora of the run, for which
    the tests allow.
    """

    name: ClassVar = "fairness"
    measures: ClassVar[tuple[str | Measure, ...]] = (
        *("flip_rate", "placebo_flip_rate", "undecided_rate", "score_shift"),
        *("fnr", "fpr", "positive_rate", "fnr_ratio"),
        *(f"{name}{test}" for name in _TESTED for test in ("", "_p", "_p_holm")),
    )

    section = staticmethod(fairness_section)
    threshold: float = 0.5
    scope: Scope = SWAPPED
    places: int = 1

    def skips(self, corpus: Corpus, /) -> str | None:
        """Histories are compared by group alone."""
        bare = corpus.histories and not corpus.groups
        return "the gender swap is not for histories, and the corpus has no groups" if bare else None

    def ask(self, corpus: Corpus, /) -> Iterator[Item]:
        """Texts with gendered words, counterparts, placebos; all texts where the corpus has groups."""
        if corpus.groups:
            yield from corpus.items
        if corpus.histories:
            return
        edit = swap(self.scope)
        for text in corpus.texts:
            edited = edit(text)
            if _pairs(edited):
                yield from (text, edited.text)
                if (neutral := placebo(text, edited)).spans:
                    yield neutral.text

    def judge(self, corpus: Corpus, scores: Scores, /) -> Judgement:
        """Flips, rates of both wordings and of every group, their ratio and differences; p by Holm."""
        shared = tuple(label for label in corpus.labels if label in scores.labels)
        labels = shared or scores.labels
        where = {"audit": self.name, "model": scores.model, "corpus": corpus.name}
        cuts = thresholds_of(scores, self.threshold)
        decided = partial(decide, threshold=cuts, exclusive=getattr(scores, "exclusive", False))
        unknown = np.full((len(corpus), len(labels)), np.nan)
        truth = firm(corpus.targets(labels)) if shared else unknown
        judged = [] if corpus.histories else [self._swapped(corpus, scores, labels, truth, decided, where)]
        findings = [finding for found, _ in judged for finding in found]
        if corpus.groups:
            every = decided(scores.of(corpus.items))
            for k, label in enumerate(labels):
                positive = every[:, scores.labels.index(label)]
                findings += group_findings(corpus, truth[:, k], positive, {**where, "label": label})
        pairs = [table for _, table in judged]
        return Judgement(
            tuple(with_holm(findings, self.places)), {"pairs": pl.concat(pairs)} if pairs else {}
        )

    def _swapped(
        self,
        corpus: Corpus,
        scores: Scores,
        labels: Sequence[str],
        truth: FloatArray,
        decided: Callable[[FloatArray], FloatArray],
        where: Mapping[str, str],
    ) -> tuple[list[Finding], pl.DataFrame]:
        """The findings of the pairs, and the pairs; `truth` is (n, k)."""
        swapped = {"unit": "pairs", "swap": "+".join(self.scope.words)}
        if self.scope.person != "all":
            swapped["swap_person"] = self.scope.person
        pairs = self._paired(corpus, scores)
        scored = (pairs.before, pairs.after, pairs.placebo)
        chosen = [decided(one) for one in scored]
        undecided = Rate(len(pairs.undecided), len(corpus))
        listed = corpus.table["id"].gather(pairs.undecided[:EXAMPLES]).to_list()
        clusters = Clusters.of(corpus.units()[pairs.rows])
        findings = [counted_rate("undecided_rate", undecided, {**where, **swapped}, listed)]
        tables = []
        for k, label in enumerate(labels):
            column = scores.labels.index(label)
            own = (one[:, column] for one in (*scored, *chosen))
            mine = _Label(pairs, clusters, truth[:, k], *own)
            here = {**where, "label": label, **swapped}
            findings += mine.findings(corpus, here)
            tables.append(mine.table(corpus, here))
        return findings, pl.concat(tables)

    def _paired(self, corpus: Corpus, scores: Scores) -> "_Pairs":
        """Every text swapped once, slice by slice, with the scores of both wordings."""
        edit = swap(self.scope)
        parts = []
        start = 0
        for piece in corpus.slices():
            texts = piece.texts
            edited = [edit(text) for text in texts]
            rows = [row for row, one in enumerate(edited) if _pairs(one)]
            left = [row for row, one in enumerate(edited) if one.undecided]
            swapped = [edited[row] for row in rows]
            neutral = [placebo(texts[row], edited[row]) for row in rows]
            beside = np.where(
                _seen(neutral, scores)[:, None], scores.of([one.text for one in neutral]), np.nan
            )
            parts.append(
                _Pairs(
                    np.array(rows, np.int64) + start,
                    np.array(left, np.int64) + start,
                    np.array([gender_of(texts[row], self.scope) for row in rows], "U6"),
                    np.array([gender_of(texts[row], self.scope) for row in left], "U6"),
                    np.array([names_besides(texts[row], self.scope) for row in rows], np.bool_),
                    _seen(swapped, scores),
                    scores.of([texts[row] for row in rows]),
                    scores.of([one.text for one in swapped]),
                    beside,
                )
            )
            start += len(piece)
        return _Pairs(*(np.concatenate([getattr(p, name) for p in parts]) for name in _Pairs.__slots__))


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The m texts that can be swapped, by their row in the corpus; before, after and placebo are (m, k).

    `gender` is the one that a text names as it is written; `placebo` is NaN where too few words can be
    replaced, or the model does not read them.
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


@dataclass(frozen=True, slots=True)
class _Label:
    """The pairs, judged for one label: scores and decisions (`was`, `now`, `beside`) are (m,).

    `truth` is (n,) of the corpus.
    """

    pairs: _Pairs
    clusters: Clusters
    truth: FloatArray
    before: FloatArray
    after: FloatArray
    placebo: FloatArray
    was: FloatArray
    now: FloatArray
    beside: FloatArray

    @property
    def outcome(self) -> NDArray[np.int8]:
        state = np.where(self.was != self.now, FAILED, PASSED).astype(np.int8)
        state[np.isnan(self.before) | np.isnan(self.after)] = UNANSWERED
        state[~self.pairs.seen] = UNSEEN
        return state

    def findings(self, corpus: Corpus, where: Mapping[str, str]) -> Iterator[Finding]:
        outcome, ids = self.outcome, corpus.table["id"]
        judged = outcome <= FAILED
        ledger = np.bincount(outcome, minlength=len(OUTCOMES))
        counts = {"generated": len(corpus) - len(self.pairs.undecided)}
        counts |= {name: int(ledger[k]) for k, name in enumerate(OUTCOMES)}
        counts["unchanged"] = counts["generated"] - len(outcome)
        counts["undecided"] = len(self.pairs.undecided)
        one_gender = np.isin(self.pairs.gender, (FEMALE, MALE))
        counts["both_genders"] = int(np.sum(judged & ~one_gender))
        counts["named_besides"] = int(np.sum(judged & self.pairs.besides))
        far = np.argsort(-np.abs(self.after - self.before), kind="stable")
        flipped = [row for row in far.tolist() if outcome[row] == FAILED][:EXAMPLES]
        examples = ids.gather(self.pairs.rows[flipped]).to_list()
        flips = Rate(counts["failed"], int(judged.sum()))
        units = self.clusters.at(judged)
        counts["units"] = units.count
        interval = ratio_interval(outcome[judged] == FAILED, np.ones(flips.n), units)
        yield measured_rate("flip_rate", flips, where, counts, examples, interval)
        yield from self._placebo(judged, outcome == FAILED, where)
        shift = score_shift(self.after[judged], self.before[judged], units)
        yield _with_spread("score_shift", shift.size, shift.n, shift.size_interval, where)
        yield from self._wordings(judged & one_gender, ids, where)

    def _placebo(
        self, judged: NDArray[np.bool_], flipped: NDArray[np.bool_], where: Mapping[str, str]
    ) -> Iterator[Finding]:
        """Flips by the placebo, and how many more the swap of the same texts makes."""
        both = judged & ~np.isnan(self.placebo)
        moved = (self.was != self.beside)[both]
        units, counts = self.clusters.at(both), {"without_placebo": int(np.sum(judged & ~both))}
        flips, interval = (
            Rate(int(moved.sum()), len(moved)),
            ratio_interval(moved, np.ones(len(moved)), units),
        )
        yield measured_rate("placebo_flip_rate", flips, where, counts, [], interval)
        yield from difference("flip_excess", paired_difference(flipped[both], moved, units), where, counts)

    def _wordings(
        self, among: NDArray[np.bool_], ids: pl.Series, where: Mapping[str, str]
    ) -> Iterator[Finding]:
        """The female and the male wording of the same texts, whichever of them the corpus has."""
        rows = self.pairs.rows[among]
        as_written = self.pairs.gender[among] == FEMALE
        (female, male), (as_female, as_male) = (
            (np.where(as_written, one[among], two[among]), np.where(as_written, two[among], one[among]))
            for one, two in ((self.before, self.after), (self.was, self.now))
        )
        decided = {FEMALE: as_female == 1, MALE: as_male == 1}
        yes, no = classes(self.truth[rows])
        clusters, everyone = self.clusters.at(among), np.ones(len(rows), bool)
        for wording, positive in decided.items():
            here = {**where, "group": wording}
            missed = ids.gather(rows[yes & ~positive][:EXAMPLES]).to_list()
            for measure, hits, out_of, listed in (
                ("fnr", yes & ~positive, yes, missed),
                ("fpr", no & positive, no, []),
                ("positive_rate", positive, everyone, []),
            ):
                rate = Rate(int(hits.sum()), int(out_of.sum()))
                interval = ratio_interval(hits, out_of, clusters)
                yield counted_rate(measure, rate, here, listed, interval=interval)
        lost = {wording: yes & ~positive for wording, positive in decided.items()}
        count = {wording: Rate(int(one.sum()), int(yes.sum())) for wording, one in lost.items()}
        both = int(np.sum(lost[FEMALE] & lost[MALE]))
        versus = {**where, "group": FEMALE, "versus": MALE}
        share = effective_share(lost[FEMALE] | lost[MALE], yes, clusters)
        yield miss_ratio(count[FEMALE], count[MALE], versus, both=both, share=share)
        yield from difference(
            "equal_opportunity_difference",
            paired_difference(decided[FEMALE][yes], decided[MALE][yes], clusters.at(yes)),
            versus,
        )
        parity = paired_difference(decided[FEMALE], decided[MALE], clusters)
        apart = {
            "only_group": int(np.sum(decided[FEMALE] & ~decided[MALE])),
            "only_versus": int(np.sum(decided[MALE] & ~decided[FEMALE])),
        }
        yield from difference("demographic_parity_difference", parity, versus, apart)
        moved = score_shift(female, male, clusters)
        yield _with_spread("score_difference", moved.difference, moved.n, moved.interval, versus)
        yield measured("score_difference_p", moved.p, moved.n, None, versus)

    def table(self, corpus: Corpus, where: Mapping[str, str]) -> pl.DataFrame:
        """One row a pair: id, gender of the text as written, outcome, scores; then the undecided texts."""
        fixed = [pl.lit(where[key]).cast(pl.Categorical).alias(key) for key in ("model", "corpus", "label")]
        pairs, left = self.pairs, len(self.pairs.undecided)
        outcome = np.concatenate([self.outcome.astype(np.int64), np.full(left, len(OUTCOMES))])
        genders = [*pairs.gender.tolist(), *pairs.gender_undecided.tolist()]
        return pl.DataFrame(
            {
                "id": corpus.table["id"].gather(np.concatenate([pairs.rows, pairs.undecided])),
                "gender": pl.Series(genders, dtype=pl.String).cast(pl.Categorical),
                "outcome": pl.Series([*OUTCOMES, UNDECIDED]).gather(outcome).cast(pl.Categorical),
                "before": pl.Series(self.before, dtype=pl.Float64).extend_constant(None, left),
                "after": pl.Series(self.after, dtype=pl.Float64).extend_constant(None, left),
            }
        ).select(*fixed, pl.all())


def with_holm(findings: Sequence[Finding], places: int = 1) -> list[Finding]:
    """Add the adjusted p-values; below 0.05 they are flagged.

    All tests of pairs and columns are one family: with one for pairs and one for columns, up to 11.5 % of the
    audits of null models raise some alarm. Each of several `places`, models and corpora, gets its share of
    the level (Bonferroni).
    """
    tests = [finding for finding in findings if finding.measure.endswith("_p")]
    every = [replace(new, value=min(places * new.value, 1.0)) for new in holm_family(tests)]
    adjusted = {
        id(test): replace(new, flags=("significant",)) if new.value < ALPHA else new
        for test, new in zip(tests, every, strict=True)
    }
    return [one for f in findings for one in ((f, adjusted[id(f)]) if id(f) in adjusted else (f,))]


def _pairs(edited: Edited) -> bool:
    """Whether a text makes a pair: something was swapped, and nothing was left undecided."""
    return bool(edited.spans) and not edited.undecided


def _seen(edited: Sequence[Edited], scores: Scores) -> NDArray[np.bool_]:
    """Whether the model read at least one swapped word, (m,)."""
    read = scores.read([one.text for one in edited])
    seen = [any(end <= got for _, end in one.spans) for one, got in zip(edited, read, strict=True)]
    return np.array(seen, np.bool_)


def _with_spread(
    measure: str, value: float, n: int, interval: tuple[float, float], where: Mapping[str, str]
) -> Finding:
    """A mean; without an interval it is flagged: no score moves, or too few texts or authors do."""
    finding = measured(measure, value, n, interval, where)
    why = "too_few" if value else "no_spread"
    return replace(finding, flags=(why,)) if finding.tested and finding.interval is None else finding
