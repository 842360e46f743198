"""Behavioural checks: what a model does when a text is edited (DECK sections 3 and 5.2)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from psycheck.audits.cases import (
    FAILED,
    OUTCOMES,
    PASSED,
    UNANSWERED,
    UNCHANGED,
    UNSEEN,
    Cases,
    case_table,
    edited_texts,
    fails,
)
from psycheck.audits.length import LENGTH_MEASURES, length_findings
from psycheck.audits.measured import measured_rate
from psycheck.audits.suite import Check, Suite
from psycheck.audits.summary import by_groups, mark_below_mean
from psycheck.corpus import Corpus
from psycheck.errors import BadInput, nearest
from psycheck.finding import Finding
from psycheck.measure import Measure
from psycheck.measures.fairness import Rate
from psycheck.model import FloatArray, IntArray, Judgement, Scores
from psycheck.text.edits import append_to_all

EXAMPLES = 50


@dataclass(frozen=True, slots=True)
class Behaviour:
    """All checks of one suite; a text is one case of a check.

    With several sentences a case passes if every variant passes ("each") or takes one variant by a seeded
    rotation ("one"); "suite" leaves it to the suite. With `length` the lengths of the texts that failed and
    passed DIR checks are compared, too.
    """

    suite: Suite
    threshold: float = 0.5
    seed: int = 0
    variants: Literal["suite", "each", "one"] = "suite"
    length: bool = False

    @property
    def name(self) -> str:
        """The audit and its suite."""
        return f"behaviour:{self.suite.name}"

    @property
    def measures(self) -> tuple[str | Measure, ...]:
        """Pass rates and their summaries."""
        rates = ("pass_rate", "sentence_pass_rate", "pass_rate_mean", "pass_rate_sd")
        return (*rates, *LENGTH_MEASURES) if self.length else rates

    def ask(self, corpus: Corpus) -> Iterator[str]:
        """The texts, and every edit of them that changes something."""
        ids, whole_texts, fitted = corpus.ids, corpus.texts, corpus.fitted
        yield from whole_texts
        yield from fitted
        for check in self.suite.checks:
            texts = fitted if check.sentences else whole_texts
            rows = np.flatnonzero(_subset(check, corpus)).tolist()
            drawn = self._drawn(check, [ids[row] for row in rows])
            for v, picked in enumerate(drawn):
                whole = len(picked) == len(texts)
                originals = texts if whole else [texts[rows[k]] for k in picked]
                if check.sentences:
                    yield from append_to_all(originals, check.sentences[v])
                else:
                    yield from (e.text for e in map(check.edits[v], originals) if e.spans)

    def judge(self, corpus: Corpus, scores: Scores) -> Judgement:
        """Pass rates with their ledger, their summaries, and a table of all cases."""
        every = self._cases(corpus, scores)
        wheres = [self._where(check, corpus, scores) for check in self.suite.checks]
        pairs = zip(every, wheres, strict=True)
        rates = mark_below_mean([_pass_rate(cases, corpus, where) for cases, where in pairs])
        findings: list[Finding] = []
        for check, cases, rate in zip(self.suite.checks, every, rates, strict=True):
            findings += [rate, *_sentence_rates(check, cases, rate.where)]
        summaries = by_groups(rates, np.stack([cases.over_corpus(len(corpus)) for cases in every]))
        table = case_table(every, corpus, wheres)
        place = {"audit": "length", "model": scores.model, "corpus": corpus.name, "suite": self.suite.name}
        lengths = length_findings(corpus, table, place) if self.length else ()
        return Judgement((*findings, *summaries, *lengths), {"cases": table})

    def _cases(self, corpus: Corpus, scores: Scores) -> list[Cases]:
        """The cases of every check, slice by slice, so that originals are looked up once."""
        refuse_unscored(self.suite, scores.model, scores.labels)
        parts: list[list[Cases]] = [[] for _ in self.suite.checks]
        start = 0
        for piece in corpus.slices():
            ids, whole_texts, fitted = piece.ids, piece.texts, piece.fitted
            scored = scores.of(whole_texts)
            scored_fitted = scored if "fitted" not in piece.table else scores.of(fitted)
            for check, mine in zip(self.suite.checks, parts, strict=True):
                texts, before = (fitted, scored_fitted) if check.sentences else (whole_texts, scored)
                column = scores.labels.index(check.label)
                rows = np.flatnonzero(_subset(check, piece))
                some = rows.tolist() if len(rows) < len(piece) else None
                mine.append(
                    self._judge_texts(
                        check,
                        start + rows,
                        ids if some is None else [ids[row] for row in some],
                        texts if some is None else [texts[row] for row in some],
                        before[rows, column],
                        scores,
                    )
                )
            start += len(piece)
        return [
            Cases.joined(mine, len(check.edits)) for check, mine in zip(self.suite.checks, parts, strict=True)
        ]

    def _judge_texts(
        self,
        check: Check,
        rows: IntArray,
        ids: list[str],
        texts: list[str],
        before: FloatArray,
        scores: Scores,
    ) -> Cases:
        n, variants = len(texts), len(check.edits)
        column = scores.labels.index(check.label)
        after = np.full((n, variants), np.nan)
        states = np.full((n, variants), -1, np.int8)  # -1: this variant was not drawn for this text
        undecided = np.zeros(n, np.bool_)
        for v, picked in enumerate(self._drawn(check, ids)):
            mine = np.fromiter(picked, np.int64, len(picked))
            variant = edited_texts(check, v, texts if len(picked) == n else [texts[row] for row in picked])
            value = scores.of(variant.texts)[:, column]
            failed = fails(check, before[mine], value, self.threshold)
            state = np.where(failed, FAILED, PASSED).astype(np.int8)
            state[np.isnan(value) | (np.isnan(before[mine]) & (check.kind != "MFT"))] = UNANSWERED
            state[~variant.seen(scores)] = UNSEEN
            state[~variant.changed] = UNCHANGED
            states[mine, v], after[mine, v] = state, value
            undecided[mine] |= variant.undecided
        return Cases.of(rows, before, after, states, undecided)

    def _drawn(self, check: Check, ids: Sequence[str]) -> list[Sequence[int]]:
        """For each variant of a check the rows of the texts that it is tried on."""
        count = len(check.edits)
        each = check.each if self.variants == "suite" else self.variants == "each"
        if each or count == 1:
            return [range(len(ids))] * count
        drawn = [crc32(f"{self.seed}/{check.id}/{i}".encode("utf-8", "surrogatepass")) % count for i in ids]
        return [[row for row, v in enumerate(drawn) if v == variant] for variant in range(count)]

    def _where(self, check: Check, corpus: Corpus, scores: Scores) -> dict[str, str]:
        return {
            "audit": "behaviour",
            "model": scores.model,
            "corpus": corpus.name,
            "suite": self.suite.name,
            "check": check.id,
            "kind": check.kind,
            "label": check.label,
            "title": check.title,
            **check.tags,
        }


@dataclass(frozen=True, slots=True)
class Length:
    """Length alone: asks for the cases of a suite's DIR checks, and reports nothing else of them."""

    behaviour: Behaviour
    measures: ClassVar[tuple[str | Measure, ...]] = LENGTH_MEASURES

    @classmethod
    def of(cls, behaviour: Behaviour) -> "Length":
        """The length audit of a suite's DIR checks."""
        suite = behaviour.suite
        checks = tuple(check for check in suite.checks if check.kind == "DIR")
        return cls(replace(behaviour, suite=replace(suite, checks=checks), length=True))

    @property
    def name(self) -> str:
        """The audit and its suite."""
        return f"length:{self.behaviour.suite.name}"

    def skips(self, corpus: Corpus, /) -> str | None:
        """Only DIR checks are compared."""
        suite = self.behaviour.suite
        return None if suite.checks else f"suite '{suite.name}' has no DIR check"

    def ask(self, corpus: Corpus, /) -> Iterator[str]:
        """What the DIR checks ask for."""
        return self.behaviour.ask(corpus)

    def judge(self, corpus: Corpus, scores: Scores, /) -> Judgement:
        """The lengths of texts that failed and passed."""
        findings = self.behaviour.judge(corpus, scores).findings
        return Judgement(tuple(finding for finding in findings if finding.measure in self.measures))


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


