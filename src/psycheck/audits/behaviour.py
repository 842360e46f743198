"""Behavioural checks: what a model does when a text is edited (DECK sections 3 and 5.2)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal, NamedTuple
from zlib import crc32

import numpy as np
import polars as pl
from numpy.typing import NDArray

from psycheck.audits.length import LENGTH_MEASURES, length_findings
from psycheck.audits.measured import measured, measured_rate, thresholds_of
from psycheck.audits.suite import Check, Suite
from psycheck.audits.summary import by_groups, mark_below_mean
from psycheck.corpus import Corpus
from psycheck.errors import BadInput, nearest
from psycheck.finding import Finding
from psycheck.measure import Measure
from psycheck.measures.classification import decide, firm, gold
from psycheck.measures.clustered import Clusters, ratio_interval
from psycheck.measures.fairness import Rate, paired_difference
from psycheck.measures.significance import holm
from psycheck.model import FloatArray, IntArray, Judgement, Scores
from psycheck.report.behaviour import checks_section
from psycheck.report.performance import length_section
from psycheck.text.edits import Span, append_to_all

ALPHA = 0.05
NOT_FOR_HISTORIES = "its checks edit texts, and are not for histories"
EXAMPLES = 50
AMONG = "pass_rate_among_checks"
OUTCOMES = ("passed", "failed", "unchanged", "unseen", "unanswered")
PASSED, FAILED, UNCHANGED, UNSEEN, UNANSWERED = range(5)
CASE_OF = ("model", "corpus", "suite", "check", "kind")


class Cases(NamedTuple):
    """The cases of one check: m texts, v variants.

    rows (m,) in the corpus; outcome (m,); variant (m,) that decided it; before, after (m,); states (m, v).
    `was` (m,) is the decision on the unedited text.
    """

    rows: IntArray
    outcome: NDArray[np.int8]
    variant: IntArray
    before: FloatArray
    after: FloatArray
    states: NDArray[np.int8]
    undecided: NDArray[np.bool_]
    was: FloatArray


@dataclass(frozen=True, slots=True)
class Sampled:
    """A sample of the cases: how many texts, from the start of the corpus, each check is tried on.

    A sample that grows with what it shows may end at several sizes. Intervals and tests allow for that: where
    it ends, it may be wrong in 5 % divided by `parts`, which adds up to 5 % over all sizes. All checks are
    tried on the first `shared` texts.
    """

    texts: tuple[int, ...]
    parts: tuple[int, ...]
    shared: int


@dataclass(frozen=True, slots=True)
class Behaviour:
    """All checks of one suite; a text is one case of a check.

    With several sentences a case passes if every variant passes ("each") or takes one variant by a seeded
    rotation ("one"); "suite" leaves it to the suite. With `length` the lengths of the texts that failed and
    passed DIR checks are compared, too. `others` is the number of checks of the run besides those judged
    here (other models, corpora and suites), among which a report picks the lowest. `sampled` restricts the
    cases to a sample; the corpus is then in random order.
    """

    section = staticmethod(checks_section)
    suite: Suite
    threshold: float = 0.5
    seed: int = 0
    variants: Literal["suite", "each", "one"] = "suite"
    length: bool = False
    others: int = 0
    sampled: Sampled | None = None

    @property
    def name(self) -> str:
        """The audit and its suite."""
        return f"behaviour:{self.suite.name}"

    @property
    def measures(self) -> tuple[str | Measure, ...]:
        """Pass rates and their summaries."""
        rates = ("pass_rate", AMONG, "sentence_pass_rate", "pass_rate_mean", "pass_rate_sd")
        return (*rates, *LENGTH_MEASURES) if self.length else rates

    @property
    def parts(self) -> tuple[int, ...]:
        """Of each check, by how much the 5 % of its interval and test are divided; 1 without a sample."""
        return self.sampled.parts if self.sampled else (1,) * len(self.suite.checks)

    def skips(self, corpus: Corpus, /) -> str | None:
        """Checks edit texts."""
        return NOT_FOR_HISTORIES if corpus.histories else None

    def ask(self, corpus: Corpus) -> Iterator[str]:
        """The texts, and every edit of them that changes something."""
        return chain.from_iterable(self._asked(corpus))  # twice as fast as to yield each text

    def _asked(self, corpus: Corpus) -> Iterator[Iterable[str]]:
        ids, whole_texts, fitted = corpus.ids, corpus.texts, corpus.fitted
        yield whole_texts
        yield fitted
        stripped = [text.rstrip() for text in fitted]
        for check in self.suite.checks:
            texts = stripped if check.sentences else whole_texts
            rows = np.flatnonzero(applies_to(check, corpus)).tolist()
            for v, picked in enumerate(self._drawn(check, [ids[row] for row in rows])):
                originals = texts if len(picked) == len(texts) else [texts[rows[k]] for k in picked]
                if check.sentences:
                    yield append_to_all(originals, check.sentences[v])
                else:
                    yield (e.text for e in map(check.edits[v], originals) if e.spans)

    def cases_of(self, check: Check, corpus: Corpus) -> Iterator[tuple[int, list[str]]]:
        """The cases of a check that an edit changes: the row, and the texts to ask for, unedited first."""
        ids, texts = corpus.ids, corpus.fitted if check.sentences else corpus.texts
        for row in np.flatnonzero(applies_to(check, corpus)).tolist():
            drawn = [v for v, picked in enumerate(self._drawn(check, [ids[row]])) if picked]
            edits = [check.edits[v](texts[row]) for v in drawn]
            if changed := [one.text for one in edits if one.spans]:
                yield row, [texts[row], *changed]

    def judge(self, corpus: Corpus, scores: Scores, every: list[Cases] | None = None) -> Judgement:
        """Pass rates with their ledger, their summaries, and a table of all cases, which may be at hand."""
        every = every or self.cases(corpus, scores)
        place = {"model": scores.model, "corpus": corpus.name, "suite": self.suite.name}
        wheres = [
            {"audit": "behaviour", **place}
            | {"check": check.id, "kind": check.kind, "label": check.label, "title": check.title}
            | dict(check.tags)
            for check in self.suite.checks
        ]
        clusters = Clusters.of(corpus.units())
        pairs = zip(every, wheres, self.suite.checks, self.parts, strict=True)
        rates = mark_below_mean([_pass_rate(corpus, clusters, *one) for one in pairs])
        findings: list[Finding] = []
        outcomes = np.full((len(every), len(corpus)), -1, np.int8)  # -1: the check does not apply
        beside = self._with_unedited(every, rates, clusters)
        among = sum(rate.tested for rate in rates) + self.others
        lines = zip(self.suite.checks, every, beside, outcomes, self.parts, strict=True)
        for check, cases, rate, line, part in lines:
            findings.append(rate)
            passed, tested = cases.outcome == PASSED, cases.outcome <= FAILED
            interval = ratio_interval(passed, tested, clusters.at(cases.rows), among=max(among, 1) * part)
            findings.append(measured(AMONG, rate.value, rate.n, interval, rate.where, {"checks": among}))
            findings += _sentence_rates(check, cases, clusters, rate.where, part)
            line[cases.rows] = cases.outcome
        findings += by_groups(rates, outcomes, clusters, self.parts)
        table = _case_table(every, corpus, wheres)
        if self.length:
            shared = corpus.head(self.sampled.shared) if self.sampled else corpus
            findings += length_findings(shared, table, {"audit": "length", **place})
        return Judgement(tuple(findings), {"cases": table})

    def _with_unedited(self, every: list[Cases], rates: list[Finding], units: Clusters) -> list[Finding]:
        """MFT pass rates with the number of judged texts that pass without the edit.

        The flag "harmed" or "helped" says that the edit changes it: p below 0.05 after Holm's correction.
        """
        out, changes = list(rates), {}
        for k, (check, cases) in enumerate(zip(self.suite.checks, every, strict=True)):
            if check.kind == "MFT":
                judged = cases.outcome <= FAILED
                right = cases.was[judged] == bool(check.expect.label)
                out[k] = replace(out[k], counts={**out[k].counts, "passed_unedited": int(right.sum())})
                passed = cases.outcome[judged] == PASSED
                changes[k] = paired_difference(passed, right, units.at(cases.rows[judged]))
        adjusted = holm([min(self.parts[k] * one.p, 1.0) for k, one in changes.items()])
        for (k, change), p in zip(changes.items(), adjusted, strict=True):
            if p < ALPHA:
                out[k] = replace(out[k], flags=(*out[k].flags, "harmed" if change.value < 0 else "helped"))
        return out

    def cases(self, corpus: Corpus, scores: Scores) -> list[Cases]:
        """The cases of every check, slice by slice, so that originals are looked up once."""
        refuse_unscored(self.suite, scores.model, scores.labels)
        parts: list[list[Cases]] = [[] for _ in self.suite.checks]
        most = self.sampled.texts if self.sampled else (len(corpus),) * len(parts)
        corpus = corpus.head(max(most, default=0))
        start = 0
        for piece in [*corpus.slices()] or [corpus]:
            ids, whole_texts, fitted = piece.ids, piece.texts, piece.fitted
            scored = scores.of(whole_texts)
            scored_fitted = scored if "fitted" not in piece.table else scores.of(fitted)
            stripped = [text.rstrip() for text in fitted]
            for check, mine, end in zip(self.suite.checks, parts, most, strict=True):
                texts, before = (stripped, scored_fitted) if check.sentences else (whole_texts, scored)
                rows = np.flatnonzero(applies_to(check, piece)[: max(end - start, 0)])
                some = (ids, texts)
                if len(rows) < len(piece):
                    some = ([ids[row] for row in rows.tolist()], [texts[row] for row in rows.tolist()])
                mine.append(self._judge_texts(check, start + rows, *some, before[rows], scores))
            start += len(piece)
        return [Cases(*map(np.concatenate, zip(*mine, strict=True))) for mine in parts]

    def _judge_texts(
        self,
        check: Check,
        rows: IntArray,
        ids: list[str],
        texts: list[str],
        scored: FloatArray,
        scores: Scores,
    ) -> Cases:
        """A case fails if a variant does; else unanswered or unseen if one is; else passed or unchanged."""
        n, column = len(texts), scores.labels.index(check.label)
        cut = float(thresholds_of(scores, self.threshold)[column])

        def decided(values: FloatArray) -> FloatArray:
            if getattr(scores, "exclusive", False):
                return decide(values, exclusive=True)[:, column]
            return decide(values[:, column], cut)

        before, was = scored[:, column], decided(scored)
        after = np.full((n, len(check.edits)), np.nan)
        states = np.full(after.shape, -1, np.int8)  # -1: this variant was not drawn for this text
        undecided = np.zeros(n, np.bool_)
        for v, picked in enumerate(self._drawn(check, ids)):
            mine = np.fromiter(picked, np.int64, len(picked))
            originals = texts if len(picked) == n else [texts[row] for row in picked]
            spans: Sequence[tuple[Span, ...]] = ()  # none: the change is the end of the text
            if check.sentences:
                edited = append_to_all(originals, check.sentences[v])
            else:
                edits = [check.edits[v](text) for text in originals]
                edited, spans = [e.text for e in edits], [e.spans for e in edits]
                undecided[mine] |= np.fromiter((e.undecided > 0 for e in edits), np.bool_, len(edits))
            found = scores.of(edited)
            value = found[:, column]
            fails = _fails(check, value - before[mine], was[mine], decided(found))
            state = np.where(fails, FAILED, PASSED)
            state[np.isnan(value) | (np.isnan(before[mine]) & (check.kind != "MFT"))] = UNANSWERED
            if not getattr(scores, "reads_all", False):
                read = scores.read(edited)
                unseen = read < np.fromiter(map(len, edited), np.int64, len(edited))
                for i in np.flatnonzero(unseen).tolist() if spans else ():  # no changed place was read whole
                    unseen[i] = not any(end <= read[i] for _, end in spans[i])
                state[unseen] = UNSEEN
            state[[k for k, changed in enumerate(spans) if not changed]] = UNCHANGED
            states[mine, v], after[mine, v] = state, value
        rank = np.array([1, 4, 0, 2, 3, -1], np.int8)[states]  # by state, the last for -1 (not drawn)
        # Among failing variants the one that moved the score most is the one to show.
        moved = np.nan_to_num(np.where(states == FAILED, np.abs(after - before[:, None]), -1.0), nan=0.0)
        worst = np.where((states == FAILED).any(axis=1), moved.argmax(axis=1), rank.argmax(axis=1))
        line = np.arange(n)
        return Cases(rows, states[line, worst], worst, before, after[line, worst], states, undecided, was)

    def _drawn(self, check: Check, ids: Sequence[str]) -> list[Sequence[int]]:
        """For each variant of a check the rows of the texts that it is tried on."""
        count = len(check.edits)
        each = check.each if self.variants == "suite" else self.variants == "each"
        if each or count == 1:
            return [range(len(ids))] * count
        drawn = [crc32(f"{self.seed}/{check.id}/{i}".encode("utf-8", "surrogatepass")) % count for i in ids]
        return [[row for row, v in enumerate(drawn) if v == variant] for variant in range(count)]


class Length(Behaviour):
    """Length alone: asks for the cases of a suite's DIR checks, and reports nothing else of them."""

    __slots__ = ()
    section = staticmethod(length_section)

    @classmethod
    def of(cls, suite: Suite, *settings: Any) -> "Length":
        """The length audit of a suite's DIR checks; the settings are those of `Behaviour`."""
        checks = tuple(check for check in suite.checks if check.kind == "DIR")
        return cls(replace(suite, checks=checks), *settings)

    @property
    def name(self) -> str:
        """The audit and its suite."""
        return f"length:{self.suite.name}"

    @property
    def measures(self) -> tuple[str | Measure, ...]:
        """Those of lengths."""
        return LENGTH_MEASURES

    def skips(self, corpus: Corpus, /) -> str | None:
        """Only DIR checks are compared."""
        bare = None if self.suite.checks else f"suite '{self.suite.name}' has no DIR check"
        return NOT_FOR_HISTORIES if corpus.histories else bare

    def judge(self, corpus: Corpus, scores: Scores, every: list[Cases] | None = None) -> Judgement:
        """The lengths of texts that failed and passed."""
        findings = super().judge(corpus, scores, every).findings
        return Judgement(tuple(finding for finding in findings if finding.measure in LENGTH_MEASURES))


