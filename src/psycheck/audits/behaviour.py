"""Behavioural checks: what a model does when a text is edited (DECK sections 3 and 5.2)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar

import numpy as np

from psycheck.audits.cases import (
    Cases,
    Originals,
    VariantRule,
    applies_to,
    changed_cases,
    joined_cases,
    judge_texts,
    texts_by_variant,
)
from psycheck.audits.decisions import alike_flags
from psycheck.audits.failure_length import LENGTH_MEASURES, length_findings
from psycheck.audits.figures import thresholds_of
from psycheck.audits.pass_rates import (
    AMONG,
    case_table,
    compare_with_unedited,
    mark_not_evidence,
    outcome_matrix,
    pass_rate,
    rate_among_checks,
    sentence_rates,
)
from psycheck.audits.reaction import (
    REACTION,
    PlaceboScores,
    Ranks,
    direction,
    placebos_of,
    reaction_finding,
    with_placebos,
)
from psycheck.audits.suite import Check, Suite
from psycheck.audits.summary import by_groups, mark_below_mean
from psycheck.audits.weakest import standings
from psycheck.core.audit import Judgement, RunContext, Scores
from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput, nearest
from psycheck.core.finding import Finding
from psycheck.core.measure import Measure
from psycheck.report.checks import checks_section
from psycheck.report.length_tables import length_section
from psycheck.statistics.classification import decide, firm, gold
from psycheck.statistics.clustered import Clusters
from psycheck.text.edits import append_to_all

NOT_FOR_HISTORIES = "its checks edit texts, and are not for histories"
RATE_MEASURES = ("pass_rate", AMONG, REACTION, "sentence_pass_rate", "pass_rate_mean", "pass_rate_sd")


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
    cases to a sample; the corpus is then in random order. `reactions` sets each added sentence against a
    neutral one.
    """

    position: ClassVar = 20
    options: ClassVar = None
    tests_suites: ClassVar = True
    section = staticmethod(checks_section)
    suite: Suite
    threshold: float = 0.5
    seed: int = 0
    variants: VariantRule = "suite"
    length: bool = False
    others: int = 0
    sampled: Sampled | None = None
    reactions: bool = True

    @classmethod
    def prepare(cls, context: RunContext, options: None, /) -> list["Behaviour"]:
        """One audit per suite; a suite that tests a label that a model does not score is refused."""
        refuse_unscored_labels(context)
        # A report picks the lowest check of all models, corpora and suites: intervals allow for that.
        checks_of_suites = sum(len(suite.checks) for suite in context.suites)
        checks = context.places * checks_of_suites
        settings = context.settings
        return [
            cls(
                suite=suite,
                threshold=settings.fixed_threshold,
                seed=settings.seed,
                variants=settings.variants,
                length="length" in settings.audits,
                others=checks - len(suite.checks),
            )
            for suite in context.suites
        ]

    @property
    def name(self) -> str:
        """The audit and its suite."""
        return f"behaviour:{self.suite.name}"

    @property
    def measures(self) -> tuple[str | Measure, ...]:
        """Pass rates and their summaries."""
        if self.length:
            return (*RATE_MEASURES, *LENGTH_MEASURES)
        return RATE_MEASURES

    @property
    def parts(self) -> tuple[int, ...]:
        """Of each check, by how much the 5 % of its interval and test are divided; 1 without a sample."""
        if self.sampled:
            return self.sampled.parts
        return (1,) * len(self.suite.checks)

    def skips(self, corpus: Corpus, /) -> str | None:
        """Checks edit texts."""
        if corpus.histories:
            return NOT_FOR_HISTORIES
        return None

    def ask(self, corpus: Corpus) -> Iterator[str]:
        """The texts, and every edit of them that changes something."""
        return chain.from_iterable(self._requested_texts(corpus))  # twice as fast as to yield each text

    def _requested_texts(self, corpus: Corpus) -> Iterator[Iterable[str]]:
        """The unedited texts, then those of each variant of each check."""
        ids = corpus.ids
        texts = corpus.texts
        # Sentences are added to texts that were shortened, so that a model reads them to the end.
        fitted = corpus.fitted
        yield texts
        yield fitted

        # Once for all checks: `append` drops this space from every text.
        stripped = [text.rstrip() for text in fitted]
        if self.reactions:
            yield from self._placebo_texts(corpus, stripped)
        for check in self.suite.checks:
            check_texts = stripped if check.sentences else texts
            rows = np.flatnonzero(applies_to(check, corpus)).tolist()
            drawn = self._texts_by_variant(check, [ids[row] for row in rows])
            for variant, positions in enumerate(drawn):
                originals = check_texts
                # Most variants are of all texts: these need no list of their own.
                if len(positions) < len(check_texts):
                    originals = [check_texts[rows[position]] for position in positions]
                if check.sentences:
                    yield append_to_all(originals, check.sentences[variant])
                else:
                    edits = map(check.edits[variant], originals)
                    yield (edited.text for edited in edits if edited.spans)

    def _placebo_texts(self, corpus: Corpus, stripped: list[str]) -> Iterator[list[str]]:
        """The texts with the neutral sentences that added ones are compared with; these are few."""
        sentences: dict[tuple[object, ...], tuple[Check, str]] = {}
        for check in self.suite.checks:
            if not direction(check):
                continue
            for sentence in check.sentences:
                # Sentences of about one length share their placebos: asked for once.
                key = (check.gold, placebos_of(sentence))
                sentences.setdefault(key, (check, sentence))

        for check, sentence in sentences.values():
            rows = np.flatnonzero(applies_to(check, corpus)).tolist()
            texts = [stripped[row] for row in rows]
            yield with_placebos(texts, sentence)

    def cases_of(self, check: Check, corpus: Corpus) -> Iterator[tuple[int, list[str]]]:
        """The cases of a check that an edit changes: the row, and the texts to ask for, unedited first."""
        return changed_cases(check, corpus, variants=self.variants, seed=self.seed)

    def judge(self, corpus: Corpus, scores: Scores, /) -> Judgement:
        """Pass rates with their ledger, their summaries, and a table of all cases."""
        checks = self.suite.checks
        all_cases = self.cases(corpus, scores)
        clusters = Clusters.of(corpus.units(), corpus.copies())
        place = {
            "model": scores.model,
            "corpus": corpus.name,
            "suite": self.suite.name,
        }
        wheres = [_where(check, place) for check in checks]

        rates: list[Finding] = []
        for check, cases, where, part in zip(checks, all_cases, wheres, self.parts, strict=True):
            rates.append(pass_rate(corpus, clusters, check, cases, where, part))
        # Below the mean of its suite, as DECK chooses the checks to learn from.
        rates = mark_below_mean(rates)
        rates = compare_with_unedited(checks, all_cases, rates, clusters, self.parts)
        # Last: an edit that is shown to change decisions is evidence, however alike they are.
        alike = self._alike(corpus, scores, clusters)
        rates = mark_not_evidence(rates, alike)

        findings: list[Finding] = []
        # A verdict names checks of the whole run: their intervals allow for that choice.
        tested_checks = sum(rate.tested for rate in rates) + self.others
        for check, cases, rate, part in zip(checks, all_cases, rates, self.parts, strict=True):
            findings.append(rate)
            findings.append(rate_among_checks(rate, cases, clusters, checks=tested_checks, part=part))
            way = direction(check)
            if way and self.reactions:
                reaction = reaction_finding(
                    rate,
                    cases.moves,
                    cases.rows,
                    clusters,
                    way=way,
                    among=tested_checks * part,
                )
                findings.append(reaction)
            findings += sentence_rates(check, cases, clusters, rate.where, part)

        outcomes = outcome_matrix(all_cases, len(corpus))
        findings += by_groups(rates, outcomes, clusters, self.parts)

        table = case_table(all_cases, corpus, wheres)
        if self.length:
            # Checks of a sample are compared on the texts that all of them were tried on.
            shared = corpus.head(self.sampled.shared) if self.sampled else corpus
            findings += length_findings(shared, table, {"audit": "length", **place})

        all_standings = standings(
            self.suite,
            corpus,
            all_cases,
            others=self.others,
            parts=self.parts,
        )
        return Judgement(
            findings=tuple(findings),
            tables={"cases": table},
            standings=tuple(all_standings),
        )

    def _alike(self, corpus: Corpus, scores: Scores, clusters: Clusters) -> dict[str, tuple[str, ...]]:
        """How nearly all unedited texts get the same decision, for each label that a check is about."""
        texts = corpus
        if self.sampled:
            # Beyond the longest sample no text was scored.
            texts = corpus.head(max(self.sampled.texts, default=0))
        all_scores = scores.of(texts.texts)
        thresholds = thresholds_of(scores, self.threshold)
        all_decided = decide(all_scores, thresholds, exclusive=scores.traits.exclusive)

        alike: dict[str, tuple[str, ...]] = {}
        for label in dict.fromkeys(check.label for check in self.suite.checks):
            column = scores.labels.index(label)
            targets = np.full(len(texts), np.nan)
            if label in texts.labels:
                targets = firm(texts.targets([label])[:, 0])

            usable = ~np.isnan(all_scores[:, column])
            yes = None
            # Where there are annotations, they say how common each decision should be.
            if not np.isnan(targets).all():
                usable &= ~np.isnan(targets)
                yes = gold(targets[usable])
            if usable.any():
                alike[label] = alike_flags(
                    all_scores[usable, column],
                    all_decided[usable, column] == 1,
                    yes,
                    clusters.at(np.flatnonzero(usable)),
                )
        return alike

    def cases(self, corpus: Corpus, scores: Scores) -> list[Cases]:
        """The cases of every check, slice by slice, so that originals are looked up once."""
        checks = self.suite.checks
        refuse_unscored(self.suite, scores.model, scores.labels)
        # How many texts, from the start of the corpus, each check is tried on.
        ends = self.sampled.texts if self.sampled else (len(corpus),) * len(checks)
        corpus = corpus.head(max(ends, default=0))

        # The scale of the whole corpus: a slice alone would make it coarse.
        unedited = scores.of(corpus.texts)
        ranks: dict[str, Ranks] = {}
        for label, label_scores in zip(scores.labels, unedited.T, strict=True):
            ranks[label] = Ranks.of(label_scores)

        slices_of_check: list[list[Cases]] = [[] for _ in checks]
        start = 0
        for piece in [*corpus.slices()] or [corpus]:
            judged = self._slice_cases(piece, scores, ranks, start=start, ends=ends)
            for slices, cases in zip(slices_of_check, judged, strict=True):
                slices.append(cases)
            start += len(piece)
        return [joined_cases(slices) for slices in slices_of_check]

    def _slice_cases(
        self,
        piece: Corpus,
        scores: Scores,
        ranks: Mapping[str, Ranks],
        *,
        start: int,
        ends: Sequence[int],
    ) -> Iterator[Cases]:
        """The cases of each check in a slice that begins at row `start` of the corpus."""
        ids = piece.ids
        texts = piece.texts
        fitted = piece.fitted
        text_scores = scores.of(texts)
        fitted_scores = scores.of(fitted) if "fitted" in piece.table else text_scores
        stripped = [text.rstrip() for text in fitted]
        placebo_scores = PlaceboScores(scores)

        for check, end in zip(self.suite.checks, ends, strict=True):
            check_texts = stripped if check.sentences else texts
            check_scores = fitted_scores if check.sentences else text_scores
            check_ids = ids
            # A sample may end within this slice, or before it.
            end_in_slice = max(end - start, 0)
            rows = np.flatnonzero(applies_to(check, piece)[:end_in_slice])
            if len(rows) < len(piece):
                check_ids = [ids[row] for row in rows.tolist()]
                check_texts = [check_texts[row] for row in rows.tolist()]
            originals = Originals(
                rows=start + rows,
                ids=check_ids,
                texts=check_texts,
                scores=check_scores[rows],
            )
            drawn = self._texts_by_variant(check, check_ids)
            yield judge_texts(
                check,
                originals,
                scores,
                drawn=drawn,
                threshold=self.threshold,
                ranks=ranks[check.label] if self.reactions else None,
                placebo_scores=placebo_scores,
            )

    def _texts_by_variant(self, check: Check, ids: Sequence[str]) -> list[Sequence[int]]:
        return texts_by_variant(check, ids, variants=self.variants, seed=self.seed)