def _subset(check: Check, corpus: Corpus) -> NDArray[np.bool_]:
    """The texts that a check is about, (n,): all, or those annotated as it asks."""
    if check.gold is None:
        return np.ones(len(corpus), np.bool_)
    if check.label not in corpus.labels:
        return np.zeros(len(corpus), np.bool_)
    target = corpus.targets([check.label])[:, 0]
    wanted: NDArray[np.bool_] = ~np.isnan(target) & ((target >= 0.5) == bool(check.gold))
    return wanted


def _pass_rate(cases: Cases, corpus: Corpus, where: dict[str, str]) -> Finding:
    ledger = np.bincount(cases.outcome, minlength=len(OUTCOMES))
    counts = {"generated": len(cases.rows), **{name: int(ledger[k]) for k, name in enumerate(OUTCOMES)}}
    counts["undecided"] = int(cases.undecided.sum())
    if where["label"] not in corpus.labels or len(cases.rows) < len(corpus):
        counts["outside_subset"] = len(corpus) - len(cases.rows)
    rate = Rate(counts["passed"], counts["passed"] + counts["failed"])
    failing = corpus.table["id"].gather(cases.rows[cases.outcome == FAILED][:EXAMPLES]).to_list()
    return measured_rate("pass_rate", rate, where, counts, failing)


def _sentence_rates(check: Check, cases: Cases, where: Mapping[str, str]) -> Iterator[Finding]:
    """The pass rate of every sentence of a check that has several."""
    for v, sentence in enumerate(check.sentences if len(check.sentences) > 1 else ()):
        passed, failed = (int((cases.states[:, v] == outcome).sum()) for outcome in (PASSED, FAILED))
        here = {**where, "variant": str(v + 1), "sentence": sentence}
        counts = {"passed": passed, "failed": failed}
        yield measured_rate("sentence_pass_rate", Rate(passed, passed + failed), here, counts)