def refuse_unscored(suite: Suite, model: str, labels: Sequence[str]) -> None:
    """Refuse a suite that tests a label that the model does not score."""
    for check in suite.checks:
        if check.label not in labels:
            raise BadInput(
                f"suite '{suite.name}' tests '{check.label}'; model '{model}' does not score it",
                where=f"check {check.id}",
                allowed=nearest(check.label, labels),
                do="name the model's label for it: append ?label=NAME to the model",
            )


def applies_to(check: Check, corpus: Corpus) -> NDArray[np.bool_]:
    """The texts that a check is about, (n,): all, or those annotated as it asks."""
    if check.gold is None:
        return np.ones(len(corpus), np.bool_)
    if check.label not in corpus.labels:
        return np.zeros(len(corpus), np.bool_)
    target = corpus.targets([check.label])[:, 0]
    # A soft label of exactly 0.5 says neither.
    wanted: NDArray[np.bool_] = ~np.isnan(firm(target)) & (gold(target) == bool(check.gold))
    return wanted


def _pass_rate(
    corpus: Corpus, clusters: Clusters, cases: Cases, where: dict[str, str], check: Check, part: int
) -> Finding:
    ledger = np.bincount(cases.outcome, minlength=len(OUTCOMES))
    counts = {"generated": len(cases.rows), **{name: int(ledger[k]) for k, name in enumerate(OUTCOMES)}}
    counts["undecided"] = int(cases.undecided.sum())
    applies = int(applies_to(check, corpus).sum())
    if where["label"] not in corpus.labels or applies < len(corpus):
        counts["outside_subset"] = len(corpus) - applies
    if part > 1:
        counts["not_asked"] = applies - len(cases.rows)
    rate = Rate(counts["passed"], counts["passed"] + counts["failed"])
    tested = cases.outcome <= FAILED
    units = clusters.at(cases.rows[tested])
    counts["units"] = units.count
    interval = ratio_interval(cases.outcome[tested] == PASSED, np.ones(rate.n), units, among=part)
    failing = corpus.table["id"].gather(cases.rows[cases.outcome == FAILED][:EXAMPLES]).to_list()
    return measured_rate("pass_rate", rate, where, counts, failing, interval)