class Length(Behaviour):
    """Length alone: asks for the cases of a suite's DIR checks, and reports nothing else of them."""

    __slots__ = ()
    section = staticmethod(length_section)

    @classmethod
    def prepare(cls, context: RunContext, options: None, /) -> list[Behaviour]:
        """One audit per suite, of its DIR checks; none where `Behaviour` compares the lengths anyway."""
        settings = context.settings
        if "behaviour" in settings.audits:
            return []
        refuse_unscored_labels(context)
        return [
            cls(
                suite=_dir_checks(suite),
                threshold=settings.fixed_threshold,
                seed=settings.seed,
                variants=settings.variants,
                length=True,
                reactions=False,
            )
            for suite in context.suites
        ]

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
        if corpus.histories:
            return NOT_FOR_HISTORIES
        if not self.suite.checks:
            return f"suite '{self.suite.name}' has no DIR check"
        return None

    def judge(self, corpus: Corpus, scores: Scores, /) -> Judgement:
        """The lengths of texts that failed and passed."""
        findings = super().judge(corpus, scores).findings
        return Judgement(tuple(finding for finding in findings if finding.measure in LENGTH_MEASURES))


def _dir_checks(suite: Suite) -> Suite:
    """The suite with its DIR checks alone."""
    return replace(suite, checks=tuple(check for check in suite.checks if check.kind == "DIR"))


def _where(check: Check, place: dict[str, str]) -> dict[str, str]:
    """What the findings of a check are about."""
    return {
        "audit": "behaviour",
        **place,
        "check": check.id,
        "kind": check.kind,
        "label": check.label,
        "title": check.title,
        **check.tags,
    }


def refuse_unscored_labels(context: RunContext) -> None:
    """Refuse a suite of the run that tests a label that one of the models does not score."""
    for model, labels in context.labels.items():
        for suite in context.suites:
            refuse_unscored(suite, model, labels)


def refuse_unscored(suite: Suite, model: str, labels: Sequence[str]) -> None:
    """Refuse a suite that tests a label that the model does not score."""
    for check in suite.checks:
        if check.label not in labels:
            raise BadInput(
                f"suite '{suite.name}' tests '{check.label}'; model '{model}' does not score it",
                code="suite.unscored-label",
                where=f"check {check.id}",
                allowed=nearest(check.label, labels),
                do="name a `suite` for the model's labels, choose other audits (`audit`), or, if the model "
                "scores it under another name, append ?label=NAME to the model",
            )