def _sentence_rates(
    check: Check, cases: Cases, clusters: Clusters, where: Mapping[str, str], part: int
) -> Iterator[Finding]:
    """The pass rate of every sentence of a check that has several."""
    mine = clusters.at(cases.rows)
    for v, sentence in enumerate(check.sentences if len(check.sentences) > 1 else ()):
        state = cases.states[:, v]
        passed, failed = (int((state == outcome).sum()) for outcome in (PASSED, FAILED))
        tested = (state == PASSED) | (state == FAILED)
        interval = ratio_interval(state == PASSED, tested, mine, among=part)
        here = {**where, "variant": str(v + 1), "sentence": sentence}
        counts = {"passed": passed, "failed": failed}
        yield measured_rate("sentence_pass_rate", Rate(passed, passed + failed), here, counts, (), interval)


def _fails(check: Check, moved: FloatArray, was: FloatArray, now: FloatArray) -> NDArray[np.bool_]:
    """Table 2's fail criteria by change of score and decisions, (n,); the caller sees to NaN."""
    most = check.expect.by + 1e-9  # a change of exactly the tolerance passes
    criteria: dict[str, NDArray[np.bool_]] = {
        "same_label": now != was,
        "label": now != bool(check.expect.label),
        "not_down": -moved > most,
        "not_up": moved > most,
        "steady": np.abs(moved) > most,
    }
    return criteria[check.expect.kind]


def _case_table(every: Sequence[Cases], corpus: Corpus, wheres: Sequence[Mapping[str, str]]) -> pl.DataFrame:
    """The cases of all checks, one below the other: ids, never texts."""
    check = np.repeat(np.arange(len(every)), [len(cases.rows) for cases in every])
    rows, outcome, variant, before, after = (np.concatenate([cases[k] for cases in every]) for k in range(5))

    def named(names: Sequence[str], which: NDArray[Any]) -> pl.Series:
        return pl.Series(names).cast(pl.Categorical).gather(which)

    return pl.DataFrame(
        {
            **{key: named([where[key] for where in wheres], check) for key in CASE_OF},
            "id": corpus.table["id"].gather(rows),
            "outcome": named(OUTCOMES, outcome.astype(np.int64)),
            "variant": pl.Series(variant + 1, dtype=pl.Int16),
            "before": before,  # in full: 0.49999999999 is not 0.5
            "after": after,
        }
    )
